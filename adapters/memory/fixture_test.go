package memory

import (
	"fmt"
	"testing"
	"time"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

var (
	epoch  = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	nobody = record.Owner{}
	acme   = record.Owner{Tenant: "acme"}
)

func after(d time.Duration) time.Time { return epoch.Add(d) }

func open(t testing.TB) *Backend {
	b := New(Config{Clock: func() time.Time { return epoch }})
	t.Cleanup(func() { _ = b.Close() })
	return b
}

// must returns the answer of a call that has to succeed.
func must[A any](t testing.TB, answer A, err error) A {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func version1(n int) record.GraphVersion {
	document := fmt.Appendf(nil, `{"n":%d}`, n)
	return record.GraphVersion{
		Ref:      graph.Ref{ID: "flow", Hash: record.Sum(document).String()},
		Encoding: record.EncodingJSON, Document: document,
	}
}

func save(t testing.TB, b ports.Backend, owner record.Owner) graph.Ref {
	t.Helper()
	v := version1(1)
	_, err := b.SaveGraph(t.Context(), ports.SaveGraph{Owner: owner, Version: v, Now: epoch})
	must(t, 0, err)
	return v.Ref
}

// first returns the transition that inserts a run, due at once.
func first(id string, ref graph.Ref, startedAt time.Time) record.Transition {
	t := record.Transition{
		Run: record.Run{
			ID: id, Graph: ref, Status: "running", CheckpointType: "run_initialized",
			StartedAt: startedAt, UpdatedAt: startedAt, Encoding: record.EncodingJSON,
		},
		Schedule: record.Schedule{Kind: record.ScheduleImmediate},
	}
	return advanced(t, 2)
}

// next returns the transition after a record: one more sequence, some events.
func next(r record.Run, status, checkpoint string, kind record.ScheduleKind) record.Transition {
	t := record.Transition{Run: r, Schedule: record.Schedule{Kind: kind}}
	t.Run.Status, t.Run.CheckpointType = status, checkpoint
	if status == "done" || status == "failed" || status == "cancelled" {
		t.Run.FinishedAt = r.StartedAt.Add(time.Duration(r.CheckpointSeq) * time.Second)
	}
	return advanced(t, 1)
}

func advanced(t record.Transition, events int64) record.Transition {
	t.Run.CheckpointSeq++
	t.Run.Document = fmt.Appendf(nil, `{"id":%q,"seq":%d}`, t.Run.ID, t.Run.CheckpointSeq)
	t.Run.Checksum = record.Sum(t.Run.Document)
	t.Events = nil
	for range events {
		t.Run.EventSeq++
		payload := fmt.Appendf(nil, `{"n":%d}`, t.Run.EventSeq)
		t.Events = append(t.Events, record.Event{
			RunID: t.Run.ID, Seq: t.Run.EventSeq, Type: "node_completed", Step: t.Run.Step, Time: t.Run.UpdatedAt,
			Encoding: record.EncodingJSON, Payload: payload, Checksum: record.Sum(payload),
		})
	}
	return t
}

func insert(t testing.TB, b ports.Backend, owner record.Owner, id string, startedAt time.Time) record.Run {
	t.Helper()
	tr := first(id, save(t, b, owner), startedAt)
	_, err := b.InsertRun(t.Context(), ports.InsertRun{Owner: owner, Transition: tr, Now: startedAt})
	must(t, 0, err)
	return tr.Run
}

func claim(t testing.TB, b ports.Backend, limit int, now time.Time) ports.Claimed {
	t.Helper()
	got, err := b.ClaimRuns(t.Context(), ports.ClaimRuns{Scope: ports.System(), Limit: limit, TTL: time.Minute, MaxAttempts: 5, Now: now})
	return must(t, got, err)
}

func signal(t testing.TB, b ports.Backend, tr record.Transition, now time.Time) {
	t.Helper()
	_, err := b.CommitUnclaimed(t.Context(), ports.CommitUnclaimed{
		Scope: ports.System(), RunID: tr.Run.ID, ExpectedSeq: tr.Run.CheckpointSeq - 1, Transition: tr, Now: now,
	})
	must(t, 0, err)
}

func cancel(t testing.TB, b ports.Backend, r record.Run, now time.Time) {
	t.Helper()
	tr := next(r, "cancelled", "run_cancelled", record.ScheduleTerminal)
	tr.Run.FinishedAt = now
	signal(t, b, tr, now)
}

func ids(page ports.RunPage) []string {
	var ids []string
	for _, item := range page.Items {
		ids = append(ids, item.Run.ID)
	}
	return ids
}

func list(t testing.TB, b ports.Backend, req ports.ListRuns) ports.RunPage {
	t.Helper()
	page, err := b.ListRuns(t.Context(), req)
	return must(t, page, err)
}
