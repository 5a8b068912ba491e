module github.com/docket-go/docket/conformance

go 1.26.0

require (
	github.com/docket-go/docket/core v0.0.0
	github.com/docket-go/docket/ports v0.0.0
	github.com/google/go-cmp v0.7.0
	golang.org/x/sync v0.25.0
)

replace (
	github.com/docket-go/docket/core => ../core
	github.com/docket-go/docket/ports => ../ports
)
