package conformance

import (
	"fmt"
	"time"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

const day = 24 * time.Hour

var pruneCases = []Case{
	{
		ID: "prune/policy-is-explicit", Clauses: on("PRN-1"), Level: LevelRetention, Requires: []Need{NeedPruner},
		Rule: "A policy that says nothing, keeps events longer than runs, or has no bound is ErrInvalid and removes nothing.",
		run:  policyIsExplicit,
	},
	{
		ID: "prune/only-terminal-runs-expire", Clauses: on("PRN-2 PRN-5"), Level: LevelRetention, Requires: []Need{NeedPruner},
		Rule: "Only terminal runs expire: running, claimed, waiting and poisoned ones stay, however old.",
		run:  onlyTerminalExpire,
	},
	{
		ID: "prune/events-go-before-their-run", Clauses: on("PRN-2 PRN-4"), Level: LevelRetention, Requires: []Need{NeedPruner},
		Rule: "A run goes only when its last event has gone, in bounded batches whose counts add up.",
		run:  eventsGoFirst,
	},
	{
		ID: "prune/event-age-is-the-stores", Clauses: on("PRN-6"), Level: LevelRetention, Requires: []Need{NeedPruner},
		Rule: "An event ages from the store's time of writing it, on live runs too, exactly at the boundary.",
		run:  eventAgeIsTheStores,
	},
	{
		ID: "prune/run-age-at-the-boundary", Clauses: on("PRN-2 PRN-6"), Level: LevelRetention, Requires: []Need{NeedPruner},
		Rule: "A terminal run stays a microsecond before its retention ends and goes at the end.",
		run:  runAgeAtTheBoundary,
	},
	{
		ID: "prune/readers-see-a-gap", Clauses: on("EVT-3 EVT-4 EVT-5 PRN-6"), Level: LevelRetention, Requires: []Need{NeedPruner},
		Rule: "Pruning leaves sequences alone: bounds move, a pruned event is ErrNotFound, a fully pruned run has a latest sequence and no bounds, and new events continue.",
		run:  readersSeeAGap,
	},
	{
		ID: "prune/graphs-in-use-and-newest-stay", Clauses: on("PRN-3 GRF-5"), Level: LevelRetention, Requires: []Need{NeedPruner},
		Rule: "A graph version goes only when it is old, no run refers to it, and it isn't among the newest ten of its owner and id.",
		run:  graphsInUseStay,
	},
	{
		ID: "prune/dry-run-reports", Clauses: on("PRN-7"), Level: LevelRetention, Requires: []Need{NeedPruner},
		Rule: "A dry run removes nothing and reports what the same call would remove.",
		run:  dryRunReports,
	},
	{
		ID: "prune/cursor-of-a-pruned-run", Clauses: on("RUN-9 PRN-2"), Level: LevelRetention, Requires: []Need{NeedPruner},
		Rule: "A list goes on from the cursor of a run that was pruned meanwhile.",
		run:  cursorOfAPrunedRun,
	},
}

func (s *store) prune(req ports.Prune) (ports.Pruned, error) {
	p, ok := ports.As[ports.Pruner](s.raw)
	if !ok {
		s.env.Fatalf("the backend declares Pruner and has none")
	}
	req.Now = s.env.now
	return call(s.logged, s.env.Context(), "Prune", p.Prune, req)
}

// pruneAll prunes until there is no more and adds the counts up.
func (s *store) pruneAll(policy ports.Retention, batch int) ports.Pruned {
	s.env.Helper()
	var sum ports.Pruned
	for range 1000 {
		got, err := s.prune(ports.Prune{Policy: policy, Batch: batch})
		s.env.ok(err, "pruning")
		for what, n := range map[string]int64{"events": got.Events, "events of expired runs": got.Expired, "runs": got.Runs, "graphs": got.Graphs} {
			s.env.check(n <= int64(batch), "a batch of %d removed %d %s", batch, n, what)
		}
		sum.Events, sum.Expired, sum.Runs, sum.Graphs = sum.Events+got.Events, sum.Expired+got.Expired, sum.Runs+got.Runs, sum.Graphs+got.Graphs
		if !got.More {
			return sum
		}
	}
	s.env.Fatalf("pruning never ends")
	return sum
}

// ended makes a run that ends at once, with events in all.
func (s *store) ended(id string, events int) *subject {
	s.env.Helper()
	r := s.startWith(acme, id, change{Events: 1})
	s.signal(r, change{Status: done, Events: events - 1})
	return r
}

func policyIsExplicit(e *env) {
	s := e.open()
	r := s.ended("r", 3)
	e.advance(1000 * day)
	before := s.observe(r)
	for what, req := range map[string]ports.Prune{
		"no policy":                       {Batch: 10},
		"a negative retention":            {Policy: ports.Retention{Runs: -day}, Batch: 10},
		"events kept longer than runs":    {Policy: ports.Retention{Events: 2 * day, Runs: day}, Batch: 10},
		"no batch":                        {Policy: ports.Retention{Runs: day}},
		"a negative batch":                {Policy: ports.Retention{Runs: day}, Batch: -1},
		"a batch over the documented one": {Policy: ports.Retention{Runs: day}, Batch: ports.MaxPruneBatch + 1},
	} {
		_, err := s.prune(req)
		e.want(err, ports.ErrInvalid, "pruning with "+what)
	}
	s.unchanged(before, r, "a refused prune")
}

func onlyTerminalExpire(e *env) {
	s := e.open()
	live := []*subject{s.start(acme, "due")}
	claimed := s.start(acme, "claimed")
	for _, l := range s.claims(10).Leases {
		if l.Run.ID == "due" {
			e.ok(s.release(live[0], l.Token, true), "releasing")
		}
	}
	waits := s.start(acme, "waits")
	s.signal(waits, change{Status: waiting})
	sick := s.startWith(acme, "sick", change{Kind: record.ScheduleAt, At: e.now.Add(-time.Second)})
	_, err := s.abandon(sick, s.claimAmong(sick).Token, ports.AbandonClaim{RetryAt: e.now, MaxAbandons: 1})
	e.ok(err, "abandoning to poison")
	live = append(live, claimed, waits, sick)
	for _, status := range []string{done, failed, cancelled} {
		s.signal(s.start(acme, status), change{Status: status})
	}
	before := s.observeAll(live)
	e.advance(1000 * day)
	got := s.pruneAll(ports.Retention{Runs: day}, 100)
	e.same(int64(3), got.Runs, "runs pruned")
	for _, status := range []string{done, failed, cancelled} {
		s.gone(status)
	}
	e.same(before, s.observeAll(live), "live runs after pruning")
}

func eventsGoFirst(e *env) {
	s := e.open()
	for i := range 3 {
		s.ended(fmt.Sprintf("r%d", i), 7)
	}
	e.advance(day)
	var sum ports.Pruned
	for calls := 0; ; calls++ {
		if calls > 60 {
			e.Fatalf("pruning 21 events and 3 runs in batches of 4 doesn't end")
		}
		got, err := s.prune(ports.Prune{Policy: ports.Retention{Runs: day}, Batch: 4})
		e.ok(err, "pruning")
		e.check(got.Expired <= 4 && got.Runs <= 4, "a batch of 4 removed %s", show(got))
		sum.Expired, sum.Runs = sum.Expired+got.Expired, sum.Runs+got.Runs
		for i := range 3 { // whatever run is left is whole, but for its oldest events
			id := fmt.Sprintf("r%d", i)
			if page, err := s.ListEvents(e.Context(), ports.ListEvents{Scope: ports.System(), RunID: id}); err == nil {
				e.same(int64(7), page.LatestSeq, "the latest sequence of a run that is being pruned")
			} else {
				e.want(err, ports.ErrNotFound, "listing a run that is being pruned")
			}
		}
		if !got.More {
			break
		}
	}
	e.same([2]int64{21, 3}, [2]int64{sum.Expired, sum.Runs}, "events and runs pruned")
	e.same([]string{}, s.runIDs(ports.ListRuns{Scope: ports.System()}), "runs left")
}

// eventAgeIsTheStores gives events a time of their own that says otherwise.
func eventAgeIsTheStores(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	t := r.next(e.now, change{Type: interruptResolved, Events: 3})
	for i := range t.Events {
		t.Events[i].Time = e.now.Add(-1000 * day)
	}
	_, err := s.trySignal(r, t)
	e.ok(err, "signalling")
	e.advance(day - time.Microsecond)
	policy := ports.Retention{Events: day}
	e.same(int64(0), s.pruneAll(policy, 100).Events, "events pruned a microsecond before their retention ends")
	s.stored(r)
	e.advance(time.Microsecond)
	e.same(int64(5), s.pruneAll(policy, 100).Events, "events pruned at the end of their retention")
	e.same(r.run, s.info(r).Run, "the record of a run whose events were pruned")
}

func runAgeAtTheBoundary(e *env) {
	s := e.open()
	r := s.ended("r", 2)
	e.advance(day - time.Microsecond)
	policy := ports.Retention{Runs: day}
	e.same(int64(0), s.pruneAll(policy, 100).Runs, "runs pruned a microsecond before their retention ends")
	s.stored(r)
	e.advance(time.Microsecond)
	e.same(int64(1), s.pruneAll(policy, 100).Runs, "runs pruned at the end of their retention")
	s.gone("r")
	s.stored(s.start(acme, "r")) // the id is free again
}

func readersSeeAGap(e *env) {
	s := e.open()
	r := s.startWith(acme, "r", change{Events: 3})
	e.advance(time.Hour)
	s.signal(r, change{Type: interruptResolved, Events: 2})
	e.advance(day - time.Hour)
	e.same(int64(3), s.pruneAll(ports.Retention{Events: day}, 100).Events, "events pruned")
	page, err := s.ListEvents(e.Context(), ports.ListEvents{Scope: r.scope(), RunID: "r"})
	e.ok(err, "listing")
	e.same(ports.EventPage{Events: r.events[3:], NextAfterSeq: 5, Oldest: 4, Latest: 5, LatestSeq: 5}, page, "the page after pruning")
	_, err = s.FetchEvent(e.Context(), ports.FetchEvent{Scope: r.scope(), RunID: "r", Seq: 3})
	e.want(err, ports.ErrNotFound, "fetching a pruned event")
	e.advance(time.Hour)
	s.pruneAll(ports.Retention{Events: day}, 100)
	page, err = s.ListEvents(e.Context(), ports.ListEvents{Scope: r.scope(), RunID: "r"})
	e.ok(err, "listing")
	page.Events = nil
	e.same(ports.EventPage{LatestSeq: 5}, page, "the page of a fully pruned run")
	latest, err := s.LatestEvent(e.Context(), ports.LatestEvent{Scope: r.scope(), RunID: "r"})
	e.ok(err, "latest")
	e.check(!latest.Found, "a fully pruned run has a latest event")
	r.events = nil
	s.signal(r, change{Type: interruptResolved, Events: 2})
	s.stored(r)
}

func graphsInUseStay(e *env) {
	s := e.open()
	used := s.save(acme, version("flow", 0))
	r := &subject{owner: acme}
	e.ok(s.insert(r, begin("r", used, e.now, change{})), "inserting")
	for n := range 14 {
		e.advance(time.Second)
		s.save(acme, version("flow", 1+n))
	}
	s.save(globex, version("flow", 1))
	s.save(acme, version("other", 1))
	e.advance(1000 * day)
	all := s.versions(acme, "flow", 0)
	e.same(15, len(all), "versions before pruning")
	e.same(int64(4), s.pruneAll(ports.Retention{Graphs: day}, 3).Graphs, "versions pruned")
	e.same(append(all[:10:10], used), s.versions(acme, "flow", 0), "versions left: the newest ten and the one in use")
	e.same(1, len(s.versions(globex, "flow", 0)), "versions of another owner")
	e.same(1, len(s.versions(acme, "other", 0)), "versions of another id")
	s.stored(r)
}

func dryRunReports(e *env) {
	s := e.open()
	rs := []*subject{s.ended("a", 4), s.ended("b", 4), s.start(acme, "live")}
	e.advance(10 * day)
	before := s.observeAll(rs)
	req := ports.Prune{Policy: ports.Retention{Events: day, Runs: 2 * day, Graphs: day}, Batch: 5, DryRun: true}
	for range 20 {
		req.DryRun = true
		would, err := s.prune(req)
		e.ok(err, "a dry run")
		e.same(before, s.observeAll(rs), "everything after a dry run")
		req.DryRun = false
		did, err := s.prune(req)
		e.ok(err, "pruning")
		e.same(would, did, "what the dry run reported against what went")
		if !did.More {
			break
		}
		left := rs[:0:0]
		for _, r := range rs {
			if _, err := s.InspectRun(e.Context(), ports.InspectRun{Scope: ports.System(), RunID: r.run.ID, Now: e.now}); err == nil {
				left = append(left, r)
			}
		}
		rs, before = left, s.observeAll(left)
	}
	e.same([]string{"live"}, s.runIDs(ports.ListRuns{Scope: ports.System()}), "runs left")
}

func cursorOfAPrunedRun(e *env) {
	s := e.open()
	for i := range 6 {
		s.ended(fmt.Sprintf("r%d", i), 2)
	}
	live := s.start(acme, "a")
	page, err := s.ListRuns(e.Context(), ports.ListRuns{Scope: ports.System(), Limit: 3, Now: e.now})
	e.ok(err, "listing")
	e.advance(10 * day)
	s.pruneAll(ports.Retention{Runs: day}, 100)
	e.same([]string{live.run.ID}, s.runIDs(ports.ListRuns{Scope: ports.System(), Limit: 3, After: page.Next}), "runs after the cursor of a pruned run")
}
