package conformance

import (
	"fmt"
	"slices"
	"time"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

var valueCases = []Case{
	{
		ID: "values/document-bytes-survive", Clauses: on("VAL-1"),
		Rule: "A run's bytes come back exactly, whatever they are: NUL, invalid UTF-8, unpaired escapes, a mebibyte.",
		run:  documentBytesSurvive,
	},
	{
		ID: "values/ids-are-exact", Clauses: on("VAL-1"),
		Rule: "Run ids that differ in case, spaces, normal form or a suffix are different runs.",
		run:  idsAreExact,
	},
	{
		ID: "values/times-are-microseconds", Clauses: on("VAL-3"),
		Rule: "Times come back as the microsecond they were cut to, in UTC.",
		run:  timesAreMicroseconds,
	},
	{
		ID: "values/far-times-survive", Clauses: on("VAL-3"),
		Rule: "Times far in the past and the future round-trip.",
		run:  farTimesSurvive,
	},
}

var sharingCases = []Case{
	{
		ID: "sharing/what-was-given-is-kept-apart", Clauses: on("VAL-1 RUN-4"),
		Rule: "Bytes that a caller changes after the call don't change what is stored.",
		run:  givenIsKeptApart,
	},
	{
		ID: "sharing/what-was-returned-is-kept-apart", Clauses: on("VAL-1 CLM-13"),
		Rule: "Bytes that a caller changes in an answer don't change what is stored.",
		run:  returnedIsKeptApart,
	},
}

func documentBytesSurvive(e *env) {
	s := e.open()
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	for i, doc := range [][]byte{
		[]byte("\x00"), []byte(`{"a":"\u0000","b":"\ud800"}`), all, []byte("{\"n\":1.0,\"n\":1e2, \"n\":-0}\n"), []byte(padding(1 << 20)),
	} {
		r := s.start(acme, fmt.Sprintf("r%d", i))
		t := r.next(e.now, change{Status: done})
		t.Run.Document, t.Run.Checksum = doc, record.Sum(doc)
		_, err := s.tryCommit(r, s.claim(r).Token, t)
		e.ok(err, "committing")
		got, err := s.FetchRun(e.Context(), ports.FetchRun{Scope: r.scope(), RunID: r.run.ID, Now: e.now})
		e.ok(err, "fetching")
		e.check(got.Run.Verify() == nil, "document %d doesn't verify", i)
		e.check(string(got.Run.Document) == string(doc), "document %d came back as %s", i, showBytes(got.Run.Document))
	}
}

func idsAreExact(e *env) {
	s := e.open()
	ids := []string{"é", "e\u0301", "Run", "run", "RUN", "run ", " run", "run-1", "run_1", "ß", "ss", "😀", "\ufffd", "%", "_", "'", `"`, `\`}
	var rs []*subject
	for i, id := range ids {
		rs = append(rs, s.startWith(acme, id, change{Events: 1 + i%3}))
	}
	for _, r := range rs {
		s.stored(r)
	}
	got := leased(s.claims(100))
	slices.Sort(got)
	slices.Sort(ids)
	e.same(ids, got, "leased")
}

func timesAreMicroseconds(e *env) {
	s := e.open()
	zone := time.FixedZone("elsewhere", 5*3600+45*60)
	ref := s.graph(acme)
	whole := time.Date(2031, 7, 1, 23, 59, 59, 999_999_000, time.UTC)
	e.now = whole.Add(999).In(zone)
	r := &subject{owner: acme}
	t := begin("r", ref, e.now, change{Kind: record.ScheduleAt, At: e.now})
	sent := t.Clone()
	sent.Run.StartedAt, sent.Run.UpdatedAt = e.now, e.now // a store cuts what it is given
	for i := range sent.Events {
		sent.Events[i].Time = e.now
	}
	_, err := s.InsertRun(e.Context(), ports.InsertRun{Owner: acme, Transition: sent, Now: e.now})
	e.ok(err, "inserting")
	r.apply(t)
	s.stored(r)
	i := s.info(r)
	for what, got := range map[string]time.Time{
		"started_at": i.Run.StartedAt, "updated_at": i.Run.UpdatedAt, "the wake": i.WakeAt, "the store's time": i.Now,
	} {
		e.sameTime(whole, got, what)
		_, offset := got.Zone()
		e.same(0, offset, "the offset from UTC of "+what)
		e.check(got.Round(0) == got, "%s has a monotonic part", what)
	}
	page, err := s.ListRuns(e.Context(), ports.ListRuns{Scope: r.scope(), Now: e.now})
	e.ok(err, "listing")
	e.same(ports.RunCursor{StartedAt: whole, RunID: "r"}, page.Next, "the cursor")
	event, err := s.FetchEvent(e.Context(), ports.FetchEvent{Scope: r.scope(), RunID: "r", Seq: 1})
	e.ok(err, "fetching")
	e.sameTime(whole, event.Event.Time, "the event's time")
	e.sameTime(whole.Add(ttl), s.claim(r).ClaimEnd, "the claim end")
}

func farTimesSurvive(e *env) {
	s := e.open()
	for _, year := range []int{1, 1969, 1970, 2038, 2262, 9998} {
		at := time.Date(year, 12, 31, 23, 59, 59, 999_999_000, time.UTC)
		r := &subject{owner: acme}
		t := begin(fmt.Sprintf("year %d", year), s.graph(acme), at, change{Kind: record.ScheduleAt, At: at})
		e.ok(s.insert(r, t), "inserting")
		s.stored(r)
		e.sameTime(at, s.info(r).WakeAt, "the wake")
	}
	want := []string{"year 9998", "year 2262", "year 2038", "year 1970", "year 1969", "year 1"}
	e.same(want, s.runIDs(ports.ListRuns{Scope: ports.System(), Limit: 2}), "runs newest first")
}

func scribble(data []byte) {
	for i := range data {
		data[i] ^= 0xff
	}
}

func givenIsKeptApart(e *env) {
	s := e.open()
	v := version("flow", 1)
	want := v.Clone()
	s.save(acme, v)
	scribble(v.Document)
	r := &subject{owner: acme}
	first := begin("r", want.Ref, e.now, change{})
	e.ok(s.insert(r, first), "inserting") // the subject keeps a copy
	spoil := func(t record.Transition) {
		scribble(t.Run.Document)
		for i := range t.Events {
			scribble(t.Events[i].Payload)
			t.Events[i].Type = "scribbled"
		}
	}
	spoil(first)
	s.stored(r)
	next := r.next(e.now, change{Kind: record.ScheduleRetain})
	_, err := s.tryCommit(r, s.claim(r).Token, next)
	e.ok(err, "committing")
	spoil(next)
	s.stored(r)
	signal := r.next(e.now, change{Type: interruptResolved})
	_, err = s.trySignal(r, signal)
	e.ok(err, "signalling")
	spoil(signal)
	s.stored(r)
	got, err := s.FetchGraph(e.Context(), ports.FetchGraph{Owner: acme, Ref: want.Ref})
	e.ok(err, "fetching")
	e.same(want.Document, got.Version.Document, "the graph document")
}

func returnedIsKeptApart(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	want := version("flow", 1)
	for range 2 { // the second reads see what the first left
		lease := s.claim(r)
		fetched, err := s.FetchRun(e.Context(), ports.FetchRun{Scope: r.scope(), RunID: "r", Now: e.now})
		e.ok(err, "fetching")
		events, err := s.ListEvents(e.Context(), ports.ListEvents{Scope: r.scope(), RunID: "r"})
		e.ok(err, "listing events")
		event, err := s.FetchEvent(e.Context(), ports.FetchEvent{Scope: r.scope(), RunID: "r", Seq: 1})
		e.ok(err, "fetching an event")
		latest, err := s.LatestEvent(e.Context(), ports.LatestEvent{Scope: r.scope(), RunID: "r"})
		e.ok(err, "fetching the latest event")
		page, err := s.ListRuns(e.Context(), ports.ListRuns{Scope: r.scope(), Records: true, Now: e.now})
		e.ok(err, "listing")
		saved, err := s.FetchGraph(e.Context(), ports.FetchGraph{Owner: acme, Ref: want.Ref})
		e.ok(err, "fetching the graph")
		e.same(r.run, lease.Run, "the leased record")
		e.same(want.Document, saved.Version.Document, "the graph document")
		for _, data := range [][]byte{
			lease.Run.Document, fetched.Run.Document, s.info(r).Run.Document, event.Event.Payload, latest.Event.Payload,
			page.Items[0].Run.Document, saved.Version.Document,
		} {
			scribble(data)
		}
		for i := range events.Events {
			scribble(events.Events[i].Payload)
			events.Events[i] = record.Event{}
		}
		s.stored(r)
		e.advance(ttl + time.Microsecond)
	}
}
