package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/core/schema"
)

// implementations returns what the graph's nodes do. Every call is noted in the
// world outside before it does anything.
func implementations(w *world) (*node.Registry, error) {
	return node.NewRegistry(map[string]node.Node{
		"research": node.HandlerFunc(w.noted(research)),
		"facts":    &facts{w},
		"quotes":   node.HandlerFunc(w.noted(w.quotes)),
		"write":    node.HandlerFunc(w.noted(write)),
		"review":   node.HandlerFunc(w.noted(review)),
		"publish":  node.HandlerFunc(w.noted(publish)),
	})
}

// research asks what the article must answer.
func research(_ context.Context, in node.Input) (node.Result, error) {
	topic, err := in.State.String("topic")
	if err != nil {
		return node.Result{}, err
	}
	return node.Write("questions", []string{
		"What is " + topic + "?",
		"Who needs " + topic + "?",
		"What does " + topic + " cost?",
	}), nil
}

// facts notes facts about each question. How many is its configuration.
type facts struct{ world *world }

// ConfigSchema takes per_question, 1 to 5.
func (f *facts) ConfigSchema() schema.Schema {
	return schema.Object(map[string]schema.Schema{
		"per_question": schema.Integer().Between(1, 5).WithDefault(2),
	})
}

// Call notes the facts.
func (f *facts) Call(ctx context.Context, in node.Input) (node.Result, error) {
	if err := f.world.note(ctx); err != nil {
		return node.Result{}, err
	}
	each, err := in.Config.Int("per_question")
	if err != nil {
		return node.Result{}, node.Permanent(err)
	}
	var questions []string
	if err := in.State.Decode("questions", &questions); err != nil {
		return node.Result{}, err
	}
	var notes []string
	for _, q := range questions {
		for n := range each {
			notes = append(notes, fmt.Sprintf("fact %d on %q", n+1, q))
		}
	}
	f.world.factsCollected()
	return node.Write("notes", notes), nil
}

// quotes notes what the audience says.
func (w *world) quotes(ctx context.Context, in node.Input) (node.Result, error) {
	if err := w.meetDoom(ctx); err != nil {
		return node.Result{}, err
	}
	audience, err := in.State.String("audience")
	if err != nil {
		return node.Result{}, err
	}
	return node.Write("notes", fmt.Sprintf("quote: %q, say %s", "It just went on.", audience)), nil
}

// write makes a draft of the notes and of what the person said about the last
// one.
func write(_ context.Context, in node.Input) (node.Result, error) {
	var state struct {
		Topic    string   `json:"topic"`
		Notes    []string `json:"notes"`
		Drafts   int      `json:"drafts"`
		Decision struct {
			Verdict string `json:"verdict"`
			Comment string `json:"comment"`
		} `json:"decision"`
	}
	if err := in.State.DecodeAll(&state); err != nil {
		return node.Result{}, err
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s, draft %d\n", state.Topic, state.Drafts+1)
	for _, n := range state.Notes {
		fmt.Fprintf(&text, "- %s\n", n)
	}
	if state.Decision.Comment != "" {
		fmt.Fprintf(&text, "- added on request: %s\n", state.Decision.Comment)
	}
	return node.Result{Update: map[string]any{"draft": text.String(), "drafts": 1}}, nil
}

// review asks a person. It runs again once the answer is there, and has nothing
// more to do: the answer went to the field "decision", which the edges judge.
func review(ctx context.Context, in node.Input) (node.Result, error) {
	if self, _ := node.Info(ctx); len(self.Answers) > 0 {
		return node.Result{}, nil
	}
	draft, err := in.State.String("draft")
	if err != nil {
		return node.Result{}, err
	}
	return node.Ask(node.Interrupt{
		Field:    "decision",
		Metadata: map[string]any{"question": "Publish this draft, or revise it?", "draft": draft},
	}), nil
}

// errPress is what the press says to every first attempt.
var errPress = errors.New("the press answered 503: try again later")

// publish hands the draft to the press, which is down at first. The idempotency
// key is its protection against printing one article twice.
func publish(ctx context.Context, in node.Input) (node.Result, error) {
	self, ok := node.Info(ctx)
	if !ok {
		return node.Result{}, node.Permanent(errors.New("called outside of a run"))
	}
	if self.Attempt == 1 {
		return node.Result{}, errPress
	}
	topic, err := in.State.String("topic")
	if err != nil {
		return node.Result{}, err
	}
	return node.Write("published", map[string]any{
		"url":     "https://press.example/" + strings.ReplaceAll(topic, " ", "-"),
		"receipt": self.IdempotencyKey,
	}), nil
}
