module github.com/docket-go/docket/internal/repotest

go 1.26.0

require (
	github.com/anishathalye/porcupine v1.3.1
	github.com/docket-go/docket/adapters/memory v0.0.0
	github.com/docket-go/docket/adapters/sqlite-experimental v0.0.0
	github.com/docket-go/docket/conformance v0.0.0
	github.com/docket-go/docket/core v0.0.0
	github.com/docket-go/docket/engine v0.0.0
	github.com/docket-go/docket/ports v0.0.0
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3
	go.opentelemetry.io/otel/metric v1.47.0
	go.opentelemetry.io/otel/trace v1.47.0
)

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/dustin/go-humanize v1.1.0 // indirect
	github.com/go-logr/logr v1.4.4 // indirect
	github.com/go-logr/stdr v1.2.2 // indirect
	github.com/google/go-cmp v0.7.0 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/mattn/go-isatty v0.0.24 // indirect
	github.com/ncruces/go-strftime v1.1.0 // indirect
	github.com/remyoudompheng/bigfft v0.0.0-20230129092748-24d4a6f8daec // indirect
	go.opentelemetry.io/auto/sdk v1.2.1 // indirect
	go.opentelemetry.io/otel v1.47.0 // indirect
	go.opentelemetry.io/otel/log v1.47.0 // indirect
	golang.org/x/sync v0.25.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.14.0 // indirect
	modernc.org/libc v1.80.1 // indirect
	modernc.org/mathutil v1.7.1 // indirect
	modernc.org/memory v1.12.1 // indirect
	modernc.org/sqlite v1.62.0 // indirect
)

replace (
	github.com/docket-go/docket/adapters/memory => ../../adapters/memory
	github.com/docket-go/docket/adapters/pgx => ../../adapters/pgx
	github.com/docket-go/docket/adapters/sqlite-experimental => ../../adapters/sqlite-experimental
	github.com/docket-go/docket/conformance => ../../conformance
	github.com/docket-go/docket/core => ../../core
	github.com/docket-go/docket/engine => ../../engine
	github.com/docket-go/docket/ports => ../../ports
)
