module github.com/docket-go/docket/adapters/memory

go 1.26

require (
	github.com/docket-go/docket/core v0.0.0
	github.com/docket-go/docket/ports v0.0.0
	github.com/docket-go/docket/conformance v0.0.0
)

replace (
	github.com/docket-go/docket/core => ../../core
	github.com/docket-go/docket/ports => ../../ports
	github.com/docket-go/docket/conformance => ../../conformance
)
