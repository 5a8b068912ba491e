package conformance

import (
	"context"
	"errors"
	"hash/fnv"
	"math/rand/v2"
	"time"

	"github.com/docket-go/docket/ports"
)

// epoch is the first Now of every case. Its microseconds are odd on purpose:
// whole seconds hide a store that rounds.
var epoch = time.Date(2031, 5, 6, 7, 8, 9, 123457000, time.UTC)

// env is what a case works with.
type env struct {
	T
	h    Harness
	seed uint64
	rand *rand.Rand // only from the case's own goroutine
	now  time.Time  // the Now of the next requests
	log  *opLog

	patience time.Duration // with what must come soon
}

func newEnv(t T, h Harness, c Case, seed uint64) *env {
	id := fnv.New64a()
	id.Write([]byte(c.ID))
	return &env{
		T: t, h: h, seed: seed, now: epoch, log: &opLog{}, patience: 10 * time.Second,
		rand: rand.New(rand.NewPCG(seed, id.Sum64())),
	}
}

// open opens a fresh store that is closed with the case.
func (e *env) open() *store {
	e.Helper()
	b, err := e.h.Open(e.Context())
	if err != nil {
		broken(e.T, "Open: %v", err)
	}
	return e.handle(b, "")
}

func (e *env) handle(b ports.Backend, name string) *store {
	s := &store{logged: &logged{Backend: b, t: e.T, log: e.log, handle: name}, env: e, raw: b}
	e.Cleanup(func() {
		if err := b.Close(); err != nil && !errors.Is(err, ports.ErrClosed) && !s.crashed {
			e.Errorf("closing the store after the case: %v", err)
		}
	})
	return s
}

// reopen opens one more handle on the storage of s.
func (e *env) reopen(s *store, name string) *store {
	e.Helper()
	b, err := e.h.Reopen(e.Context(), s.raw)
	if err != nil {
		broken(e.T, "Reopen: %v", err)
	}
	return e.handle(b, name)
}

// advance moves the case's clock forward.
func (e *env) advance(by time.Duration) { e.now = e.now.Add(by) }

// ok ends the case when a call that must succeed didn't.
func (e *env) ok(err error, what string) {
	e.Helper()
	if err != nil {
		e.Fatalf("%s: %v", what, err)
	}
}

// want reports an error that isn't the expected one of the closed set.
func (e *env) want(err, target error, what string) {
	e.Helper()
	switch {
	case err == nil:
		e.Errorf("%s: succeeded, want %q", what, target)
	case !errors.Is(err, target):
		e.Errorf("%s: got %q, want %q", what, err, target)
	}
}

// same reports a difference between what was expected and what came.
func (e *env) same(want, got any, what string) {
	e.Helper()
	if short, differs := scalars(want, got); differs {
		e.Errorf("%s: %s", what, short)
	} else if diff := difference(want, got); diff != "" {
		e.Errorf("%s differs (want → got):\n%s", what, diff)
	}
}

// sameTime reports a time that isn't the very microsecond, in UTC.
func (e *env) sameTime(want, got time.Time, what string) {
	e.Helper()
	if !got.Equal(want) {
		e.Errorf("%s is %s, want %s", what, showTime(got), showTime(want))
	}
}

// check reports what isn't so.
func (e *env) check(so bool, format string, args ...any) {
	e.Helper()
	if !so {
		e.Errorf(format, args...)
	}
}

// bounded returns a context for one call that must be prompt.
func (e *env) bounded(d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(e.Context(), d)
	e.Cleanup(cancel)
	return ctx
}
