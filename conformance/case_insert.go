package conformance

import (
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

var insertCases = []Case{
	{
		ID: "insert/stores-record-events-and-wake", Clauses: on("RUN-1 RUN-10 EVT-1"),
		Rule: "Insert stores the record, the first events and the first wake.",
		run:  insertStoresAll,
	},
	{
		ID: "insert/a-future-start-waits", Clauses: on("RUN-1 RUN-5"),
		Rule: "A run may start in the future: its first wake is the schedule's time.",
		run:  aFutureStartWaits,
	},
	{
		ID: "insert/taken-id-is-exists", Clauses: on("RUN-1"),
		Rule: "A taken id is ErrExists with the same text whoever owns it, and changes nothing.",
		run:  takenIDIsExists,
	},
	{
		ID: "insert/of-concurrent-inserts-one-wins", Clauses: on("RUN-1 RUN-7"),
		Rule: "Of concurrent inserts of one id exactly one succeeds; the others are ErrExists.",
		run:  oneInsertWins,
	},
	{
		ID: "insert/graph-must-exist", Clauses: on("RUN-1 GRF-5"),
		Rule: "The ref must exist for the owner: otherwise ErrNotFound, and nothing is stored.",
		run:  graphMustExist,
	},
	{
		ID: "insert/shape-is-checked-first", Clauses: on("RUN-1 RUN-3"),
		Rule: "A first transition of the wrong shape is ErrInvalid, also when its graph doesn't exist.",
		run:  insertShapeIsCheckedFirst,
	},
	{
		ID: "insert/refused-insert-leaves-nothing", Clauses: on("RUN-1"),
		Rule: "All or nothing: after a refused insert there is no run, no event, no wake, and the id is free.",
		run:  refusedInsertLeavesNothing,
	},
	{
		ID: "insert/born-claimed", Clauses: on("RUN-14 CLM-1 CLM-6"),
		Rule: "A run may be born claimed: attempt 1, the given token, an end at store time + TTL, no wake.",
		run:  bornClaimed,
	},
	{
		ID: "insert/born-claimed-expires", Clauses: on("RUN-14 CLM-3"),
		Rule: "A run that was born claimed is stolen like any other, and its birth counts as attempt 1.",
		run:  bornClaimedExpires,
	},
	{
		ID: "insert/born-claimed-shape", Clauses: on("RUN-14 RUN-11"),
		Rule: "A born claim needs a token, a TTL and the schedule retain; without a claim there is nothing to retain.",
		run:  bornClaimedShape,
	},
}

func insertStoresAll(e *env) {
	s := e.open()
	r := s.startWith(acme, "r", change{Events: 3})
	s.stored(r)
	s.delivers(r, delivery{WakeAt: e.now}, "of a new run")
	got, err := s.FetchRun(e.Context(), ports.FetchRun{Scope: r.scope(), RunID: "r", Now: e.now})
	e.ok(err, "fetching")
	e.same(r.run, got.Run, "the fetched record")
	e.check(got.Run.Verify() == nil, "the fetched record doesn't verify: %v", got.Run.Verify())
}

func aFutureStartWaits(e *env) {
	s := e.open()
	start := e.now.Add(time.Hour)
	r := s.startWith(nobody, "r", change{Kind: record.ScheduleAt, At: start})
	s.delivers(r, delivery{WakeAt: start}, "of a run that starts in the future")
	e.advance(time.Hour - time.Microsecond)
	e.same([]string{}, leased(s.claims(10)), "leased a microsecond before its start")
	e.advance(time.Microsecond)
	s.claim(r)
}

func takenIDIsExists(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	before := s.observe(r)
	texts := map[string]bool{}
	for _, owner := range []record.Owner{acme, globex, nobody} {
		other := &subject{owner: owner}
		err := s.insert(other, begin("r", s.graph(owner), e.now.Add(time.Second), change{Events: 3}))
		e.want(err, ports.ErrExists, "inserting a taken id as "+show(owner))
		if err != nil {
			texts[err.Error()] = true
		}
	}
	e.check(len(texts) <= 1, "the text tells who owns the id: %v", sortedKeys(texts))
	s.unchanged(before, r, "an insert of a taken id")
}

func oneInsertWins(e *env) {
	s := e.open()
	ref := s.graph(acme)
	const inserters = 10
	errs := make([]error, inserters)
	var group errgroup.Group
	for i := range inserters {
		group.Go(func() error {
			errs[i] = s.insert(&subject{owner: acme}, begin("r", ref, e.now, change{Events: i + 1}))
			return nil
		})
	}
	_ = group.Wait() // the errors are looked at one by one
	won := -1
	for i, err := range errs {
		if err == nil {
			e.check(won < 0, "two inserts of one id succeeded")
			won = i
			continue
		}
		e.want(err, ports.ErrExists, "an insert that lost")
	}
	if won < 0 {
		e.Fatalf("no insert won")
	}
	r := &subject{owner: acme}
	r.apply(begin("r", ref, e.now, change{Events: won + 1}))
	s.stored(r)
}

func graphMustExist(e *env) {
	s := e.open()
	r := &subject{owner: nobody}
	e.want(s.insert(r, begin("r", version("flow", 1).Ref, e.now, change{})), ports.ErrNotFound, "a run on an unknown graph")
	_, err := s.FetchRun(e.Context(), ports.FetchRun{Scope: ports.System(), RunID: "r", Now: e.now})
	e.want(err, ports.ErrNotFound, "fetching the run that wasn't inserted")
}

// spoiled is a request made wrong in one place.
type spoiled struct {
	what  string
	spoil func(*record.Transition)
}

// badRecords are wrong in every transition, first or not.
var badRecords = []spoiled{
	{"no run id", func(t *record.Transition) { t.Run.ID = "" }},
	{"status created", func(t *record.Transition) { t.Run.Status = "created" }},
	{"an unknown status", func(t *record.Transition) { t.Run.Status = "paused" }},
	{"an unknown schedule", func(t *record.Transition) { t.Schedule.Kind = "soon" }},
	{"no schedule", func(t *record.Transition) { t.Schedule.Kind = "" }},
	{"schedule at without a time", func(t *record.Transition) { t.Schedule = record.Schedule{Kind: record.ScheduleAt} }},
	{"no document", func(t *record.Transition) { t.Run.Document = nil }},
	{"no encoding", func(t *record.Transition) { t.Run.Encoding = "" }},
	{"no started_at", func(t *record.Transition) { t.Run.StartedAt = time.Time{} }},
	{"no updated_at", func(t *record.Transition) { t.Run.UpdatedAt = time.Time{} }},
	{"finished_at on a running run", func(t *record.Transition) { t.Run.FinishedAt = t.Run.UpdatedAt }},
	{"a negative step", func(t *record.Transition) { t.Run.Step = -1 }},
	{"an event of another run", func(t *record.Transition) { t.Events[0].RunID = "other" }},
	{"a gap between events", func(t *record.Transition) { t.Events[0].Seq-- }},
	{"events that don't end at event_seq", func(t *record.Transition) { t.Run.EventSeq++ }},
	{"an event without a type", func(t *record.Transition) { t.Events[0].Type = "" }},
	{"an event without a time", func(t *record.Transition) { t.Events[0].Time = time.Time{} }},
	{"running and terminal", func(t *record.Transition) { t.Schedule.Kind = record.ScheduleTerminal }},
	{"running and external", func(t *record.Transition) { t.Schedule.Kind = record.ScheduleExternal }},
}

func insertShapeIsCheckedFirst(e *env) {
	s := e.open()
	bad := append([]spoiled{
		{"sequence 2", func(t *record.Transition) { t.Run.CheckpointSeq = 2 }},
		{"sequence 0", func(t *record.Transition) { t.Run.CheckpointSeq = 0 }},
		{"checkpoint type step_committed", func(t *record.Transition) { t.Run.CheckpointType = stepCommitted }},
	}, badRecords...)
	for _, ref := range []string{"known", "unknown"} {
		if ref == "known" {
			s.save(nobody, version("known", 1))
		}
		for _, b := range bad {
			t := begin("r", version(ref, 1).Ref, e.now, change{})
			b.spoil(&t)
			err := s.insert(&subject{owner: nobody}, t)
			e.want(err, ports.ErrInvalid, fmt.Sprintf("inserting %s on an %s graph", b.what, ref))
		}
	}
	e.same([]string{}, s.runIDs(ports.ListRuns{Scope: ports.System()}), "runs after refused inserts")
}

func refusedInsertLeavesNothing(e *env) {
	s := e.open()
	ref := s.graph(acme)
	r := &subject{owner: acme}
	bad := begin("r", ref, e.now, change{Events: 3})
	bad.Events[2].Seq = 99
	e.want(s.insert(r, bad), ports.ErrInvalid, "an insert whose last event is wrong")
	for op, err := range s.reads(e.Context(), ports.System(), "r") {
		e.want(err, ports.ErrNotFound, op+" after a refused insert")
	}
	e.same([]string{}, leased(s.claims(10)), "leased after a refused insert")
	e.ok(s.insert(r, begin("r", ref, e.now, change{})), "inserting under the id that is still free")
	s.stored(r)
}

// insertClaimed inserts a run that is born claimed.
func (s *store) insertClaimed(r *subject, t record.Transition, grant ports.ClaimGrant) (ports.Inserted, error) {
	got, err := s.InsertRun(s.env.Context(), ports.InsertRun{Owner: r.owner, Transition: t, Claim: grant, Now: s.env.now})
	if err == nil {
		r.apply(t)
	}
	return got, err
}

func bornClaimed(e *env) {
	s := e.open()
	r := &subject{owner: acme}
	first := begin("r", s.graph(acme), e.now, change{Kind: record.ScheduleRetain})
	got, err := s.insertClaimed(r, first, ports.ClaimGrant{Token: "born", TTL: ttl})
	if s.Capabilities().Admission {
		e.want(err, ports.ErrUnsupported, "a born claim under admission")
		return
	}
	e.ok(err, "inserting a claimed run")
	end := e.now.Add(ttl)
	e.sameTime(end, got.ClaimEnd, "the answered claim end")
	s.delivers(r, delivery{ClaimedAt: e.now, ClaimEnd: end, Attempts: 1}, "of a run that was born claimed")
	e.same("born", s.token(r), "the token")
	e.same([]string{}, leased(s.claims(10)), "leased while it is claimed")
	s.commit(r, "born", change{Status: done})
	s.stored(r)
}

func bornClaimedExpires(e *env) {
	s := e.open()
	if s.Capabilities().Admission {
		return
	}
	r := &subject{owner: acme}
	_, err := s.insertClaimed(r, begin("r", s.graph(acme), e.now, change{Kind: record.ScheduleRetain}), ports.ClaimGrant{Token: "born", TTL: ttl})
	e.ok(err, "inserting a claimed run")
	e.advance(ttl + time.Microsecond)
	lease := s.claim(r)
	e.same(int64(2), lease.Attempt, "the attempt of the claim after the born one")
	_, err = s.tryCommit(r, "born", r.next(e.now, change{}))
	e.want(err, ports.ErrStale, "a commit under the born token after the steal")
}

func bornClaimedShape(e *env) {
	s := e.open()
	ref := s.graph(acme)
	retain, due := change{Kind: record.ScheduleRetain}, change{}
	for what, c := range map[string]struct {
		change change
		grant  ports.ClaimGrant
	}{
		"retain without a claim":        {retain, ports.ClaimGrant{}},
		"a claim without a token":       {retain, ports.ClaimGrant{TTL: ttl}},
		"a claim without a TTL":         {retain, ports.ClaimGrant{Token: "t"}},
		"a claim beside a wake":         {due, ports.ClaimGrant{Token: "t", TTL: ttl}},
		"a claim with a negative TTL":   {retain, ports.ClaimGrant{Token: "t", TTL: -ttl}},
		"a claim on a run that is done": {change{Status: done}, ports.ClaimGrant{Token: "t", TTL: ttl}},
	} {
		if c.change.Status == done {
			c.change.Type = runInitialized
		}
		_, err := s.insertClaimed(&subject{owner: acme}, begin("r", ref, e.now, c.change), c.grant)
		e.want(err, ports.ErrInvalid, "inserting "+what)
	}
}
