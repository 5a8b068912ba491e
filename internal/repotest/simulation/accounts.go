package simulation

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/engine"
)

// tally counts what happened.
type tally struct {
	mu sync.Mutex
	n  map[string]int
}

func (t *tally) add(what string) { t.count(what, 1) }

func (t *tally) addIf(it bool, what string) {
	if it {
		t.count(what, 1)
	}
}

func (t *tally) count(what string, n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n == nil {
		t.n = map[string]int{}
	}
	t.n[what] += n
}

func (t *tally) figures() map[string]int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.n)
}

// journal knows every call of a node, whatever became of it.
type journal struct {
	mu    sync.Mutex
	calls map[string][]nodeCall // by idempotency key
}

type nodeCall struct {
	runID string
	by    string
	at    time.Duration // of the world
	now   time.Time     // the store's
}

func (j *journal) begin(a node.Activation, by string, at time.Duration, now time.Time) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.calls == nil {
		j.calls = map[string][]nodeCall{}
	}
	j.calls[a.IdempotencyKey] = append(j.calls[a.IdempotencyKey], nodeCall{a.RunID, by, at, now})
}

// acks is what others were told: what they may rely on.
type acks struct {
	mu       sync.Mutex
	starts   map[string]bool
	cancels  map[string]bool
	answers  map[string][]string // by run and interrupt
	observed []observed
	awaits   []engine.Run
}

// observed is one observation of a commit.
type observed struct {
	runID    string
	seq      int64
	checksum record.Checksum
	err      error
}

func (a *acks) started(id string)   { a.set(&a.starts, id) }
func (a *acks) cancelled(id string) { a.set(&a.cancels, id) }

func (a *acks) set(m *map[string]bool, id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if *m == nil {
		*m = map[string]bool{}
	}
	(*m)[id] = true
}

func (a *acks) answered(id, interrupt, text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.answers == nil {
		a.answers = map[string][]string{}
	}
	key := id + " " + interrupt
	a.answers[key] = append(a.answers[key], text)
}

func (a *acks) awaited(r engine.Run) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.awaits = append(a.awaits, r)
}

func (a *acks) observe(_ context.Context, o engine.Observation) error {
	seen := observed{runID: o.Checkpoint.RunID(), seq: o.Checkpoint.Seq()}
	document, err := run.Encode(o.Checkpoint.Run())
	seen.checksum, seen.err = record.Sum(document), err
	a.mu.Lock()
	defer a.mu.Unlock()
	a.observed = append(a.observed, seen)
	return nil
}
