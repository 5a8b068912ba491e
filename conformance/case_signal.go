package conformance

import (
	"time"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

var signalCases = []Case{
	{
		ID: "signal/wakes-a-waiting-run", Clauses: on("RUN-6 RUN-5"),
		Rule: "An unclaimed commit gives a waiting run its next record, events and wake.",
		run:  signalWakes,
	},
	{
		ID: "signal/revokes-the-claim", Clauses: on("RUN-6 CLM-6"),
		Rule: "A signal to a claimed run revokes the claim: the holder's next commit is stale and the run is due.",
		run:  signalRevokes,
	},
	{
		ID: "signal/beats-the-park-computed-before-it", Clauses: on("RUN-6 RUN-2"),
		Rule: "A park computed before a signal never overwrites it: the signal moved the sequence that the park fences on.",
		run:  signalBeatsPark,
	},
	{
		ID: "signal/computed-before-a-park-is-stale", Clauses: on("RUN-6 RUN-7"),
		Rule: "A signal computed before a park is ErrStale and writes nothing; computed again it wakes the run.",
		run:  staleSignal,
	},
	{
		ID: "signal/cannot-retain", Clauses: on("RUN-6"),
		Rule: "An unclaimed commit can't retain a claim: ErrInvalid.",
		run:  signalCannotRetain,
	},
	{
		ID: "signal/terminal-run-is-inactive", Clauses: on("RUN-6 RUN-12"),
		Rule: "A signal to a terminal run is ErrInactive, also with an old sequence, and writes nothing.",
		run:  signalTerminal,
	},
	{
		ID: "signal/keeps-the-poison", Clauses: on("RUN-6 CLM-12"),
		Rule: "A signal to a poisoned run commits, keeps the poison and stores no wake.",
		run:  signalKeepsPoison,
	},
	{
		ID: "signal/terminal-clears-the-poison", Clauses: on("RUN-6 RUN-11"),
		Rule: "Cancelling a poisoned run ends it: only a running row has poison.",
		run:  terminalClearsPoison,
	},
	{
		ID: "signal/cancels-in-every-state", Clauses: on("RUN-6 RUN-11"),
		Rule: "Cancel ends a due, parked, waiting, claimed, expired and poisoned run, and clears wake and claim with it.",
		run:  cancelsInEveryState,
	},
	{
		ID: "signal/zeroes-the-counts", Clauses: on("RUN-4 RUN-6"),
		Rule: "A signal is a committed transition: it zeroes attempts and abandons of a healthy run.",
		run:  signalZeroesCounts,
	},
}

func signalWakes(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	s.commit(r, s.claim(r).Token, change{Status: waiting})
	e.advance(time.Hour)
	got := s.signal(r, change{Type: interruptResolved})
	e.check(got.ClaimEnd.IsZero(), "a signal answers a claim end")
	s.stored(r)
	s.delivers(r, delivery{WakeAt: e.now}, "after a signal")
	s.claim(r)
}

func signalRevokes(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	token := s.claim(r).Token
	atClaim := *r
	s.signal(r, change{Type: interruptResolved})
	s.delivers(r, delivery{WakeAt: e.now}, "after a signal to a claimed run")
	before := s.observe(r)
	e.want(s.commitAt(&atClaim, token, atClaim.run.CheckpointSeq, atClaim.next(e.now, change{Status: done})), ports.ErrStale, "the holder's commit")
	_, err := s.tryCommit(r, token, r.next(e.now, change{Status: done}))
	e.want(err, ports.ErrStale, "the holder's commit on the new sequence")
	_, err = s.refresh(r, token, ttl)
	e.want(err, ports.ErrStale, "the holder's refresh")
	s.unchanged(before, r, "the holder of a revoked claim")
	e.check(s.claim(r).Token != token, "a token was used again")
}

func signalBeatsPark(e *env) {
	s := e.open()
	r := s.startWith(acme, "r", change{Open: 1})
	token := s.claim(r).Token
	park := r.next(e.now, change{Status: waiting})
	seq := r.run.CheckpointSeq
	s.signal(r, change{Type: interruptResolved})
	before := s.observe(r)
	e.want(s.commitAt(r, token, seq, park), ports.ErrStale, "the park computed before the signal")
	s.unchanged(before, r, "the park computed before the signal")
	e.same(r.run.CheckpointSeq, s.claim(r).Run.CheckpointSeq, "the sequence that the next lease shows")
}

func staleSignal(e *env) {
	s := e.open()
	r := s.startWith(acme, "r", change{Open: 1})
	token := s.claim(r).Token
	signal, old := r.next(e.now, change{Type: interruptResolved}), *r
	s.commit(r, token, change{Status: waiting})
	before := s.observe(r)
	_, err := s.trySignal(&old, signal)
	e.want(err, ports.ErrStale, "the signal computed before the park")
	s.unchanged(before, r, "the signal computed before the park")
	s.signal(r, change{Type: interruptResolved})
	s.claim(r)
}

func signalCannotRetain(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	s.claim(r)
	before := s.observe(r)
	_, err := s.trySignal(r, r.next(e.now, change{Type: interruptResolved, Kind: record.ScheduleRetain}))
	e.want(err, ports.ErrInvalid, "a signal that retains")
	s.unchanged(before, r, "a signal that retains")
}

func signalTerminal(e *env) {
	s := e.open()
	for _, status := range []string{done, failed, cancelled} {
		r := s.start(acme, status)
		old := *r
		s.signal(r, change{Status: status})
		before := s.observe(r)
		for _, from := range []*subject{r, &old} {
			_, err := s.trySignal(from, from.next(e.now, change{Status: cancelled}))
			e.want(err, ports.ErrInactive, "a signal to a "+status+" run")
		}
		_, err := s.RecoverRun(e.Context(), ports.RecoverRun{Scope: r.scope(), RunID: r.run.ID, Now: e.now})
		e.want(err, ports.ErrInactive, "recovering a "+status+" run")
		s.unchanged(before, r, "a signal to a "+status+" run")
	}
}

func signalKeepsPoison(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	s.poison(r)
	poison := s.info(r).Poison
	e.advance(time.Second)
	s.signal(r, change{Type: interruptResolved})
	s.stored(r)
	i := s.info(r)
	e.same(poison, i.Poison, "the poison after a signal")
	e.check(i.WakeAt.IsZero(), "a signal gave a poisoned run the wake %s", showTime(i.WakeAt))
	e.same([]string{}, leased(s.claims(10)), "leased while it is poisoned")
	_, err := s.RecoverRun(e.Context(), ports.RecoverRun{Scope: r.scope(), RunID: "r", Now: e.now})
	e.ok(err, "recovering")
	e.same(r.run.CheckpointSeq, s.claim(r).Run.CheckpointSeq, "the sequence that the lease after recovery shows")
}

func terminalClearsPoison(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	s.poison(r)
	s.signal(r, change{Status: cancelled})
	s.stored(r)
	s.delivers(r, delivery{}, "of a cancelled run that was poisoned")
	e.same([]string{}, s.runIDs(ports.ListRuns{Scope: ports.System(), Poisoned: true}), "poisoned runs after the cancel")
}

func cancelsInEveryState(e *env) {
	s := e.open()
	for _, c := range []struct {
		state string
		to    func(*subject)
	}{
		{"due", func(*subject) {}},
		{"parked", func(r *subject) {
			s.commit(r, s.claim(r).Token, change{Kind: record.ScheduleAt, At: e.now.Add(time.Hour)})
		}},
		{"waiting", func(r *subject) { s.commit(r, s.claim(r).Token, change{Status: waiting}) }},
		{"claimed", func(r *subject) { s.claim(r) }},
		{"expired", func(r *subject) { s.claim(r); e.advance(2 * ttl) }},
		{"poisoned", func(r *subject) { s.poison(r) }},
	} {
		r := s.start(acme, c.state)
		c.to(r)
		s.signal(r, change{Status: cancelled})
		s.stored(r)
		s.delivers(r, delivery{}, "of a cancelled run that was "+c.state)
		e.same("", s.token(r), "the token of a cancelled run that was "+c.state)
		e.advance(1000 * time.Hour)
		e.same([]string{}, leased(s.claims(10)), "leased after the cancel of a run that was "+c.state)
	}
}

func signalZeroesCounts(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	_, err := s.abandon(r, s.claim(r).Token, ports.AbandonClaim{RetryAt: e.now, NonPoisoning: true})
	e.ok(err, "abandoning")
	s.claim(r)
	s.signal(r, change{Type: interruptResolved})
	s.delivers(r, delivery{WakeAt: e.now}, "after a signal")
	e.same(int64(1), s.claim(r).Attempt, "the attempt after a signal")
}
