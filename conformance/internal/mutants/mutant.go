package mutants

import (
	"github.com/docket-go/docket/conformance/model"
	"github.com/docket-go/docket/ports"
)

// Mutant is the model with one rule switched off.
type Mutant struct {
	Name   string
	Clause string   // the rule's
	Off    string   // what is switched off, in one sentence
	Kills  []string // the example cases that go red: exactly these
	// Racy mutants break the rule only when calls overlap. Kills are the cases
	// that a fixed seed must turn red; other races may go red with them.
	Racy bool

	rules     rules
	wrap      func(*model.Backend) ports.Backend // around the whole backend
	reopened  func(*model.State)                 // what a reopening does to the storage
	apart     bool                               // a reopening copies the storage
	alone     bool                               // its stores disturb each other: one case at a time
	rawShapes bool                               // raw writes of misshapen rows are taken
}
