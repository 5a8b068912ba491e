package postgres

import (
	"fmt"
	"net"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// epoch is a moment with odd microseconds.
var epoch = time.Date(2031, 5, 6, 7, 8, 9, 123457000, time.UTC)

func urlOf(cfg *pgx.ConnConfig) string {
	u := url.URL{
		Scheme: "postgres", User: url.UserPassword(cfg.User, cfg.Password),
		Host: net.JoinHostPort(cfg.Host, strconv.Itoa(int(cfg.Port))), Path: "/" + cfg.Database,
	}
	if cfg.TLSConfig == nil {
		u.RawQuery = "sslmode=disable"
	}
	return u.String()
}

// publish saves the one graph version that the tests' runs refer to.
func publish(t testing.TB, b ports.Graphs, owner record.Owner) graph.Ref {
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
	r.Document = fmt.Appendf(nil, `{"seq":%d}`, r.CheckpointSeq)
	r.Checksum = record.Sum(r.Document)
	payload := []byte(`{}`)
	t.Events = []record.Event{{
		RunID: r.ID, Seq: r.EventSeq, Type: event, Step: r.Step, Time: epoch,
		Encoding: record.EncodingJSON, Payload: payload, Checksum: record.Sum(payload),
	}}
	return t
}

// insert stores a fresh due run of a tenantless owner.
func insert(t testing.TB, b ports.Runs, id string, ref graph.Ref) record.Run {
	t.Helper()
	tr := first(id, ref)
	if _, err := b.InsertRun(t.Context(), ports.InsertRun{Transition: tr, Now: epoch}); err != nil {
		t.Fatal(err)
	}
	return tr.Run
}

// claimOne leases the one due run.
func claimOne(t testing.TB, b ports.Claims, now time.Time) ports.Lease {
	t.Helper()
	claimed, err := b.ClaimRuns(t.Context(), ports.ClaimRuns{
		Scope: ports.System(), Limit: 1, TTL: time.Minute, MaxAttempts: 5, Now: now,
	})
	if err != nil || len(claimed.Leases) != 1 {
		t.Fatalf("claimed %+v, %v; want one lease", claimed, err)
	}
	return claimed.Leases[0]
}

func commit(l ports.Lease, tr record.Transition) ports.CommitClaimed {
	return ports.CommitClaimed{
		Scope: ports.System(), RunID: l.Run.ID, Token: l.Token, ExpectedSeq: tr.Run.CheckpointSeq - 1,
		Transition: tr, TTL: time.Minute, Now: epoch,
	}
}

func inspect(t testing.TB, b ports.Runs, id string) ports.RunInfo {
	t.Helper()
	info, err := b.InspectRun(t.Context(), ports.InspectRun{Scope: ports.System(), RunID: id, Now: epoch})
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func owner(tenant string) record.Owner { return record.Owner{Tenant: tenant} }
