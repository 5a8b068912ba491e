package run_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/core/value"
)

// facts holds an event of every type, with every member of its payload set.
func facts() []run.Event {
	barriers := []run.Barrier{{Edge: "edge:join", Reached: []string{"a", "b"}}}
	return []run.Event{
		{Type: run.EventInitialized, Payload: run.Initialized{Graph: ref()}},
		{Type: run.EventCompleted, Payload: run.Completed{Outputs: []string{"x", "y"}, Unsatisfied: barriers}},
		{Type: run.EventFailed, NodeID: "a", Payload: run.RunFailed{Code: run.FailureNode, Message: "no <\x00>", Unsatisfied: barriers}},
		{Type: run.EventCancelled, Payload: run.RunCancelled{}},
		{Type: run.EventCheckpoint, Payload: run.Checkpoint{
			Seq: 7, Type: run.CheckpointRetry, Step: 2, Status: run.Running, Next: "park_at", At: t1, Reason: "retry_backoff",
			Tasks:    []run.ParkedTask{{TaskID: "r:3:a", NodeID: "a", NextAttempt: 2, IdempotencyKey: "r:3:a:2", DueAt: t1}},
			Finished: []string{"b"},
		}},
		{Type: run.EventNodeCompleted, NodeID: "a", Payload: run.NodeCompleted{TaskID: "r:3:a", Attempt: 2}},
		{Type: run.EventNodeFailed, NodeID: "a", Payload: run.NodeFailed{TaskID: "r:3:a", Attempt: 1, IdempotencyKey: "r:3:a:1", Reason: "error", Message: "no", RetryAt: t1}},
		{Type: run.EventChannelUpdated, Payload: run.ChannelUpdated{Channel: "state:x", Version: 2, Writers: []string{"a", "b"}, InterruptID: "i", Repeated: []string{"a"}}},
		{Type: run.EventEdgeTriggered, Payload: run.EdgeTriggered{Edge: "edge:e", Target: "$finish"}},
		{Type: run.EventInterruptRequested, NodeID: "a", Payload: run.InterruptAsked{InterruptID: "1:a:1", Field: "x"}},
		{Type: run.EventInterruptResolved, NodeID: "a", Payload: run.InterruptAnswered{InterruptID: "1:a:1", Field: "x"}},
		{Type: run.EventInterruptResolved, NodeID: "a", Payload: run.InterruptAnswered{InterruptID: "1:a:1", Field: "x", AnswerID: "an-answer"}},
	}
}

func stored(t *testing.T, e run.Event) record.Event {
	t.Helper()
	payload, err := e.EncodePayload()
	if err != nil {
		t.Fatal(err)
	}
	return record.Event{RunID: "r", Seq: e.Seq, Type: string(e.Type), Step: e.Step, Time: e.Time, Encoding: record.EncodingJSON, Payload: payload, Checksum: record.Sum(payload)}
}

// TestGoldenEvents pins the bytes of every event type and reads them back.
func TestGoldenEvents(t *testing.T) {
	var lines strings.Builder
	seen := map[run.EventType]bool{}
	for _, e := range facts() {
		seen[e.Type] = true
		rec := stored(t, e)
		fmt.Fprintf(&lines, "%s %s\n", e.Type, rec.Payload)
		back, err := run.DecodeEvent(rec)
		if err != nil || !reflect.DeepEqual(back, e) {
			t.Errorf("%s: read %+v, %v, want %+v", e.Type, back, err, e)
		}
		v, err := value.Decode(rec.Payload)
		if err != nil {
			t.Fatal(err)
		}
		if canonical, err := value.Encode(v); err != nil || string(canonical) != string(rec.Payload) {
			t.Errorf("%s isn't canonical: %s, want %s (%v)", e.Type, rec.Payload, canonical, err)
		}
		if shown, err := e.MarshalPayload(); err != nil || !strings.Contains(string(rec.Payload), string(shown)) {
			t.Errorf("%s: shown as %s, %v", e.Type, shown, err)
		}
	}
	for _, typ := range run.EventTypes() {
		if !seen[typ] {
			t.Errorf("no golden event of type %s", typ)
		}
	}
	path := filepath.Join("testdata", "format-1", "events.txt")
	if *update {
		if err := os.WriteFile(path, []byte(lines.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(path); err != nil || string(want) != lines.String() {
		t.Errorf("%s: %v\ngot\n%s\nwant\n%s", path, err, &lines, want)
	}
}

// TestEventCloneSharesNothing changes everything reachable in a clone.
func TestEventCloneSharesNothing(t *testing.T) {
	for i, e := range facts() {
		clone := e.Clone()
		if !reflect.DeepEqual(clone, e) {
			t.Errorf("%s: the clone is %+v", e.Type, clone)
		}
		payload := reflect.New(reflect.TypeOf(clone.Payload)).Elem()
		payload.Set(reflect.ValueOf(clone.Payload))
		scribble(payload)
		if want := facts()[i]; !reflect.DeepEqual(e, want) {
			t.Errorf("%s: changing a clone changed the event to %+v", e.Type, e)
		}
	}
}

// TestDecodeEventRefuses changes what is stored of each event.
func TestDecodeEventRefuses(t *testing.T) {
	for _, e := range facts() {
		for name, change := range map[string]func(string) string{
			"an unknown member": func(s string) string { return strings.Replace(s, `"data":{`, `"data":{"zz":1,`, 1) },
			"an unknown key":    func(s string) string { return strings.TrimSuffix(s, "}") + `,"zz":1}` },
			"no format":         func(s string) string { return strings.Replace(s, `"$format":1,`, "", 1) },
			"cut":               func(s string) string { return s[:len(s)-1] },
		} {
			rec := stored(t, e)
			text := change(string(rec.Payload))
			text = strings.Replace(text, `{"zz":1,}`, `{"zz":1}`, 1)
			rec.Payload, rec.Checksum = []byte(text), record.Sum([]byte(text))
			if _, err := run.DecodeEvent(rec); err == nil {
				t.Errorf("%s with %s: accepted %s", e.Type, name, text)
			}
		}
		rec := stored(t, e)
		rec.Type = "node_exploded"
		if _, err := run.DecodeEvent(rec); err == nil {
			t.Errorf("%s: an unknown type was accepted", e.Type)
		}
	}
}
