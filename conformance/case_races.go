package conformance

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

var raceCases = []Case{
	{
		ID: "race/one-commit-wins", Clauses: on("RUN-7 RUN-2"),
		Rule: "Of concurrent commits on one sequence exactly one wins; the others are ErrStale and leave nothing.",
		run:  oneCommitWins,
	},
	{
		ID: "race/one-signal-wins", Clauses: on("RUN-7 RUN-6"),
		Rule: "Of a claimed commit and concurrent signals on one sequence exactly one wins.",
		run:  oneSignalWins,
	},
	{
		ID: "race/claimers-share-without-loss", Clauses: on("CLM-5 CLM-2"),
		Rule: "Concurrent claimers lease every due run exactly once, within their limits.",
		run:  claimersShare,
	},
	{
		ID: "race/steal-against-refresh", Clauses: on("CLM-10 CLM-7"),
		Rule: "When a refresh races with a steal of an expired claim, exactly one of them has the run.",
		run:  stealAgainstRefresh,
	},
	{
		ID: "race/poison-once", Clauses: on("CLM-10 CLM-3"),
		Rule: "Of concurrent claims that find a run out of attempts exactly one poisons it.",
		run:  poisonOnce,
	},
	{
		ID: "race/readers-never-miss-an-event", Clauses: on("EVT-6 EVT-4"),
		Rule: "A reader that pages while writers commit sees every event, in order, never one below its cursor later.",
		run:  readersNeverMiss,
	},
}

// tally runs the attempts at once and counts who won; losers must be ErrStale or
// the other errors given.
func (e *env) tally(what string, attempts []func() error, lost ...error) (winner int) {
	e.Helper()
	errs := make([]error, len(attempts))
	var group errgroup.Group
	start := make(chan struct{})
	for i, attempt := range attempts {
		group.Go(func() error {
			<-start
			errs[i] = attempt()
			return nil
		})
	}
	close(start)
	_ = group.Wait() // the errors are looked at one by one
	winner = -1
	for i, err := range errs {
		switch {
		case err == nil && winner >= 0:
			e.Errorf("%s: %d and %d both won", what, winner, i)
		case err == nil:
			winner = i
		default:
			e.wantAny(err, what+": a loser", append(lost, ports.ErrStale)...)
		}
	}
	if winner < 0 {
		e.Fatalf("%s: nobody won: %v", what, errs)
	}
	return winner
}

func (e *env) wantAny(err error, what string, targets ...error) {
	e.Helper()
	for _, t := range targets {
		if ports.CodeOf(err) == ports.CodeOf(t) {
			return
		}
	}
	e.Errorf("%s: got %q, want one of %v", what, err, targets)
}

func oneCommitWins(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	for range 8 {
		token := s.claim(r).Token
		transitions := make([]record.Transition, 8)
		attempts := make([]func() error, len(transitions))
		for i := range transitions {
			transitions[i] = r.next(e.now, change{Events: 1 + i%3, Pad: i})
			attempts[i] = func() error { return s.commitAt(r, token, transitions[i].Run.CheckpointSeq-1, transitions[i]) }
		}
		won := e.tally("concurrent commits on one sequence", attempts)
		r.apply(transitions[won])
		s.stored(r)
	}
}

func oneSignalWins(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	for range 8 {
		token := s.claim(r).Token
		seq := r.run.CheckpointSeq
		transitions := make([]record.Transition, 6)
		attempts := make([]func() error, len(transitions))
		for i := range transitions {
			transitions[i] = r.next(e.now, change{Type: interruptResolved, Events: 1 + i})
			if i%3 == 0 {
				transitions[i] = r.next(e.now, change{Events: 1 + i})
			}
			attempts[i] = func() error {
				if i%3 == 0 {
					return s.commitAt(r, token, seq, transitions[i])
				}
				_, err := s.CommitUnclaimed(e.Context(), ports.CommitUnclaimed{
					Scope: r.scope(), RunID: "r", ExpectedSeq: seq, Transition: transitions[i], Now: e.now,
				})
				return err
			}
		}
		won := e.tally("a commit and signals on one sequence", attempts)
		r.apply(transitions[won])
		s.stored(r)
		s.delivers(r, delivery{WakeAt: e.now}, "after a race of commits and signals")
	}
}

func claimersShare(e *env) {
	s := e.open()
	const runs, claimers = 120, 8
	rs := s.startMany(runs)
	s.claims(runs / 3) // a third of them expire
	e.advance(ttl + time.Microsecond)
	var mu sync.Mutex
	leases := map[string]int{}
	tokens := map[string]bool{}
	var group errgroup.Group
	for c := range claimers {
		group.Go(func() error {
			limit := 1 + c
			for {
				got, err := s.ClaimRuns(e.Context(), ports.ClaimRuns{
					Scope: ports.System(), Limit: limit, TTL: ttl, MaxAttempts: manyAttempts, Now: e.now,
				})
				if err != nil || len(got.Leases) == 0 {
					return err
				}
				mu.Lock()
				if len(got.Leases) > limit {
					e.Errorf("a claim with limit %d gave %d leases", limit, len(got.Leases))
				}
				for _, l := range got.Leases {
					leases[l.Run.ID]++
					tokens[l.Token] = true
				}
				mu.Unlock()
			}
		})
	}
	e.ok(group.Wait(), "concurrent claims")
	// A claimer may pass over rows that another one holds at the moment: what
	// it missed is still due.
	for _, l := range s.claims(1000).Leases {
		leases[l.Run.ID]++
		tokens[l.Token] = true
	}
	for _, r := range rs {
		e.check(leases[r.run.ID] == 1, "run %q was leased %d times", r.run.ID, leases[r.run.ID])
	}
	e.same(runs, len(tokens), "number of tokens")
}

func stealAgainstRefresh(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	token := s.claim(r).Token
	for range 12 {
		e.advance(2 * ttl)
		var lease ports.Claimed
		var refreshErr error
		var group errgroup.Group
		group.Go(func() (err error) {
			lease, err = s.ClaimRuns(e.Context(), ports.ClaimRuns{Scope: ports.System(), Limit: 1, TTL: ttl, MaxAttempts: manyAttempts, Now: e.now})
			return err
		})
		group.Go(func() error {
			_, refreshErr = s.refresh(r, token, ttl)
			return nil
		})
		e.ok(group.Wait(), "claiming")
		stolen := len(lease.Leases) == 1
		e.check(stolen != (refreshErr == nil), "stolen: %v, and the refresh answered %v", stolen, refreshErr)
		if stolen {
			e.want(refreshErr, ports.ErrStale, "the refresh that lost")
			token = lease.Leases[0].Token
		}
		e.same(token, s.token(r), "the token that holds the run")
	}
}

func poisonOnce(e *env) {
	s := e.open()
	for i := range 6 {
		r := s.start(acme, fmt.Sprintf("r%d", i))
		s.claim(r)
		e.advance(2 * ttl)
		var poisoned, leases atomic.Int64
		var group errgroup.Group
		for range 6 {
			group.Go(func() error {
				got, err := s.ClaimRuns(e.Context(), ports.ClaimRuns{Scope: ports.System(), Limit: 3, TTL: ttl, MaxAttempts: 1, Now: e.now})
				poisoned.Add(int64(len(got.Poisoned)))
				leases.Add(int64(len(got.Leases)))
				return err
			})
		}
		e.ok(group.Wait(), "claiming")
		e.same([2]int64{1, 0}, [2]int64{poisoned.Load(), leases.Load()}, "poisons and leases of concurrent claims")
	}
}

func readersNeverMiss(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	written := make(chan struct{})
	var group errgroup.Group
	group.Go(func() error {
		defer close(written)
		for i := range 60 {
			if _, err := s.trySignal(r, r.next(e.now, change{Type: interruptResolved, Events: 1 + i%5})); err != nil {
				return err
			}
		}
		return nil
	})
	seen := make([][]record.Event, 3)
	for reader := range seen {
		group.Go(func() (err error) {
			seen[reader], err = s.follow("r", 3+reader, written)
			return err
		})
	}
	e.ok(group.Wait(), "writing and reading")
	for _, events := range seen {
		e.same(r.events, events, "the events that a reader saw")
	}
	s.stored(r)
}

// follow pages until the writer has ended and a page is empty.
func (s *store) follow(id string, limit int, written <-chan struct{}) ([]record.Event, error) {
	var all []record.Event
	req := ports.ListEvents{Scope: ports.System(), RunID: id, Limit: limit}
	for {
		ended := false
		select {
		case <-written:
			ended = true
		default:
		}
		page, err := s.ListEvents(s.env.Context(), req)
		if err != nil {
			return all, err
		}
		if n := len(page.Events); n > 0 && page.Latest < page.Events[n-1].Seq {
			return all, fmt.Errorf("a page with event %d says that the latest is %d", page.Events[n-1].Seq, page.Latest)
		}
		all = append(all, page.Events...)
		req.AfterSeq = page.NextAfterSeq
		if ended && len(page.Events) == 0 {
			return all, nil
		}
	}
}
