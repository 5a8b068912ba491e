package conformance

import (
	"fmt"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

var eventCases = []Case{
	{
		ID: "events/come-back-exactly", Clauses: on("EVT-1 VAL-1"),
		Rule: "An event keeps its sequence, type, step, time, label, bytes and checksum.",
		run:  eventsComeBack,
	},
	{
		ID: "events/pages-ascend", Clauses: on("EVT-3 EVT-4"),
		Rule: "Pages ascend, are exact, exclusive, and give the run's bounds and latest sequence.",
		run:  eventPagesAscend,
	},
	{
		ID: "events/default-page-is-250", Clauses: on("EVT-3"),
		Rule: "A page without a limit holds 250 events.",
		run:  defaultPageIs250,
	},
	{
		ID: "events/an-empty-page-keeps-the-cursor", Clauses: on("EVT-3 EVT-4"),
		Rule: "A page after the latest event is empty, keeps the cursor and still gives the bounds.",
		run:  emptyEventPage,
	},
	{
		ID: "events/of-one-run-only", Clauses: on("EVT-1 EVT-3"),
		Rule: "A page holds the events of the run that was asked for, whatever other ids begin with it.",
		run:  eventsOfOneRun,
	},
	{
		ID: "events/missing-is-not-found", Clauses: on("EVT-5"),
		Rule: "A sequence that isn't there is ErrNotFound.",
		run:  missingEvent,
	},
	{
		ID: "events/latest", Clauses: on("EVT-5"),
		Rule: "Latest is the event with the greatest sequence; a visible run without events has none.",
		run:  latestEvent,
	},
	{
		ID: "events/only-transitions-write", Clauses: on("EVT-2 CLM-3"),
		Rule: "Claims, refreshes, releases, abandons, poison, recovery and refused transitions write no event and use no sequence.",
		run:  onlyTransitionsWrite,
	},
	{
		ID: "events/damage-is-told", Clauses: on("EVT-7"), Level: LevelDurable, Requires: []Need{NeedCorrupt},
		Rule: "A damaged event is told, by ErrCorrupt or by a record that fails Verify, and spoils nothing else.",
		run:  eventDamageIsTold,
	},
	{
		ID: "events/damaged-run-is-told", Clauses: on("EVT-7"), Level: LevelDurable, Requires: []Need{NeedCorrupt},
		Rule: "A damaged run document is told, by ErrCorrupt or by a record that fails Verify; other runs and lists stay readable.",
		run:  runDamageIsTold,
	},
}

func eventsComeBack(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	t := r.next(e.now, change{Events: 6})
	for i, payload := range []string{"", "\x00", `{"a\u0000":"<&>"}`, "\xff\xfe", "\u2028\ufffd😀"} {
		t.Events[i].Payload = []byte(payload)
		t.Events[i].Checksum = record.Sum(t.Events[i].Payload)
		t.Events[i].Type = []string{"node_completed", "node_failed", "channel_updated", "edge_triggered", "interrupt_requested"}[i]
	}
	_, err := s.tryCommit(r, s.claim(r).Token, t)
	e.ok(err, "committing")
	for i, want := range t.Events {
		got, err := s.FetchEvent(e.Context(), ports.FetchEvent{Scope: r.scope(), RunID: "r", Seq: want.Seq})
		e.ok(err, "fetching an event")
		if len(want.Payload) == 0 && len(got.Event.Payload) == 0 {
			got.Event.Payload = want.Payload // nil and empty are both no bytes
		}
		e.same(want, got.Event, fmt.Sprintf("event %d of the transition", i))
		e.check(got.Event.Verify() == nil, "event %d doesn't verify", want.Seq)
	}
}

// withEvents makes a run with n events.
func (s *store) withEvents(id string, n int) *subject {
	s.env.Helper()
	r := s.startWith(acme, id, change{Events: n})
	return r
}

func eventPagesAscend(e *env) {
	s := e.open()
	r := s.withEvents("r", 30)
	for _, limit := range []int{1, 7, 10, 29, 30, 31} {
		var got []record.Event
		req := ports.ListEvents{Scope: r.scope(), RunID: "r", Limit: limit}
		for pages := 1; ; pages++ {
			page, err := s.ListEvents(e.Context(), req)
			e.ok(err, "listing")
			got = append(got, page.Events...)
			bounds := [3]int64{page.Oldest, page.Latest, page.LatestSeq}
			e.same([3]int64{1, 30, 30}, bounds, "oldest, latest, latest sequence")
			if n := len(page.Events); n > 0 {
				e.same(page.Events[n-1].Seq, page.NextAfterSeq, "the cursor")
			}
			e.same(len(got) < 30, page.HasMore, fmt.Sprintf("has-more after %d of 30 events", len(got)))
			if !page.HasMore || pages > 40 {
				break
			}
			req.AfterSeq = page.NextAfterSeq
		}
		e.same(r.events, got, fmt.Sprintf("events in pages of %d", limit))
	}
}

func defaultPageIs250(e *env) {
	s := e.open()
	r := s.withEvents("r", 260)
	page, err := s.ListEvents(e.Context(), ports.ListEvents{Scope: r.scope(), RunID: "r"})
	e.ok(err, "listing")
	e.same(250, len(page.Events), "length of a page without a limit")
	e.check(page.HasMore, "250 of 260 events and no more")
}

func emptyEventPage(e *env) {
	s := e.open()
	r := s.withEvents("r", 3)
	for _, after := range []int64{3, 4, 1 << 40} {
		page, err := s.ListEvents(e.Context(), ports.ListEvents{Scope: r.scope(), RunID: "r", AfterSeq: after})
		e.ok(err, "listing after the end")
		e.check(len(page.Events) == 0, "events after %d: %s", after, show(page.Events))
		page.Events = nil
		e.same(ports.EventPage{NextAfterSeq: after, Oldest: 1, Latest: 3, LatestSeq: 3}, page, "a page after the end")
	}
	bare := s.startWith(acme, "bare", change{Events: -1})
	page, err := s.ListEvents(e.Context(), ports.ListEvents{Scope: bare.scope(), RunID: "bare"})
	e.ok(err, "listing a run without events")
	page.Events = nil
	e.same(ports.EventPage{}, page, "the page of a run without events")
}

func eventsOfOneRun(e *env) {
	s := e.open()
	var rs []*subject
	for i, id := range []string{"r", "r1", "r 1", "R", "ré", "r%", "r_"} {
		rs = append(rs, s.withEvents(id, 2+i))
	}
	for _, r := range rs {
		s.stored(r)
	}
}

func missingEvent(e *env) {
	s := e.open()
	r := s.withEvents("r", 3)
	s.withEvents("other", 9)
	for _, seq := range []int64{4, 9, 1 << 40} {
		_, err := s.FetchEvent(e.Context(), ports.FetchEvent{Scope: r.scope(), RunID: "r", Seq: seq})
		e.want(err, ports.ErrNotFound, fmt.Sprintf("fetching event %d of 3", seq))
	}
}

func latestEvent(e *env) {
	s := e.open()
	r := s.startWith(acme, "r", change{Events: -1})
	got, err := s.LatestEvent(e.Context(), ports.LatestEvent{Scope: r.scope(), RunID: "r"})
	e.ok(err, "latest of a run without events")
	e.check(!got.Found, "a run without events has the latest event %s", show(got))
	for _, n := range []int{1, 3} {
		s.commit(r, s.claim(r).Token, change{Events: n})
		got, err = s.LatestEvent(e.Context(), ports.LatestEvent{Scope: r.scope(), RunID: "r"})
		e.ok(err, "latest")
		e.same(ports.FoundEvent{Event: r.events[len(r.events)-1], Found: true}, got, "the latest event")
	}
}

func onlyTransitionsWrite(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	lease := s.claim(r)
	_, err := s.refresh(r, lease.Token, ttl)
	e.ok(err, "refreshing")
	e.ok(s.release(r, lease.Token, false), "releasing")
	_, err = s.abandon(r, s.claim(r).Token, ports.AbandonClaim{RetryAt: e.now, MaxAbandons: 1})
	e.ok(err, "abandoning to poison")
	_, err = s.RecoverRun(e.Context(), ports.RecoverRun{Scope: r.scope(), RunID: "r", Now: e.now})
	e.ok(err, "recovering")
	_, err = s.tryCommit(r, "guess", r.next(e.now, change{Events: 5}))
	e.want(err, ports.ErrStale, "a stale commit")
	s.stored(r)
	s.commit(r, s.claim(r).Token, change{})
	s.stored(r)
}

func eventDamageIsTold(e *env) {
	s := e.open()
	r := s.withEvents("r", 5)
	other := s.withEvents("other", 5)
	s.damage(Target{Owner: acme, RunID: "r", Seq: 3})
	got, err := s.FetchEvent(e.Context(), ports.FetchEvent{Scope: r.scope(), RunID: "r", Seq: 3})
	e.toldDamaged(err, got.Event.Verify(), "fetching a damaged event")
	page, err := s.ListEvents(e.Context(), ports.ListEvents{Scope: r.scope(), RunID: "r"})
	if err == nil {
		e.same(5, len(page.Events), "events listed with a damaged one among them")
		for _, event := range page.Events {
			e.check((event.Verify() != nil) == (event.Seq == 3), "event %d: damage is told as %v", event.Seq, event.Verify())
		}
	} else {
		e.want(err, ports.ErrCorrupt, "listing a damaged event")
	}
	for _, seq := range []int64{1, 2, 4, 5} {
		got, err := s.FetchEvent(e.Context(), ports.FetchEvent{Scope: r.scope(), RunID: "r", Seq: seq})
		e.ok(err, "fetching an event beside a damaged one")
		e.same(r.events[seq-1], got.Event, "an event beside a damaged one")
	}
	s.stored(other)
	s.commit(r, s.claimAmong(r).Token, change{})
}

// toldDamaged wants a damaged row to be told in one of the two ways.
func (e *env) toldDamaged(err, verify error, what string) {
	e.Helper()
	if err != nil {
		e.want(err, ports.ErrCorrupt, what)
		return
	}
	e.check(verify != nil, "%s: served as good", what)
}

// claimAmong leases all that is due and returns the lease of r.
func (s *store) claimAmong(r *subject) ports.Lease {
	s.env.Helper()
	for _, l := range s.claims(1000).Leases {
		if l.Run.ID == r.run.ID {
			return l
		}
	}
	s.env.Fatalf("run %q wasn't leased", r.run.ID)
	return ports.Lease{}
}

func runDamageIsTold(e *env) {
	s := e.open()
	r, other := s.withEvents("r", 2), s.withEvents("other", 2)
	s.damage(Target{Owner: acme, RunID: "r"})
	got, err := s.FetchRun(e.Context(), ports.FetchRun{Scope: r.scope(), RunID: "r", Now: e.now})
	e.toldDamaged(err, got.Run.Verify(), "fetching a damaged run")
	s.stored(other)
	e.same([]string{"r", "other"}, s.runIDs(ports.ListRuns{Scope: ports.System()}), "runs listed with a damaged one among them")
	lease := s.claimAmong(other)
	s.commit(other, lease.Token, change{Status: done})
	s.stored(other)
}
