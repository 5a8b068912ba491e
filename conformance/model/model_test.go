package model_test

import (
	"testing"

	"github.com/docket-go/docket/conformance"
	"github.com/docket-go/docket/conformance/internal/mutants"
)

// TestConformance certifies the specification by the suite: the two say the
// same in different ways. The zero mutant has every rule.
func TestConformance(t *testing.T) {
	t.Parallel()
	conformance.Run(t, mutants.Harness(mutants.Mutant{}))
}
