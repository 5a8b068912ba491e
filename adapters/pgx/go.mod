module github.com/docket-go/docket/adapters/pgx

go 1.26.0

require (
	github.com/docket-go/docket/conformance v0.0.0
	github.com/docket-go/docket/core v0.0.0
	github.com/docket-go/docket/ports v0.0.0
	github.com/jackc/pgx/v5 v5.13.0
)

replace (
	github.com/docket-go/docket/conformance => ../../conformance
	github.com/docket-go/docket/core => ../../core
	github.com/docket-go/docket/ports => ../../ports
)
