package repotest

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"
)

func TestCoreIsPure(t *testing.T) {
	t.Parallel()
	packages, err := compile(mustRoot(t), "core")
	if err != nil {
		t.Fatal(err)
	}
	if len(packages) < 10 {
		t.Fatalf("found only %d packages in core", len(packages))
	}
	for _, p := range packages {
		for _, file := range p.files {
			for _, wrong := range impurities(p.fset, file, p.path) {
				t.Error(wrong)
			}
			for _, wrong := range checkMapOrder(p.fset, p.info, file) {
				t.Error(wrong)
			}
		}
	}
}

// TestPurityRefuses proves that the rule can fail.
func TestPurityRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, src, says string }{
		{"clock", `import "time"; var _ = time.Now()`, "time.Now reads the clock"},
		{"clock as value", `import "time"; var clock = time.Now`, "time.Now reads the clock"},
		{"renamed clock", `import t "time"; func f(x t.Time) { t.Since(x) }`, "time.Since reads the clock"},
		{"timer", `import "time"; func f() { time.Sleep(1) }`, "waits outside core/executor"},
		{"deadline", `import "context"; func f(ctx context.Context) { context.WithTimeout(ctx, 1) }`, "waits outside"},
		{"goroutine", `func f() { go f() }`, "starts a goroutine"},
		{"chance", `import "math/rand/v2"; var _ = rand.Int()`, "chance"},
		{"files", `import "os"; var _ = os.Args`, "no I/O"},
		{"dot import", `import . "strings"; var _ = ToUpper("")`, "dot import"},
	} {
		fset, file := parseFake(t, c.src)
		got := strings.Join(impurities(fset, file, modulePrefix+"core/runtime"), "\n")
		if !strings.Contains(got, c.says) {
			t.Errorf("%s: %q, want it to say %q", c.name, got, c.says)
		}
	}
}

func TestPurityAllows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, pkg, src string }{
		{"time as a value", "core/runtime", `import "time"; func f(t time.Time) time.Time { return t.Add(time.Second).UTC() }`},
		{"a local that is called time", "core/runtime", `type c struct{ Now int }; func f(time c) int { return time.Now }`},
		{"the executor's goroutine", "core/executor", `func f() { go f() }`},
		{"the executor's deadline", "core/executor", `import "context"; func f(ctx context.Context) { context.WithTimeout(ctx, 1) }`},
	} {
		fset, file := parseFake(t, c.src)
		if got := impurities(fset, file, modulePrefix+c.pkg); len(got) > 0 {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

func TestMapOrder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, body string
		suspicious bool
	}{
		{"collects", `for k := range m { s = append(s, k) }`, true},
		{"collects and sorts", `for k := range m { s = append(s, k) }; slices.Sort(s)`, false},
		{"sorts something else", `for k := range m { s = append(s, k) }; slices.Sort(other)`, true},
		{"sorts too early", `slices.Sort(s); for k := range m { s = append(s, k) }`, true},
		{"copies", `for k, v := range m { n[k] = v }`, false},
		{"inverts: the last value wins", `for k, v := range m { n[v] = k }`, true},
		{"deletes", `for k := range m { delete(n, k) }`, false},
		{"counts", `for _, v := range m { if v != "" { count++ } }`, false},
		{"adds integers", `for _, v := range m { count += len(v) }`, false},
		{"adds floats", `for _, v := range m { sum += float64(len(v)) }`, true},
		{"joins text", `for k := range m { text += k }`, true},
		{"says whether", `for k := range m { if n[k] != "" { return nil } }`, false},
		{"says which", `for k := range m { if n[k] != "" { return errors.New(k) } }`, true},
		{"stops somewhere", `for k := range m { count = len(k); break }`, true},
		{"calls out", `for k := range m { use(k) }`, true},
		{"calls out, vouched", "for k := range m { // order-free: use is commutative\nuse(k) }", false},
		{"calls out, vouched above", "// order-free: use is commutative\nfor k := range m { use(k) }", false},
		{"vouched without a reason", "for k := range m { // order-free:\nuse(k) }", true},
		{"a slice", `for _, k := range s { use(k) }`, false},
		{"iterator", `for k := range maps.Keys(m) { use(k) }`, true},
		{"iterator collected", `s = slices.Collect(maps.Keys(m))`, true},
		{"iterator collected and sorted", `s = slices.Collect(maps.Keys(m)); sortOurWay(s)`, false},
		{"iterator sorted", `s = slices.Sorted(maps.Keys(m))`, false},
		{"in a closure", `_ = func() { for k := range m { use(k) } }`, true},
	} {
		fset, file := parseFake(t, `import ("errors"; "maps"; "slices")
			var _, _, _ = errors.New, maps.Keys[map[string]string], slices.Sort[[]string]
			func use(string) {}
			func sortOurWay([]string) {}
			func f(m, n map[string]string, s, other []string, count int, sum float64, text string) error {
			`+c.body+"\nreturn nil }")
		info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
		if _, err := (&types.Config{Importer: importer.Default()}).Check("fake", fset, []*ast.File{file}, info); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got := checkMapOrder(fset, info, file); (len(got) > 0) != c.suspicious {
			t.Errorf("%s: suspicious %v, want %v (%s)", c.name, len(got) > 0, c.suspicious, got)
		}
	}
}

func parseFake(t *testing.T, src string) (*token.FileSet, *ast.File) {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "fake.go", "package fake\n"+src, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	return fset, file
}
