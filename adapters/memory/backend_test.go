package memory

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// TestNothingIsShared changes every byte slice that goes in or comes out, and
// reads again.
func TestNothingIsShared(t *testing.T) {
	t.Parallel()
	b, ctx := open(t), t.Context()
	v := version1(1)
	tr := first("a", v.Ref, epoch)
	wantGraph, wantRun, wantEvent := string(v.Document), string(tr.Run.Document), string(tr.Events[1].Payload)
	scribble := func(bytes []byte) {
		for i := range bytes {
			bytes[i] = '!'
		}
		_ = append(bytes, "!!!!!!!!!!!!!!!!"...) // must not reach a neighbour
	}

	_, err := b.SaveGraph(ctx, ports.SaveGraph{Version: v})
	must(t, 0, err)
	scribble(v.Document)
	_, err = b.InsertRun(ctx, ports.InsertRun{Transition: tr})
	must(t, 0, err)
	scribble(tr.Run.Document)
	for i := range tr.Events {
		scribble(tr.Events[i].Payload)
		tr.Events[i].Type = "scribbled"
	}

	for range 2 { // the second round reads after the first one's answers were changed
		graph, err := b.FetchGraph(ctx, ports.FetchGraph{Ref: v.Ref})
		must(t, 0, err)
		fetched, err := b.FetchRun(ctx, ports.FetchRun{Scope: ports.System(), RunID: "a"})
		must(t, 0, err)
		info, err := b.InspectRun(ctx, ports.InspectRun{Scope: ports.System(), RunID: "a"})
		must(t, 0, err)
		page := list(t, b, ports.ListRuns{Scope: ports.System(), Records: true})
		events, err := b.ListEvents(ctx, ports.ListEvents{Scope: ports.System(), RunID: "a"})
		must(t, 0, err)
		event, err := b.FetchEvent(ctx, ports.FetchEvent{Scope: ports.System(), RunID: "a", Seq: 2})
		must(t, 0, err)
		latest, err := b.LatestEvent(ctx, ports.LatestEvent{Scope: ports.System(), RunID: "a"})
		must(t, 0, err)
		lease := claim(t, b, 1, after(time.Hour)).Leases[0]
		_, err = b.ReleaseClaim(ctx, ports.ReleaseClaim{Scope: ports.System(), RunID: "a", Token: lease.Token})
		must(t, 0, err)
		for _, got := range []struct {
			name  string
			bytes []byte
			want  string
		}{
			{"graph", graph.Version.Document, wantGraph},
			{"fetched", fetched.Run.Document, wantRun},
			{"inspected", info.Run.Document, wantRun},
			{"listed", page.Items[0].Run.Document, wantRun},
			{"leased", lease.Run.Document, wantRun},
			{"first listed event", events.Events[0].Payload, `{"n":1}`},
			{"second listed event", events.Events[1].Payload, wantEvent},
			{"event", event.Event.Payload, wantEvent},
			{"latest", latest.Event.Payload, wantEvent},
		} {
			if string(got.bytes) != got.want {
				t.Errorf("%s: %s, want %s", got.name, got.bytes, got.want)
			}
			scribble(got.bytes)
		}
		if events.Events[0].Type != "node_completed" {
			t.Errorf("type %s", events.Events[0].Type)
		}
	}
}

// TestPayloadsCantGrowIntoEachOther: those of one transition are neighbours.
func TestPayloadsCantGrowIntoEachOther(t *testing.T) {
	t.Parallel()
	events := appended(nil, first("a", version1(1).Ref, epoch).Events, epoch)
	_ = append(events[0].Payload, '!')
	if want := []byte(`{"n":2}`); !bytes.Equal(events[1].Payload, want) {
		t.Errorf("got %s", events[1].Payload)
	}
}

func TestClock(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 1999, time.FixedZone("", 3600))
	b := New(Config{Clock: func() time.Time { return now }})
	read := func(given time.Time) time.Time {
		page := list(t, b, ports.ListRuns{Scope: ports.System(), Now: given})
		return page.Now
	}
	want := time.Date(2025, 12, 31, 23, 0, 0, 1000, time.UTC)
	if got := read(time.Time{}); got != want {
		t.Errorf("%v, want %v", got, want)
	}
	now = now.Add(-time.Hour)
	if got := read(time.Time{}); got != want {
		t.Errorf("backwards: %v", got)
	}
	if got := read(now); got != want.Add(-time.Hour) {
		t.Errorf("a given time is taken as it is: %v", got)
	}
	now = now.Add(2 * time.Hour)
	if got := read(time.Time{}); got != want.Add(time.Hour) {
		t.Errorf("forwards: %v", got)
	}
	var zero Config
	if got := New(zero).clock.now(time.Time{}); got.IsZero() || got.Nanosecond()%1000 != 0 {
		t.Errorf("the process's clock: %v", got)
	}
}

func TestEndedContextAndClose(t *testing.T) {
	t.Parallel()
	b := open(t)
	insert(t, b, nobody, "a", epoch)
	ended, stop := context.WithCancel(t.Context())
	stop()
	calls := func(ctx context.Context) map[string]error {
		_, read := b.FetchRun(ctx, ports.FetchRun{Scope: ports.System(), RunID: "a"})
		_, write := b.SaveGraph(ctx, ports.SaveGraph{Version: version1(3)})
		_, claim := b.ClaimRuns(ctx, ports.ClaimRuns{Scope: ports.System(), Limit: 1, TTL: time.Second, MaxAttempts: 1})
		_, prune := b.Prune(ctx, ports.Prune{Policy: ports.Retention{Runs: time.Hour}, Batch: 1})
		return map[string]error{"read": read, "write": write, "claim": claim, "prune": prune}
	}
	for name, err := range calls(ended) {
		if !errors.Is(err, context.Canceled) || !errors.Is(err, ports.ErrUnavailable) {
			t.Errorf("%s under an ended context: %v", name, err)
		}
	}
	for name, err := range calls(t.Context()) {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	must(t, 0, b.Close())
	must(t, 0, b.Close())
	for name, err := range calls(t.Context()) {
		if !errors.Is(err, ports.ErrClosed) {
			t.Errorf("%s after close: %v", name, err)
		}
	}
}

// TestIDsInByteOrder pages one by one through ids that locales and numbers
// would order otherwise, all of one starting time.
func TestIDsInByteOrder(t *testing.T) {
	t.Parallel()
	b := open(t)
	all := []string{"B", "Z", "a", "a-b", "a_b", "ab", "run-1", "run_10", "é", "😀"}
	for i := range all {
		insert(t, b, nobody, all[(i*7)%len(all)], epoch)
	}
	slices.SortFunc(all, func(a, b string) int { return strings.Compare(b, a) })
	var got []string
	req := ports.ListRuns{Scope: ports.Tenantless(), Limit: 1}
	for range all {
		page := list(t, b, req)
		got = append(got, ids(page)...)
		if page.HasMore != (len(got) < len(all)) {
			t.Errorf("after %v: has more %v", got, page.HasMore)
		}
		req.After = page.Next
	}
	if !slices.Equal(got, all) {
		t.Errorf("got  %q\nwant %q", got, all)
	}
	if page := list(t, b, req); len(page.Items) != 0 || page.HasMore || page.Next != req.After {
		t.Errorf("behind the end: %v", page)
	}
}

// TestRunKeepsWhatItIs covers what a caller guarantees, and would else spoil
// the store's orders (RUN-4).
func TestRunKeepsWhatItIs(t *testing.T) {
	t.Parallel()
	b := open(t)
	r := insert(t, b, nobody, "a", epoch)
	for name, change := range map[string]func(*record.Transition){
		"graph":         func(tr *record.Transition) { tr.Run.Graph = version1(2).Ref },
		"starting time": func(tr *record.Transition) { tr.Run.StartedAt = after(time.Microsecond) },
		"events": func(tr *record.Transition) {
			tr.Run.EventSeq++
			tr.Events[0].Seq++
		},
	} {
		tr := next(r, "running", "interrupt_resolved", record.ScheduleImmediate)
		change(&tr)
		_, err := b.CommitUnclaimed(t.Context(), ports.CommitUnclaimed{Scope: ports.System(), RunID: "a", ExpectedSeq: 1, Transition: tr})
		if !errors.Is(err, ports.ErrInvalid) {
			t.Errorf("another %s: %v", name, err)
		}
	}
	must(t, 0, b.state.audit())
}

// TestFreshNumberIsTaken finds an event where a transition puts its first: a
// store that somebody else wrote to (EVT-2).
func TestFreshNumberIsTaken(t *testing.T) {
	t.Parallel()
	b := open(t)
	r := insert(t, b, nobody, "a", epoch)
	stray := next(r, "running", "interrupt_resolved", record.ScheduleImmediate)
	spoilt := *b.state.slots["a"].row
	spoilt.events = appended(spoilt.events, stray.Events, epoch)
	b.state.put(&spoilt)
	_, err := b.CommitUnclaimed(t.Context(), ports.CommitUnclaimed{Scope: ports.System(), RunID: "a", ExpectedSeq: 1, Transition: stray})
	if !errors.Is(err, ports.ErrConflict) {
		t.Errorf("a number that is taken: %v", err)
	}
	if found := b.state.slots["a"].row; found != &spoilt {
		t.Error("the transition was stored in part")
	}
}
