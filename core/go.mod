module github.com/docket-go/docket/core

go 1.26.0
