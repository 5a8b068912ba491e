package run_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/core/schema"
	"github.com/docket-go/docket/core/value"
)

var update = flag.Bool("update", false, "rewrite the golden documents")

var (
	t0 = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	t1 = t0.Add(1500 * time.Microsecond)
)

func ref() graph.Ref { return graph.Ref{ID: "approval", Hash: strings.Repeat("0a", 32)} }

// samples returns valid documents that between them use every part.
func samples() map[string]*run.Run {
	return map[string]*run.Run{
		"initialized": {
			ID: "run-1", Graph: ref(), Status: run.Running, Input: map[string]any{"topic": "tides"},
			Changed: []string{"edge:begin", "input:topic"}, CheckpointSeq: 1, EventSeq: 4, StartedAt: t0, UpdatedAt: t0,
		},
		"parked":  parked(),
		"waiting": waiting(),
		"done": {
			ID: "run-1", Graph: ref(), Status: run.Done, Step: 2, Output: map[string]any{},
			Channels: map[string]run.Channel{"state:big": {Value: int64(9007199254740993), Version: 1}, "state:none": {Value: nil, Version: 2}, "state:gone": {Unset: true, Version: 3}},
			Barriers: map[string][]string{"edge:join": {"a", "b"}}, CheckpointSeq: 3, EventSeq: 12,
			StartedAt: t0, UpdatedAt: t1, FinishedAt: t1,
		},
		"failed": {
			ID: "run é😀", Graph: ref(), Status: run.Failed, Step: 1, CheckpointSeq: 3, EventSeq: 9,
			Failure:   &run.Failure{Code: run.FailureNode, Message: "a\x00b <&> \u2028", NodeID: "a", Details: map[string]any{"attempt": int64(1)}},
			StartedAt: t0, UpdatedAt: t1, FinishedAt: t1, Metadata: map[string]any{"by": "test"},
		},
	}
}

func waiting() *run.Run {
	return &run.Run{
		ID: "run-1", Graph: ref(), Status: run.Waiting, Step: 2, Pending: []string{"review"},
		Channels: map[string]run.Channel{"state:draft": {Value: "text", Version: 2}},
		Interrupts: map[string]run.Interrupt{
			"1:review:1": {ID: "1:review:1", NodeID: "review", Field: "decision", Step: 1, Status: run.InterruptConsumed, CreatedAt: t0, ResolvedAt: t0},
			"2:review:1": {ID: "2:review:1", NodeID: "review", Field: "decision", Step: 2, Status: run.InterruptResolved, Answer: "yes", CreatedAt: t0, ResolvedAt: t1},
			"the 😀 one": {ID: "the 😀 one", NodeID: "review", Field: "decision", Step: 2, Status: run.InterruptOpen, Schema: schema.Enum("yes", "no"),
				Metadata: map[string]any{"question": "publish?"}, CreatedAt: t0},
		},
		CheckpointSeq: 5, EventSeq: 20, StartedAt: t0, UpdatedAt: t1,
	}
}

func parked() *run.Run {
	snapshot := map[string]any{"draft": "text"}
	return &run.Run{
		ID: "run-1", Graph: ref(), Status: run.Running, Step: 1,
		Channels: map[string]run.Channel{"state:draft": {Value: "text", Version: 1}},
		Active: &run.Superstep{
			Snapshot: snapshot, Versions: map[string]int64{"draft": 1}, InputHash: sha(snapshot),
			Tasks: map[string]run.Task{"run-1:2:flaky": {
				NodeID: "flaky", Attempt: 2, IdempotencyKey: "run-1:2:flaky:2", DueAt: t1.Add(time.Second),
				Failures: []run.AttemptFailure{{Attempt: 1, Reason: "error", Message: "no"}},
			}},
			Writes: map[string]run.PendingWrite{
				"run-1:2:ask":   {NodeID: "ask", Attempt: 1, Interrupts: []run.Interrupt{{ID: "2:ask:1", NodeID: "ask", Field: "ok", Step: 2, Status: run.InterruptOpen, CreatedAt: t1}}},
				"run-1:2:solid": {NodeID: "solid", Attempt: 1, Update: map[string]any{"draft": "new"}, Reset: []string{"notes"}},
			},
		},
		CheckpointSeq: 3, EventSeq: 9, StartedAt: t0, UpdatedAt: t1,
	}
}

func sha(v any) string {
	data, err := value.Encode(v)
	if err != nil {
		panic(err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// TestGoldenDocuments pins the bytes of every kind of document: a later version
// must read and write them unchanged.
func TestGoldenDocuments(t *testing.T) {
	for _, name := range value.Keys(samples()) {
		t.Run(name, func(t *testing.T) {
			r := samples()[name]
			if err := r.Validate(); err != nil {
				t.Fatal(err)
			}
			data, err := run.Encode(r)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", "format-1", name+".json")
			if *update {
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, data, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if string(data) != string(want) {
				t.Errorf("got  %s\nwant %s", data, want)
			}
			back, err := run.Decode(want)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(back, r) {
				t.Errorf("decoded %+v\nwant    %+v", back, r)
			}
			generic, err := value.Decode(data)
			if err != nil {
				t.Fatal(err)
			}
			if canonical, err := value.Encode(generic); err != nil || string(canonical) != string(data) {
				t.Errorf("the document isn't canonical:\n%s\nwant\n%s (%v)", data, canonical, err)
			}
			if !json.Valid(data) || !strings.HasPrefix(string(data), `{"$format":1,`) {
				t.Errorf("not a JSON document that opens with its format: %s", data)
			}
		})
	}
}

// TestValidateRefuses breaks each rule of a valid document in turn and expects the
// place to be named.
func TestValidateRefuses(t *testing.T) {
	task := func(r *run.Run, change func(*run.Task)) {
		tk := r.Active.Tasks["run-1:2:flaky"]
		change(&tk)
		r.Active.Tasks["run-1:2:flaky"] = tk
	}
	interrupt := func(r *run.Run, id string, change func(*run.Interrupt)) {
		i := r.Interrupts[id]
		change(&i)
		r.Interrupts[id] = i
	}
	for _, c := range []struct {
		path, sample string
		change       func(r *run.Run)
	}{
		{"id", "done", func(r *run.Run) { r.ID = "a\nb" }},
		{"graph.id", "done", func(r *run.Run) { r.Graph.ID = "a b" }},
		{"graph.hash", "done", func(r *run.Run) { r.Graph.Hash = strings.Repeat("0A", 32) }},
		{"step", "done", func(r *run.Run) { r.Step = -1 }},
		{"checkpoint_seq", "done", func(r *run.Run) { r.CheckpointSeq = 0 }},
		{"event_seq", "done", func(r *run.Run) { r.EventSeq = 0 }},
		{"status", "done", func(r *run.Run) { r.Status = run.Created }},
		{"status", "done", func(r *run.Run) { r.Status = "weird" }},
		{"finished_at", "done", func(r *run.Run) { r.FinishedAt = time.Time{} }},
		{"finished_at", "initialized", func(r *run.Run) { r.FinishedAt = t0 }},
		{"finished_at", "done", func(r *run.Run) { r.FinishedAt = t0 }},
		{"failure", "failed", func(r *run.Run) { r.Failure = nil }},
		{"failure", "initialized", func(r *run.Run) { r.Failure = &run.Failure{Code: run.FailureNode} }},
		{"failure.code", "failed", func(r *run.Run) { r.Failure.Code = "odd" }},
		{"failure.message", "failed", func(r *run.Run) { r.Failure.Message = strings.Repeat("x", value.MaxText+1) }},
		{"output", "initialized", func(r *run.Run) { r.Output = map[string]any{} }},
		{"output", "done", func(r *run.Run) { r.Output = nil }},
		{"active", "waiting", func(r *run.Run) { r.Active = parked().Active }},
		{"started_at", "initialized", func(r *run.Run) { r.StartedAt = time.Time{} }},
		{"started_at", "initialized", func(r *run.Run) { r.StartedAt = t0.Add(1) }},
		{"updated_at", "done", func(r *run.Run) { r.UpdatedAt = t0.Add(-1 * time.Hour) }},
		{`channels["edge:x"]`, "done", func(r *run.Run) { r.Channels["edge:x"] = run.Channel{Version: 1} }},
		{`channels["state:big"]`, "done", func(r *run.Run) { r.Channels["state:big"] = run.Channel{} }},
		{"changed[1]", "initialized", func(r *run.Run) { r.Changed = []string{"input:topic", "edge:begin"} }},
		{"changed[1]", "initialized", func(r *run.Run) { r.Changed = []string{"edge:begin", "edge:begin"} }},
		{"changed[0]", "initialized", func(r *run.Run) { r.Changed = []string{"node:begin"} }},
		{"barriers.join", "done", func(r *run.Run) { r.Barriers = map[string][]string{"join": {"a"}} }},
		{`barriers["edge:join"]`, "done", func(r *run.Run) { r.Barriers["edge:join"] = nil }},
		{`barriers["edge:join"][1]`, "done", func(r *run.Run) { r.Barriers["edge:join"] = []string{"b", "a"} }},
		{"pending", "done", func(r *run.Run) { r.Pending = []string{"a"} }},
		{"pending[0]", "waiting", func(r *run.Run) { r.Pending = []string{"other", "review"} }},
		{"status", "waiting", func(r *run.Run) {
			interrupt(r, "the 😀 one", func(i *run.Interrupt) { i.Status, i.ResolvedAt = run.InterruptResolved, t1 })
		}},
		{`interrupts["1:review:1"].id`, "waiting", func(r *run.Run) { interrupt(r, "1:review:1", func(i *run.Interrupt) { i.ID = "other" }) }},
		{`interrupts["1:review:1"].step`, "waiting", func(r *run.Run) { interrupt(r, "1:review:1", func(i *run.Interrupt) { i.Step = 3 }) }},
		{`interrupts["1:review:1"].field`, "waiting", func(r *run.Run) { interrupt(r, "1:review:1", func(i *run.Interrupt) { i.Field = "" }) }},
		{`interrupts["1:review:1"].status`, "waiting", func(r *run.Run) { interrupt(r, "1:review:1", func(i *run.Interrupt) { i.Status = "" }) }},
		{`interrupts["1:review:1"].resolved_at`, "waiting", func(r *run.Run) {
			interrupt(r, "1:review:1", func(i *run.Interrupt) { i.ResolvedAt = time.Time{} })
		}},
		{`interrupts["1:review:1"].created_at`, "waiting", func(r *run.Run) {
			interrupt(r, "1:review:1", func(i *run.Interrupt) { i.CreatedAt = time.Time{} })
		}},
		{`interrupts["1:review:1"].status`, "waiting", func(r *run.Run) {
			interrupt(r, "1:review:1", func(i *run.Interrupt) { i.Status, i.ResolvedAt = run.InterruptClosed, time.Time{} })
		}},
		{`interrupts["the 😀 one"].node_id`, "waiting", func(r *run.Run) { r.Pending = nil }},
		{"active.tasks", "parked", func(r *run.Run) { r.Active.Tasks = nil }},
		{"active.input_hash", "parked", func(r *run.Run) { r.Active.Snapshot["draft"] = "other" }},
		{"active.versions.draft", "parked", func(r *run.Run) { r.Active.Versions["draft"] = 0 }},
		{`active.tasks["run-1:2:flaky"]`, "parked", func(r *run.Run) { task(r, func(k *run.Task) { k.NodeID = "other" }) }},
		{`active.tasks["run-1:2:flaky"]`, "parked", func(r *run.Run) { r.Step = 2 }},
		{`active.tasks["run-1:2:flaky"].attempt`, "parked", func(r *run.Run) { task(r, func(k *run.Task) { k.Attempt = 3 }) }},
		{`active.tasks["run-1:2:flaky"].idempotency_key`, "parked", func(r *run.Run) { task(r, func(k *run.Task) { k.IdempotencyKey = "x" }) }},
		{`active.tasks["run-1:2:flaky"].due_at`, "parked", func(r *run.Run) { task(r, func(k *run.Task) { k.DueAt = time.Time{} }) }},
		{`active.tasks["run-1:2:flaky"].failures[0]`, "parked", func(r *run.Run) { task(r, func(k *run.Task) { k.Failures[0].Attempt = 2 }) }},
		{`active.writes["run-1:2:flaky"]`, "parked", func(r *run.Run) { r.Active.Writes["run-1:2:flaky"] = run.PendingWrite{NodeID: "flaky", Attempt: 1} }},
		{`active.writes["run-1:2:nope"]`, "parked", func(r *run.Run) { r.Active.Writes["run-1:2:nope"] = run.PendingWrite{NodeID: "other", Attempt: 1} }},
	} {
		t.Run(c.sample+" "+c.path, func(t *testing.T) {
			r := samples()[c.sample]
			c.change(r)
			var corrupt *run.CorruptError
			if err := r.Validate(); !errors.As(err, &corrupt) || corrupt.Path != c.path {
				t.Fatalf("got %v (path %q), want an error at %s", err, pathOf(corrupt), c.path)
			}
			// What Validate refuses, Decode must refuse too, but a finer time, which
			// has no text.
			if data, err := run.Encode(r); err == nil && r.StartedAt.Nanosecond()%1000 == 0 {
				if _, err := run.Decode(data); err == nil {
					t.Errorf("Decode accepts %s", data)
				}
			}
		})
	}
}

func pathOf(e *run.CorruptError) string {
	if e == nil {
		return ""
	}
	return e.Path
}

// TestDecodeRefuses changes stored bytes.
func TestDecodeRefuses(t *testing.T) {
	valid, err := run.Encode(waiting())
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{
		"nothing":       "",
		"no object":     "[]",
		"no format":     `{"id":"r"}`,
		"odd format":    `{"$format":0}`,
		"trailing":      string(valid) + " {}",
		"unknown key":   strings.Replace(string(valid), `{"$format":1,`, `{"$format":1,"a":1,`, 1),
		"duplicate key": strings.Replace(string(valid), `{"$format":1,`, `{"$format":1,"id":"r",`, 1),
		"wrong kind":    strings.Replace(string(valid), `"step":2`, `"step":"2"`, 1),
		"odd time":      strings.Replace(string(valid), `"2026-03-01T09:00:00Z"`, `"2026-03-01T10:00:00+01:00"`, 1),
		"cut":           string(valid[:len(valid)/2]),
	} {
		var corrupt *run.CorruptError
		if _, err := run.Decode([]byte(data)); !errors.As(err, &corrupt) {
			t.Errorf("%s: got %v, want a CorruptError", name, err)
		}
	}
	newer := strings.Replace(string(valid), `"$format":1`, `"$format":2`, 1)
	_, err = run.Decode([]byte(newer))
	var corrupt *run.CorruptError
	if !errors.Is(err, run.ErrUnsupportedFormat) || errors.As(err, &corrupt) {
		t.Errorf("a newer format: got %v, want ErrUnsupportedFormat and no CorruptError", err)
	}
}

// TestCloneSharesNothing changes everything reachable in a clone.
func TestCloneSharesNothing(t *testing.T) {
	for name, r := range samples() {
		before, err := run.Encode(r)
		if err != nil {
			t.Fatal(err)
		}
		scribble(reflect.ValueOf(r.Clone()))
		after, err := run.Encode(r)
		if err != nil || string(before) != string(after) {
			t.Errorf("%s: changing a clone changed the run:\n%s\nwas\n%s", name, after, before)
		}
	}
}

// scribble overwrites every map entry and slice element it can reach.
func scribble(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			scribble(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				scribble(v.Field(i))
			}
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			scribble(v.MapIndex(k))
			v.SetMapIndex(k, reflect.Zero(v.Type().Elem()))
		}
	case reflect.Slice:
		for i := range v.Len() {
			scribble(v.Index(i))
			v.Index(i).SetZero()
		}
	}
}

func TestEventRoundTrip(t *testing.T) {
	e := run.Event{Seq: 7, Type: run.EventNodeFailed, Step: 2, NodeID: "a", Time: t1, Payload: run.NodeFailed{TaskID: "r:2:a", Attempt: 1, IdempotencyKey: "r:2:a:1", Reason: "error", Message: "a\x00b <", RetryAt: t1}}
	payload, err := e.EncodePayload()
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"$format":1,"data":{"attempt":1,"idempotency_key":"r:2:a:1","message":"a\u0000b <","reason":"error","retry_at":"2026-03-01T09:00:00.0015Z","task_id":"r:2:a"},"node_id":"a"}`
	if string(payload) != want {
		t.Errorf("payload %s, want %s", payload, want)
	}
	rec := record.Event{RunID: "r", Seq: 7, Type: string(e.Type), Step: 2, Time: t1, Encoding: record.EncodingJSON, Payload: payload, Checksum: record.Sum(payload)}
	back, err := run.DecodeEvent(rec)
	if err != nil || !reflect.DeepEqual(back, e) {
		t.Errorf("got %+v, %v, want %+v", back, err, e)
	}
	rec.Payload = []byte(strings.Replace(want, "node_id", "node_ix", 1))
	var corrupt *run.CorruptError
	if _, err := run.DecodeEvent(rec); !errors.As(err, &corrupt) {
		t.Errorf("damaged bytes: %v", err)
	}
	rec.Checksum = record.Sum(rec.Payload)
	if _, err := run.DecodeEvent(rec); !errors.As(err, &corrupt) {
		t.Errorf("an unknown key: %v", err)
	}
	rec.Encoding = "zstd"
	if _, err := run.DecodeEvent(rec); !errors.Is(err, record.ErrUnsupported) || errors.As(err, &corrupt) {
		t.Errorf("an unknown encoding: %v", err)
	}
}

// FuzzDecode asks that what is accepted is valid and has one form.
func FuzzDecode(f *testing.F) {
	for _, r := range samples() {
		data, err := run.Encode(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := run.Decode(data)
		if err != nil {
			var corrupt *run.CorruptError
			if !errors.As(err, &corrupt) && !errors.Is(err, run.ErrUnsupportedFormat) {
				t.Fatalf("an error of no kind: %v", err)
			}
			return
		}
		first, err := run.Encode(r)
		if err != nil {
			t.Fatal(err)
		}
		again, err := run.Decode(first)
		if err != nil {
			t.Fatalf("what was written can't be read: %v\n%s", err, first)
		}
		second, err := run.Encode(again)
		if err != nil || string(first) != string(second) {
			t.Fatalf("two forms:\n%s\n%s", first, second)
		}
	})
}

func ExampleRun_OpenInterrupts() {
	r := waiting()
	for _, i := range r.OpenInterrupts() {
		fmt.Println(i.ID, "asks for", i.Field, i.Metadata["question"])
	}
	// Output: the 😀 one asks for decision publish?
}
