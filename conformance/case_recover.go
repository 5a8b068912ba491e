package conformance

import (
	"time"

	"github.com/docket-go/docket/ports"
)

var recoverCases = []Case{
	{
		ID: "recover/poisoned-becomes-due", Clauses: on("RUN-12 RUN-10"),
		Rule: "Recovery makes a poisoned run healthy: an immediate wake, zero counts, a full budget.",
		run:  poisonedBecomesDue,
	},
	{
		ID: "recover/uses-no-sequence", Clauses: on("RUN-12 RUN-8"),
		Rule: "Recovery changes delivery only: no sequence, no event, no record.",
		run:  recoveryUsesNoSequence,
	},
	{
		ID: "recover/healthy-is-left-alone", Clauses: on("RUN-12"),
		Rule: "Recovering a healthy run (due, claimed or waiting) is a no-op that says so.",
		run:  healthyIsLeftAlone,
	},
}

func (s *store) recovered(r *subject) ports.Recovered {
	s.env.Helper()
	got, err := s.RecoverRun(s.env.Context(), ports.RecoverRun{Scope: r.scope(), RunID: r.run.ID, Now: s.env.now})
	s.env.ok(err, "recovering")
	return got
}

func poisonedBecomesDue(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	s.poison(r)
	e.advance(time.Hour)
	e.check(s.recovered(r).Changed, "recovering a poisoned run says that nothing changed")
	s.delivers(r, delivery{WakeAt: e.now}, "after recovery")
	e.same([]string{}, s.runIDs(ports.ListRuns{Scope: ports.System(), Poisoned: true}), "poisoned runs after recovery")
	got, err := s.ClaimRuns(e.Context(), ports.ClaimRuns{Scope: ports.System(), Limit: 1, TTL: ttl, MaxAttempts: 1, Now: e.now})
	e.ok(err, "claiming")
	e.same([]string{"r"}, leased(got), "leased with one attempt after recovery")
	e.same(int64(1), got.Leases[0].Attempt, "the attempt after recovery")
}

func recoveryUsesNoSequence(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	s.poison(r)
	e.advance(time.Hour)
	s.recovered(r)
	s.stored(r)
	s.signal(r, change{Type: interruptResolved})
	s.stored(r)
}

func healthyIsLeftAlone(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	unmoved := func(state string) {
		e.Helper()
		before := s.observe(r)
		e.advance(time.Second)
		e.check(!s.recovered(r).Changed, "recovering a run that is %s says that it changed", state)
		s.unchanged(before, r, "recovering a run that is "+state)
	}
	unmoved("due")
	token := s.claim(r).Token
	unmoved("claimed")
	s.commit(r, token, change{Status: waiting})
	unmoved("waiting")
}
