module github.com/docket-go/docket/cmd/conformance-runner

go 1.26

require (
	github.com/docket-go/docket/adapters/memory v0.0.0
	github.com/docket-go/docket/adapters/sqlite-experimental v0.0.0
	github.com/docket-go/docket/conformance v0.0.0
	github.com/docket-go/docket/core v0.0.0
	github.com/docket-go/docket/ports v0.0.0
)

require (
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/spf13/cobra v1.10.2 // indirect
	github.com/spf13/pflag v1.0.9 // indirect
)

replace (
	github.com/docket-go/docket/adapters/memory => ../../adapters/memory
	github.com/docket-go/docket/adapters/sqlite-experimental => ../../adapters/sqlite-experimental
	github.com/docket-go/docket/conformance => ../../conformance
	github.com/docket-go/docket/core => ../../core
	github.com/docket-go/docket/ports => ../../ports
)
