package conformance

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
)

// trial is the T of one case under Check. Its zero value is not usable.
type trial struct {
	ctx context.Context

	mu       sync.Mutex
	failures []string
	broke    []string // the harness, not the backend
	skip     string
	notes    []string
	cleanups []func()
	done     chan struct{}
}

func newTrial(ctx context.Context) *trial {
	return &trial{ctx: ctx, done: make(chan struct{})}
}

// start runs body in its own goroutine, with everything that a case may do to it
// contained: a panic is an error of the case, Goexit is how Fatalf ends it.
func (t *trial) start(body func()) {
	go func() {
		defer close(t.done)
		defer t.cleanUp()
		t.contain("the case panicked", body)
	}()
}

// cleanUp runs the clean-ups last first, also those that a clean-up adds.
func (t *trial) cleanUp() {
	for {
		t.mu.Lock()
		n := len(t.cleanups)
		if n == 0 {
			t.mu.Unlock()
			return
		}
		f := t.cleanups[n-1]
		t.cleanups = t.cleanups[:n-1]
		t.mu.Unlock()
		finished := make(chan struct{})
		go func() { // of its own, so that Goexit in one doesn't skip the rest
			defer close(finished)
			t.contain("a clean-up panicked", f)
		}()
		<-finished
	}
}

func (t *trial) contain(what string, f func()) {
	defer func() {
		if p := recover(); p != nil {
			t.add(&t.broke, fmt.Sprintf("%s: %v\n%s", what, p, debug.Stack()))
		}
	}()
	f()
}

func (t *trial) add(to *[]string, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	*to = append(*to, text)
}

func (t *trial) Context() context.Context          { return t.ctx }
func (t *trial) Helper()                           {}
func (t *trial) Logf(format string, args ...any)   { t.add(&t.notes, fmt.Sprintf(format, args...)) }
func (t *trial) Errorf(format string, args ...any) { t.add(&t.failures, fmt.Sprintf(format, args...)) }

func (t *trial) Fatalf(format string, args ...any) {
	t.Errorf(format, args...)
	runtime.Goexit()
}

func (t *trial) Broken(format string, args ...any) {
	t.add(&t.broke, fmt.Sprintf(format, args...))
	runtime.Goexit()
}

func (t *trial) Skipf(format string, args ...any) {
	t.mu.Lock()
	t.skip = fmt.Sprintf(format, args...)
	t.mu.Unlock()
	runtime.Goexit()
}

func (t *trial) Cleanup(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cleanups = append(t.cleanups, f)
}

func (t *trial) Failed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.failures) > 0
}
