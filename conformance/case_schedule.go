package conformance

import (
	"slices"
	"time"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

var scheduleCases = []Case{
	{
		ID: "schedule/retain-keeps-the-claim", Clauses: on("RUN-5"),
		Rule: "Retain keeps the token and moves the claim's end forward, never back.",
		run:  retainKeepsTheClaim,
	},
	{
		ID: "schedule/immediate-is-due-at-store-time", Clauses: on("RUN-5 CLM-1"),
		Rule: "Immediate releases the claim and is due at the store's time.",
		run:  immediateIsDue,
	},
	{
		ID: "schedule/at-is-due-then", Clauses: on("RUN-5 CLM-1 VAL-3"),
		Rule: "At releases the claim and is due at its time, cut to microseconds, not a microsecond before.",
		run:  atIsDueThen,
	},
	{
		ID: "schedule/external-waits-for-a-signal", Clauses: on("RUN-5 CLM-12"),
		Rule: "External releases the claim and leaves no wake: the run is never claimed until a signal.",
		run:  externalWaits,
	},
	{
		ID: "schedule/terminal-is-for-good", Clauses: on("RUN-5 RUN-11 CLM-12"),
		Rule: "Terminal leaves neither wake nor claim, whatever the terminal status.",
		run:  terminalIsForGood,
	},
	{
		ID: "schedule/pairs-that-break-the-row-are-invalid", Clauses: on("RUN-5 RUN-11"),
		Rule: "A schedule that doesn't go with the status is ErrInvalid and writes nothing.",
		run:  badPairsAreInvalid,
	},
	{
		ID: "schedule/answers-carry-store-time", Clauses: on("RUN-5 CLM-13"),
		Rule: "Every answer of Runs and Claims carries the store's time: the request's Now, cut to microseconds.",
		run:  answersCarryStoreTime,
	},
}

func retainKeepsTheClaim(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	lease := s.claim(r)
	e.advance(10 * time.Second)
	got := s.commit(r, lease.Token, change{Kind: record.ScheduleRetain})
	end := e.now.Add(ttl)
	e.sameTime(end, got.ClaimEnd, "the end that retain answers")
	i := s.info(r)
	e.sameTime(end, i.ClaimEnd, "the end that inspect shows")
	e.check(i.WakeAt.IsZero(), "a retained run has the wake %s", showTime(i.WakeAt))
	e.same(lease.Token, s.token(r), "the token after retain")

	t := r.next(e.now, change{Kind: record.ScheduleRetain})
	_, err := s.CommitClaimed(e.Context(), ports.CommitClaimed{
		Scope: ports.System(), RunID: "r", Token: lease.Token, ExpectedSeq: r.run.CheckpointSeq, Transition: t, TTL: time.Second, Now: e.now,
	})
	e.ok(err, "retaining with a short TTL")
	r.apply(t)
	e.sameTime(end, s.info(r).ClaimEnd, "the end after retain with a shorter TTL")
}

func immediateIsDue(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	token := s.claim(r).Token
	e.advance(time.Second)
	got := s.commit(r, token, change{Kind: record.ScheduleImmediate})
	e.check(got.ClaimEnd.IsZero(), "an immediate commit answers the claim end %s", showTime(got.ClaimEnd))
	s.delivers(r, delivery{WakeAt: e.now}, "after an immediate commit")
	e.same("", s.token(r), "the token after an immediate commit")
	s.claim(r)
}

func atIsDueThen(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	at := e.now.Add(time.Minute)
	s.commit(r, s.claim(r).Token, change{Kind: record.ScheduleAt, At: at.Add(999 * time.Nanosecond)})
	s.delivers(r, delivery{WakeAt: at}, "after a commit with a wake at .999 µs")
	e.now = at.Add(-time.Microsecond)
	e.same([]string{}, leased(s.claims(10)), "leased a microsecond before the wake")
	e.now = at
	s.claim(r)
}

func externalWaits(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	s.commit(r, s.claim(r).Token, change{Status: waiting})
	s.delivers(r, delivery{}, "of a waiting run")
	e.advance(1000 * time.Hour)
	e.same([]string{}, leased(s.claims(10)), "leased while it waits")
	s.signal(r, change{Type: interruptResolved})
	s.claim(r)
}

func terminalIsForGood(e *env) {
	s := e.open()
	for _, status := range []string{done, failed, cancelled} {
		r := s.start(acme, status)
		s.commit(r, s.claim(r).Token, change{Status: status})
		s.delivers(r, delivery{}, "of a "+status+" run")
		e.advance(1000 * time.Hour)
		e.same([]string{}, leased(s.claims(10)), "leased when it is "+status)
		s.stored(r)
	}
}

// badPairsAreInvalid tries every pair of status and schedule.
func badPairsAreInvalid(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	token := s.claim(r).Token
	before := s.observe(r)
	legal := map[string][]record.ScheduleKind{
		running: {record.ScheduleRetain, record.ScheduleImmediate, record.ScheduleAt}, waiting: {record.ScheduleExternal},
		done: {record.ScheduleTerminal}, failed: {record.ScheduleTerminal}, cancelled: {record.ScheduleTerminal},
	}
	kinds := []record.ScheduleKind{
		record.ScheduleRetain, record.ScheduleImmediate, record.ScheduleExternal, record.ScheduleAt, record.ScheduleTerminal,
	}
	for _, status := range sortedKeys(legal) {
		for _, kind := range kinds {
			c := change{Status: status, Kind: kind}
			if kind == record.ScheduleAt {
				c.At = e.now.Add(time.Hour)
			}
			fits := slices.Contains(legal[status], kind)
			if !fits {
				_, err := s.tryCommit(r, token, r.next(e.now, c))
				e.want(err, ports.ErrInvalid, "committing "+status+" with schedule "+string(kind))
			}
			if !fits || kind == record.ScheduleRetain {
				_, err := s.trySignal(r, r.next(e.now, c))
				e.want(err, ports.ErrInvalid, "signalling "+status+" with schedule "+string(kind))
			}
		}
	}
	s.unchanged(before, r, "a pair of status and schedule that breaks the row")
}

func answersCarryStoreTime(e *env) {
	s := e.open()
	ref := s.graph(acme)
	want := e.now
	e.now = e.now.Add(999 * time.Nanosecond)
	told := func(now time.Time, err error, op string) {
		e.Helper()
		e.ok(err, op)
		e.sameTime(want, now, "the store's time told by "+op)
		e.check(now.Location() == time.UTC, "the store's time told by %s isn't UTC", op)
	}
	r := &subject{owner: acme}
	first := begin("r", ref, e.now, change{})
	inserted, err := s.InsertRun(e.Context(), ports.InsertRun{Owner: acme, Transition: first, Now: e.now})
	told(inserted.Now, err, "InsertRun")
	r.apply(first)
	claimed := s.claims(1)
	told(claimed.Now, nil, "ClaimRuns")
	if len(claimed.Leases) != 1 {
		e.Fatalf("a run that was inserted as due is not leased at the same Now: %s", show(claimed))
	}
	told(claimed.Leases[0].Now, nil, "a lease")
	token := claimed.Leases[0].Token
	refreshed, err := s.refresh(r, token, ttl)
	told(refreshed.Now, err, "RefreshClaim")
	told(s.commit(r, token, change{Kind: record.ScheduleRetain}).Now, nil, "CommitClaimed")
	abandoned, err := s.abandon(r, token, ports.AbandonClaim{RetryAt: e.now, NonPoisoning: true})
	told(abandoned.Now, err, "AbandonClaim")
	told(s.signal(r, change{Type: interruptResolved}).Now, nil, "CommitUnclaimed")
	released, err := s.ReleaseClaim(e.Context(), ports.ReleaseClaim{Scope: ports.System(), RunID: "r", Token: s.claim(r).Token, Now: e.now})
	told(released.Now, err, "ReleaseClaim")
	fetched, err := s.FetchRun(e.Context(), ports.FetchRun{Scope: r.scope(), RunID: "r", Now: e.now})
	told(fetched.Now, err, "FetchRun")
	told(s.info(r).Now, nil, "InspectRun")
	page, err := s.ListRuns(e.Context(), ports.ListRuns{Scope: r.scope(), Now: e.now})
	told(page.Now, err, "ListRuns")
	recovered, err := s.RecoverRun(e.Context(), ports.RecoverRun{Scope: r.scope(), RunID: "r", Now: e.now})
	told(recovered.Now, err, "RecoverRun")
}
