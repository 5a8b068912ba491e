module github.com/docket-go/docket/cmd/conformance-runner

go 1.26.0

require (
	github.com/docket-go/docket/adapters/memory v0.0.0
	github.com/docket-go/docket/adapters/sqlite-experimental v0.0.0
	github.com/docket-go/docket/conformance v0.0.0
	github.com/docket-go/docket/core v0.0.0
	github.com/docket-go/docket/ports v0.0.0
	github.com/spf13/cobra v1.10.2
	modernc.org/sqlite v1.62.0
)

require (
	github.com/dustin/go-humanize v1.1.0 // indirect
	github.com/google/go-cmp v0.7.0 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/mattn/go-isatty v0.0.24 // indirect
	github.com/ncruces/go-strftime v1.1.0 // indirect
	github.com/remyoudompheng/bigfft v0.0.0-20230129092748-24d4a6f8daec // indirect
	github.com/spf13/pflag v1.0.9 // indirect
	golang.org/x/sync v0.25.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	modernc.org/libc v1.80.1 // indirect
	modernc.org/mathutil v1.7.1 // indirect
	modernc.org/memory v1.12.1 // indirect
)

replace (
	github.com/docket-go/docket/adapters/memory => ../../adapters/memory
	github.com/docket-go/docket/adapters/sqlite-experimental => ../../adapters/sqlite-experimental
	github.com/docket-go/docket/conformance => ../../conformance
	github.com/docket-go/docket/core => ../../core
	github.com/docket-go/docket/ports => ../../ports
)
