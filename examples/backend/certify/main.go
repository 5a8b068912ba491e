package main

import (
	"context"

	"github.com/docket-go/docket/conformance"
	"github.com/docket-go/docket/examples/backend"
	"github.com/docket-go/docket/ports"
)

func main() {
	conformance.Main(conformance.Harness{
		Name: "example",
		Open: func(context.Context) (ports.Backend, error) { return backend.New(), nil },
	})
}
