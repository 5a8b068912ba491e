package conformance

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// Benching is what Benchmark needs of its benchmark: *testing.B is a
// Benching[*testing.B].
type Benching[S any] interface {
	Context() context.Context
	Helper()
	Fatalf(format string, args ...any)
	Cleanup(f func())
	Run(name string, f func(S)) bool
	ReportAllocs()
	ReportMetric(n float64, unit string)
	Loop() bool
}

// Benchmark measures the same shapes on every backend, as sub-benchmarks of b:
//
//	life/N    a run of N transitions: insert, claim, commit to the end
//	commit/N  a retaining commit, of N at once, each on a run of its own
//	list      a page of 100 summaries of 1000 runs
//	events    a page of 250 events of 1000
//
// A transition has a document of about 1 KiB and three events. Time is the
// store's own. What is measured is the backend through the port, its durability
// as the harness opens it; nothing is judged.
//
//	func BenchmarkBackend(b *testing.B) { conformance.Benchmark(b, harness(b)) }
func Benchmark[S Benching[S]](b S, h Harness) {
	b.Helper()
	for _, transitions := range []int{1, 10} {
		b.Run(fmt.Sprintf("life/%d", transitions), func(b S) { benchLife(newBench(b, h), transitions) })
	}
	for _, writers := range []int{1, 8, 32} {
		b.Run(fmt.Sprintf("commit/%d", writers), func(b S) { benchCommit(newBench(b, h), writers) })
	}
	b.Run("list", func(b S) { benchList(newBench(b, h)) })
	b.Run("events", func(b S) { benchEvents(newBench(b, h)) })
}

// bench is a store under measurement.
type bench struct {
	ports.Backend
	ctx    context.Context
	loop   func() bool
	fatalf func(format string, args ...any)
	report func(n float64, unit string)
	ref    graph.Ref
}

// newBench opens a store with one graph version in it.
func newBench[S Benching[S]](b S, h Harness) *bench {
	b.Helper()
	backend, err := h.Open(b.Context())
	if err != nil {
		b.Fatalf("opening %s: %v", h.Name, err)
	}
	b.Cleanup(func() { _ = backend.Close() })
	v := version("flow", 1)
	if _, err := backend.SaveGraph(b.Context(), ports.SaveGraph{Version: v}); err != nil {
		b.Fatalf("saving a graph: %v", err)
	}
	b.ReportAllocs()
	return &bench{Backend: backend, ctx: b.Context(), loop: b.Loop, fatalf: b.Fatalf, report: b.ReportMetric, ref: v.Ref}
}

func (b *bench) ok(err error, what string) {
	if err != nil {
		b.fatalf("%s: %v", what, err)
	}
}

// benchLife measures whole runs. Each is the only one due.
func benchLife(b *bench, transitions int) {
	template := newPace("run", b.ref)
	for n := 0; b.loop(); n++ {
		t := template.of(fmt.Sprint("run ", n))
		_, err := b.InsertRun(b.ctx, ports.InsertRun{Transition: t.transition})
		b.ok(err, "inserting")
		token := b.claim()
		for left := transitions; left > 0; left-- {
			kind := record.ScheduleRetain
			if left == 1 {
				kind = record.ScheduleTerminal
			}
			b.ok(t.commit(b, token, kind), "committing")
		}
	}
}

func (b *bench) claim() string {
	got, err := b.ClaimRuns(b.ctx, ports.ClaimRuns{Scope: ports.System(), Limit: 1, TTL: time.Hour, MaxAttempts: 3})
	b.ok(err, "claiming")
	if len(got.Leases) != 1 {
		b.fatalf("claiming the only run that is due gave %d leases", len(got.Leases))
	}
	return got.Leases[0].Token
}

// benchCommit measures commits by writers that don't wait for each other. The
// metric counts those that were still under way when the loop had ended, too.
func benchCommit(b *bench, writers int) {
	paces, tokens := make([]*pace, writers), make([]string, writers)
	for i := range paces {
		paces[i] = newPace(fmt.Sprint("run ", i), b.ref)
		_, err := b.InsertRun(b.ctx, ports.InsertRun{Transition: paces[i].transition})
		b.ok(err, "inserting")
		tokens[i] = b.claim()
	}
	due := make(chan struct{})
	errs := make([]error, writers)
	var group sync.WaitGroup
	for i, p := range paces {
		group.Go(func() {
			for range due {
				if errs[i] == nil {
					errs[i] = p.commit(b, tokens[i], record.ScheduleRetain)
				}
			}
		})
	}
	started, n := time.Now(), 0
	for ; b.loop(); n++ {
		due <- struct{}{}
	}
	close(due)
	group.Wait()
	b.report(float64(n)/time.Since(started).Seconds(), "commits/s")
	for _, err := range errs {
		b.ok(err, "committing")
	}
}

func benchList(b *bench) {
	template := newPace("run", b.ref)
	for n := range 1000 {
		_, err := b.InsertRun(b.ctx, ports.InsertRun{Transition: template.of(fmt.Sprintf("run %04d", n)).transition})
		b.ok(err, "inserting")
	}
	for b.loop() {
		page, err := b.ListRuns(b.ctx, ports.ListRuns{Scope: ports.System(), Limit: 100})
		b.ok(err, "listing")
		if len(page.Items) != 100 {
			b.fatalf("a page of %d runs", len(page.Items))
		}
	}
}

func benchEvents(b *bench) {
	p := newPace("run", b.ref)
	_, err := b.InsertRun(b.ctx, ports.InsertRun{Transition: p.transition})
	b.ok(err, "inserting")
	for token := b.claim(); p.transition.Run.EventSeq < 1000; {
		b.ok(p.commit(b, token, record.ScheduleRetain), "committing")
	}
	for b.loop() {
		page, err := b.ListEvents(b.ctx, ports.ListEvents{Scope: ports.System(), RunID: "run", AfterSeq: 500, Limit: 250})
		b.ok(err, "listing events")
		if len(page.Events) != 250 {
			b.fatalf("a page of %d events", len(page.Events))
		}
	}
}

// pace makes the transitions of one run at next to no cost: only their numbers
// differ, and the bytes are made once.
type pace struct {
	transition record.Transition // the latest
}

const eventsOfPace = 3

func newPace(id string, ref graph.Ref) *pace {
	return &pace{begin(id, ref, time.Now(), change{Events: eventsOfPace, Pad: 1 << 10})}
}

// of is the beginning of another run that is as p's.
func (p *pace) of(id string) *pace {
	t := p.transition
	t.Run.ID = id
	t.Events = slices.Clone(t.Events)
	for i := range t.Events {
		t.Events[i].RunID = id
	}
	return &pace{t}
}

// commit sends the run's next transition.
func (p *pace) commit(b *bench, token string, kind record.ScheduleKind) error {
	run, last := p.transition.Run, p.transition.Events
	expected := run.CheckpointSeq
	run.CheckpointSeq, run.Step, run.CheckpointType = expected+1, run.Step+1, stepCommitted
	if kind == record.ScheduleTerminal {
		run.Status, run.CheckpointType, run.FinishedAt = done, runCompleted, run.UpdatedAt
	}
	events := make([]record.Event, len(last))
	for i, e := range last {
		e.Seq, e.Step = e.Seq+int64(len(last)), run.Step
		events[i] = e
	}
	run.EventSeq = events[len(events)-1].Seq
	p.transition = record.Transition{Run: run, Events: events, Schedule: record.Schedule{Kind: kind}}
	_, err := b.CommitClaimed(b.ctx, ports.CommitClaimed{
		Scope: ports.System(), RunID: run.ID, Token: token, ExpectedSeq: expected, Transition: p.transition, TTL: time.Hour,
	})
	return err
}
