package ports_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

var at = time.Date(2026, 3, 4, 5, 6, 7, 8000, time.UTC)

func ref() graph.Ref { return graph.Ref{ID: "flow", Hash: record.Sum([]byte("{}")).String()} }

// transition returns a legal one: n is its sequence, with two events each.
func transition(n int64, status, checkpoint string, schedule record.ScheduleKind) record.Transition {
	t := record.Transition{
		Run: record.Run{
			ID: "run 1", Graph: ref(), Status: status, CheckpointSeq: n, CheckpointType: checkpoint, EventSeq: 2 * n,
			StartedAt: at, UpdatedAt: at, Encoding: record.EncodingJSON, Document: []byte("{}"), Checksum: record.Sum([]byte("{}")),
		},
		Schedule: record.Schedule{Kind: schedule},
	}
	if status == "done" || status == "failed" || status == "cancelled" {
		t.Run.FinishedAt = at
	}
	if schedule == record.ScheduleAt {
		t.Schedule.At = at
	}
	for seq := 2*n - 1; seq <= 2*n; seq++ {
		t.Events = append(t.Events, record.Event{RunID: t.Run.ID, Seq: seq, Type: "node_completed", Time: at, Encoding: record.EncodingJSON, Payload: []byte("{}")})
	}
	return t
}

func insert() ports.InsertRun {
	return ports.InsertRun{Transition: transition(1, "running", "run_initialized", record.ScheduleImmediate)}
}

func claimed() ports.CommitClaimed {
	return ports.CommitClaimed{
		Scope: ports.System(), RunID: "run 1", Token: "t", ExpectedSeq: 6, TTL: time.Minute,
		Transition: transition(7, "running", "step_committed", record.ScheduleRetain),
	}
}

func unclaimed() ports.CommitUnclaimed {
	return ports.CommitUnclaimed{
		Scope: ports.Tenant("acme"), RunID: "run 1", ExpectedSeq: 6,
		Transition: transition(7, "running", "interrupt_resolved", record.ScheduleImmediate),
	}
}

type checked interface{ Check() error }

func with[R checked](r R, change func(*R)) checked {
	change(&r)
	return r
}

// TestCheckAccepts is the other half of TestCheckRefuses: its rows are refused
// for their change alone.
func TestCheckAccepts(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 127) + "x"
	for i, r := range []checked{
		insert(), claimed(), unclaimed(),
		with(insert(), func(r *ports.InsertRun) { r.Owner.Tenant = " a b/É" }),
		with(insert(), func(r *ports.InsertRun) {
			r.Claim = ports.ClaimGrant{Token: "t", TTL: time.Microsecond}
			r.Transition.Schedule.Kind = record.ScheduleRetain
		}),
		with(insert(), func(r *ports.InsertRun) {
			r.Transition = transition(1, "running", "run_initialized", record.ScheduleAt)
		}),
		with(insert(), func(r *ports.InsertRun) { r.Transition.Events, r.Transition.Run.EventSeq = nil, 0 }),
		with(claimed(), func(r *ports.CommitClaimed) {
			r.TTL, r.Transition = 0, transition(7, "waiting", "interrupt_requested", record.ScheduleExternal)
		}),
		with(claimed(), func(r *ports.CommitClaimed) {
			r.Transition = transition(7, "running", "retry_scheduled", record.ScheduleAt)
		}),
		with(claimed(), func(r *ports.CommitClaimed) {
			r.Transition = transition(7, "done", "run_completed", record.ScheduleTerminal)
		}),
		with(claimed(), func(r *ports.CommitClaimed) {
			r.Transition = transition(7, "failed", "run_failed", record.ScheduleTerminal)
		}),
		with(unclaimed(), func(r *ports.CommitUnclaimed) {
			r.Transition = transition(7, "cancelled", "run_cancelled", record.ScheduleTerminal)
		}),
		with(unclaimed(), func(r *ports.CommitUnclaimed) {
			r.Transition = transition(7, "waiting", "interrupt_resolved", record.ScheduleExternal)
		}),
		ports.SaveGraph{Version: record.GraphVersion{Ref: ref(), Encoding: "json", Document: []byte("{}")}},
		ports.FetchGraph{Ref: ref()}, ports.LatestGraph{GraphID: "flow"},
		ports.ListGraphs{GraphID: "flow", After: ports.GraphCursor{PublishedAt: at, Hash: ref().Hash}, Limit: 1000},
		ports.FetchRun{Scope: ports.Tenantless(), RunID: long}, ports.InspectRun{Scope: ports.System(), RunID: "../x"},
		ports.RecoverRun{Scope: ports.System(), RunID: " r "},
		ports.ListRuns{Scope: ports.System()},
		ports.ListRuns{Scope: ports.System(), Statuses: []string{"running", "done"}, GraphID: "flow", GraphHash: ref().Hash, After: ports.RunCursor{StartedAt: at, RunID: "r"}, Limit: 1},
		ports.ClaimRuns{Scope: ports.System(), Limit: 1000, TTL: time.Microsecond, MaxAttempts: 1},
		ports.RefreshClaim{Scope: ports.System(), RunID: "r", Token: "t", TTL: time.Second},
		ports.ReleaseClaim{Scope: ports.System(), RunID: "r", Token: "t"},
		ports.AbandonClaim{Scope: ports.System(), RunID: "r", Token: "t", ExpectedSeq: 1, MaxAbandons: 1},
		ports.AbandonClaim{Scope: ports.System(), RunID: "r", Token: "t", ExpectedSeq: 1, NonPoisoning: true, BackoffBase: 1, BackoffCap: 1},
		ports.ListEvents{Scope: ports.System(), RunID: "r", Limit: 1000}, ports.FetchEvent{Scope: ports.System(), RunID: "r", Seq: 1},
		ports.LatestEvent{Scope: ports.System(), RunID: "r"},
		ports.Prune{Policy: ports.Retention{Events: time.Hour, Runs: time.Hour}, Batch: 1},
		ports.Prune{Policy: ports.Retention{Events: time.Hour}, Batch: 10000},
	} {
		if err := r.Check(); err != nil {
			t.Errorf("%d: %T: %v", i, r, err)
		}
	}
}

func TestCheckRefuses(t *testing.T) {
	t.Parallel()
	year := time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, tt := range []struct {
		request checked
		path    string
	}{
		{ports.FetchRun{RunID: "r"}, "FetchRun.Scope.Kind"},
		{ports.FetchRun{Scope: ports.Tenant(""), RunID: "r"}, "FetchRun.Scope.Tenant"},
		{ports.FetchRun{Scope: ports.Tenant("  "), RunID: "r"}, "FetchRun.Scope.Tenant"},
		{ports.FetchRun{Scope: ports.Scope{Kind: ports.ScopeSystem, Tenant: "a"}, RunID: "r"}, "FetchRun.Scope.Tenant"},
		{ports.InspectRun{Scope: ports.System(), RunID: strings.Repeat("x", 256)}, "InspectRun.RunID"},
		{ports.RecoverRun{Scope: ports.System(), RunID: "a\nb"}, "RecoverRun.RunID"},
		{ports.LatestEvent{Scope: ports.System(), RunID: "\xff"}, "LatestEvent.RunID"},

		{ports.SaveGraph{Version: record.GraphVersion{Ref: graph.Ref{ID: "a b", Hash: ref().Hash}, Encoding: "json", Document: []byte("1")}}, "SaveGraph.Version.Ref.ID"},
		{ports.SaveGraph{Version: record.GraphVersion{Ref: graph.Ref{ID: "a", Hash: strings.ToUpper(ref().Hash)}, Encoding: "json", Document: []byte("1")}}, "SaveGraph.Version.Ref.Hash"},
		{ports.SaveGraph{Version: record.GraphVersion{Ref: ref(), Document: []byte("1")}}, "SaveGraph.Version.Encoding"},
		{ports.SaveGraph{Version: record.GraphVersion{Ref: ref(), Encoding: "json"}}, "SaveGraph.Version.Document"},
		{ports.FetchGraph{Ref: graph.Ref{ID: "a", Hash: "12"}}, "FetchGraph.Ref.Hash"},
		{ports.LatestGraph{}, "LatestGraph.GraphID"},
		{ports.ListGraphs{GraphID: "a", Limit: 1001}, "ListGraphs.Limit"},
		{ports.ListGraphs{GraphID: "a", After: ports.GraphCursor{Hash: ref().Hash}}, "ListGraphs.After.PublishedAt"},
		{ports.ListGraphs{GraphID: "a", After: ports.GraphCursor{PublishedAt: at}}, "ListGraphs.After.Hash"},

		{with(insert(), func(r *ports.InsertRun) { r.Owner.Tenant = "\t" }), "InsertRun.Owner.Tenant"},
		{with(insert(), func(r *ports.InsertRun) { r.Transition.Run.CheckpointType = "step_committed" }), "InsertRun.Transition.Run.CheckpointType"},
		{with(insert(), func(r *ports.InsertRun) { r.Transition.Run.Status = "created" }), "InsertRun.Transition.Run.Status"},
		{with(insert(), func(r *ports.InsertRun) { r.Transition.Run.CheckpointSeq = 2 }), "InsertRun.Transition.Run.CheckpointSeq"},
		{with(insert(), func(r *ports.InsertRun) { r.Transition.Run.EventSeq = 3 }), "InsertRun.Transition.Events[0].Seq"},
		{with(insert(), func(r *ports.InsertRun) { r.Transition.Run.EventSeq = 1 }), "InsertRun.Transition.Events"},
		{with(insert(), func(r *ports.InsertRun) { r.Transition.Events, r.Transition.Run.EventSeq = nil, 5 }), "InsertRun.Transition.Events"},
		{with(insert(), func(r *ports.InsertRun) { r.Transition.Schedule.Kind = record.ScheduleRetain }), "InsertRun.Transition.Schedule.Kind"},
		{with(insert(), func(r *ports.InsertRun) { r.Claim = ports.ClaimGrant{Token: "t", TTL: time.Minute} }), "InsertRun.Transition.Schedule.Kind"},
		{with(insert(), func(r *ports.InsertRun) { r.Claim.TTL = time.Minute }), "InsertRun.Claim.Token"},
		{with(insert(), func(r *ports.InsertRun) { r.Claim.Token = "t" }), "InsertRun.Claim.TTL"},
		{with(insert(), func(r *ports.InsertRun) { r.Now = year }), "InsertRun.Now"},
		{with(insert(), func(r *ports.InsertRun) { r.Transition.Run.StartedAt = time.Time{} }), "InsertRun.Transition.Run.StartedAt"},
		{with(insert(), func(r *ports.InsertRun) { r.Transition.Run.UpdatedAt = year }), "InsertRun.Transition.Run.UpdatedAt"},
		{with(insert(), func(r *ports.InsertRun) { r.Transition.Run.FinishedAt = at }), "InsertRun.Transition.Run.FinishedAt"},
		{with(insert(), func(r *ports.InsertRun) { r.Transition.Run.Document = nil }), "InsertRun.Transition.Run.Document"},
		{with(insert(), func(r *ports.InsertRun) { r.Transition.Run.Encoding = "" }), "InsertRun.Transition.Run.Encoding"},
		{with(insert(), func(r *ports.InsertRun) { r.Transition.Run.OpenInterrupts = -1 }), "InsertRun.Transition.Run.OpenInterrupts"},
		{with(insert(), func(r *ports.InsertRun) { r.Transition.Events[1].RunID = "other" }), "InsertRun.Transition.Events[1].RunID"},
		{with(insert(), func(r *ports.InsertRun) { r.Transition.Events[1].Seq = 3 }), "InsertRun.Transition.Events[1].Seq"},
		{with(insert(), func(r *ports.InsertRun) { r.Transition.Events[0].Type = "" }), "InsertRun.Transition.Events[0].Type"},
		{with(insert(), func(r *ports.InsertRun) { r.Transition.Events[0].Time = time.Time{} }), "InsertRun.Transition.Events[0].Time"},
		{with(insert(), func(r *ports.InsertRun) { r.Transition.Events[0].Step = -1 }), "InsertRun.Transition.Events[0].Step"},
		{with(insert(), func(r *ports.InsertRun) { r.Transition.Events[0].Encoding = "a b" }), "InsertRun.Transition.Events[0].Encoding"},

		{with(claimed(), func(r *ports.CommitClaimed) { r.Token = "" }), "CommitClaimed.Token"},
		{with(claimed(), func(r *ports.CommitClaimed) { r.TTL = time.Microsecond - 1 }), "CommitClaimed.TTL"},
		{with(claimed(), func(r *ports.CommitClaimed) { r.ExpectedSeq = 0 }), "CommitClaimed.ExpectedSeq"},
		{with(claimed(), func(r *ports.CommitClaimed) { r.ExpectedSeq = 7 }), "CommitClaimed.Transition.Run.CheckpointSeq"},
		{with(claimed(), func(r *ports.CommitClaimed) { r.ExpectedSeq = 5 }), "CommitClaimed.Transition.Run.CheckpointSeq"},
		{with(claimed(), func(r *ports.CommitClaimed) { r.RunID = "run 2" }), "CommitClaimed.Transition.Run.ID"},
		{with(claimed(), func(r *ports.CommitClaimed) { r.Transition.Run.CheckpointType = "run_initialized" }), "CommitClaimed.Transition.Run.CheckpointType"},
		{with(claimed(), func(r *ports.CommitClaimed) { r.Transition.Run.CheckpointType = "odd" }), "CommitClaimed.Transition.Run.CheckpointType"},
		{with(claimed(), func(r *ports.CommitClaimed) { r.Transition.Run.Graph.Hash = "" }), "CommitClaimed.Transition.Run.Graph.Hash"},
		{with(claimed(), func(r *ports.CommitClaimed) { r.Transition.Schedule.At = at }), "CommitClaimed.Transition.Schedule.At"},
		{with(claimed(), func(r *ports.CommitClaimed) { r.Transition.Schedule.Kind = record.ScheduleAt }), "CommitClaimed.Transition.Schedule.At"},
		{with(claimed(), func(r *ports.CommitClaimed) { r.Transition.Schedule.Kind = "odd" }), "CommitClaimed.Transition.Schedule.Kind"},
		{with(unclaimed(), func(r *ports.CommitUnclaimed) { r.Transition.Schedule.Kind = record.ScheduleRetain }), "CommitUnclaimed.Transition.Schedule.Kind"},
		{with(unclaimed(), func(r *ports.CommitUnclaimed) { r.Scope = ports.Scope{} }), "CommitUnclaimed.Scope.Kind"},

		{ports.ListRuns{Scope: ports.System(), Statuses: []string{"running", "created"}}, "ListRuns.Statuses"},
		{ports.ListRuns{Scope: ports.System(), GraphHash: ref().Hash}, "ListRuns.GraphHash"},
		{ports.ListRuns{Scope: ports.System(), After: ports.RunCursor{RunID: "r"}}, "ListRuns.After.StartedAt"},
		{ports.ListRuns{Scope: ports.System(), After: ports.RunCursor{StartedAt: at}}, "ListRuns.After.RunID"},
		{ports.ListRuns{Scope: ports.System(), Limit: -1}, "ListRuns.Limit"},
		{ports.ClaimRuns{Scope: ports.Tenantless(), Limit: 1, TTL: 1000, MaxAttempts: 1}, "ClaimRuns.Scope.Kind"},
		{ports.ClaimRuns{Scope: ports.System(), TTL: 1000, MaxAttempts: 1}, "ClaimRuns.Limit"},
		{ports.ClaimRuns{Scope: ports.System(), Limit: 1001, TTL: 1000, MaxAttempts: 1}, "ClaimRuns.Limit"},
		{ports.ClaimRuns{Scope: ports.System(), Limit: 1, TTL: 999, MaxAttempts: 1}, "ClaimRuns.TTL"},
		{ports.ClaimRuns{Scope: ports.System(), Limit: 1, TTL: 1000}, "ClaimRuns.MaxAttempts"},
		{ports.ClaimRuns{Scope: ports.System(), Limit: 1, TTL: 1000, MaxAttempts: 1, Prefer: "odd"}, "ClaimRuns.Prefer"},
		{ports.RefreshClaim{Scope: ports.System(), RunID: "r", TTL: 1000}, "RefreshClaim.Token"},
		{ports.RefreshClaim{Scope: ports.System(), RunID: "r", Token: "t"}, "RefreshClaim.TTL"},
		{ports.ReleaseClaim{Scope: ports.System(), RunID: "r"}, "ReleaseClaim.Token"},
		{ports.AbandonClaim{Scope: ports.System(), RunID: "r", Token: "t", MaxAbandons: 1}, "AbandonClaim.ExpectedSeq"},
		{ports.AbandonClaim{Scope: ports.System(), RunID: "r", Token: "t", ExpectedSeq: 1}, "AbandonClaim.MaxAbandons"},
		{ports.AbandonClaim{Scope: ports.System(), RunID: "r", Token: "t", ExpectedSeq: 1, MaxAbandons: 1, BackoffBase: 2, BackoffCap: 1}, "AbandonClaim.BackoffCap"},
		{ports.AbandonClaim{Scope: ports.System(), RunID: "r", Token: "t", ExpectedSeq: 1, MaxAbandons: 1, BackoffBase: -1}, "AbandonClaim.BackoffBase"},
		{ports.ListEvents{Scope: ports.System(), RunID: "r", AfterSeq: -1}, "ListEvents.AfterSeq"},
		{ports.ListEvents{Scope: ports.System(), RunID: "r", Limit: 1001}, "ListEvents.Limit"},
		{ports.FetchEvent{Scope: ports.System(), RunID: "r"}, "FetchEvent.Seq"},
		{ports.Prune{Batch: 1}, "Prune.Policy"},
		{ports.Prune{Policy: ports.Retention{Events: 2 * time.Hour, Runs: time.Hour}, Batch: 1}, "Prune.Policy.Events"},
		{ports.Prune{Policy: ports.Retention{Runs: -time.Hour}, Batch: 1}, "Prune.Policy.Runs"},
		{ports.Prune{Policy: ports.Retention{Graphs: 1}, Batch: 1}, "Prune.Policy.Graphs"},
		{ports.Prune{Policy: ports.Retention{Runs: time.Hour}}, "Prune.Batch"},
		{ports.Prune{Policy: ports.Retention{Runs: time.Hour}, Batch: 10001}, "Prune.Batch"},
	} {
		err := tt.request.Check()
		var e *ports.Error
		if !errors.As(err, &e) || !errors.Is(err, ports.ErrInvalid) {
			t.Errorf("%d: %T: %v, want an ErrInvalid at %s", i, tt.request, err, tt.path)
		} else if got := e.Op + "." + e.Path; got != tt.path {
			t.Errorf("%d: told at %s, want %s: %v", i, got, tt.path, err)
		} else if e.Detail != "" {
			t.Errorf("%d: detail %q", i, e.Detail)
		}
	}
}

func TestCheckLimits(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*record.Transition, int)
		limit  int
		path   string
	}{
		"run":    {func(tr *record.Transition, n int) { tr.Run.Document = make([]byte, n) }, record.MaxRunBytes, "Transition.Run.Document"},
		"event":  {func(tr *record.Transition, n int) { tr.Events[1].Payload = make([]byte, n) }, record.MaxEventBytes, "Transition.Events[1].Payload"},
		"events": {manyEvents, record.MaxCommitEvents, "Transition.Events"},
	} {
		r := insert()
		tt.change(&r.Transition, tt.limit)
		if err := r.Check(); err != nil {
			t.Errorf("%s: at the limit: %v", name, err)
		}
		r = insert()
		tt.change(&r.Transition, tt.limit+1)
		var e *ports.Error
		if err := r.Check(); !errors.As(err, &e) || e.Code != ports.CodeInvalid || e.Detail != ports.DetailTooLarge || e.Path != tt.path {
			t.Errorf("%s: over the limit: %v", name, err)
		}
	}
}

func manyEvents(t *record.Transition, n int) {
	one := t.Events[0]
	t.Events = make([]record.Event, n)
	for i := range t.Events {
		t.Events[i] = one
		t.Events[i].Seq = int64(i + 1)
	}
	t.Run.EventSeq = int64(n)
}

// TestCheckPairs goes through every pair of status, checkpoint type and
// schedule, and compares with the rule in its own words.
func TestCheckPairs(t *testing.T) {
	t.Parallel()
	ends := map[string]string{"done": "run_completed", "failed": "run_failed", "cancelled": "run_cancelled"}
	schedules := map[record.ScheduleKind]func(status string) bool{
		record.ScheduleRetain:    func(s string) bool { return s == "running" },
		record.ScheduleImmediate: func(s string) bool { return s == "running" },
		record.ScheduleAt:        func(s string) bool { return s == "running" },
		record.ScheduleExternal:  func(s string) bool { return s == "waiting" },
		record.ScheduleTerminal:  func(s string) bool { return ends[s] != "" },
	}
	legalPairs := 0
	for _, status := range []string{"running", "waiting", "done", "failed", "cancelled"} {
		for _, typ := range []string{"step_committed", "retry_scheduled", "interrupt_requested", "interrupt_resolved", "run_completed", "run_failed", "run_cancelled"} {
			for kind, fits := range schedules {
				agree := ends[status] == typ || ends[status] == "" && !strings.HasPrefix(typ, "run_") && (typ != "retry_scheduled" || status == "running")
				legal := agree && fits(status)
				if legal {
					legalPairs++
				}
				c, u := claimed(), unclaimed()
				c.Transition = transition(7, status, typ, kind)
				u.Transition = c.Transition
				where := fmt.Sprintf("%s %s %s", status, typ, kind)
				if err := c.Check(); (err == nil) != legal {
					t.Errorf("claimed, %s: %v", where, err)
				}
				if err := u.Check(); (err == nil) != (legal && kind != record.ScheduleRetain) {
					t.Errorf("unclaimed, %s: %v", where, err)
				}
			}
		}
	}
	if legalPairs != 4*3+3+3 {
		t.Errorf("%d legal combinations", legalPairs)
	}
}
