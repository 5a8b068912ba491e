package repotest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestSources(t *testing.T) {
	t.Parallel()
	dir := mustRoot(t)
	contract, err := os.ReadFile(filepath.Join(dir, "docs", "contract.md"))
	if err != nil {
		t.Fatal(err)
	}
	clauses := clausesOf(string(contract))
	if len(clauses) < 70 {
		t.Fatalf("docs/contract.md defines only %d clauses: %v", len(clauses), clauses)
	}
	for _, c := range clauses {
		if n := len(slices.DeleteFunc(slices.Clone(clauses), func(o string) bool { return o != c })); n > 1 {
			t.Errorf("docs/contract.md defines %s %d times", c, n)
		}
	}
	packages := map[string]map[string]*ast.File{}
	fset := token.NewFileSet()
	for _, name := range goFiles(t, dir) {
		file, err := parser.ParseFile(fset, filepath.Join(dir, filepath.FromSlash(name)), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		report(t, checkCitations(fset, file, clauses, decisions(t, dir), existsBeside(dir, name)))
		if isTest(name) {
			continue
		}
		report(t, checkSize(fset, file, name))
		if isPublic(path.Dir(name)) {
			report(t, checkDocs(fset, file, name))
			if packages[path.Dir(name)] == nil {
				packages[path.Dir(name)] = map[string]*ast.File{}
			}
			packages[path.Dir(name)][path.Base(name)] = file
		}
	}
	for name, parsed := range packages {
		if wrong := checkPackageDoc(name, parsed); wrong != "" {
			t.Error(wrong)
		}
	}
}

// TestSourcesRefuse proves that the rules can fail.
func TestSourcesRefuse(t *testing.T) {
	t.Parallel()
	long := "func f() {\n" + strings.Repeat("f()\n", maxFunctionLines) + "}"
	for _, c := range []struct{ name, src, says string }{
		{"long file", strings.Repeat("\n", maxFileLines) + "var x = 1", "602 lines"},
		{"long function", long, "f has 72 lines"},
		{"undocumented function", "func F() {}", "F has no doc"},
		{"undocumented method", "// T is.\ntype T struct{}\nfunc (t *T) M() {}", "M has no doc"},
		{"undocumented type", "type T struct{}", "T has no doc"},
		{"undocumented type in a group", "// Some.\ntype (\n\tT struct{}\n\tU struct{}\n)", "T has no doc"},
		{"undocumented constant", "const C = 1", "C has no doc"},
		{"unknown clause", "// By RUN-99.\nvar x = 1", "cites RUN-99"},
		{"unknown decision", "// By ADR 0099.\nvar x = 1", "cites ADR 0099"},
		{"unknown document", "// See docs/none.md.\nvar x = 1", "names docs/none.md"},
		{"clause in a test", "func f() {\n\t// RUN-98\n}", "cites RUN-98"},
	} {
		if got := checkFakeSource(t, c.src); !strings.Contains(got, c.says) {
			t.Errorf("%s: %q, want it to say %q", c.name, got, c.says)
		}
	}
	for _, good := range []string{
		"// F is as RUN-1, ADR 0001 and docs/contract.md say.\nfunc F() {}",
		"// Some.\nconst (\n\tA = 1\n\tB = 2\n)",
		"type t struct{}\nfunc (t) M() {}",
		"func table() []int {\n\treturn []int{\n" + strings.Repeat("1,\n", maxFunctionLines) + "}\n}",
	} {
		if got := checkFakeSource(t, good); got != "" {
			t.Errorf("%q: %s", good, got)
		}
	}
}

func TestClausesOf(t *testing.T) {
	t.Parallel()
	got := clausesOf("- **RUN-1** inserts.\n### CLM-2 Claims\n| TX-3 | x |\nas RUN-9 says\n**EVT-4.** pages")
	if want := []string{"RUN-1", "CLM-2", "TX-3", "EVT-4"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestPackageDoc(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		dir, file, src string
		good           bool
	}{
		{"core/run", "doc.go", "// Package run is.\npackage run", true},
		{"core/run", "run.go", "// Package run is.\npackage run", false},
		{"core/run", "doc.go", "package run", false},
		{"core/run", "doc.go", "// This is run.\npackage run", false},
		{"cmd/docket", "doc.go", "// Command docket is.\npackage main", true},
		{"cmd/docket", "doc.go", "// Package main is.\npackage main", false},
	} {
		file, err := parser.ParseFile(token.NewFileSet(), c.file, c.src, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if wrong := checkPackageDoc(c.dir, map[string]*ast.File{c.file: file}); (wrong == "") != c.good {
			t.Errorf("%s %q: %q, want good %v", c.file, c.src, wrong, c.good)
		}
	}
}

func checkFakeSource(t *testing.T, src string) string {
	t.Helper()
	fset, file := parseFake(t, src)
	exists := func(name string) bool { return name == "docs/contract.md" }
	return strings.Join(slices.Concat(
		checkSize(fset, file, "fake.go"),
		checkDocs(fset, file, "fake.go"),
		checkCitations(fset, file, []string{"RUN-1"}, []string{"0001"}, exists),
	), "\n")
}

// isPublic reports whether others can import a directory's package, or run it.
func isPublic(dir string) bool {
	return !slices.Contains(strings.Split(dir, "/"), "internal")
}

// existsBeside looks a document up from the root and from the file's directory.
func existsBeside(dir, name string) func(string) bool {
	return func(doc string) bool {
		for _, at := range []string{dir, filepath.Join(dir, path.Dir(name))} {
			if _, err := os.Stat(filepath.Join(at, doc)); err == nil {
				return true
			}
		}
		return false
	}
}

func goFiles(t *testing.T, dir string) []string {
	t.Helper()
	names, err := files(dir, isGo)
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// decisions returns the numbers of the files in docs/adr.
func decisions(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "docs", "adr", "0*.md"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no decisions in docs/adr (%v)", err)
	}
	for i, name := range names {
		names[i] = filepath.Base(name)[:4]
	}
	return names
}

func report(t *testing.T, wrong []string) {
	t.Helper()
	for _, w := range wrong {
		t.Error(w)
	}
}
