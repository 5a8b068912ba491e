package backend_test

import (
	"context"
	"testing"

	"github.com/docket-go/docket/conformance"
	"github.com/docket-go/docket/examples/backend"
	"github.com/docket-go/docket/ports"
)

func TestConformance(t *testing.T) {
	conformance.Run(t, conformance.Harness{
		Name: "example",
		Open: func(context.Context) (ports.Backend, error) { return backend.New(), nil },
	})
}
