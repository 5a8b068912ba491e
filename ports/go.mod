module github.com/docket-go/docket/ports

go 1.26.0

require github.com/docket-go/docket/core v0.0.0

replace github.com/docket-go/docket/core => ../core
