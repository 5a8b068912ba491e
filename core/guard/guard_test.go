package guard

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/docket-go/docket/core/value"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares got with testdata/name, which is also meant to be read.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, []byte(got)) {
		t.Errorf("%s differs (run with -update and read the diff); got:\n%s", path, got)
	}
}

func text(v any) string {
	b, err := value.Encode(v)
	if err != nil {
		return fmt.Sprintf("(%v)", err)
	}
	return string(b)
}

type (
	list   = []any
	object = map[string]any
	cells  map[string]Cell
)

func (c cells) Cell(field string) (Cell, bool) {
	cell, known := c[field]
	return cell, known
}

// state is what every table here is evaluated on.
var state = cells{
	"unset":  {},
	"null":   {Value: value.Some(nil), Version: 1, Changed: true},
	"one":    {Value: value.Some(int64(1)), Version: 3},
	"text":   {Value: value.Some("1"), Version: 1},
	"truth":  {Value: value.Some(true), Version: 1},
	"big":    {Value: value.Some(int64(9007199254740992)), Version: 1},
	"huge":   {Value: value.Some(9223372036854775808.0), Version: 1},
	"half":   {Value: value.Some(0.5), Version: 1},
	"list":   {Value: value.Some(list{int64(1), object{"a": nil}}), Version: 1},
	"map":    {Value: value.Some(object{"a": int64(1), "b": list{"x"}, "0": "zero"}), Version: 2, Changed: true},
	"empty":  {Value: value.Some(list{}), Version: 1},
	"nested": {Value: value.Some(object{"map": object{"b": list{"x"}, "a": int64(1), "0": "zero"}}), Version: 1},
}

// TestEvalTable is the documentation of what each guard says on state.
func TestEvalTable(t *testing.T) {
	t.Parallel()
	yes, no, fail := Exists(Field("one")), Exists(Field("unset")), Changed("gone")
	groups := []struct {
		about  string
		guards []Guard
	}{
		{"changed is about writes, not values", []Guard{Changed("null"), Changed("one"), Changed("unset"), Changed("gone")}},
		{"version_at_least counts commits", []Guard{VersionAtLeast("one", 3), VersionAtLeast("one", 4), VersionAtLeast("unset", 0),
			VersionAtLeast("unset", 1), VersionAtLeast("gone", 0)}},
		{"exists: null is a value, absent is none", []Guard{Exists(Field("null")), Exists(Field("unset")), Exists(Field("empty")),
			Exists(Path("map", "a")), Exists(Path("map", "c")), Exists(Path("list", 1, "a")), Exists(Path("gone", "a"))}},
		{"a place that can't be is missing, never an error", []Guard{Exists(Path("list", 2)), Exists(Path("list", -1)), Exists(Path("list", "0")),
			Exists(Path("map", 0)), Exists(Path("map", "0")), Exists(Path("one", "a")), Exists(Path("null", "a")), Exists(Path("unset", "a")),
			Exists(Path("list", int64(math.MaxInt64))), Exists(Ref{Field: "map", Path: list{true}})}},
		{"equals is exact by value", []Guard{Equals(Field("one"), 1), Equals(Field("one"), 1.0), Equals(Field("one"), "1"), Equals(Field("one"), true),
			Equals(Field("text"), 1), Equals(Field("text"), "1"), Equals(Field("truth"), true), Equals(Field("half"), 0.5),
			Equals(Field("big"), int64(9007199254740993)), Equals(Field("big"), int64(9007199254740992)),
			Equals(Field("huge"), int64(math.MaxInt64)), Equals(Field("huge"), 9223372036854775808.0),
			Equals(Field("null"), nil), Equals(Field("null"), Field("null"))}},
		{"equals on containers: key order doesn't exist", []Guard{Equals(Field("list"), list{1, object{"a": nil}}), Equals(Field("list"), list{1}),
			Equals(Field("map"), object{"b": list{"x"}, "0": "zero", "a": 1}), Equals(Field("map"), Path("nested", "map")),
			Equals(Field("empty"), list{}), Equals(Field("empty"), nil)}},
		{"missing equals nothing", []Guard{Equals(Field("unset"), nil), Not(Equals(Field("unset"), "x")), Equals(Field("unset"), Field("unset")),
			Equals(Field("null"), Field("unset")), Equals(Field("unset"), Field("null")), Equals(Path("map", "z"), Path("map", "z"))}},
		{"groups", []Guard{All(yes, yes), All(yes, no), Any(no, yes), Any(no, no), Not(yes), Not(no), All(), Any(), Not(All(yes, Not(Any(no)))),
			All(Any(no, yes), Not(no))}},
		{"an unknown field fails the guard wherever it stands", []Guard{Any(yes, fail), All(no, fail), Not(fail), Any(yes, All(no, Not(fail))),
			Equals(Field("unset"), Field("gone")), Equals(Field("one"), Path("gone", "a"))}},
		{"a malformed guard fails, too", []Guard{{}, {Op: "maybe", Ref: Field("one")}, {Op: OpNot}, {Op: OpNot, Guards: []Guard{yes, yes}},
			Any(yes, Guard{Op: OpNot}), nest(MaxDepth), nest(MaxDepth + 1)}},
	}
	var b strings.Builder
	for _, group := range groups {
		fmt.Fprintf(&b, "%s\n", group.about)
		for _, g := range group.guards {
			holds, err := g.Eval(state)
			verdict := fmt.Sprint(holds)
			if err != nil {
				verdict = err.Error()
			}
			fmt.Fprintf(&b, "    %-58s %s\n", shorten(g.String()), verdict)
		}
		b.WriteString("\n")
	}
	golden(t, "eval.golden", b.String())
}

// nest returns guards n levels deep.
func nest(n int) Guard {
	g := Exists(Field("one"))
	for range n - 1 {
		g = All(g)
	}
	return g
}

func shorten(s string) string {
	if len(s) > 56 {
		return s[:20] + "…" + s[len(s)-20:]
	}
	return s
}

// TestCheckTable is the documentation of what a guard may not be.
func TestCheckTable(t *testing.T) {
	t.Parallel()
	known := func(field string) bool { _, ok := state[field]; return ok }
	cases := []struct {
		about string
		guard Guard
	}{
		{"a sound guard", All(Changed("one"), Not(Equals(Path("map", "b", 0), Field("text"))), VersionAtLeast("one", 0))},
		{"no operation", Guard{}},
		{"an unknown operation", Guard{Op: "maybe"}},
		{"unknown fields, wherever they stand", Any(Changed("x"), VersionAtLeast("y", 1), Equals(Path("z", 0), Field("w")), Not(Exists(Field("v"))))},
		{"no field", Any(Changed(""), Exists(Field("")))},
		{"a path where only a field fits", Guard{Op: OpChanged, Ref: Path("map", "a")}},
		{"a negative version", VersionAtLeast("one", -1)},
		{"a path that can't be", Equals(Path("list", -1), Path("map", 1.5, "a", nil, "\xff"))},
		{"a literal no document can carry", Equals(Field("one"), list{nil, func() {}})},
		{"a reference and a literal at once", Guard{Op: OpEquals, Ref: Field("one"), Value: Operand{Ref: &Ref{Field: "one"}, Literal: "x"}}},
		{"empty groups", Any(All(), Any())},
		{"not takes one", Guard{Op: OpNot, Guards: []Guard{Changed("one"), Changed("one")}}},
		{"spare parts would be lost in a document", Any(
			Guard{Op: OpChanged, Ref: Field("one"), Version: 1},
			Guard{Op: OpExists, Ref: Field("one"), Value: Operand{Literal: "x"}},
			Guard{Op: OpExists, Ref: Field("one"), Guards: []Guard{Changed("one")}},
			Guard{Op: OpNot, Ref: Field("one"), Guards: []Guard{Changed("one")}},
		)},
		{"too deep", nest(MaxDepth + 1)},
		{"as deep as can be", nest(MaxDepth)},
	}
	var b strings.Builder
	for _, c := range cases {
		fmt.Fprintf(&b, "%s: %s\n", c.about, shorten(c.guard.String()))
		reasons := c.guard.Check(known)
		if len(reasons) == 0 {
			b.WriteString("    ok\n")
		}
		for _, r := range reasons {
			fmt.Fprintf(&b, "    %-20s %s\n", r.Code, r)
		}
	}
	golden(t, "check.golden", b.String())
	if reasons := Changed("whatever").Check(nil); reasons != nil {
		t.Errorf("nobody said which fields there are: %v", reasons)
	}
}

func TestErrorsAreTyped(t *testing.T) {
	t.Parallel()
	var unknown *UnknownFieldError
	if _, err := Any(Exists(Field("one")), Changed("gone")).Eval(state); !errors.As(err, &unknown) || unknown.Field != "gone" {
		t.Errorf("%v", err)
	}
	var invalid *InvalidError
	if _, err := (Guard{Op: OpNot}).Eval(state); !errors.As(err, &invalid) {
		t.Errorf("%v", err)
	}
}

// TestAGuardInsideItselfIsRefused: groups are slices, so Go code can tie a
// knot.
func TestAGuardInsideItselfIsRefused(t *testing.T) {
	t.Parallel()
	g := All(Guard{})
	g.Guards[0] = g
	if _, err := g.Eval(state); err == nil {
		t.Error("evaluated")
	}
	if g.Check(nil) == nil {
		t.Error("not reported")
	}
}

func TestFields(t *testing.T) {
	t.Parallel()
	g := All(Changed("b"), Not(Equals(Path("a", 0), Field("c"))), Any(Exists(Field("b")), VersionAtLeast("B", 1)))
	if got := g.Fields(); !slices.Equal(got, []string{"B", "a", "b", "c"}) {
		t.Errorf("%v", got)
	}
	if got := (Guard{Op: OpAll}).Fields(); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

func TestStringTable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		guard Guard
		want  string
	}{
		{Changed("draft"), `changed(draft)`},
		{VersionAtLeast("draft", 3), `version_at_least(draft, 3)`},
		{Exists(Path("review", "notes", 0, "a b")), `exists(review.notes[0]["a b"])`},
		{Equals(Field("verdict"), "approve"), `equals(verdict, "approve")`},
		{Equals(Field("a"), Path("b", "c")), `equals(a, b.c)`},
		{Equals(Field("a"), nil), `equals(a, null)`},
		{Equals(Field("a"), strings.Repeat("é", 40)), `equals(a, "` + strings.Repeat("é", 23) + `…)`},
		{Equals(Field("a"), make(chan int)), `equals(a, ?)`},
		{Exists(Ref{Field: "a", Path: list{nil}}), `exists(a[?])`},
		{All(Changed("a"), Not(Any(Changed("b")))), `all(changed(a), not(any(changed(b))))`},
	} {
		if got := c.guard.String(); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func TestADecisionAllocatesNothing(t *testing.T) {
	g := All(Changed("map"), Not(Equals(Path("map", "b", 0), "y")), Any(VersionAtLeast("one", 9), Equals(Field("map"), Path("nested", "map"))))
	var env Env = state
	if n := testing.AllocsPerRun(100, func() {
		if holds, err := g.Eval(env); !holds || err != nil {
			t.Fatal(holds, err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
