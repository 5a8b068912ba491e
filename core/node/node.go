package node

import (
	"context"

	"github.com/docket-go/docket/core/schema"
	"github.com/docket-go/docket/core/value"
)

// Node is one implementation. It must be safe for concurrent use: one value
// serves every run of the process.
type Node interface {
	// ConfigSchema describes the configuration a graph document may give the
	// node: an object schema. Its defaults are made part of the graph when it is
	// published. The zero schema takes no configuration.
	ConfigSchema() schema.Schema
	// Call makes one attempt. It should return soon after ctx ends;
	// context.Cause tells why (deadline, shutdown, lost claim).
	Call(ctx context.Context, in Input) (Result, error)
}

// Input is what one attempt sees.
type Input struct {
	State  value.Reader // inputs and state fields as last committed, defaults applied; missing is absent
	Config value.Reader // the node's effective configuration
}

// Result is what one attempt returns: writes (Update, Reset) or Interrupts,
// never both. The zero Result completes the node without a write.
type Result struct {
	// Update holds one write a state field. Values are normalised; what can't be
	// is a permanent failure that names the place.
	Update map[string]any
	// Reset names state fields that go back to being unset, so that their default
	// applies, before this superstep's writes reach them.
	Reset []string
	// Interrupts ask people (or programs) for answers. The node isn't complete
	// and runs again once all of them are resolved.
	Interrupts []Interrupt
}

// Interrupt asks for one answer.
type Interrupt struct {
	ID       string         // unique in the run; empty: step:node:ordinal
	Field    string         // the state field where the answer goes, through its reducer
	Schema   schema.Schema  // what the answer must look like besides the field's own schema; zero: nothing more
	Metadata map[string]any // for whoever answers, such as the question
}

// Write returns a result that writes one field.
func Write(field string, v any) Result {
	return Result{Update: map[string]any{field: v}}
}

// Ask returns a result that interrupts.
func Ask(interrupts ...Interrupt) Result {
	return Result{Interrupts: interrupts}
}

// HandlerFunc makes a Node without configuration from a function.
type HandlerFunc func(ctx context.Context, in Input) (Result, error)

// ConfigSchema returns the zero schema: no configuration.
func (HandlerFunc) ConfigSchema() schema.Schema { return schema.Schema{} }

// Call calls f.
func (f HandlerFunc) Call(ctx context.Context, in Input) (Result, error) { return f(ctx, in) }
