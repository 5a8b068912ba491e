package conformance

import (
	"fmt"
	"slices"
	"time"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

var claimCases = []Case{
	{
		ID: "claims/a-lease-carries-all", Clauses: on("CLM-13 CLM-1"),
		Rule: "A lease carries record, owner, ref, sequence, token, attempt, class, store time and end = store time + TTL.",
		run:  leaseCarriesAll,
	},
	{
		ID: "claims/due-exactly-at-the-wake", Clauses: on("CLM-1"),
		Rule: "A run is ready when its wake is not after now: at the very microsecond, not before.",
		run:  dueExactlyAtTheWake,
	},
	{
		ID: "claims/expired-only-after-the-end", Clauses: on("CLM-1"),
		Rule: "A claim is expired when its end is before now: at its very end it still holds.",
		run:  expiredOnlyAfterTheEnd,
	},
	{
		ID: "claims/end-is-the-holders", Clauses: on("CLM-1"),
		Rule: "Expiry follows the TTL of the holder, not that of whoever claims next.",
		run:  endIsTheHolders,
	},
	{
		ID: "claims/limit-is-never-exceeded", Clauses: on("CLM-2"),
		Rule: "A claim gives at most limit outcomes, leases and poisons together, and all of them when there are enough.",
		run:  limitIsNeverExceeded,
	},
	{
		ID: "claims/tokens-are-unique", Clauses: on("CLM-2"),
		Rule: "No token is used twice, not even for the same run, and none can be guessed from its length.",
		run:  tokensAreUnique,
	},
	{
		ID: "claims/a-run-goes-to-one-claimer", Clauses: on("CLM-2 CLM-12"),
		Rule: "A claimed run isn't leased again before its end.",
		run:  aRunGoesToOneClaimer,
	},
	{
		ID: "claims/exactly-n-attempts-launch", Clauses: on("CLM-3 CLM-2"),
		Rule: "With maximum N exactly N attempts launch; the next need poisons with its reason and time, and gives no lease.",
		run:  exactlyNAttempts,
	},
	{
		ID: "claims/attempts-outlive-the-holder", Clauses: on("CLM-3"),
		Rule: "The attempt is counted in the claim itself: a holder that does nothing more has used it.",
		run:  attemptsAreCountedInTheClaim,
	},
	{
		ID: "claims/refresh-is-no-attempt", Clauses: on("CLM-3 CLM-7"),
		Rule: "A refresh neither counts nor resets attempts.",
		run:  refreshIsNoAttempt,
	},
	{
		ID: "claims/poison-is-told-once", Clauses: on("CLM-3 CLM-12"),
		Rule: "A run is poisoned once, and a poisoned run is never claimed, ready or expired.",
		run:  poisonIsToldOnce,
	},
	{
		ID: "claims/only-running-runs", Clauses: on("CLM-12"),
		Rule: "Terminal, waiting and future runs are never claimed.",
		run:  onlyRunningRuns,
	},
	{
		ID: "claims/inside-a-class-oldest-first", Clauses: on("CLM-4 VAL-2"), Requires: []Need{NeedFIFO},
		Rule: "Inside a class runs are claimed by (eligible time, id) in byte order.",
		run:  oldestFirst,
	},
	{
		ID: "claims/every-owner-is-served", Clauses: on("CLM-2 SCP-1"),
		Rule: "A claim under System serves the runs of every owner.",
		run:  everyOwnerIsServed,
	},
}

var fairnessCases = []Case{
	{
		ID: "claims/both-classes-get-one", Clauses: on("CLM-4"), Requires: []Need{NeedFIFO},
		Rule: "With a limit of two or more each class that has rows gets at least one outcome.",
		run:  bothClassesGetOne,
	},
	{
		ID: "claims/preferred-class-first", Clauses: on("CLM-4"), Requires: []Need{NeedFIFO},
		Rule: "With limit one the preferred class is served, else the other.",
		run:  preferredClassFirst,
	},
	{
		ID: "claims/a-poison-counts-for-its-class", Clauses: on("CLM-4 CLM-2"), Requires: []Need{NeedFIFO},
		Rule: "A poison is an outcome: it counts for its class and against the limit.",
		run:  aPoisonCounts,
	},
}

func leaseCarriesAll(e *env) {
	s := e.open()
	r := s.startWith(acme, "r", change{Events: 3, Pad: 1000})
	e.advance(time.Second)
	l := s.claim(r)
	e.check(l.Token != "", "the lease has no token")
	e.check(l.Run.Verify() == nil, "the leased record doesn't verify")
	l.Token = ""
	e.same(ports.Lease{Owner: acme, Run: r.run, Attempt: 1, Class: ports.ClassReady, Now: e.now, ClaimEnd: e.now.Add(ttl)}, l, "the lease")
	e.advance(ttl + time.Microsecond)
	l = s.claim(r)
	l.Token = ""
	e.same(ports.Lease{Owner: acme, Run: r.run, Attempt: 2, Class: ports.ClassExpired, Now: e.now, ClaimEnd: e.now.Add(ttl)}, l, "the lease after expiry")
}

func dueExactlyAtTheWake(e *env) {
	s := e.open()
	at := e.now.Add(time.Minute)
	r := s.startWith(acme, "r", change{Kind: record.ScheduleAt, At: at})
	for _, early := range []time.Duration{time.Minute, time.Second, time.Microsecond, time.Nanosecond} {
		e.now = at.Add(-early)
		e.same([]string{}, leased(s.claims(10)), "leased "+early.String()+" before the wake")
	}
	e.now = at
	s.claim(r)
}

func expiredOnlyAfterTheEnd(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	s.claim(r)
	e.advance(ttl)
	e.same([]string{}, leased(s.claims(10)), "leased at the very end of the claim")
	e.advance(time.Microsecond)
	e.same(ports.ClassExpired, s.claim(r).Class, "class")
}

func endIsTheHolders(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	with := func(d time.Duration) []string {
		got, err := s.ClaimRuns(e.Context(), ports.ClaimRuns{Scope: ports.System(), Limit: 1, TTL: d, MaxAttempts: manyAttempts, Now: e.now})
		e.ok(err, "claiming")
		return leased(got)
	}
	e.same([]string{"r"}, with(time.Hour), "leased for an hour")
	e.advance(time.Minute)
	e.same([]string{}, with(time.Millisecond), "leased a minute later by a claimer with a short TTL")
	e.advance(time.Hour)
	e.same([]string{"r"}, with(time.Second), "leased after the hour")
	e.advance(2 * time.Second)
	e.same([]string{"r"}, with(time.Hour), "leased after a second, by a claimer with a long TTL")
	s.delivers(r, delivery{ClaimedAt: e.now, ClaimEnd: e.now.Add(time.Hour), Attempts: 3}, "after three claims")
}

func limitIsNeverExceeded(e *env) {
	s := e.open()
	s.startMany(12)
	left := 12
	for _, limit := range []int{1, 2, 5, 3, 10} {
		want := min(limit, left)
		got := s.claims(limit)
		e.same(want, len(got.Leases), fmt.Sprintf("leases with limit %d and %d runs due", limit, left))
		left -= len(got.Leases)
	}
}

func tokensAreUnique(e *env) {
	s := e.open()
	s.startMany(20)
	seen := map[string]bool{}
	for range 5 {
		for _, l := range s.claims(100).Leases {
			e.check(!seen[l.Token], "token %q was used twice", l.Token)
			e.check(len(l.Token) >= 16, "token %q is short enough to guess", l.Token)
			seen[l.Token] = true
		}
		e.advance(ttl + time.Microsecond)
	}
	e.same(100, len(seen), "number of tokens")
}

func aRunGoesToOneClaimer(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	lease := s.claim(r)
	before := s.observe(r)
	for range 3 {
		e.same([]string{}, leased(s.claims(10)), "leased while it is claimed")
		e.advance(time.Second)
	}
	s.unchanged(before, r, "a claim of a claimed run")
	s.commit(r, lease.Token, change{Status: done})
}

func (s *store) claimsWith(maxAttempts int64) ports.Claimed {
	s.env.Helper()
	got, err := s.ClaimRuns(s.env.Context(), ports.ClaimRuns{
		Scope: ports.System(), Limit: 10, TTL: ttl, MaxAttempts: maxAttempts, Now: s.env.now,
	})
	s.env.ok(err, "claiming")
	return got
}

func exactlyNAttempts(e *env) {
	s := e.open()
	for _, n := range []int64{1, 2, 3} {
		r := s.start(acme, fmt.Sprintf("max %d", n))
		for attempt := int64(1); attempt <= n; attempt++ {
			got := s.claimsWith(n)
			e.same([]string{r.run.ID}, leased(got), fmt.Sprintf("leased for attempt %d of %d", attempt, n))
			e.same(attempt, got.Leases[0].Attempt, "the attempt")
			e.check(len(got.Poisoned) == 0, "attempt %d of %d poisons %s", attempt, n, show(got.Poisoned))
			e.advance(ttl + time.Microsecond)
		}
		got := s.claimsWith(n)
		poison := ports.Poison{At: e.now, Reason: ports.PoisonAttempts}
		e.same([]string{}, leased(got), fmt.Sprintf("leased after %d of %d attempts", n, n))
		e.same([]ports.PoisonedRun{{Owner: acme, RunID: r.run.ID, Poison: poison}}, got.Poisoned, "poisoned")
		s.delivers(r, delivery{Attempts: n, Poison: poison}, "after poison")
		s.stored(r)
	}
}

func attemptsAreCountedInTheClaim(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	for n := range int64(4) {
		lease := s.claim(r)
		e.same(n+1, lease.Attempt, "the leased attempt")
		e.same(n+1, s.info(r).Attempts, "the stored attempts right after the claim")
		e.advance(ttl + time.Microsecond)
	}
}

func refreshIsNoAttempt(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	s.claim(r)
	e.advance(ttl + time.Microsecond)
	lease := s.claim(r)
	for range 3 {
		e.advance(time.Second)
		_, err := s.refresh(r, lease.Token, ttl)
		e.ok(err, "refreshing")
		e.same(int64(2), s.info(r).Attempts, "attempts after a refresh")
	}
}

func poisonIsToldOnce(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	s.poison(r)
	before := s.observe(r)
	for range 3 {
		e.advance(100 * time.Hour)
		got := s.claimsWith(100)
		e.check(len(got.Leases)+len(got.Poisoned) == 0, "a poisoned run gave another outcome: %s", show(got))
	}
	s.unchanged(before, r, "a claim of a poisoned run")
}

func onlyRunningRuns(e *env) {
	s := e.open()
	for _, status := range []string{waiting, done, failed, cancelled} {
		r := s.start(acme, status)
		s.commit(r, s.claim(r).Token, change{Status: status})
	}
	s.startWith(acme, "future", change{Kind: record.ScheduleAt, At: e.now.Add(time.Hour)})
	for range 3 {
		got := s.claims(100)
		e.check(len(got.Leases)+len(got.Poisoned) == 0, "a claim with nothing due gave %s", show(got))
		e.advance(time.Minute)
	}
}

// oldestFirst gives runs wakes whose order is neither that of ids nor that of
// insertion.
func oldestFirst(e *env) {
	s := e.open()
	base := e.now
	at := func(id string, us int) {
		s.startWith(acme, id, change{Kind: record.ScheduleAt, At: base.Add(time.Duration(us) * time.Microsecond)})
	}
	at("m", 5)
	at("z", 1)
	at("a", 9)
	at("é", 5)
	at("B", 5)
	at("b", 5)
	at("Z", 5)
	e.advance(time.Second)
	want := []string{"z", "B", "Z", "b", "m", "é", "a"}
	var got []string
	for range want {
		got = append(got, leased(s.claims(1))...)
		e.advance(time.Microsecond) // each claim ends later than the one before
	}
	e.same(want, got, "order of ready runs")
	e.advance(2 * ttl)
	got = nil
	for range want {
		got = append(got, leased(s.claims(1))...)
	}
	e.same(want, got, "order of expired runs")
}

func everyOwnerIsServed(e *env) {
	s := e.open()
	for _, owner := range []record.Owner{acme, globex, nobody} {
		s.start(owner, "of "+owner.Tenant)
	}
	got := leased(s.claims(10))
	slices.Sort(got)
	e.same([]string{"of ", "of acme", "of globex"}, got, "leased")
}

// twoClasses leaves two expired and two ready runs.
func twoClasses(s *store) {
	s.start(acme, "expired 1")
	s.start(acme, "expired 2")
	s.claims(10)
	s.env.advance(ttl + time.Microsecond)
	s.start(acme, "ready 1")
	s.start(acme, "ready 2")
	s.env.advance(time.Microsecond)
}

func bothClassesGetOne(e *env) {
	for _, prefer := range []ports.ClaimClass{"", ports.ClassReady, ports.ClassExpired} {
		s := e.open()
		twoClasses(s)
		got, err := s.ClaimRuns(e.Context(), ports.ClaimRuns{
			Scope: ports.System(), Limit: 2, TTL: ttl, MaxAttempts: manyAttempts, Prefer: prefer, Now: e.now,
		})
		e.ok(err, "claiming")
		ids := leased(got)
		slices.Sort(ids)
		e.same([]string{"expired 1", "ready 1"}, ids, "leased with limit 2, preferring "+string(prefer))
	}
}

func preferredClassFirst(e *env) {
	for prefer, want := range map[ports.ClaimClass][]string{
		"":                 {"ready 1", "ready 2", "expired 1", "expired 2"},
		ports.ClassReady:   {"ready 1", "ready 2", "expired 1", "expired 2"},
		ports.ClassExpired: {"expired 1", "expired 2", "ready 1", "ready 2"},
	} {
		s := e.open()
		twoClasses(s)
		var got []string
		for range want {
			one, err := s.ClaimRuns(e.Context(), ports.ClaimRuns{
				Scope: ports.System(), Limit: 1, TTL: ttl, MaxAttempts: manyAttempts, Prefer: prefer, Now: e.now,
			})
			e.ok(err, "claiming")
			got = append(got, leased(one)...)
		}
		e.same(want, got, "leased one by one, preferring "+showString(string(prefer)))
	}
}

func aPoisonCounts(e *env) {
	s := e.open()
	twoClasses(s)
	got, err := s.ClaimRuns(e.Context(), ports.ClaimRuns{Scope: ports.System(), Limit: 2, TTL: ttl, MaxAttempts: 1, Now: e.now})
	e.ok(err, "claiming")
	e.same([]string{"ready 1"}, leased(got), "leased with limit 2 and one attempt")
	e.same(1, len(got.Poisoned), "number of poisoned runs")
	if len(got.Poisoned) == 1 {
		e.same("expired 1", got.Poisoned[0].RunID, "the poisoned run")
	}
	got, err = s.ClaimRuns(e.Context(), ports.ClaimRuns{Scope: ports.System(), Limit: 1, TTL: ttl, MaxAttempts: 1, Prefer: ports.ClassExpired, Now: e.now})
	e.ok(err, "claiming")
	e.check(len(got.Leases) == 0 && len(got.Poisoned) == 1, "with limit 1 a poison and a lease came together: %s", show(got))
}
