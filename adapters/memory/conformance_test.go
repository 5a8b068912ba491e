package memory

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/docket-go/docket/conformance"
	"github.com/docket-go/docket/ports"
)

// TestConformance is the main test: the suite, clause by clause.
func TestConformance(t *testing.T) {
	t.Parallel()
	conformance.Run(t, harness())
}

// BenchmarkBackend measures the shapes that every backend is measured by.
func BenchmarkBackend(b *testing.B) { conformance.Benchmark(b, harness()) }

// harness has no Reopen and no Crash: what the backend holds ends with it.
func harness() conformance.Harness {
	clocks := movable{offset: map[*Backend]time.Duration{}}
	return conformance.Harness{
		Name: "memory",
		Open: func(context.Context) (ports.Backend, error) { return clocks.open(), nil },
		Clock: func(_ context.Context, b ports.Backend, by time.Duration) error {
			clocks.move(b.(*Backend), by)
			return nil
		},
		Corrupt: func(_ context.Context, b ports.Backend, target conformance.Target) error {
			return corrupt(b.(*Backend), target)
		},
	}
}

// movable gives each backend the process's clock plus an offset.
type movable struct {
	mu     sync.Mutex
	offset map[*Backend]time.Duration
}

func (m *movable) open() *Backend {
	var b *Backend
	b = New(Config{Clock: func() time.Time {
		m.mu.Lock()
		defer m.mu.Unlock()
		return time.Now().Add(m.offset[b])
	}})
	return b
}

func (m *movable) move(b *Backend, by time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.offset[b] += by
}

// corrupt flips the last bit of stored bytes, behind the backend's back.
func corrupt(b *Backend, target conformance.Target) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if target.Ref.ID != "" {
		return flip(b.state.versions[versionKey{target.Owner, target.Ref}].Document)
	}
	r := b.state.slots[target.RunID].row
	if target.Seq == 0 {
		return flip(r.run.Document)
	}
	i, found := sought(r.events, target.Seq)
	if !found {
		return errors.New("no such event")
	}
	return flip(r.events[i].Payload)
}

func flip(stored []byte) error {
	if len(stored) == 0 {
		return errors.New("nothing to damage")
	}
	stored[len(stored)-1] ^= 1
	return nil
}
