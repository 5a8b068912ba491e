package node

import "context"

// Activation tells an attempt who it is.
type Activation struct {
	RunID  string
	NodeID string
	Step   int64 // the superstep, from 1
	// Attempt counts explicit attempts of this activation, from 1. It doesn't
	// count repeats of the same attempt after a crash.
	Attempt int64
	// TaskID identifies the activation: the same on every attempt and repeat.
	TaskID string
	// IdempotencyKey identifies the attempt: the same on every repeat of it, on
	// whatever worker. Give it to external systems that deduplicate.
	IdempotencyKey string
	// Versions holds the version of every written field and given input that the
	// attempt sees. Read-only.
	Versions map[string]int64
	// Answers holds the answers to the interrupts of this node's last call, sorted
	// by interrupt id; empty on a first call. Read-only.
	Answers []Answer
	// App is the value that the host configured for its nodes.
	App any
}

// Answer is a resolved interrupt.
type Answer struct {
	InterruptID string
	Field       string
	Value       any
}

type activationKey struct{}

// Info returns the activation of the attempt that ctx belongs to. It reports
// false outside a node's call.
func Info(ctx context.Context) (Activation, bool) {
	a, ok := ctx.Value(activationKey{}).(Activation)
	return a, ok
}

// WithActivation returns a context that Info reads. Executors call it; so do
// tests that call a node by hand.
func WithActivation(ctx context.Context, a Activation) context.Context {
	return context.WithValue(ctx, activationKey{}, a)
}
