package guard

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/docket-go/docket/core/value"
)

func TestInterchangeTable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		guard Guard
		doc   string
	}{
		{Changed("f"), `{"$changed":"f"}`},
		{VersionAtLeast("f", 3), `{"$version_at_least":["f",3]}`},
		{Exists(Field("f")), `{"$exists":{"$field":"f"}}`},
		{Exists(Path("f", "a", 0)), `{"$exists":{"$path":["f","a",0]}}`},
		{Equals(Field("f"), int64(9007199254740993)), `{"$equals":[{"$field":"f"},9007199254740993]}`},
		{Equals(Field("f"), nil), `{"$equals":[{"$field":"f"},null]}`},
		{Equals(Field("f"), "$x"), `{"$equals":[{"$field":"f"},"$x"]}`},
		{Equals(Field("f"), Path("g", "a")), `{"$equals":[{"$field":"f"},{"$path":["g","a"]}]}`},
		{Equals(Field("f"), &Ref{Field: "g"}), `{"$equals":[{"$field":"f"},{"$field":"g"}]}`},
		{Equals(Field("f"), object{"a": 1}), `{"$equals":[{"$field":"f"},{"a":1}]}`},
		{Equals(Field("f"), object{"$field": "g"}), `{"$equals":[{"$field":"f"},{"$literal":{"$field":"g"}}]}`},
		{Equals(Field("f"), object{"$literal": 1}), `{"$equals":[{"$field":"f"},{"$literal":{"$literal":1}}]}`},
		{Equals(Field("f"), list{object{"a": object{"$": 1}}}), `{"$equals":[{"$field":"f"},{"$literal":[{"a":{"$":1}}]}]}`},
		{All(Changed("f"), Not(Any(Changed("g")))), `{"$all":[{"$changed":"f"},{"$not":{"$any":[{"$changed":"g"}]}}]}`},
		{All(), `{"$all":[]}`},
	} {
		if got := text(c.guard.ToValue()); got != c.doc {
			t.Errorf("ToValue = %s, want %s", got, c.doc)
		}
		doc, err := value.Decode([]byte(c.doc))
		if err != nil {
			t.Fatal(err)
		}
		back, err := FromValue(doc)
		if err != nil || !back.Equal(c.guard) || !back.Clone().Equal(back) {
			t.Errorf("FromValue(%s) = %s, %v", c.doc, back, err)
		}
	}
}

// TestReadersAcceptLooserForms: they are written back in the one form.
func TestReadersAcceptLooserForms(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ doc, want string }{
		{`{"$exists":{"$path":["f"]}}`, `{"$exists":{"$field":"f"}}`},
		{`{"$equals":[{"$field":"f"},{"$literal":1}]}`, `{"$equals":[{"$field":"f"},1]}`},
		{`{"$equals":[{"$field":"f"},1.0]}`, `{"$equals":[{"$field":"f"},1]}`},
	} {
		doc, err := value.Decode([]byte(c.doc))
		if err != nil {
			t.Fatal(err)
		}
		if g, err := FromValue(doc); err != nil || text(g.ToValue()) != c.want {
			t.Errorf("%s became %s, %v", c.doc, text(g.ToValue()), err)
		}
	}
}

func TestFromValueRefuses(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"$not":`, MaxDepth) + `{"$changed":"f"}` + strings.Repeat(`}`, MaxDepth)
	for _, c := range []struct {
		doc, path string
		code      value.Code
	}{
		{`null`, "", value.CodeMismatch},
		{`[]`, "", value.CodeMismatch},
		{`{}`, "", value.CodeMismatch},
		{`{"changed":"f"}`, "", value.CodeMismatch},
		{`{"$":"f"}`, "", value.CodeMismatch},
		{`{"$changed":"f","$exists":1}`, "", value.CodeMismatch},
		{`{"$maybe":"f"}`, "", CodeUnknownOperation},
		{`{"$literal":true}`, "", CodeUnknownOperation},
		{`{"$changed":1}`, `["$changed"]`, value.CodeMismatch},
		{`{"$version_at_least":"f"}`, `["$version_at_least"]`, value.CodeMismatch},
		{`{"$version_at_least":["f"]}`, `["$version_at_least"]`, value.CodeMismatch},
		{`{"$version_at_least":[1,1]}`, `["$version_at_least"][0]`, value.CodeMismatch},
		{`{"$version_at_least":["f",1.5]}`, `["$version_at_least"][1]`, value.CodeMismatch},
		{`{"$exists":"f"}`, `["$exists"]`, value.CodeMismatch},
		{`{"$exists":{"$literal":"f"}}`, `["$exists"]`, value.CodeMismatch},
		{`{"$exists":{"$field":["f"]}}`, `["$exists"]["$field"]`, value.CodeMismatch},
		{`{"$exists":{"$field":"f","x":1}}`, `["$exists"]`, value.CodeMismatch},
		{`{"$exists":{"$path":"f"}}`, `["$exists"]["$path"]`, value.CodeMismatch},
		{`{"$exists":{"$path":[]}}`, `["$exists"]["$path"]`, value.CodeMismatch},
		{`{"$exists":{"$path":[1]}}`, `["$exists"]["$path"][0]`, value.CodeMismatch},
		{`{"$exists":{"$path":["f",1.5]}}`, `["$exists"]["$path"][1]`, value.CodeMismatch},
		{`{"$equals":[{"$field":"f"}]}`, `["$equals"]`, value.CodeMismatch},
		{`{"$equals":["f","f"]}`, `["$equals"][0]`, value.CodeMismatch},
		{`{"$equals":[{"$field":"f"},{"$x":1}]}`, `["$equals"][1]`, value.CodeMismatch},
		{`{"$equals":[{"$field":"f"},[{"$field":"g"}]]}`, `["$equals"][1]`, value.CodeMismatch},
		{`{"$equals":[{"$field":"f"},{"$field":"g","x":1}]}`, `["$equals"][1]`, value.CodeMismatch},
		{`{"$equals":[{"$field":"f"},{"$path":[]}]}`, `["$equals"][1]["$path"]`, value.CodeMismatch},
		{`{"$all":{"$changed":"f"}}`, `["$all"]`, value.CodeMismatch},
		{`{"$any":[{"$changed":"f"},{"$not":[]}]}`, `["$any"][1]["$not"]`, value.CodeMismatch},
		{deep, strings.Repeat(`["$not"]`, MaxDepth), value.CodeTooDeep},
	} {
		doc, err := value.Decode([]byte(c.doc))
		if err != nil {
			t.Fatal(err)
		}
		_, err = FromValue(doc)
		var typed *value.Error
		if !errors.As(err, &typed) || typed.Path != c.path || typed.Code != c.code {
			t.Errorf("FromValue(%s) = %v, want %s at %q", c.doc, err, c.code, c.path)
		}
	}
	if _, err := FromValue(make(chan int)); err == nil {
		t.Error("a channel made it into a guard")
	}
}

// randomGuard returns a sound guard over state.
func randomGuard(r *rand.Rand, depth int) Guard {
	n := 4
	if depth > 0 {
		n = 7
	}
	names := value.Keys(state)
	ref := func() Ref {
		out := Field(names[r.IntN(len(names))])
		for range r.IntN(3) {
			out.Path = append(out.Path, []any{"a", "b", "map", "$x", int64(0), int64(1)}[r.IntN(6)])
		}
		return out
	}
	some := func() []Guard {
		out := make([]Guard, 1+r.IntN(3))
		for i := range out {
			out[i] = randomGuard(r, depth-1)
		}
		return out
	}
	switch r.IntN(n) {
	case 0:
		return Changed(names[r.IntN(len(names))])
	case 1:
		return VersionAtLeast(names[r.IntN(len(names))], int64(r.IntN(4)))
	case 2:
		return Exists(ref())
	case 3:
		if r.IntN(2) == 0 {
			return Equals(ref(), ref())
		}
		return Equals(ref(), []any{nil, int64(1), "x", 0.5, int64(math.MinInt64), list{object{"$a": nil}}, object{"a": int64(1)},
			object{"$path": list{"one"}}, object{"$literal": object{}}}[r.IntN(9)])
	case 4:
		return All(some()...)
	case 5:
		return Any(some()...)
	}
	return Not(randomGuard(r, depth-1))
}

func TestInterchangeReturnsTheSameGuard(t *testing.T) {
	t.Parallel()
	held, differ := 0, 0
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 3))
		g, other := randomGuard(r, 4), randomGuard(r, 1)
		back, err := FromValue(g.ToValue())
		if err != nil || !back.Equal(g) || text(back.ToValue()) != text(g.ToValue()) || !g.Clone().Equal(g) {
			t.Fatalf("seed %d: %s became %s, %v", seed, text(g.ToValue()), text(back.ToValue()), err)
		}
		if same := text(other.ToValue()) == text(g.ToValue()); same != g.Equal(other) {
			t.Fatalf("seed %d: Equal(%s, %s) = %v", seed, g, other, !same)
		} else if !same {
			differ++
		}
		if reasons := g.Check(nil); reasons != nil {
			t.Fatalf("seed %d: %s: %v", seed, g, reasons)
		}
		a, err1 := g.Eval(state)
		b, err2 := back.Eval(state)
		opposite, err3 := Not(g).Eval(state)
		if a != b || a == opposite || err1 != nil || err2 != nil || err3 != nil {
			t.Fatalf("seed %d: %s: %v %v %v %v %v %v", seed, g, a, b, opposite, err1, err2, err3)
		}
		if a {
			held++
		}
	}
	if held < 500 || held > 2500 || differ < 2000 {
		t.Errorf("%d of 3000 guards held, %d pairs differed: that proves little", held, differ)
	}
}

// TestAFailureDoesNotDependOnValues: a guard that names an unknown field fails
// on every state.
func TestAFailureDoesNotDependOnValues(t *testing.T) {
	t.Parallel()
	bare := cells{}
	for name := range state {
		bare[name] = Cell{}
	}
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 4))
		g := randomGuard(r, 3)
		gone := g.Fields()[r.IntN(len(g.Fields()))]
		for _, base := range []cells{state, bare} {
			env := cells{}
			for name, cell := range base {
				if name != gone {
					env[name] = cell
				}
			}
			var unknown *UnknownFieldError
			if _, err := g.Eval(env); !errors.As(err, &unknown) || unknown.Field != gone {
				t.Fatalf("seed %d: %s without %s: %v", seed, g, gone, err)
			}
		}
	}
}

// TestCloneSharesNothing mutates the copy everywhere.
func TestCloneSharesNothing(t *testing.T) {
	t.Parallel()
	g := All(Equals(Path("map", "a"), Path("map", "b")), Equals(Field("map"), list{"x"}))
	want := text(g.ToValue())
	c := g.Clone()
	c.Guards[0].Ref.Path[0] = "boom"
	c.Guards[0].Value.Ref.Path[0] = "boom"
	c.Guards[1].Value.Literal.([]any)[0] = "boom"
	c.Guards[1] = Changed("boom")
	doc := g.ToValue().(map[string]any)["$all"].([]any)[1].(map[string]any)["$equals"].([]any)
	doc[1].([]any)[0] = "boom"
	if got := text(g.ToValue()); got != want {
		t.Errorf("the original became %s", got)
	}
}

func FuzzGuard(f *testing.F) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 50 {
		f.Add([]byte(text(randomGuard(r, 3).ToValue())))
	}
	f.Add([]byte(`{"$version_at_least":["one",-1]}`))
	f.Add([]byte(strings.Repeat(`{"$not":`, 40) + `1` + strings.Repeat(`}`, 40)))
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := value.Decode(data)
		if err != nil {
			return
		}
		g, err := FromValue(doc)
		if err != nil {
			var typed *value.Error
			if !errors.As(err, &typed) {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		back, err := FromValue(g.ToValue())
		if err != nil || !back.Equal(g) {
			t.Fatalf("%s became %s: %v", text(g.ToValue()), text(back.ToValue()), err)
		}
		_, err = g.Eval(state)
		var unknown *UnknownFieldError
		if err != nil && !errors.As(err, &unknown) {
			t.Fatalf("%s: %v", g, err)
		}
		known := func(field string) bool { _, ok := state[field]; return ok }
		if g.Check(known) == nil && err != nil {
			t.Fatalf("%s passed Check: %v", g, err)
		}
		_ = g.String()
	})
}
