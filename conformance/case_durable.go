package conformance

import (
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/docket-go/docket/ports"
)

var durableCases = []Case{
	{
		ID: "durable/survives-close", Clauses: on("LIF-1"), Level: LevelDurable, Requires: []Need{NeedReopen},
		Rule: "What was acknowledged is there after close and reopen: graphs, runs, events, claims, poison.",
		run:  survivesClose,
	},
	{
		ID: "durable/survives-a-crash", Clauses: on("LIF-1"), Level: LevelDurable, Requires: []Need{NeedReopen, NeedCrash},
		Rule: "What was acknowledged is there after the handle was dropped without closing.",
		run:  survivesCrash,
	},
	{
		ID: "durable/a-token-outlives-its-handle", Clauses: on("LIF-1"), Level: LevelDurable, Requires: []Need{NeedReopen},
		Rule: "A claim belongs to its token, not to the handle that made it.",
		run:  tokenOutlivesHandle,
	},
	{
		ID: "durable/two-handles-see-one-truth", Clauses: on("LIF-2"), Level: LevelDurable, Requires: []Need{NeedReopen},
		Rule: "What one handle acknowledged the other sees at once, and fences hold across both.",
		run:  twoHandles,
	},
	{
		ID: "durable/two-handles-claim-apart", Clauses: on("LIF-2"), Level: LevelDurable, Requires: []Need{NeedReopen},
		Rule: "Claimers on two handles lease every due run exactly once.",
		run:  twoHandlesClaim,
	},
}

// variety leaves a run in every delivery state.
func variety(s *store) []*subject {
	e := s.env
	retained := s.start(acme, "retained")
	s.commit(retained, s.claim(retained).Token, change{Kind: "retain"})
	abandoned := s.start(globex, "abandoned")
	_, err := s.abandon(abandoned, s.claim(abandoned).Token, ports.AbandonClaim{RetryAt: e.now.Add(time.Hour), MaxAbandons: 5})
	e.ok(err, "abandoning")
	ended := s.start(nobody, "ended")
	s.commit(ended, s.claim(ended).Token, change{Status: failed, Pad: 5000})
	waits := s.start(acme, "waits")
	s.commit(waits, s.claim(waits).Token, change{Status: waiting})
	sick := s.start(acme, "sick")
	_, err = s.abandon(sick, s.claim(sick).Token, ports.AbandonClaim{RetryAt: e.now, MaxAbandons: 1})
	e.ok(err, "abandoning to poison")
	due := s.start(acme, "due")
	return []*subject{retained, abandoned, ended, waits, sick, due}
}

func (s *store) observeAll(rs []*subject) []observed {
	var all []observed
	for _, r := range rs {
		all = append(all, s.observe(r))
	}
	return all
}

func survivesClose(e *env) {
	s := e.open()
	rs := variety(s)
	before := s.observeAll(rs)
	e.ok(s.Close(), "closing")
	again := e.reopen(s, "again")
	e.same(before, again.observeAll(rs), "everything after close and reopen")
	got, err := again.FetchGraph(e.Context(), ports.FetchGraph{Owner: acme, Ref: version("flow", 1).Ref})
	e.ok(err, "fetching the graph after reopen")
	e.same(version("flow", 1).Document, got.Version.Document, "the graph after reopen")
}

func survivesCrash(e *env) {
	s := e.open()
	rs := variety(s)
	before := s.observeAll(rs)
	s.crashed = true
	if err := e.h.Crash(e.Context(), s.raw); err != nil {
		broken(e.T, "Crash: %v", err)
	}
	again := e.reopen(s, "again")
	e.same(before, again.observeAll(rs), "everything after a crash")
	again.commit(rs[5], again.claim(rs[5]).Token, change{Status: done})
	again.stored(rs[5])
}

func tokenOutlivesHandle(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	token := s.claim(r).Token
	e.ok(s.Close(), "closing")
	again := e.reopen(s, "again")
	_, err := again.refresh(r, token, ttl)
	e.ok(err, "refreshing on another handle")
	again.commit(r, token, change{Status: done})
	again.stored(r)
}

func twoHandles(e *env) {
	a := e.open()
	b := e.reopen(a, "b")
	r := a.start(acme, "r")
	b.stored(r)
	token := b.claim(r).Token
	e.same([]string{}, leased(a.claims(10)), "leased by the other handle")
	a.commit(r, token, change{Kind: "retain"})
	b.stored(r)
	b.signal(r, change{Type: interruptResolved})
	before := a.observe(r)
	a.holderIsStale(r, token, "after a signal on the other handle")
	b.unchanged(before, r, "a stale holder on the other handle")
	e.want(b.insert(&subject{owner: globex}, begin("r", b.graph(globex), e.now, change{})), ports.ErrExists, "inserting the id on the other handle")
}

func twoHandlesClaim(e *env) {
	a := e.open()
	b := e.reopen(a, "b")
	const runs = 60
	rs := a.startMany(runs)
	results := make([][]string, 4)
	var group errgroup.Group
	for i, s := range []*store{a, b, a, b} {
		group.Go(func() error {
			for {
				got, err := s.ClaimRuns(e.Context(), ports.ClaimRuns{Scope: ports.System(), Limit: 3, TTL: ttl, MaxAttempts: 9, Now: e.now})
				if err != nil || len(got.Leases) == 0 {
					return err
				}
				results[i] = append(results[i], leased(got)...)
			}
		})
	}
	e.ok(group.Wait(), "claiming on two handles")
	count := map[string]int{}
	for _, ids := range append(results, leased(a.claims(1000))) {
		for _, id := range ids {
			count[id]++
		}
	}
	for _, r := range rs {
		e.check(count[r.run.ID] == 1, "run %q was leased %d times", r.run.ID, count[r.run.ID])
	}
}
