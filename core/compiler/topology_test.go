package compiler

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/guard"
)

// shape makes a graph from edges like "$>a", "a>b?" (guarded), "a,b>c" (barrier),
// "a>." ($finish).
func shape(edges string) graph.Graph {
	g := graph.Graph{ID: "g", Nodes: map[string]graph.Node{}, Edges: map[string]graph.Edge{}}
	for i, text := range strings.Fields(edges) {
		text, guarded := strings.CutSuffix(text, "?")
		from, to, _ := strings.Cut(text, ">")
		e := graph.Edge{To: to}
		for source := range strings.SplitSeq(from, ",") {
			if source == "$" {
				source = graph.Start
			} else {
				g.Nodes[source] = graph.Node{}
			}
			e.From = append(e.From, source)
		}
		if to == "." {
			e.To = graph.Finish
		} else {
			g.Nodes[to] = graph.Node{}
		}
		if guarded {
			test := guard.Changed("x")
			e.Guard = &test
		}
		g.Edges[fmt.Sprintf("e%02d", i)] = e
	}
	return g
}

func TestMixedJoins(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, edges, want string }{
		{"plain diamond", "$>a a>b a>c b,c>d", ""},
		{"a branch is guarded off", "$>a a>b? a,b>c", "e02 after a: always a, conditional b"},
		{"one arm of a fork", "$>a a>b a>c? b,c>d", "e03 after a: always b, conditional c"},
		{"further down the arm", "$>a a>b a>c c>e? b,e>d", "e04 after a: always b, conditional e"},
		{"a second way without a guard", "$>a a>b a>c? a>e e>c b,c>d", ""},
		{"both arms guarded", "$>a a>b? a>c? b,c>d", ""},
		{"the whole is guarded, its inside isn't", "$>a a>x? x>b x>c b,c>d", ""},
		{"inside a guarded part", "$>a a>x? x>b x>c? b,c>d", "e04 after x: always b, conditional c"},
		{"a loop back through a guard", "$>a a>b a>c b>a? b,c>d", ""},
		{"two starts", "$>a $>b? a,b>c", "e02 after $start: always a, conditional b"},
		{"a join of joins", "$>a a>b a>c b,c>d a>e? d,e>f", "e05 after a: always d, conditional e"},
		{"a join of sound joins", "$>a a>b a>c b,c>d a>e d,e>f", ""},
		{"a guarded join", "$>a a>b a>c b,c>d? d,a>e", "e04 after a: always a, conditional d"},
		{"an unreachable source", "$>a b>. a,b>c", ""},
		{"a barrier to the end", "$>a a>b? a,b>.", "e02 after a: always a, conditional b"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, j := range newTopology(shape(test.edges)).mixedJoins() {
				got = append(got, fmt.Sprintf("%s after %s: always %s, conditional %s", j.edge, j.fork, strings.Join(j.always, ","), strings.Join(j.conditional, ",")))
			}
			if s := strings.Join(got, "; "); s != test.want {
				t.Errorf("got %q, want %q", s, test.want)
			}
		})
	}
}

func TestUnguardedCycles(t *testing.T) {
	t.Parallel()
	tests := []struct{ edges, want string }{
		{"$>a a>.", ""},
		{"$>a a>a", "a"},
		{"$>a a>a?", ""},
		{"$>a a>b b>c? c>a", ""},
		{"$>a a>b b>c c>a", "a,b,c"},
		{"$>a a>b b>a b>c c>d d>c", "a,b; c,d"},
		{"$>a a>b b>a? b>a", "a,b"},
		{"$>a a>b a,b>a", "a,b"},
		{"a>b b>a", "a,b"},
	}
	for _, test := range tests {
		var got []string
		for _, ids := range newTopology(shape(test.edges)).cycles(func(l link) bool { return !l.guarded }) {
			got = append(got, strings.Join(ids, ","))
		}
		if s := strings.Join(got, "; "); s != test.want {
			t.Errorf("%s: got %q, want %q", test.edges, s, test.want)
		}
	}
}

func TestParallel(t *testing.T) {
	t.Parallel()
	tests := []struct{ edges, together, apart string }{
		{"$>a a>b b>c c>.", "", "ab ac bc"},
		{"$>a a>b a>c b>d", "bc cd", "ab ac bd"},
		{"$>a $>b", "ab", ""},
		{"$>a a>b a>c b,c>d", "bc", "ad"},
		{"$>a a>b a>c b>c", "bc", "ab"},
		{"$>a a>b b>a a>c c>.", "bc ac", ""},
		{"$>a a>b a>b b>c", "", "ab bc"},
		{"$>a $>b a>b b>c", "ab bc ac", ""},
	}
	for _, test := range tests {
		tp := newTopology(shape(test.edges))
		p := tp.parallel(func(string, string) bool { return false })
		may := func(pair string) bool {
			return p.may(slices.Index(tp.ids, pair[:1]), slices.Index(tp.ids, pair[1:]))
		}
		for _, pair := range strings.Fields(test.together) {
			if !may(pair) {
				t.Errorf("%s: %s can't run together", test.edges, pair)
			}
		}
		for _, pair := range strings.Fields(test.apart) {
			if may(pair) {
				t.Errorf("%s: %s can run together", test.edges, pair)
			}
		}
	}
	tp := newTopology(shape("$>a a>b? a>c?"))
	if p := tp.parallel(func(string, string) bool { return true }); p.may(2, 3) {
		t.Error("alternatives of one branch group run together")
	}
}

// random returns a small graph of any shape.
func random(rng *rand.Rand) graph.Graph {
	names := "$abcdefg"
	var edges []string
	for range 2 + rng.IntN(12) {
		from := string(names[rng.IntN(len(names))])
		if from != "$" && rng.IntN(5) == 0 {
			if other := string(names[1+rng.IntN(7)]); other != from {
				from += "," + other
			}
		}
		text := from + ">" + string(names[1+rng.IntN(7)])
		if rng.IntN(3) == 0 {
			text += "?"
		}
		edges = append(edges, text)
	}
	return shape(strings.Join(edges, " "))
}

// The quick algorithms agree with the definitions.
func TestTopologyAgainstDefinitions(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 2))
	for range 500 {
		tp := newTopology(random(rng))
		checkDominators(t, tp)
		checkCycles(t, tp)
	}
}

// v dominates w if w can't be reached without v.
func checkDominators(t *testing.T, tp *topology) {
	t.Helper()
	doms := tp.dominators()
	reached := walkWithout(tp, -1)
	for w := range tp.ids {
		if reached[w] != (doms[w] >= 0) {
			t.Fatalf("%v: node %s is reached: %t, has a dominator: %d", tp.edges, tp.ids[w], reached[w], doms[w])
		}
		if !reached[w] {
			continue
		}
		above := map[int]bool{w: true}
		for v := w; v != start; v = doms[v] {
			above[doms[v]] = true
		}
		for v := range tp.ids {
			if without := v != start && !walkWithout(tp, v)[w]; v != start && reached[v] && without != above[v] {
				t.Fatalf("%v: %s dominates %s: %t, the tree says %t", tp.edges, tp.ids[v], tp.ids[w], without, above[v])
			}
		}
	}
}

// walkWithout returns the nodes that are reached over any edge, not through one.
func walkWithout(tp *topology, removed int) []bool {
	reached := make([]bool, len(tp.ids))
	stack := []int{start}
	for len(stack) > 0 {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if v == removed || reached[v] {
			continue
		}
		reached[v] = true
		for _, i := range tp.out[v] {
			if target := tp.edges[i].target; target >= 0 {
				stack = append(stack, target)
			}
		}
	}
	return reached
}

// A node lies on a cycle if it can reach itself.
func checkCycles(t *testing.T, tp *topology) {
	t.Helper()
	n := len(tp.ids)
	path := make([]bool, n*n)
	for v := range n {
		for _, i := range tp.out[v] {
			if e := tp.edges[i]; e.target >= 0 && !e.guarded {
				path[v*n+e.target] = true
			}
		}
	}
	for k := range n {
		for i := range n {
			for j := range n {
				path[i*n+j] = path[i*n+j] || path[i*n+k] && path[k*n+j]
			}
		}
	}
	found := make(map[string]int)
	for i, ids := range tp.cycles(func(l link) bool { return !l.guarded }) {
		for _, id := range ids {
			found[id] = i + 1
		}
	}
	for v := range n {
		if path[v*n+v] != (found[tp.ids[v]] > 0) {
			t.Fatalf("%v: %s is on a cycle: %t", tp.edges, tp.ids[v], path[v*n+v])
		}
		for w := range n {
			if same := path[v*n+w] && path[w*n+v]; same && found[tp.ids[v]] != found[tp.ids[w]] {
				t.Fatalf("%v: %s and %s are on one cycle but reported as two", tp.edges, tp.ids[v], tp.ids[w])
			}
		}
	}
}
