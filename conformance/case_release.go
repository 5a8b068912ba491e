package conformance

import (
	"fmt"
	"math"
	"time"

	"github.com/docket-go/docket/ports"
)

var releaseCases = []Case{
	{
		ID: "release/is-due-at-once", Clauses: on("CLM-8"),
		Rule: "A released run is due at the store's time, unclaimed, with its attempts counted.",
		run:  releaseIsDue,
	},
	{
		ID: "release/returns-the-attempt", Clauses: on("CLM-8 CLM-3"),
		Rule: "ReturnAttempt gives the attempt back, however often: a shutdown never poisons.",
		run:  releaseReturnsTheAttempt,
	},
	{
		ID: "release/without-return-counts", Clauses: on("CLM-8 CLM-3"),
		Rule: "A release that doesn't return the attempt leaves it counted towards the maximum.",
		run:  releaseCounts,
	},
}

var abandonCases = []Case{
	{
		ID: "abandon/waits-for-the-retry-time", Clauses: on("CLM-9"),
		Rule: "An abandon gives the attempt back, counts an abandon and wakes at the retry time.",
		run:  abandonWaits,
	},
	{
		ID: "abandon/needs-token-and-sequence", Clauses: on("CLM-6 CLM-9"),
		Rule: "An abandon with another sequence is ErrStale and changes nothing.",
		run:  abandonNeedsSequence,
	},
	{
		ID: "abandon/poisons-at-the-maximum", Clauses: on("CLM-9"),
		Rule: "The abandon that reaches the maximum poisons with its own reason and leaves no wake.",
		run:  abandonPoisons,
	},
	{
		ID: "abandon/non-poisoning-never-poisons", Clauses: on("CLM-9"),
		Rule: "A non-poisoning abandon counts and waits, however many there were.",
		run:  nonPoisoningNeverPoisons,
	},
	{
		ID: "abandon/back-off-doubles-to-the-cap", Clauses: on("CLM-9"),
		Rule: "Without a retry time the wake is store time + min(base·2^n, cap), n abandons before this one, and never overflows.",
		run:  backOffDoubles,
	},
	{
		ID: "abandon/shape-is-checked", Clauses: on("CLM-9 RUN-3"),
		Rule: "An abandon without a maximum, a sequence or with a cap below its base is ErrInvalid.",
		run:  abandonShape,
	},
}

func releaseIsDue(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	token := s.claim(r).Token
	e.advance(time.Second)
	e.ok(s.release(r, token, false), "releasing")
	s.delivers(r, delivery{WakeAt: e.now, Attempts: 1}, "after a release")
	s.stored(r)
	e.same("", s.token(r), "the token after a release")
	s.holderIsStale(r, token, "after a release")
	e.same(int64(2), s.claim(r).Attempt, "the attempt after a release")
}

func releaseReturnsTheAttempt(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	for range 5 {
		got := s.claimsWith(1)
		e.same([]string{"r"}, leased(got), "leased with one attempt after releases that returned it")
		e.same(int64(1), got.Leases[0].Attempt, "the attempt")
		e.ok(s.release(r, got.Leases[0].Token, true), "releasing")
		s.delivers(r, delivery{WakeAt: e.now}, "after a release that returns the attempt")
	}
}

func releaseCounts(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	for range 2 {
		got := s.claimsWith(2)
		e.same([]string{"r"}, leased(got), "leased")
		e.ok(s.release(r, got.Leases[0].Token, false), "releasing")
	}
	got := s.claimsWith(2)
	e.check(len(got.Leases) == 0 && len(got.Poisoned) == 1, "a ready run with all attempts used gave %s, want a poison", show(got))
	s.delivers(r, delivery{Attempts: 2, Poison: ports.Poison{At: e.now, Reason: ports.PoisonAttempts}}, "after its attempts were used")
}

func abandonWaits(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	s.claim(r)
	e.advance(ttl + time.Microsecond)
	lease := s.claim(r)
	retry := e.now.Add(time.Minute)
	got, err := s.abandon(r, lease.Token, ports.AbandonClaim{RetryAt: retry, MaxAbandons: 3})
	e.ok(err, "abandoning")
	e.same(ports.Abandoned{Abandons: 1, WakeAt: retry, Now: e.now}, got, "the answer")
	s.delivers(r, delivery{WakeAt: retry, Attempts: 1, Abandons: 1}, "after an abandon")
	s.stored(r)
	s.holderIsStale(r, lease.Token, "after an abandon")
	e.now = retry.Add(-time.Microsecond)
	e.same([]string{}, leased(s.claims(10)), "leased before the retry time")
	e.now = retry
	e.same(int64(2), s.claim(r).Attempt, "the attempt after an abandon gave one back")
}

func abandonNeedsSequence(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	token := s.claim(r).Token
	s.commit(r, token, change{Kind: "retain"})
	before := s.observe(r)
	for _, seq := range []int64{r.run.CheckpointSeq - 1, r.run.CheckpointSeq + 1} {
		_, err := s.abandon(r, token, ports.AbandonClaim{ExpectedSeq: seq, RetryAt: e.now, MaxAbandons: 3})
		e.want(err, ports.ErrStale, fmt.Sprintf("abandoning sequence %d of %d", seq, r.run.CheckpointSeq))
	}
	s.unchanged(before, r, "an abandon with another sequence")
}

func abandonPoisons(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	for n := int64(1); n <= 3; n++ {
		got, err := s.abandon(r, s.claim(r).Token, ports.AbandonClaim{RetryAt: e.now, MaxAbandons: 3})
		e.ok(err, "abandoning")
		e.same(n, got.Abandons, "the count of abandons")
		e.same(n == 3, !got.Poison.At.IsZero(), fmt.Sprintf("poisoned by abandon %d of 3", n))
		if n == 3 {
			poison := ports.Poison{At: e.now, Reason: ports.PoisonAbandons}
			e.same(ports.Abandoned{Abandons: 3, Poison: poison, Now: e.now}, got, "the answer")
			s.delivers(r, delivery{Abandons: 3, Poison: poison}, "after the last abandon")
		}
	}
	e.advance(time.Hour)
	e.same([]string{}, leased(s.claims(10)), "leased after poison by abandons")
}

func nonPoisoningNeverPoisons(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	for n := int64(1); n <= 5; n++ {
		got, err := s.abandon(r, s.claim(r).Token, ports.AbandonClaim{RetryAt: e.now, MaxAbandons: 1, NonPoisoning: true})
		e.ok(err, "abandoning")
		e.same(ports.Abandoned{Abandons: n, WakeAt: e.now, Now: e.now}, got, "the answer")
	}
}

// backOffDoubles goes past the 63rd doubling, where naive arithmetic overflows.
func backOffDoubles(e *env) {
	s := e.open()
	for _, c := range []struct{ base, limit time.Duration }{
		{30 * time.Second, time.Hour}, {time.Second, 24 * 365 * time.Hour}, {0, time.Hour}, {time.Hour, time.Hour},
	} {
		r := s.start(acme, fmt.Sprintf("base %s cap %s", c.base, c.limit))
		for n := range 70 {
			got, err := s.abandon(r, s.claim(r).Token, ports.AbandonClaim{BackoffBase: c.base, BackoffCap: c.limit, NonPoisoning: true})
			e.ok(err, fmt.Sprintf("abandon %d", n+1))
			wake := e.now.Add(doubled(c.base, n, c.limit))
			e.sameTime(wake, got.WakeAt, fmt.Sprintf("the wake after abandon %d with base %s and cap %s", n+1, c.base, c.limit))
			if e.Failed() {
				return
			}
			e.now = got.WakeAt
		}
		s.signal(r, change{Status: cancelled})
	}
}

func doubled(base time.Duration, n int, limit time.Duration) time.Duration {
	d := float64(base) * math.Pow(2, float64(n))
	if d >= float64(limit) {
		return limit
	}
	return base << n
}

func abandonShape(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	token := s.claim(r).Token
	before := s.observe(r)
	for what, p := range map[string]ports.AbandonClaim{
		"no maximum":           {RetryAt: e.now},
		"a negative sequence":  {RetryAt: e.now, MaxAbandons: 1, ExpectedSeq: -1},
		"a negative base":      {BackoffBase: -1, BackoffCap: 1, MaxAbandons: 1},
		"a cap below the base": {BackoffBase: time.Minute, BackoffCap: time.Second, MaxAbandons: 1},
	} {
		_, err := s.abandon(r, token, p)
		e.want(err, ports.ErrInvalid, "abandoning with "+what)
	}
	s.unchanged(before, r, "an abandon of the wrong shape")
}
