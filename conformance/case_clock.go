package conformance

import (
	"context"
	"errors"
	"time"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// The class clock/* leaves Now zero: the store judges time by its own clock. It
// is the only one that may wait, by polling for as long as the case has patience.
var clockCases = []Case{
	{
		ID: "clock/an-inserted-run-is-due", Clauses: on("CLM-1 RUN-1"),
		Rule: "With Now zero a new run is due at once, and claims end by the store's clock.",
		run:  insertedIsDue,
	},
	{
		ID: "clock/a-claim-expires", Clauses: on("CLM-1 CLM-11"),
		Rule: "With Now zero a claim of a microsecond expires, and is stolen.",
		run:  claimExpires,
	},
	{
		ID: "clock/a-future-wake-comes-due", Clauses: on("CLM-1 RUN-5"),
		Rule: "With Now zero a run parked for a moment comes due when the store's clock gets there.",
		run:  futureWakeComesDue,
	},
	{
		ID: "clock/store-time-never-goes-back", Clauses: on("CLM-13 VAL-3"),
		Rule: "With Now zero the store's time is in microseconds of UTC and doesn't go back from answer to answer.",
		run:  storeTimeNeverGoesBack,
	},
	{
		ID: "clock/every-operation-works", Clauses: on("RUN-12 CLM-7 CLM-8 CLM-9"),
		Rule: "Every operation that judges time works with Now zero.",
		run:  everyOperationWorks,
	},
	{
		ID: "clock/goes-on-in-a-transaction", Clauses: on("TX-1 CLM-13"), Level: LevelTx, Requires: []Need{NeedTransactor},
		Rule: "With Now zero the store's time goes on in an open transaction: it isn't the time of its beginning.",
		run:  clockGoesOn,
	},
}

// eventually polls until so reports true, moving the store's clock when the
// harness can.
func (s *store) eventually(what string, so func() bool) {
	e := s.env
	e.Helper()
	bound := e.bounded(e.patience)
	for !so() {
		if bound.Err() != nil {
			e.Fatalf("%s: not within %s", what, e.patience)
		}
		if e.h.Clock == nil {
			pause(e.Context(), 200*time.Microsecond)
			continue
		}
		if err := e.h.Clock(e.Context(), s.raw, time.Millisecond); err != nil {
			broken(e.T, "Clock: %v", err)
		}
	}
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// byItsOwnClock makes the steps of the case send a zero Now.
func (e *env) byItsOwnClock() *store {
	s := e.open()
	e.now = time.Time{}
	return s
}

// startNow starts a run at the store's own time.
func (s *store) startNow(id string, c change) *subject {
	s.env.Helper()
	r := &subject{owner: acme}
	s.env.ok(s.insert(r, begin(id, s.graph(acme), epoch, c)), "inserting")
	return r
}

func insertedIsDue(e *env) {
	s := e.byItsOwnClock()
	r := s.startNow("r", change{})
	lease := s.claim(r)
	e.check(!lease.Now.IsZero(), "a lease tells no store time")
	e.sameTime(lease.Now.Add(ttl), lease.ClaimEnd, "the claim end")
	e.same([]string{}, leased(s.claims(10)), "leased while it is claimed")
}

func claimExpires(e *env) {
	s := e.byItsOwnClock()
	r := s.startNow("r", change{})
	tiny := ports.ClaimRuns{Scope: ports.System(), Limit: 1, TTL: time.Microsecond, MaxAttempts: manyAttempts}
	first, err := s.ClaimRuns(e.Context(), tiny)
	e.ok(err, "claiming")
	e.same([]string{"r"}, leased(first), "leased")
	var second ports.Claimed
	s.eventually("an expired claim is stolen", func() bool {
		second, err = s.ClaimRuns(e.Context(), tiny)
		e.ok(err, "claiming")
		return len(second.Leases) > 0
	})
	e.same(ports.ClassExpired, second.Leases[0].Class, "class")
	e.same(int64(2), second.Leases[0].Attempt, "attempt")
	s.holderIsStale(r, first.Leases[0].Token, "after a steal by the store's clock")
}

func futureWakeComesDue(e *env) {
	s := e.byItsOwnClock()
	r := s.startNow("r", change{})
	lease := s.claim(r)
	at := lease.Now.Add(20 * time.Millisecond)
	s.commit(r, lease.Token, change{Kind: record.ScheduleAt, At: at})
	s.eventually("a parked run comes due", func() bool {
		got := s.claims(1)
		if len(got.Leases) == 0 {
			return false
		}
		e.check(!got.Now.Before(at), "leased at %s, before its wake at %s", showTime(got.Now), showTime(at))
		return true
	})
}

func storeTimeNeverGoesBack(e *env) {
	s := e.byItsOwnClock()
	r := s.startNow("r", change{})
	var last time.Time
	for range 50 {
		now := s.info(r).Now
		e.check(!now.Before(last), "the store's time went from %s to %s", showTime(last), showTime(now))
		e.check(now.Equal(now.Truncate(time.Microsecond)), "the store's time %s isn't in microseconds", showTime(now))
		e.check(now.Location() == time.UTC, "the store's time isn't UTC")
		last = now
	}
}

func everyOperationWorks(e *env) {
	s := e.byItsOwnClock()
	r := s.startNow("r", change{})
	lease := s.claim(r)
	refreshed, err := s.refresh(r, lease.Token, time.Hour)
	e.ok(err, "refreshing")
	e.sameTime(refreshed.Now.Add(time.Hour), refreshed.ClaimEnd, "the refreshed end")
	e.ok(s.release(r, lease.Token, true), "releasing")
	lease = s.claim(r)
	abandoned, err := s.abandon(r, lease.Token, ports.AbandonClaim{MaxAbandons: 3, BackoffBase: time.Hour, BackoffCap: time.Hour})
	e.ok(err, "abandoning")
	e.sameTime(abandoned.Now.Add(time.Hour), abandoned.WakeAt, "the wake after an abandon")
	signalled := s.signal(r, change{Type: interruptResolved})
	e.sameTime(signalled.Now, s.info(r).WakeAt, "the wake after a signal")
	_, err = s.abandon(r, s.claim(r).Token, ports.AbandonClaim{MaxAbandons: 1})
	e.ok(err, "abandoning to poison")
	e.check(s.recovered(r).Changed, "recovery changed nothing")
	kept := s.commit(r, s.claim(r).Token, change{Kind: record.ScheduleRetain})
	e.sameTime(kept.Now.Add(ttl), kept.ClaimEnd, "the retained end")
	s.signal(r, change{Status: cancelled})
	s.stored(r)
}

func clockGoesOn(e *env) {
	s := e.byItsOwnClock()
	r := s.startNow("r", change{})
	tx := s.beginTx()
	first := tx.info(r).Now
	s.eventually("the store's time goes on in a transaction", func() bool { return tx.info(r).Now.After(first) })
	e.ok(tx.end(true), "committing")
}

// lifeCases are about handles: contexts and Close.
var lifeCases = []Case{
	{
		ID: "life/a-cancelled-context-is-told", Clauses: on("LIF-3"),
		Rule: "An operation whose context has ended returns promptly with an error that is the context's, and writes nothing.",
		run:  cancelledContextIsTold,
	},
	{
		ID: "life/cancelled-calls-leave-nothing-behind", Clauses: on("LIF-3"),
		Rule: "After many calls whose contexts ended while they ran everything still works, and each landed whole or not at all.",
		run:  cancelledCallsLeaveNothing,
	},
	{
		ID: "life/after-close-a-clean-error", Clauses: on("LIF-5"),
		Rule: "After Close every operation answers ErrClosed; closing again is harmless.",
		run:  afterClose,
	},
}

func cancelledContextIsTold(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	token := s.claim(r).Token
	before := s.observe(r)
	ctx, cancel := context.WithCancel(e.Context())
	cancel()
	errs := s.reads(ctx, ports.System(), "r")
	for op, err := range s.writes(ctx, ports.System(), r, token) {
		errs[op] = err
	}
	_, errs["ListRuns"] = s.ListRuns(ctx, ports.ListRuns{Scope: ports.System(), Now: e.now})
	_, errs["SaveGraph"] = s.SaveGraph(ctx, ports.SaveGraph{Owner: acme, Version: version("flow", 2), Now: e.now})
	_, errs["InsertRun"] = s.InsertRun(ctx, ports.InsertRun{Owner: acme, Transition: begin("new", r.run.Graph, e.now, change{}), Now: e.now})
	_, errs["ClaimRuns"] = s.ClaimRuns(ctx, ports.ClaimRuns{Scope: ports.System(), Limit: 1, TTL: ttl, MaxAttempts: 1, Now: e.now})
	for _, op := range sortedKeys(errs) {
		e.check(errors.Is(errs[op], context.Canceled), "%s under a cancelled context: %v, want an error that is context.Canceled", op, errs[op])
	}
	s.unchanged(before, r, "an operation under a cancelled context")
}

func cancelledCallsLeaveNothing(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	for range 150 {
		ctx, cancel := context.WithTimeout(e.Context(), time.Duration(e.rand.IntN(300))*time.Microsecond)
		t := r.next(e.now, change{Type: interruptResolved, Events: 3})
		_, err := s.CommitUnclaimed(ctx, ports.CommitUnclaimed{
			Scope: r.scope(), RunID: "r", ExpectedSeq: r.run.CheckpointSeq, Transition: t, Now: e.now,
		})
		cancel()
		if err != nil {
			e.check(errors.Is(err, context.DeadlineExceeded), "a call whose context ended: %v", err)
		}
		if s.info(r).Run.CheckpointSeq == t.Run.CheckpointSeq {
			e.check(err == nil || errors.Is(err, ports.ErrUncertain), "a commit that landed answered %v, which isn't ErrUncertain", err)
			r.apply(t)
		} else if err == nil {
			e.Fatalf("an acknowledged commit isn't there")
		}
	}
	s.stored(r)
	s.commit(r, s.claim(r).Token, change{Status: done})
	s.stored(r)
}

func afterClose(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	token := s.claim(r).Token
	e.ok(s.Close(), "closing")
	errs := s.reads(e.Context(), ports.System(), "r")
	for op, err := range s.writes(e.Context(), ports.System(), r, token) {
		errs[op] = err
	}
	_, errs["ListRuns"] = s.ListRuns(e.Context(), ports.ListRuns{Scope: ports.System(), Now: e.now})
	_, errs["ClaimRuns"] = s.ClaimRuns(e.Context(), ports.ClaimRuns{Scope: ports.System(), Limit: 1, TTL: ttl, MaxAttempts: 1, Now: e.now})
	_, errs["SaveGraph"] = s.SaveGraph(e.Context(), ports.SaveGraph{Owner: acme, Version: version("flow", 2), Now: e.now})
	for _, op := range sortedKeys(errs) {
		e.want(errs[op], ports.ErrClosed, op+" after Close")
	}
	if err := s.Close(); err != nil {
		e.want(err, ports.ErrClosed, "closing again")
	}
}
