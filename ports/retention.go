package ports

import (
	"context"
	"time"

	"github.com/docket-go/docket/core/value"
)

// KeptVersions is how many of the newest versions of an owner's graph id are
// never pruned, whatever their age (PRN-3).
const KeptVersions = 10

// MaxPruneBatch is the most rows of one kind that a single call removes.
const MaxPruneBatch = 10_000

// Pruner removes what a policy no longer keeps.
type Pruner interface {
	// Prune removes one bounded batch and says whether there is more (PRN-4). In
	// this order, each in a transaction of its own or all in one: events past
	// their retention and events of expired runs, oldest first; expired runs that
	// have no event left, oldest first; graph versions. A run is expired when it
	// is terminal and finished Policy.Runs ago or longer; a running, waiting or
	// poisoned run never is (PRN-2, PRN-5). An event's age counts from the store's
	// time of writing it, and live runs' events age too (PRN-6). At exactly its
	// retention a row goes. The sequence of what remains doesn't change: readers
	// see a gap (EVT-3).
	//
	// Of concurrent pruners on one schema one works; the others answer Skipped
	// and remove nothing. It is safe to send again. The dry run removes nothing
	// and reports exactly what the same call would remove (PRN-7).
	Prune(ctx context.Context, req Prune) (Pruned, error)
}

// Retention is an explicit policy: a zero duration keeps that kind for ever,
// and all zero is ErrInvalid (PRN-1).
type Retention struct {
	Events time.Duration // kept since the store wrote them; at most Runs when both are set
	Runs   time.Duration // terminal runs, kept since they finished; their events go with them
	Graphs time.Duration // versions that no run refers to, kept since publication (PRN-3)
}

// Prune asks for one batch.
type Prune struct {
	Policy Retention
	Batch  int  // at most this many rows of each kind, 1..MaxPruneBatch
	DryRun bool // report only (PRN-7)
	Now    time.Time
}

// Pruned answers Prune, each kind counted for itself (PRN-4).
type Pruned struct {
	Events  int64 // events past their own retention
	Expired int64 // events of expired runs
	Runs    int64
	Graphs  int64
	More    bool // a batch was filled, or a run waits for its last events: call again
	Skipped bool // another pruner is at work
	Now     time.Time
}

// Check checks the request's shape: a policy that says something, and a bound.
func (r Prune) Check() error {
	c := check{op: "Prune"}
	p := r.Policy
	if p == (Retention{}) {
		c.refuse("Policy", "a retention policy has no defaults: name what may go")
	}
	c.retention("Policy.Events", p.Events)
	c.retention("Policy.Runs", p.Runs)
	c.retention("Policy.Graphs", p.Graphs)
	if p.Runs > 0 && p.Events > p.Runs {
		c.refuse("Policy.Events", "events can't outlive their run: at most Policy.Runs")
	}
	c.atLeast("Batch", int64(r.Batch), 1)
	if r.Batch > MaxPruneBatch {
		c.refuse("Batch", "over the limit of 10000")
	}
	c.optionalMoment("Now", r.Now)
	return c.err()
}

// Normal returns the request with its times truncated.
func (r Prune) Normal() Prune {
	r.Now = value.Time(r.Now)
	return r
}

// retention refuses a sub-microsecond policy: it reads as "keep" to a store.
func (c *check) retention(path string, d time.Duration) {
	if d != 0 && d < time.Microsecond {
		c.refuse(path, "a retention is zero (keep) or at least a microsecond")
	}
}
