module github.com/docket-go/docket/core

go 1.26
