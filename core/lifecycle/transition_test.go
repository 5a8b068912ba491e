package lifecycle_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/docket-go/docket/core/compiler"
	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/lifecycle"
	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/core/runtime"
)

var now = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

func moment(t *testing.T) *runtime.Moment {
	t.Helper()
	reg, err := node.NewRegistry(map[string]node.Node{"a": node.HandlerFunc(idle)})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := graph.New("g", graph.PutNode("a", graph.Node{Implementation: "a"}),
		graph.PutEdge("e", graph.Edge{From: []string{graph.Start}, To: "a"}), graph.PutEdge("f", graph.Edge{From: []string{"a"}, To: graph.Finish}))
	if err != nil {
		t.Fatal(err)
	}
	pub, _, err := compiler.Publish(doc, reg)
	if err != nil {
		t.Fatal(err)
	}
	g, err := compiler.Load(pub.Ref, pub.Document, reg)
	if err != nil {
		t.Fatal(err)
	}
	m, err := runtime.Initialize(g, runtime.Start{RunID: "r", Now: now})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestScheduleIsTotal maps every disposition, claimed and not.
func TestScheduleIsTotal(t *testing.T) {
	at := now.Add(time.Hour)
	for _, c := range []struct {
		disposition        runtime.Disposition
		claimed, unclaimed record.Schedule
	}{
		{runtime.Disposition{Kind: runtime.Continue}, record.Schedule{Kind: record.ScheduleRetain}, record.Schedule{Kind: record.ScheduleImmediate}},
		{runtime.Disposition{Kind: runtime.ParkImmediate}, record.Schedule{Kind: record.ScheduleImmediate}, record.Schedule{Kind: record.ScheduleImmediate}},
		{runtime.Disposition{Kind: runtime.ParkExternal}, record.Schedule{Kind: record.ScheduleExternal}, record.Schedule{Kind: record.ScheduleExternal}},
		{runtime.Disposition{Kind: runtime.ParkAt, At: at}, record.Schedule{Kind: record.ScheduleAt, At: at}, record.Schedule{Kind: record.ScheduleAt, At: at}},
		{runtime.Disposition{Kind: runtime.ParkTerminal}, record.Schedule{Kind: record.ScheduleTerminal}, record.Schedule{Kind: record.ScheduleTerminal}},
	} {
		for claimed, want := range map[bool]record.Schedule{true: c.claimed, false: c.unclaimed} {
			m := moment(t)
			m.Disposition = c.disposition
			tr, err := lifecycle.Transition(m, claimed)
			if err != nil || tr.Schedule != want {
				t.Errorf("%s, claimed %v: %+v, %v, want %+v", c.disposition.Kind, claimed, tr.Schedule, err, want)
			}
		}
	}
}

func TestTransitionRoundTrip(t *testing.T) {
	m := moment(t)
	tr, err := lifecycle.Transition(m, false)
	if err != nil {
		t.Fatal(err)
	}
	if tr.Run.CheckpointType != string(run.CheckpointInitialized) || tr.Run.CheckpointSeq != 1 || len(tr.Events) != int(tr.Run.EventSeq) {
		t.Errorf("%+v", tr.Run)
	}
	for i, rec := range tr.Events {
		e, err := run.DecodeEvent(rec)
		if err != nil || e.Seq != int64(i)+1 || e.Type != m.Events[i].Type {
			t.Errorf("event %d: %+v, %v", i, e, err)
		}
	}
	back, err := lifecycle.Run(tr.Run)
	if err != nil {
		t.Fatal(err)
	}
	want, err := m.Document()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := run.Encode(back); err != nil || string(got) != string(want) {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}

// TestRunRefusesDisagreement changes each promoted column, and the bytes.
func TestRunRefusesDisagreement(t *testing.T) {
	for name, change := range map[string]func(*record.Run){
		"id":              func(r *record.Run) { r.ID = "other" },
		"graph":           func(r *record.Run) { r.Graph.Hash = "0" },
		"status":          func(r *record.Run) { r.Status = "done" },
		"step":            func(r *record.Run) { r.Step++ },
		"checkpoint_seq":  func(r *record.Run) { r.CheckpointSeq++ },
		"event_seq":       func(r *record.Run) { r.EventSeq++ },
		"open_interrupts": func(r *record.Run) { r.OpenInterrupts++ },
		"started_at":      func(r *record.Run) { r.StartedAt = now.Add(time.Second) },
		"updated_at":      func(r *record.Run) { r.UpdatedAt = now.Add(time.Second) },
		"finished_at":     func(r *record.Run) { r.FinishedAt = now },
		"":                func(r *record.Run) { r.Document[20] ^= 1 },
	} {
		tr, err := lifecycle.Transition(moment(t), false)
		if err != nil {
			t.Fatal(err)
		}
		change(&tr.Run)
		var corrupt *run.CorruptError
		if _, err := lifecycle.Run(tr.Run); !errors.As(err, &corrupt) || corrupt.Path != name {
			t.Errorf("%q: got %v", name, err)
		}
	}
	tr, err := lifecycle.Transition(moment(t), false)
	if err != nil {
		t.Fatal(err)
	}
	tr.Run.Encoding = "zstd"
	var corrupt *run.CorruptError
	if _, err := lifecycle.Run(tr.Run); !errors.Is(err, record.ErrUnsupported) || errors.As(err, &corrupt) {
		t.Errorf("an unknown encoding: %v", err)
	}
}

// TestTooLarge holds the store's limits.
func TestTooLarge(t *testing.T) {
	for what, change := range map[string]func(*runtime.Moment){
		"document": func(m *runtime.Moment) {
			m.Run.Metadata = map[string]any{"x": string(make([]byte, record.MaxRunBytes/6+1))}
		},
		"event": func(m *runtime.Moment) {
			m.Events[0].Payload = run.NodeFailed{Message: string(make([]byte, record.MaxEventBytes/6+1))}
		},
		"events": func(m *runtime.Moment) { m.Events = make([]run.Event, record.MaxCommitEvents+1) },
	} {
		m := moment(t)
		change(m)
		var large *lifecycle.TooLargeError
		if _, err := lifecycle.Transition(m, false); !errors.As(err, &large) {
			t.Errorf("%s: got %v", what, err)
		}
	}
}

func idle(context.Context, node.Input) (node.Result, error) { return node.Result{}, nil }
