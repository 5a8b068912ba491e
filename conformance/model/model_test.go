package model_test

import (
	"context"
	"testing"

	"github.com/docket-go/docket/conformance"
	"github.com/docket-go/docket/conformance/model"
	"github.com/docket-go/docket/ports"
)

// TestConformance certifies the specification by the suite: the two say the
// same in different ways.
func TestConformance(t *testing.T) {
	t.Parallel()
	conformance.Run(t, conformance.Harness{
		Name: "model",
		Open: func(context.Context) (ports.Backend, error) { return model.NewBackend(), nil },
	})
}
