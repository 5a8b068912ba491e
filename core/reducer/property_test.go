package reducer

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/docket-go/docket/core/schema"
	"github.com/docket-go/docket/core/value"
)

// each runs f with many seeds; a failure names the seed that repeats it.
func each(t *testing.T, n int, f func(t *testing.T, r *rand.Rand)) {
	t.Helper()
	for seed := range uint64(n) {
		f(t, rand.New(rand.NewPCG(seed, 2)))
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func compile(t *testing.T, r Reducer, s schema.Schema) *Field {
	t.Helper()
	f, err := Compile(r, s)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// kinds are all reducers with generators of writes for them.
func kinds(t *testing.T) map[string]*Field {
	t.Helper()
	return map[string]*Field{
		"last":         compile(t, Last(), schema.Map()),
		"first":        compile(t, First(), schema.Map()),
		"append":       compile(t, Append(), people),
		"unique":       compile(t, Append().OnlyUnique(), people.WithDefault(list{object{"a": 1}})),
		"window":       compile(t, Append().KeepLast(3), people),
		"uniquewindow": compile(t, Append().OnlyUnique().KeepLast(3), people),
		"union":        compile(t, Union(), people),
		"unionby":      compile(t, Union("a"), people),
		"merge":        compile(t, Merge(), schema.Map()),
		"deep":         compile(t, DeepMerge(), schema.Map().WithDefault(object{"a": object{"b": 1}})),
		"sum":          compile(t, Sum(), schema.Integer().WithDefault(10)),
		"floatsum":     compile(t, Sum(), schema.Float()),
	}
}

func randomMap(r *rand.Rand, depth int) object {
	m := object{}
	for _, key := range []string{"a", "b", "c"} {
		switch n := r.IntN(6); {
		case n == 0 && depth > 0:
			m[key] = randomMap(r, depth-1)
		case n == 1:
			m[key] = nil
		case n == 2:
			m[key] = int64(r.IntN(2))
		case n == 3:
			m[key] = list{int64(r.IntN(2))}
		}
	}
	return m
}

func randomWrite(r *rand.Rand, f *Field) any {
	switch f.Kind() {
	case KindSum:
		if f.float && r.IntN(2) == 0 {
			return []any{0.1, 0.5, 1e16, -1e16, 1e-9}[r.IntN(5)]
		}
		return int64(r.IntN(200) - 100)
	case KindAppend, KindUnion:
		if r.IntN(2) == 0 {
			l := make(list, r.IntN(3))
			for i := range l {
				l[i] = randomMap(r, 1)
			}
			return l
		}
	}
	return randomMap(r, 3)
}

func randomWrites(r *rand.Rand, f *Field) []any {
	writes := make([]any, r.IntN(5))
	for i := range writes {
		writes[i] = randomWrite(r, f)
		if reasons := f.ValidateWrite(writes[i]); reasons != nil {
			panic(reasons)
		}
	}
	return writes
}

// TestArrivalOrderNeverShows has four writers arrive in 200 shuffled orders;
// sorted by id as the machine does, they give the same bytes.
func TestArrivalOrderNeverShows(t *testing.T) {
	t.Parallel()
	type write struct {
		node string
		v    any
	}
	for name, f := range kinds(t) {
		r := rand.New(rand.NewPCG(44, 44))
		var writes []write
		for _, node := range []string{"b", "a", "B", "é"} {
			writes = append(writes, write{node, randomWrite(r, f)})
		}
		want := ""
		for i := range 200 {
			r.Shuffle(len(writes), func(i, j int) { writes[i], writes[j] = writes[j], writes[i] })
			sorted := slices.SortedFunc(slices.Values(writes), func(a, b write) int {
				return slices.Compare([]byte(a.node), []byte(b.node))
			})
			var values []any
			for _, w := range sorted {
				values = append(values, rebuilt(r, w.v))
			}
			got := outcome(f.Reduce(unset, values))
			if i > 0 && got != want {
				t.Fatalf("%s: %s, then %s", name, want, got)
			}
			want = got
		}
	}
}

// rebuilt returns an equal value whose maps were filled in another order.
func rebuilt(r *rand.Rand, v any) any {
	switch x := v.(type) {
	case []any:
		out := make([]any, len(x))
		for i, e := range x {
			out[i] = rebuilt(r, e)
		}
		return out
	case map[string]any:
		keys := value.Keys(x)
		r.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		out := map[string]any{}
		for _, k := range keys {
			out[k] = rebuilt(r, x[k])
		}
		return out
	}
	return v
}

// TestWritesFoldOneAtATime: a superstep with writers a and b leaves what two
// supersteps with one each leave. It holds for every reducer but one, see
// TestUniqueForgetsWhatLeftTheWindow.
func TestWritesFoldOneAtATime(t *testing.T) {
	t.Parallel()
	fields := kinds(t)
	delete(fields, "uniquewindow")
	for name, f := range fields {
		each(t, 500, func(t *testing.T, r *rand.Rand) {
			prior := unset
			if r.IntN(2) == 0 {
				first, err := f.Reduce(unset, randomWrites(r, f))
				if err != nil {
					t.Fatal(name, err)
				}
				prior = first
			}
			writes := randomWrites(r, f)
			k := r.IntN(len(writes) + 1)
			whole, err1 := f.Reduce(prior, writes)
			half, err2 := f.Reduce(prior, writes[:k])
			parts, err3 := f.Reduce(half, writes[k:])
			if err1 != nil || err2 != nil || err3 != nil {
				t.Fatal(name, err1, err2, err3)
			}
			if a, b := optional(whole), optional(parts); a != b {
				t.Fatalf("%s: %s at once, %s in parts; %s <- %s", name, a, b, optional(prior), text(list(writes)))
			}
		})
	}
}

// TestUniqueForgetsWhatLeftTheWindow: a value may come back in a later
// superstep that the same superstep would have dropped.
func TestUniqueForgetsWhatLeftTheWindow(t *testing.T) {
	t.Parallel()
	f := compile(t, Append().OnlyUnique().KeepLast(2), numbers)
	prior := some(list{int64(1), int64(2)})
	whole, _ := f.Reduce(prior, list{int64(3), int64(1)})
	half, _ := f.Reduce(prior, list{int64(3)})
	parts, _ := f.Reduce(half, list{int64(1)})
	if optional(whole) != "[2,3]" || optional(parts) != "[3,1]" {
		t.Errorf("%s at once, %s in parts", optional(whole), optional(parts))
	}
}

// TestReduceChangesNothingThatGoesIn compares deeply, before and after, also
// through chains in which a result is the next prior.
func TestReduceChangesNothingThatGoesIn(t *testing.T) {
	t.Parallel()
	for name, f := range kinds(t) {
		each(t, 200, func(t *testing.T, r *rand.Rand) {
			prior := unset
			var history []any
			var told []string
			for range 4 {
				writes := randomWrites(r, f)
				next, err := f.Reduce(prior, writes)
				if err != nil {
					t.Fatal(name, err)
				}
				for _, v := range append(writes, prior.Value, next.Value) {
					history = append(history, v)
					told = append(told, text(v))
				}
				prior = next
			}
			for i, v := range history {
				if text(v) != told[i] {
					t.Fatalf("%s: %s became %s", name, told[i], text(v))
				}
			}
			if text(f.Default().Value) != text(f.own.Schema().Default.Value) && f.own.Schema().Default.Set {
				t.Fatalf("%s: the default became %s", name, text(f.Default().Value))
			}
		})
	}
}

// TestTwoStepsFromOnePrior: a retried superstep starts from the same prior; the
// first try's result must not grow into the second's, through spare capacity.
func TestTwoStepsFromOnePrior(t *testing.T) {
	t.Parallel()
	f := compile(t, Append(), numbers)
	prior := some(append(make(list, 0, 8), int64(1)))
	a, _ := f.Reduce(prior, list{int64(2)})
	b, _ := f.Reduce(prior, list{int64(3)})
	if optional(a) != "[1,2]" || optional(b) != "[1,3]" {
		t.Errorf("%s and %s", optional(a), optional(b))
	}
}

// TestDuplicatesAreDroppedFromACopy: dropping works in place, but never in the
// prior value or the default.
func TestDuplicatesAreDroppedFromACopy(t *testing.T) {
	t.Parallel()
	f := compile(t, Union(), numbers.WithDefault(list{1, 1, 2}))
	prior := some(list{int64(3), int64(3), int64(4)})
	a, _ := f.Reduce(unset, list{list{}})
	b, _ := f.Reduce(prior, list{list{}})
	if optional(a) != "[1,2]" || optional(b) != "[3,4]" {
		t.Errorf("%s and %s", optional(a), optional(b))
	}
	if optional(f.Default()) != "[1,1,2]" || optional(prior) != "[3,3,4]" {
		t.Errorf("the default became %s, the prior value %s", optional(f.Default()), optional(prior))
	}
}

// TestDistinctAgreesWithEqual: canonical bytes tell elements apart exactly as
// value equality does.
func TestDistinctAgreesWithEqual(t *testing.T) {
	t.Parallel()
	f := compile(t, Union(), people)
	each(t, 500, func(t *testing.T, r *rand.Rand) {
		in := make(list, r.IntN(20))
		for i := range in {
			in[i] = []any{int64(1), 1.5, "1", true, nil, 1e20, "100000000000000000000", randomMap(r, 1)}[r.IntN(8)]
		}
		var want list
		for _, e := range in {
			if !slices.ContainsFunc(want, func(o any) bool { return value.Equal(e, o) }) {
				want = append(want, e)
			}
		}
		got, err := f.Reduce(unset, list{in})
		if err != nil || text(got.Value) != text(append(list{}, want...)) {
			t.Fatalf("%s: %s, want %s (%v)", text(in), optional(got), text(want), err)
		}
	})
}

// TestDistinctStaysLinear: a quadratic comparison of 200,000 elements would
// take minutes.
func TestDistinctStaysLinear(t *testing.T) {
	t.Parallel()
	in := make(list, 200_000)
	for i := range in {
		in[i] = int64(i / 2)
	}
	f := compile(t, Union(), numbers)
	got, err := f.Reduce(unset, list{in})
	if n := len(got.Value.(list)); err != nil || n != len(in)/2 {
		t.Errorf("%d elements, %v", n, err)
	}
}
