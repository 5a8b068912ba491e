package sqlite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// epoch is a moment with odd microseconds.
var epoch = time.Date(2031, 5, 6, 7, 8, 9, 123457000, time.UTC)

func openAt(t *testing.T, path string) *Backend {
	t.Helper()
	b, err := Open(t.Context(), Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return b
}

func openFresh(t *testing.T) *Backend {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "docket.db"))
}

// publish saves the one graph version that the tests' runs refer to.
func publish(t *testing.T, b ports.Graphs, owner record.Owner) graph.Ref {
	t.Helper()
	v := version("g", `{"id":"g"}`)
	if _, err := b.SaveGraph(t.Context(), ports.SaveGraph{Owner: owner, Version: v, Now: epoch}); err != nil {
		t.Fatal(err)
	}
	return v.Ref
}

func version(id, document string) record.GraphVersion {
	return record.GraphVersion{
		Ref:      graph.Ref{ID: id, Hash: record.Sum([]byte(document)).String()},
		Encoding: record.EncodingJSON, Document: []byte(document),
	}
}

// first is a run's first transition, with one event, due at once.
func first(id string, ref graph.Ref) record.Transition {
	t := record.Transition{
		Run: record.Run{
			ID: id, Graph: ref, Status: "running", CheckpointType: "run_initialized", StartedAt: epoch,
			Encoding: record.EncodingJSON,
		},
		Schedule: record.Schedule{Kind: record.ScheduleImmediate},
	}
	return stamped(t, "run_initialized")
}

// next is the transition that follows r by one step, with one event.
func next(r record.Run, kind record.ScheduleKind) record.Transition {
	r.CheckpointType, r.Step = "step_committed", r.Step+1
	return stamped(record.Transition{Run: r, Schedule: record.Schedule{Kind: kind}}, "checkpoint_committed")
}

// ended is the transition that completes r.
func ended(r record.Run) record.Transition {
	r.CheckpointType, r.Status, r.FinishedAt = "run_completed", "done", epoch
	return stamped(record.Transition{Run: r, Schedule: record.Schedule{Kind: record.ScheduleTerminal}}, "run_completed")
}

func stamped(t record.Transition, event string) record.Transition {
	r := &t.Run
	r.CheckpointSeq++
	r.EventSeq++
	r.UpdatedAt = epoch
	r.Document = []byte(fmt.Sprintf(`{"seq":%d}`, r.CheckpointSeq))
	r.Checksum = record.Sum(r.Document)
	payload := []byte(`{}`)
	t.Events = []record.Event{{
		RunID: r.ID, Seq: r.EventSeq, Type: event, Step: r.Step, Time: epoch,
		Encoding: record.EncodingJSON, Payload: payload, Checksum: record.Sum(payload),
	}}
	return t
}

// insert stores a fresh due run of a tenantless owner.
func insert(t *testing.T, b ports.Backend, id string, ref graph.Ref) record.Run {
	t.Helper()
	tr := first(id, ref)
	if _, err := b.InsertRun(t.Context(), ports.InsertRun{Transition: tr, Now: epoch}); err != nil {
		t.Fatal(err)
	}
	return tr.Run
}

// claimOne leases the one due run.
func claimOne(t *testing.T, b ports.Claims, now time.Time) ports.Lease {
	t.Helper()
	claimed, err := b.ClaimRuns(t.Context(), ports.ClaimRuns{
		Scope: ports.System(), Limit: 1, TTL: time.Minute, MaxAttempts: 5, Now: now,
	})
	if err != nil || len(claimed.Leases) != 1 {
		t.Fatalf("claimed %+v, %v; want one lease", claimed, err)
	}
	return claimed.Leases[0]
}

func inspect(t *testing.T, b ports.Runs, id string) ports.RunInfo {
	t.Helper()
	info, err := b.InspectRun(t.Context(), ports.InspectRun{Scope: ports.System(), RunID: id, Now: epoch})
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// execRaw writes behind the backend's back, through its own connection.
func execRaw(ctx context.Context, b *Backend, query string, args ...any) error {
	return b.write(ctx, "test", func(ctx context.Context, u *unit) error {
		_, err := u.exec(ctx, query, args...)
		return err
	})
}

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		os.Exit(playRole(role))
	}
	os.Exit(m.Run())
}

func owner(tenant string) record.Owner { return record.Owner{Tenant: tenant} }

func (q *queue) snapshot() []*job {
	q.mu.Lock()
	defer q.mu.Unlock()
	return append([]*job(nil), q.jobs...)
}
