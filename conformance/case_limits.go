package conformance

import (
	"errors"
	"fmt"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

var limitCases = []Case{
	{
		ID: "limits/at-the-limit-is-stored", Clauses: on("LIM-1 VAL-1"),
		Rule: "A document of exactly 16 MiB and a payload of exactly 1 MiB are stored and come back.",
		run:  atTheLimitIsStored,
	},
	{
		ID: "limits/over-the-limit-is-invalid", Clauses: on("LIM-1 RUN-3"),
		Rule: "One byte over the limit of a document or payload is ErrInvalid (too_large), and nothing is written.",
		run:  overTheLimitIsInvalid,
	},
	{
		ID: "limits/events-of-a-commit", Clauses: on("LIM-1 EVT-3"),
		Rule: "10,000 events commit and read back in pages; 10,001 are ErrInvalid.",
		run:  eventsOfACommit,
	},
	{
		ID: "limits/run-ids", Clauses: on("LIM-1 VAL-1"),
		Rule: "Run ids of 1 to 255 bytes work everywhere; longer ones, control characters and invalid UTF-8 are ErrInvalid.",
		run:  runIDLimits,
	},
	{
		ID: "limits/claim-demand", Clauses: on("LIM-1 CLM-2"),
		Rule: "A claim asks for 1..1000 outcomes, a TTL of at least a microsecond and at least one attempt.",
		run:  claimDemandLimits,
	},
	{
		ID: "limits/event-pages", Clauses: on("LIM-1 EVT-3"),
		Rule: "An event page has a limit of 1..1000 and a cursor that isn't negative.",
		run:  eventPageLimits,
	},
}

// sized gives a transition whose document has exactly n bytes.
func sized(t record.Transition, n int) record.Transition {
	t.Run.Document = []byte(padding(n))
	t.Run.Checksum = record.Sum(t.Run.Document)
	return t
}

// withPayload gives a transition whose first payload has exactly n bytes.
func withPayload(t record.Transition, n int) record.Transition {
	t.Events[0].Payload = []byte(padding(n))
	t.Events[0].Checksum = record.Sum(t.Events[0].Payload)
	return t
}

func atTheLimitIsStored(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	full := withPayload(sized(r.next(e.now, change{}), record.MaxRunBytes), record.MaxEventBytes)
	_, err := s.tryCommit(r, s.claim(r).Token, full)
	e.ok(err, "committing a document and a payload at the limit")
	got, err := s.FetchRun(e.Context(), ports.FetchRun{Scope: ports.System(), RunID: "r", Now: e.now})
	e.ok(err, "fetching")
	e.check(got.Run.Verify() == nil && len(got.Run.Document) == record.MaxRunBytes, "a document of %d bytes came back as %d", record.MaxRunBytes, len(got.Run.Document))
	event, err := s.FetchEvent(e.Context(), ports.FetchEvent{Scope: ports.System(), RunID: "r", Seq: full.Events[0].Seq})
	e.ok(err, "fetching the event")
	e.check(event.Event.Verify() == nil && len(event.Event.Payload) == record.MaxEventBytes, "a payload of %d bytes came back as %d", record.MaxEventBytes, len(event.Event.Payload))
}

// tooLarge wants an ErrInvalid that says too_large.
func (e *env) tooLarge(err error, what string) {
	e.Helper()
	e.want(err, ports.ErrInvalid, what)
	var detailed *ports.Error
	if errors.As(err, &detailed) {
		e.same(ports.DetailTooLarge, detailed.Detail, what+": the detail")
	} else {
		e.Errorf("%s: the error is no *ports.Error, so its detail can't be read", what)
	}
}

func overTheLimitIsInvalid(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	token := s.claim(r).Token
	before := s.observe(r)
	_, err := s.tryCommit(r, token, sized(r.next(e.now, change{}), record.MaxRunBytes+1))
	e.tooLarge(err, "committing a document that is too large")
	_, err = s.tryCommit(r, token, withPayload(r.next(e.now, change{}), record.MaxEventBytes+1))
	e.tooLarge(err, "committing a payload that is too large")
	_, err = s.trySignal(r, sized(r.next(e.now, change{Type: interruptResolved}), record.MaxRunBytes+1))
	e.tooLarge(err, "signalling a document that is too large")
	e.tooLarge(s.insert(&subject{owner: acme}, sized(begin("big", r.run.Graph, e.now, change{}), record.MaxRunBytes+1)), "inserting a document that is too large")
	s.unchanged(before, r, "a transition that is too large")
}

func eventsOfACommit(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	token := s.claim(r).Token
	before := s.observe(r)
	_, err := s.tryCommit(r, token, r.next(e.now, change{Events: record.MaxCommitEvents + 1}))
	e.tooLarge(err, "committing 10,001 events")
	s.unchanged(before, r, "a transition with too many events")
	s.commit(r, token, change{Events: record.MaxCommitEvents})
	s.stored(r)
}

func runIDLimits(e *env) {
	s := e.open()
	ref := s.graph(acme)
	for _, id := range []string{"", padding(256), padding(10_000), "a\nb", "a\x00b", "a\x7fb", "\xff", "caf\xc3"} {
		e.want(s.insert(&subject{owner: acme}, begin(id, ref, e.now, change{})), ports.ErrInvalid, "inserting run id "+showString(id))
		_, err := s.FetchRun(e.Context(), ports.FetchRun{Scope: ports.System(), RunID: id, Now: e.now})
		e.want(err, ports.ErrInvalid, "fetching run id "+showString(id))
	}
	random := make([]byte, 255) // incompressible: an index can't cheat
	for i := range random {
		random[i] = byte('!' + e.rand.IntN(90))
	}
	for _, id := range []string{"x", " ", "../x", " x ", "X", string(random), padding(255)} {
		r := s.start(acme, id)
		s.commit(r, s.claim(r).Token, change{Status: done})
		s.stored(r)
	}
}

func claimDemandLimits(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	before := s.observe(r)
	for what, spoil := range map[string]func(*ports.ClaimRuns){
		"limit 0":               func(r *ports.ClaimRuns) { r.Limit = 0 },
		"limit -1":              func(r *ports.ClaimRuns) { r.Limit = -1 },
		"limit 1001":            func(r *ports.ClaimRuns) { r.Limit = 1001 },
		"no TTL":                func(r *ports.ClaimRuns) { r.TTL = 0 },
		"a negative TTL":        func(r *ports.ClaimRuns) { r.TTL = -ttl },
		"no attempts":           func(r *ports.ClaimRuns) { r.MaxAttempts = 0 },
		"an unknown class":      func(r *ports.ClaimRuns) { r.Prefer = "old" },
		"a TTL of a nanosecond": func(r *ports.ClaimRuns) { r.TTL = 1 },
	} {
		req := ports.ClaimRuns{Scope: ports.System(), Limit: 1, TTL: ttl, MaxAttempts: 1, Now: e.now}
		spoil(&req)
		_, err := s.ClaimRuns(e.Context(), req)
		e.want(err, ports.ErrInvalid, "claiming with "+what)
	}
	s.unchanged(before, r, "a claim of the wrong shape")
	e.same([]string{"r"}, leased(s.claims(1000)), "leased with limit 1000")
}

func eventPageLimits(e *env) {
	s := e.open()
	s.start(acme, "r")
	for _, req := range []ports.ListEvents{{Limit: -1}, {Limit: 1001}, {AfterSeq: -1}} {
		req.Scope, req.RunID = ports.System(), "r"
		_, err := s.ListEvents(e.Context(), req)
		e.want(err, ports.ErrInvalid, "listing events with "+show(req))
	}
	for _, seq := range []int64{0, -1} {
		_, err := s.FetchEvent(e.Context(), ports.FetchEvent{Scope: ports.System(), RunID: "r", Seq: seq})
		e.want(err, ports.ErrInvalid, fmt.Sprintf("fetching event %d", seq))
	}
}
