package runtime_test

import (
	"errors"
	"testing"
	"time"

	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/core/runtime"
)

// Two answers of one moment differ by their ids, and by nothing else that events
// tell.
func TestAnswersHaveIDs(t *testing.T) {
	g := diamond(t)
	r := start(t, g)
	s := plan(t, g, r, r.UpdatedAt)
	asked := update(t, s, r.UpdatedAt,
		runtime.Succeeded(s.Tasks[0].ID, node.Ask(node.Interrupt{ID: "q", Field: "xs"})), runtime.Succeeded(s.Tasks[1].ID, node.Result{})).Run
	event := func(id string) run.Event {
		m, err := runtime.Resolve(g, asked, runtime.Answer{InterruptID: "q", Value: map[string]any{"n": 1}, ID: id}, asked.UpdatedAt.Add(time.Second))
		if err != nil {
			t.Fatal(err)
		}
		return m.Events[0]
	}
	for _, id := range []string{"", "a", "b"} {
		want := run.InterruptAnswered{InterruptID: "q", Field: "xs", AnswerID: id}
		if got := event(id); got.Type != run.EventInterruptResolved || got.Payload != run.Payload(want) {
			t.Errorf("%q: %+v", id, got)
		}
	}
	_, err := runtime.Resolve(g, asked, runtime.Answer{InterruptID: "q", Value: map[string]any{"n": 1}, ID: "a\x00b"}, asked.UpdatedAt)
	var refused *runtime.SignalError
	if !errors.As(err, &refused) || refused.Code != runtime.SignalInvalid || refused.Reasons[0].Path != "answer_id" {
		t.Errorf("an id that can't be stored: %v", err)
	}
}
