module github.com/docket-go/docket/examples

go 1.26

require (
	github.com/docket-go/docket/core v0.0.0
	github.com/docket-go/docket/ports v0.0.0
	github.com/docket-go/docket/engine v0.0.0
	github.com/docket-go/docket/adapters/sqlite-experimental v0.0.0
	github.com/docket-go/docket/adapters/memory v0.0.0
	github.com/docket-go/docket/conformance v0.0.0
)

replace (
	github.com/docket-go/docket/core => ../core
	github.com/docket-go/docket/ports => ../ports
	github.com/docket-go/docket/engine => ../engine
	github.com/docket-go/docket/adapters/sqlite-experimental => ../adapters/sqlite-experimental
	github.com/docket-go/docket/adapters/memory => ../adapters/memory
	github.com/docket-go/docket/conformance => ../conformance
)
