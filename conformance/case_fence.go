package conformance

import (
	"time"

	"github.com/docket-go/docket/ports"
)

var fenceCases = []Case{
	{
		ID: "fence/stale-token-changes-nothing", Clauses: on("CLM-6 RUN-2"),
		Rule: "Refresh, release, abandon and commit act only under the exact token; otherwise ErrStale and nothing changes.",
		run:  staleTokenChangesNothing,
	},
	{
		ID: "fence/late-holder-leaves-the-new-claim", Clauses: on("CLM-6 CLM-10"),
		Rule: "After a steal the late holder's operations are ErrStale and don't touch the new claim.",
		run:  lateHolderLeavesTheNewClaim,
	},
	{
		ID: "fence/refresh-moves-forward-only", Clauses: on("CLM-7"),
		Rule: "A refresh moves the end forward; one with a shorter TTL leaves it.",
		run:  refreshMovesForwardOnly,
	},
	{
		ID: "fence/expired-token-stays-authoritative", Clauses: on("CLM-11"),
		Rule: "An expired token still commits, refreshes, releases and abandons until somebody steals it.",
		run:  expiredTokenStaysAuthoritative,
	},
	{
		ID: "fence/refreshed-in-time-is-not-stolen", Clauses: on("CLM-10 CLM-7"),
		Rule: "A run that was refreshed or committed after it expired is left alone by the next claim.",
		run:  refreshedIsNotStolen,
	},
	{
		ID: "fence/refresh-never-resurrects", Clauses: on("CLM-7 CLM-6"),
		Rule: "A refresh never resurrects a claim that was stolen, released, abandoned, poisoned or ended by a commit.",
		run:  refreshNeverResurrects,
	},
}

// holder tries everything that a token allows, wanting ErrStale.
func (s *store) holderIsStale(r *subject, token, when string) {
	e := s.env
	e.Helper()
	_, err := s.refresh(r, token, time.Hour)
	e.want(err, ports.ErrStale, "refreshing "+when)
	e.want(s.release(r, token, false), ports.ErrStale, "releasing "+when)
	e.want(s.release(r, token, true), ports.ErrStale, "releasing with the attempt back "+when)
	_, err = s.abandon(r, token, ports.AbandonClaim{RetryAt: e.now, MaxAbandons: 1})
	e.want(err, ports.ErrStale, "abandoning "+when)
	err = s.commitAt(r, token, r.run.CheckpointSeq, r.next(e.now, change{}))
	e.want(err, ports.ErrStale, "committing "+when)
}

func staleTokenChangesNothing(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	before := s.observe(r)
	s.holderIsStale(r, "guess", "an unclaimed run")
	s.unchanged(before, r, "a token on an unclaimed run")
	token := s.claim(r).Token
	before = s.observe(r)
	s.holderIsStale(r, "guess", "under another token")
	s.holderIsStale(r, token+" ", "under the token with a space")
	s.unchanged(before, r, "another token")
	other := s.start(acme, "other")
	otherToken := s.claim(other).Token
	before = s.observe(r)
	s.holderIsStale(r, otherToken, "under the token of another run")
	s.unchanged(before, r, "the token of another run")
}

func lateHolderLeavesTheNewClaim(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	late := s.claim(r).Token
	e.advance(ttl + time.Microsecond)
	thief := s.claim(r).Token
	before := s.observe(r)
	s.holderIsStale(r, late, "after a steal")
	s.unchanged(before, r, "the late holder")
	s.commit(r, thief, change{Kind: "retain"})
	before = s.observe(r)
	s.holderIsStale(r, late, "after a steal and a commit")
	s.unchanged(before, r, "the late holder")
}

func refreshMovesForwardOnly(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	token := s.claim(r).Token
	end := e.now.Add(ttl)
	for _, d := range []time.Duration{time.Second, time.Microsecond, ttl, ttl + time.Microsecond, time.Hour, time.Minute} {
		if later := e.now.Add(d); later.After(end) {
			end = later
		}
		got, err := s.refresh(r, token, d)
		e.ok(err, "refreshing for "+d.String())
		e.sameTime(end, got.ClaimEnd, "the answered end after a refresh for "+d.String())
		e.sameTime(end, s.info(r).ClaimEnd, "the stored end after a refresh for "+d.String())
		e.advance(time.Millisecond)
	}
}

func expiredTokenStaysAuthoritative(e *env) {
	s := e.open()
	for _, c := range []struct {
		op  string
		use func(r *subject, token string) error
	}{
		{"commit", func(r *subject, token string) error {
			_, err := s.tryCommit(r, token, r.next(e.now, change{Status: waiting}))
			return err
		}},
		{"refresh", func(r *subject, token string) error { _, err := s.refresh(r, token, 1000*time.Hour); return err }},
		{"release", func(r *subject, token string) error { return s.release(r, token, false) }},
		{"abandon", func(r *subject, token string) error {
			_, err := s.abandon(r, token, ports.AbandonClaim{RetryAt: e.now.Add(1000 * time.Hour), MaxAbandons: 9})
			return err
		}},
	} {
		r := s.start(acme, c.op)
		lease := s.claim(r)
		e.advance(10 * ttl)
		e.ok(c.use(r, lease.Token), c.op+" under an expired token that nobody stole")
		if c.op == "release" {
			s.commit(r, s.claim(r).Token, change{Status: done})
		}
	}
}

func refreshedIsNotStolen(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	token := s.claim(r).Token
	e.advance(2 * ttl)
	_, err := s.refresh(r, token, ttl)
	e.ok(err, "refreshing late")
	e.same([]string{}, leased(s.claims(10)), "leased right after a late refresh")
	e.advance(2 * ttl)
	s.commit(r, token, change{Kind: "retain"})
	e.same([]string{}, leased(s.claims(10)), "leased right after a late commit")
	e.advance(ttl)
	s.commit(r, token, change{Status: done})
	e.advance(ttl)
	e.same([]string{}, leased(s.claims(10)), "leased after the end")
}

func refreshNeverResurrects(e *env) {
	s := e.open()
	for _, c := range []struct {
		lost string
		lose func(r *subject, token string)
	}{
		{"stolen", func(r *subject, _ string) { e.advance(2 * ttl); s.claim(r) }},
		{"released", func(r *subject, token string) { e.ok(s.release(r, token, true), "releasing") }},
		{"abandoned", func(r *subject, token string) {
			_, err := s.abandon(r, token, ports.AbandonClaim{RetryAt: e.now.Add(time.Hour), MaxAbandons: 5})
			e.ok(err, "abandoning")
		}},
		{"poisoned", func(*subject, string) { e.advance(2 * ttl); s.claimsWith(1) }},
		{"parked", func(r *subject, token string) { s.commit(r, token, change{Kind: "at", At: e.now.Add(time.Hour)}) }},
		{"waiting", func(r *subject, token string) { s.commit(r, token, change{Status: waiting}) }},
	} {
		r := s.start(acme, c.lost)
		token := s.claim(r).Token
		c.lose(r, token)
		before := s.observe(r)
		_, err := s.refresh(r, token, time.Hour)
		e.want(err, ports.ErrStale, "refreshing a claim that was "+c.lost)
		s.unchanged(before, r, "refreshing a claim that was "+c.lost)
		s.signal(r, change{Status: cancelled})
	}
}
