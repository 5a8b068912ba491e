package simulation

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/ports"
)

// saboteur breaks one promise, now and then.
type saboteur struct {
	inner  ports.Backend
	every  int           // calls of the operation
	leases []ports.Lease // seen so far; only for what stands below the referee, who lets in one at a time

	mu    sync.Mutex
	calls map[string]int
}

// turn counts the calls of an operation and reports whether this one is broken.
func (s *saboteur) turn(op string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[op]++
	return s.calls[op]%s.every == 0
}

// sabotage is something broken and the check that has to notice.
type sabotage struct {
	name  string
	every int
	check string
	hook  func(ctx context.Context, s *saboteur, c call) (any, error)
}

// stores break one promise of the contract each.
var stores = []sabotage{
	{"ignores the token", 1, "contract", ignoreToken},
	{"forgets an acknowledged commit", 40, "lost", forgetCommit},
	{"forgets an acknowledged answer", 3, "lost", forgetSignal},
	{"leases one run twice", 5, "contract", leaseTwice},
	{"doesn't count attempts", 1, "contract", forgetAttempts},
	{"steals before the end of a lease", 2, "contract", stealEarly},
	{"never wakes a run", 40, "liveness", neverWake},
	{"changes what it stores", 25, "lost", changeState},
	{"loses an event", 1, "stored", loseEvent},
	{"shows an old run", 10, "lost", showOld},
}

// engines do what no engine may do.
var engines = []sabotage{
	{"commit other state than the nodes' results lead to", 25, "replay", changeState},
	{"park for longer than the machine says", 1, "replay", neverWake},
	{"acknowledge an answer that they don't store", 8, "acknowledged", forgetAnswer},
	{"tell observers what they don't store", 40, "observed", forgetCommit},
}

// TestSabotage proves that the checks can fail.
func TestSabotage(t *testing.T) {
	for _, s := range stores {
		t.Run("a store "+s.name, func(t *testing.T) { s.mustBeFound(t, false) })
	}
	for _, s := range engines {
		t.Run("engines "+s.name, func(t *testing.T) { s.mustBeFound(t, true) })
	}
}

// maxWorlds is how long a sabotage may stay hidden. Most show in the first worlds;
// which one it is depends on the scheduler too.
const maxWorlds = 64

func (s sabotage) mustBeFound(t *testing.T, above bool) {
	for seed := uint64(1); seed <= maxWorlds; seed++ {
		broken := func(inner ports.Backend) ports.Backend {
			culprit := &saboteur{inner: inner, every: s.every, calls: map[string]int{}}
			return &tap{inner: inner, hook: func(ctx context.Context, c call) (any, error) { return s.hook(ctx, culprit, c) }}
		}
		cfg := Config{Seed: seed, Runs: 12, Sabotage: broken}
		if above {
			cfg.Sabotage, cfg.Meddle = nil, broken
		}
		report := simulate(t, cfg)
		if slices.ContainsFunc(report.Violations, func(v Violation) bool { return v.Check == s.check }) {
			return
		}
	}
	t.Errorf("the check %q didn't notice in %d worlds", s.check, maxWorlds)
}

// ignoreToken lets whoever comes commit.
func ignoreToken(ctx context.Context, s *saboteur, c call) (any, error) {
	if req, ok := c.req.(ports.CommitClaimed); ok {
		seen, err := s.inner.FetchRun(ctx, ports.FetchRun{Scope: ports.System(), RunID: req.RunID})
		if err == nil && seen.Token != "" {
			req.Token = seen.Token
		}
		c.req = req
	}
	return c.send(ctx, c.req)
}

// forgetCommit answers a commit that would be stored, and doesn't store it.
func forgetCommit(ctx context.Context, s *saboteur, c call) (any, error) {
	req, ok := c.req.(ports.CommitClaimed)
	if !ok || !s.turn(c.op) {
		return c.send(ctx, c.req)
	}
	seen, err := s.inner.InspectRun(ctx, ports.InspectRun{Scope: ports.System(), RunID: req.RunID})
	row, _ := s.inner.FetchRun(ctx, ports.FetchRun{Scope: ports.System(), RunID: req.RunID})
	if err != nil || row.Token != req.Token || row.Run.CheckpointSeq != req.ExpectedSeq {
		return c.send(ctx, c.req) // it would be refused
	}
	answer := ports.Committed{Now: seen.Now}
	if req.Transition.Schedule.Kind == record.ScheduleRetain {
		answer.ClaimEnd = seen.Now.Add(req.TTL)
		if seen.ClaimEnd.After(answer.ClaimEnd) {
			answer.ClaimEnd = seen.ClaimEnd
		}
	}
	return answer, nil
}

// forgetAnswer says that a signal is stored, and doesn't send it.
func forgetAnswer(ctx context.Context, s *saboteur, c call) (any, error) {
	if _, ok := c.req.(ports.CommitUnclaimed); ok && s.turn(c.op) {
		return ports.Committed{}, nil
	}
	return c.send(ctx, c.req)
}

// forgetSignal answers a signal that would be stored, and doesn't store it.
func forgetSignal(ctx context.Context, s *saboteur, c call) (any, error) {
	req, ok := c.req.(ports.CommitUnclaimed)
	if !ok || !s.turn(c.op) {
		return c.send(ctx, c.req)
	}
	seen, err := s.inner.FetchRun(ctx, ports.FetchRun{Scope: ports.System(), RunID: req.RunID})
	if err != nil || seen.Run.CheckpointSeq != req.ExpectedSeq {
		return c.send(ctx, c.req)
	}
	return ports.Committed{Now: seen.Now}, nil
}

// leaseTwice hands out again what somebody else has.
func leaseTwice(ctx context.Context, s *saboteur, c call) (any, error) {
	answer, err := c.send(ctx, c.req)
	if claimed, ok := answer.(ports.Claimed); ok && err == nil {
		if s.turn(c.op) && len(claimed.Leases) == 0 && len(s.leases) > 0 {
			claimed.Leases = append(claimed.Leases, s.leases[len(s.leases)-1])
			return claimed, nil
		}
		s.leases = append(s.leases, claimed.Leases...)
	}
	return answer, err
}

// forgetAttempts says that every lease is the first one.
func forgetAttempts(ctx context.Context, _ *saboteur, c call) (any, error) {
	answer, err := c.send(ctx, c.req)
	if claimed, ok := answer.(ports.Claimed); ok {
		for i := range claimed.Leases {
			claimed.Leases[i].Attempt = 1
		}
	}
	return answer, err
}

// stealEarly lives in the future when it claims.
func stealEarly(ctx context.Context, s *saboteur, c call) (any, error) {
	req, ok := c.req.(ports.ClaimRuns)
	if !ok || !s.turn(c.op) {
		return c.send(ctx, c.req)
	}
	page, err := s.inner.ListRuns(ctx, ports.ListRuns{Scope: ports.System(), Limit: 1, Now: req.Now})
	if err != nil {
		return c.send(ctx, c.req)
	}
	req.Now = page.Now.Add(2 * claimTTL)
	answer, err := c.send(ctx, req)
	if claimed, ok := answer.(ports.Claimed); ok && err == nil {
		claimed.Now = page.Now
		for i := range claimed.Leases {
			claimed.Leases[i].Now, claimed.Leases[i].ClaimEnd = page.Now, page.Now.Add(req.TTL)
		}
		return claimed, nil
	}
	return answer, err
}

// neverWake answers a commit that parks until a time, and parks for ever.
func neverWake(ctx context.Context, s *saboteur, c call) (any, error) {
	req, ok := c.req.(ports.CommitClaimed)
	if ok && req.Transition.Schedule.Kind == record.ScheduleAt {
		req.Transition.Schedule.At = req.Transition.Schedule.At.Add(24 * time.Hour)
	}
	if ok {
		c.req = req
	}
	return c.send(ctx, c.req)
}

// changeState stores another document than it was given, as if it were right.
func changeState(ctx context.Context, s *saboteur, c call) (any, error) {
	req, ok := c.req.(ports.CommitClaimed)
	if !ok || !s.turn(c.op) {
		return c.send(ctx, c.req)
	}
	r, err := run.Decode(req.Transition.Run.Document)
	if err != nil {
		return c.send(ctx, c.req)
	}
	r.Metadata = map[string]any{"by": "a saboteur"}
	if req.Transition.Run.Document, err = run.Encode(r); err != nil {
		return c.send(ctx, c.req)
	}
	req.Transition.Run.Checksum = record.Sum(req.Transition.Run.Document)
	return c.send(ctx, req)
}

// loseEvent leaves a row out of what it lists.
func loseEvent(ctx context.Context, _ *saboteur, c call) (any, error) {
	answer, err := c.send(ctx, c.req)
	if page, ok := answer.(ports.EventPage); ok && err == nil && len(page.Events) > 3 {
		page.Events = slices.Delete(page.Events, 2, 3)
		return page, nil
	}
	return answer, err
}

// showOld answers reads with what was there before, as a replica that lags.
func showOld(ctx context.Context, s *saboteur, c call) (any, error) {
	answer, err := c.send(ctx, c.req)
	if got, ok := answer.(ports.FetchedRun); ok && err == nil && s.turn(c.op) {
		for _, old := range s.leases {
			if old.Run.ID == got.Run.ID && !bytes.Equal(old.Run.Document, got.Run.Document) {
				got.Run = old.Run.Clone()
				return got, nil
			}
		}
	}
	if claimed, ok := answer.(ports.Claimed); ok && err == nil {
		s.leases = append(s.leases, claimed.Leases...)
	}
	return answer, err
}
