package repotest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/docket-go/docket/conformance"
)

// uncovered are groups of clauses that no case can prove yet, because no backend
// has the capability.
var uncovered = map[string]string{
	"ADM": "tenant-fair admission is specified and not built",
}

// TestContractAndCases compares the clauses of the contract with those that the
// conformance cases prove, both ways.
func TestContractAndCases(t *testing.T) {
	t.Parallel()
	dir := mustRoot(t)
	text, err := os.ReadFile(filepath.Join(dir, "docs", "contract.md"))
	if err != nil {
		t.Fatal(err)
	}
	proved := map[string][]string{}
	for _, c := range conformance.Cases() {
		for _, clause := range c.Clauses {
			proved[clause] = append(proved[clause], c.ID)
		}
	}
	if len(proved) < 50 {
		t.Fatalf("the cases prove only %d clauses", len(proved))
	}
	report(t, checkContract(string(text), proved, adapterTests(t, dir)))
}

// TestContractRefuses proves that the rule can fail.
func TestContractRefuses(t *testing.T) {
	t.Parallel()
	contract := "- **RUN-1** Inserts.\n- **LIF-4** *(adapter)* One connection.\n- **ADM-1** Admits.\n"
	good := map[string][]string{"RUN-1": {"runs/insert"}}
	for _, c := range []struct {
		name    string
		proved  map[string][]string
		adapter []string
		says    string
	}{
		{"all proved", good, []string{"LIF-4"}, ""},
		{"no case", nil, []string{"LIF-4"}, "no case proves RUN-1"},
		{"no such clause", map[string][]string{"RUN-1": {"a"}, "RUN-2": {"b"}}, []string{"LIF-4"}, "RUN-2, which the contract doesn't have"},
		{"no adapter's test", good, nil, "no adapter's test proves LIF-4"},
		{"a clause that is coming", map[string][]string{"RUN-1": {"a"}, "ADM-1": {"b"}}, []string{"LIF-4"}, "ADM is no longer uncovered"},
	} {
		got := strings.Join(checkContract(contract, c.proved, c.adapter), "\n")
		if (c.says == "") != (got == "") || !strings.Contains(got, c.says) {
			t.Errorf("%s: %q, want it to say %q", c.name, got, c.says)
		}
	}
}

// checkContract says which clauses nobody proves and which proofs have no
// clause.
func checkContract(contract string, proved map[string][]string, adapter []string) []string {
	var wrong []string
	clauses := clausesOf(contract)
	for _, clause := range clauses {
		group, _, _ := strings.Cut(clause, "-")
		switch {
		case uncovered[group] != "" && len(proved[clause]) > 0:
			wrong = append(wrong, group+" is no longer uncovered: "+strings.Join(proved[clause], ", ")+" cites "+clause)
		case uncovered[group] != "" || len(proved[clause]) > 0:
		case !adapterOnly(contract, clause):
			wrong = append(wrong, "no case proves "+clause)
		case !slices.Contains(adapter, clause):
			wrong = append(wrong, "no adapter's test proves "+clause)
		}
	}
	for clause, ids := range proved {
		if !slices.Contains(clauses, clause) {
			wrong = append(wrong, strings.Join(ids, ", ")+" cites "+clause+", which the contract doesn't have")
		}
	}
	slices.Sort(wrong)
	return wrong
}

// adapterOnly reports whether a clause is marked as out of the port's reach.
func adapterOnly(contract, clause string) bool {
	marked := regexp.MustCompile(`(?m)^[\s#|*-]*` + regexp.QuoteMeta(clause) + `\b.*\*\(adapter\)\*`)
	return marked.MatchString(contract)
}

// adapterTests returns the clauses that test functions of adapters cite in
// their comments: a test that is named as a proof says so.
func adapterTests(t *testing.T, dir string) []string {
	t.Helper()
	var cited []string
	for _, name := range goFiles(t, dir) {
		if !isTest(name) || !strings.HasPrefix(name, "adapters/") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, filepath.FromSlash(name)), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && strings.HasPrefix(f.Name.Name, "Test") {
				cited = append(cited, clauseForm.FindAllString(f.Doc.Text(), -1)...)
			}
		}
	}
	return cited
}
