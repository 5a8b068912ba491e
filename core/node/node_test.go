package node_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/core/schema"
	"github.com/docket-go/docket/core/value"
)

func idle(context.Context, node.Input) (node.Result, error) { return node.Result{}, nil }

type named struct{ config schema.Schema }

func (n *named) ConfigSchema() schema.Schema { return n.config }
func (n *named) Call(context.Context, node.Input) (node.Result, error) {
	return node.Result{}, nil
}

func TestRegistry(t *testing.T) {
	a, b := &named{}, &named{}
	reg, err := node.NewRegistry(map[string]node.Node{"a": a, "v2.b": b, "f": node.HandlerFunc(idle)})
	if err != nil {
		t.Fatal(err)
	}
	if got := reg.IDs(); !reflect.DeepEqual(got, []string{"a", "f", "v2.b"}) {
		t.Errorf("IDs %v", got)
	}
	if n, ok := reg.Lookup("a"); !ok || n != node.Node(a) {
		t.Errorf("Lookup: %v, %v", n, ok)
	}
	if id, ok := reg.IDOf(b); !ok || id != "v2.b" {
		t.Errorf("IDOf: %q, %v", id, ok)
	}
	if _, ok := reg.IDOf(&named{}); ok {
		t.Error("IDOf knows a stranger")
	}
	var none *node.Registry
	if _, ok := none.Lookup("a"); ok || none.IDs() != nil || none.Fingerprint() != "" {
		t.Error("a nil registry knows something")
	}
}

func TestRegistryRefuses(t *testing.T) {
	one := &named{}
	for name, nodes := range map[string]map[string]node.Node{
		"same node twice": {"a": one, "b": one},
		"nil":             {"b": nil},
		"nil pointer":     {"b": (*named)(nil)},
		"nil func":        {"b": node.HandlerFunc(nil)},
		"empty id":        {"": one},
		"bad id":          {"a\n": one},
	} {
		_, err := node.NewRegistry(nodes)
		var refused *node.RegistryError
		if !errors.As(err, &refused) || refused.Code() != "invalid_registry" {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestFingerprint(t *testing.T) {
	print := func(nodes map[string]node.Node) string {
		reg, err := node.NewRegistry(nodes)
		if err != nil {
			t.Fatal(err)
		}
		return reg.Fingerprint()
	}
	base := print(map[string]node.Node{"a": &named{}, "b": &named{}})
	if base != print(map[string]node.Node{"b": &named{}, "a": &named{}}) {
		t.Error("equal registries differ")
	}
	for name, nodes := range map[string]map[string]node.Node{
		"another id":     {"a": &named{}, "c": &named{}},
		"fewer":          {"a": &named{}},
		"another config": {"a": &named{config: schema.Object(map[string]schema.Schema{"x": schema.String()})}, "b": &named{}},
		"panics":         {"a": &named{}, "b": panicking{}},
	} {
		if print(nodes) == base {
			t.Errorf("%s: the fingerprint is the same", name)
		}
	}
}

type panicking struct{}

func (panicking) ConfigSchema() schema.Schema { panic("no config today") }
func (panicking) Call(context.Context, node.Input) (node.Result, error) {
	return node.Result{}, nil
}

func TestPermanent(t *testing.T) {
	cause := errors.New("gone")
	err := fmt.Errorf("wrapped: %w", node.Permanent(cause))
	if !node.IsPermanent(err) || !errors.Is(err, cause) || node.IsPermanent(cause) || node.Permanent(nil) != nil || node.IsPermanent(nil) {
		t.Error("Permanent doesn't mark, or hides its cause")
	}
}

func TestInfo(t *testing.T) {
	if _, ok := node.Info(t.Context()); ok {
		t.Error("there is an activation outside a call")
	}
	ctx := node.WithActivation(t.Context(), node.Activation{RunID: "r"})
	if a, ok := node.Info(ctx); !ok || a.RunID != "r" {
		t.Errorf("%+v, %v", a, ok)
	}
}

type note struct {
	Text string `json:"text"`
}

type in struct {
	Draft    string   `docket:"draft"`
	Tone     string   `docket:"tone,optional"`
	Decision *bool    `docket:"decision"`
	Notes    []note   `docket:"notes,optional"`
	Config   settings `docket:",config"`
}

type settings struct {
	MaxWords int64    `json:"max_words" default:"200"`
	Prefix   string   `json:"prefix" default:"Re: "`
	Tags     []string `json:"tags,omitempty"`
	Strict   *bool    `json:"strict"`
	Model    string   `json:"model"`
	Hidden   string   `json:"-"`
}

type out struct {
	Score float64 `docket:"score"`
	Notes []note  `docket:"notes,omitzero"`
	Title *string `docket:"title"`
}

func typedInput(state map[string]any) node.Input {
	return node.Input{
		State:  value.NewReader(state),
		Config: value.NewReader(map[string]any{"max_words": int64(9), "prefix": "P", "model": "m"}),
	}
}

func TestFunc(t *testing.T) {
	n := node.Func(func(_ context.Context, i in) (out, error) {
		want := in{Draft: "text", Notes: []note{{"n"}}, Config: settings{MaxWords: 9, Prefix: "P", Model: "m"}}
		if !reflect.DeepEqual(i, want) {
			t.Errorf("in %+v, want %+v", i, want)
		}
		return out{Score: 0.5}, nil
	})
	got, err := n.Call(t.Context(), typedInput(map[string]any{"draft": "text", "notes": []any{map[string]any{"text": "n"}}, "other": true}))
	if err != nil || !reflect.DeepEqual(got.Update, map[string]any{"score": 0.5}) {
		t.Errorf("got %+v, %v", got, err)
	}
	title := "T"
	n = node.Func(func(context.Context, in) (out, error) { return out{Title: &title, Notes: []note{}}, nil })
	got, err = n.Call(t.Context(), typedInput(map[string]any{"draft": ""}))
	if err != nil || len(got.Update) != 3 {
		t.Errorf("an empty slice isn't zero and a pointer is written: got %+v, %v", got, err)
	}
	w, r := n.(interface{ Writes() []string }), n.(interface{ Reads() []string })
	if !reflect.DeepEqual(w.Writes(), []string{"notes", "score", "title"}) || !reflect.DeepEqual(r.Reads(), []string{"decision", "draft", "notes", "tone"}) {
		t.Errorf("writes %v, reads %v", w.Writes(), r.Reads())
	}
}

func TestFuncConfigSchema(t *testing.T) {
	n := node.Func(func(context.Context, in) (node.Result, error) { return node.Result{}, nil })
	want := schema.Object(map[string]schema.Schema{
		"max_words": schema.Integer().WithDefault(200),
		"prefix":    schema.String().WithDefault("Re: "),
		"tags":      schema.List(schema.String()),
		"strict":    schema.Boolean(),
		"model":     schema.String().Require(),
	})
	if got := n.ConfigSchema(); !got.Equal(want) {
		t.Errorf("got %v\nwant %v", got.ToMap(), want.ToMap())
	}
}

// TestFuncRefusesState is strict about what state holds: a permanent failure that
// names the place.
func TestFuncRefusesState(t *testing.T) {
	n := node.Func(func(context.Context, in) (node.Result, error) { return node.Result{}, nil })
	for place, state := range map[string]map[string]any{
		`"draft"`:    {},
		`"tone"`:     {"draft": "x", "tone": int64(1)},
		`"decision"`: {"draft": "x", "decision": "yes"},
		`[0]`:        {"draft": "x", "notes": []any{"text"}},
	} {
		_, err := n.Call(t.Context(), typedInput(state))
		if err == nil || !node.IsPermanent(err) || !strings.Contains(err.Error(), place) {
			t.Errorf("%s: got %v", place, err)
		}
	}
}

// TestFuncPanicsOnBadTypes finds a program's mistake the first time it runs.
func TestFuncPanicsOnBadTypes(t *testing.T) {
	for name, make := range map[string]func(){
		"no struct": func() { node.Func(func(context.Context, string) (out, error) { return out{}, nil }) },
		"no tag":    func() { node.Func(func(context.Context, struct{ A string }) (out, error) { return out{}, nil }) },
		"unexported": func() {
			node.Func(func(context.Context, struct {
				a string `docket:"a"`
			}) (out, error) {
				return out{}, nil
			})
		},
		"bad name": func() {
			node.Func(func(context.Context, struct {
				A string `docket:"a b"`
			}) (out, error) {
				return out{}, nil
			})
		},
		"bad option": func() {
			node.Func(func(context.Context, struct {
				A string `docket:"a,often"`
			}) (out, error) {
				return out{}, nil
			})
		},
		"twice": func() {
			node.Func(func(context.Context, struct {
				A, B string `docket:"a"`
			}) (out, error) {
				return out{}, nil
			})
		},
		"config string": func() {
			node.Func(func(context.Context, struct {
				A string `docket:",config"`
			}) (out, error) {
				return out{}, nil
			})
		},
		"out option": func() {
			node.Func(func(context.Context, struct{}) (struct {
				A string `docket:"a,optional"`
			}, error) {
				panic("")
			})
		},
		"bad default": func() {
			node.Func(func(context.Context, struct {
				C struct {
					A int `default:"x"`
				} `docket:",config"`
			}) (out, error) {
				return out{}, nil
			})
		},
		"recursive": func() {
			node.Func(func(context.Context, struct {
				C tree `docket:",config"`
			}) (out, error) {
				return out{}, nil
			})
		},
	} {
		func() {
			defer func() {
				if v := recover(); v == nil || !strings.HasPrefix(fmt.Sprint(v), "node.Func: ") {
					t.Errorf("%s: recovered %v", name, v)
				}
			}()
			make()
		}()
	}
}

type tree struct {
	Children []tree `json:"children"`
}

func ExampleFunc() {
	type input struct {
		Name string `docket:"name"`
	}
	type output struct {
		Greeting string `docket:"greeting"`
	}
	greet := node.Func(func(_ context.Context, in input) (output, error) {
		return output{Greeting: "Hello, " + in.Name}, nil
	})
	result, err := greet.Call(context.Background(), node.Input{State: value.NewReader(map[string]any{"name": "Ada"})})
	fmt.Println(result.Update, err)
	// Output: map[greeting:Hello, Ada] <nil>
}
