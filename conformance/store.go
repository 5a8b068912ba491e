package conformance

import (
	"time"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// ttl is the claim TTL of cases that don't care.
const ttl = time.Minute

// manyAttempts is the attempt maximum of cases that don't care.
const manyAttempts = 1000

var (
	nobody = record.Owner{}
	acme   = record.Owner{Tenant: "acme"}
	globex = record.Owner{Tenant: "globex"}
)

// store is one handle on a backend, with the steps that cases are made of. A
// step that can't be done ends the case.
type store struct {
	*logged
	env     *env
	raw     ports.Backend
	crashed bool
}

// graph saves a version of a graph for the owner and returns its ref.
func (s *store) graph(owner record.Owner) graph.Ref {
	s.env.Helper()
	return s.save(owner, version("flow", 1))
}

func (s *store) save(owner record.Owner, v record.GraphVersion) graph.Ref {
	s.env.Helper()
	_, err := s.SaveGraph(s.env.Context(), ports.SaveGraph{Owner: owner, Version: v, Now: s.env.now})
	s.env.ok(err, "saving a graph")
	return v.Ref
}

// start inserts a run that is due at once.
func (s *store) start(owner record.Owner, id string) *subject {
	s.env.Helper()
	return s.startWith(owner, id, change{})
}

func (s *store) startWith(owner record.Owner, id string, c change) *subject {
	s.env.Helper()
	r := &subject{owner: owner}
	s.env.ok(s.insert(r, begin(id, s.graph(owner), s.env.now, c)), "inserting run "+id)
	return r
}

// insert stores a first transition; the subject follows if it was taken.
func (s *store) insert(r *subject, t record.Transition) error {
	_, err := s.InsertRun(s.env.Context(), ports.InsertRun{Owner: r.owner, Transition: t, Now: s.env.now})
	if err == nil {
		r.apply(t)
	}
	return err
}

// claims leases what is due, up to limit.
func (s *store) claims(limit int) ports.Claimed {
	s.env.Helper()
	got, err := s.ClaimRuns(s.env.Context(), ports.ClaimRuns{
		Scope: ports.System(), Limit: limit, TTL: ttl, MaxAttempts: manyAttempts, Now: s.env.now,
	})
	s.env.ok(err, "claiming")
	return got
}

// claim leases the run, which must be the only one due.
func (s *store) claim(r *subject) ports.Lease {
	s.env.Helper()
	got := s.claims(10)
	if len(got.Leases) != 1 || len(got.Poisoned) != 0 || got.Leases[0].Run.ID != r.run.ID {
		s.env.Fatalf("claiming run %q, the only one due: got %d leases and %d poisoned: %s", r.run.ID, len(got.Leases), len(got.Poisoned), show(got))
	}
	return got.Leases[0]
}

// commit advances a claimed run.
func (s *store) commit(r *subject, token string, c change) ports.Committed {
	s.env.Helper()
	got, err := s.tryCommit(r, token, r.next(s.env.now, c))
	s.env.ok(err, "committing run "+r.run.ID)
	return got
}

func (s *store) tryCommit(r *subject, token string, t record.Transition) (ports.Committed, error) {
	got, err := s.CommitClaimed(s.env.Context(), ports.CommitClaimed{
		Scope: ports.System(), RunID: r.run.ID, Token: token, ExpectedSeq: r.run.CheckpointSeq,
		Transition: t, TTL: ttl, Now: s.env.now,
	})
	if err == nil {
		r.apply(t)
	}
	return got, err
}

// signal advances a run without its claim.
func (s *store) signal(r *subject, c change) ports.Committed {
	s.env.Helper()
	got, err := s.trySignal(r, r.next(s.env.now, c))
	s.env.ok(err, "signalling run "+r.run.ID)
	return got
}

func (s *store) trySignal(r *subject, t record.Transition) (ports.Committed, error) {
	got, err := s.CommitUnclaimed(s.env.Context(), ports.CommitUnclaimed{
		Scope: r.scope(), RunID: r.run.ID, ExpectedSeq: r.run.CheckpointSeq, Transition: t, Now: s.env.now,
	})
	if err == nil {
		r.apply(t)
	}
	return got, err
}

func (s *store) refresh(r *subject, token string, d time.Duration) (ports.Refreshed, error) {
	return s.RefreshClaim(s.env.Context(), ports.RefreshClaim{Scope: ports.System(), RunID: r.run.ID, Token: token, TTL: d, Now: s.env.now})
}

func (s *store) release(r *subject, token string, back bool) error {
	_, err := s.ReleaseClaim(s.env.Context(), ports.ReleaseClaim{
		Scope: ports.System(), RunID: r.run.ID, Token: token, ReturnAttempt: back, Now: s.env.now,
	})
	return err
}

// abandon abandons with the given policy; scope, run, token, sequence and time
// are filled in.
func (s *store) abandon(r *subject, token string, p ports.AbandonClaim) (ports.Abandoned, error) {
	p.Scope, p.RunID, p.Token, p.Now = ports.System(), r.run.ID, token, s.env.now
	if p.ExpectedSeq == 0 {
		p.ExpectedSeq = r.run.CheckpointSeq
	}
	return s.AbandonClaim(s.env.Context(), p)
}

// poison takes the run, due at once, out of delivery by claiming it once too
// often.
func (s *store) poison(r *subject) {
	s.env.Helper()
	for range 2 {
		_, err := s.ClaimRuns(s.env.Context(), ports.ClaimRuns{Scope: ports.System(), Limit: 1, TTL: ttl, MaxAttempts: 1, Now: s.env.now})
		s.env.ok(err, "claiming towards poison")
		s.env.advance(ttl + time.Microsecond)
	}
	if s.info(r).Poison.At.IsZero() {
		s.env.Fatalf("run %q isn't poisoned after its only attempt expired and a claim with MaxAttempts 1", r.run.ID)
	}
}

// damage flips stored bits, or ends the case because the harness can't.
func (s *store) damage(target Target) {
	s.env.Helper()
	if err := s.env.h.Corrupt(s.env.Context(), s.raw, target); err != nil {
		broken(s.env.T, "Corrupt(%s): %v", show(target), err)
	}
}
