package portstest

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/docket-go/docket/ports"
)

// Kind is what goes wrong with one call.
type Kind int

// The kinds of fault.
const (
	None   Kind = iota
	Before      // ErrUnavailable: the backend never sees the request
	After       // the backend applies the request, the caller gets ErrUncertain
	Late        // the caller gets ErrUncertain; the backend sees the request when Settle is called
	Delay       // the call waits in Config.Wait, then goes on
	Drop        // a wake isn't delivered; only for the operation OpWake
)

// OpWake is the operation name under which the delivery of each wake is chosen.
const OpWake = "wake"

// ErrInjected is the cause inside every injected error.
var ErrInjected = errors.New("portstest: injected fault")

// Fault is what to do with one call. The zero Fault is none.
type Fault struct {
	Kind Kind
	Err  error // instead of the kind's own error
}

// Config says which calls fail.
type Config struct {
	// Choose picks the fault of call number n (from 1) of an operation. Nil
	// chooses none. It is called from the goroutines of the callers, one at a
	// time.
	Choose func(op string, n int) Fault
	// Wait is where a delayed call waits; its error, when ctx ends, becomes an
	// ErrUnavailable. Nil waits for ctx to end.
	Wait func(ctx context.Context, op string, n int) error
	// Skew returns what is added to a request's Now, when the request has one: a
	// host whose clock is wrong. Nil adds nothing.
	Skew func() time.Duration
}

// Faults is a faulty backend and the control of it.
type Faults struct {
	inner  ports.Backend
	config Config

	mu    sync.Mutex
	calls map[string]int
	late  []func(context.Context) error
}

// New wraps a backend.
func New(inner ports.Backend, config Config) *Faults {
	return &Faults{inner: inner, config: config, calls: map[string]int{}}
}

// Backend returns the faulty backend. It is a ports.WakeSource exactly when the
// backend inside has one.
func (f *Faults) Backend() ports.Backend {
	if source, ok := ports.As[ports.WakeSource](f.inner); ok {
		return &waking{faulty: &faulty{f}, source: source}
	}
	return &faulty{f}
}

// Settle applies the requests of all late faults so far, in the order in which
// they were sent, and returns their errors: a fence that moved meanwhile
// answers ErrStale here.
func (f *Faults) Settle(ctx context.Context) []error {
	f.mu.Lock()
	late := f.late
	f.late = nil
	f.mu.Unlock()
	errs := make([]error, len(late))
	for i, apply := range late {
		errs[i] = apply(ctx)
	}
	return errs
}

// Calls returns how often an operation was called.
func (f *Faults) Calls(op string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[op]
}

func (f *Faults) choose(op string) (Fault, int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[op]++
	n := f.calls[op]
	if f.config.Choose == nil {
		return Fault{}, n
	}
	return f.config.Choose(op, n), n
}

func (f *Faults) wait(ctx context.Context, op string, n int) error {
	if f.config.Wait != nil {
		return f.config.Wait(ctx, op, n)
	}
	<-ctx.Done()
	return ctx.Err()
}

func (f *Faults) now(t time.Time) time.Time {
	if t.IsZero() || f.config.Skew == nil {
		return t
	}
	return t.Add(f.config.Skew())
}

// call sends one operation through the fault that the test chose for it.
func call[A any](ctx context.Context, f *Faults, op string, send func(context.Context) (A, error)) (A, error) {
	var none A
	fault, n := f.choose(op)
	switch fault.Kind {
	case Before:
		return none, fault.or(ports.Unavailable(op, ErrInjected))
	case After:
		if _, err := send(ctx); ports.IsAnswer(err) {
			return none, err // an answer wrote nothing: there is nothing to be uncertain of
		}
		return none, fault.or(ports.Uncertain(op, ErrInjected))
	case Late:
		f.mu.Lock()
		f.late = append(f.late, func(ctx context.Context) error {
			_, err := send(ctx)
			return err
		})
		f.mu.Unlock()
		return none, fault.or(ports.Uncertain(op, ErrInjected))
	case Delay:
		if err := f.wait(ctx, op, n); err != nil {
			return none, fault.or(ports.Unavailable(op, err))
		}
	}
	return send(ctx)
}

func (f Fault) or(byDefault error) error {
	if f.Err != nil {
		return f.Err
	}
	return byDefault
}
