module github.com/docket-go/docket/adapters/pgx

go 1.26.0

replace (
	github.com/docket-go/docket/core => ../../core
	github.com/docket-go/docket/ports => ../../ports
)
