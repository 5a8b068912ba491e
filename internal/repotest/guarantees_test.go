package repotest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestGuarantees wants every promise to name tests that exist.
func TestGuarantees(t *testing.T) {
	t.Parallel()
	dir := mustRoot(t)
	text, err := os.ReadFile(filepath.Join(dir, "docs", "guarantees.md"))
	if err != nil {
		t.Fatal(err)
	}
	promises, wrong := checkGuarantees(string(text), func(name string) ([]string, error) {
		return testsOf(filepath.Join(dir, filepath.FromSlash(path.Join("docs", name))))
	})
	report(t, wrong)
	if promises < 25 {
		t.Errorf("docs/guarantees.md makes only %d promises", promises)
	}
}

// TestGuaranteesRefuse proves that the rule can fail.
func TestGuaranteesRefuse(t *testing.T) {
	t.Parallel()
	tests := func(name string) ([]string, error) {
		if name != "a_test.go" {
			return nil, os.ErrNotExist
		}
		return []string{"TestA"}, nil
	}
	for _, c := range []struct{ row, says string }{
		{"| It holds. | [TestA](a_test.go) |", ""},
		{"| It holds. | nobody |", "names no test"},
		{"| It holds. | [TestB](a_test.go) |", "TestB, which a_test.go doesn't have"},
		{"| It holds. | [TestA](b_test.go) |", "b_test.go"},
		{"| It holds, see [TestA](a_test.go). | |", "names no test"},
		{"| It holds. | [TestA](a_test.go), [TestB](a_test.go) |", "TestB"},
	} {
		text := "| Promise | Shown by |\n| --- | --- |\n" + c.row + "\n"
		promises, wrong := checkGuarantees(text, tests)
		if got := strings.Join(wrong, "\n"); promises != 1 || (c.says == "") != (got == "") || !strings.Contains(got, c.says) {
			t.Errorf("%s: %d promises, %q, want it to say %q", c.row, promises, got, c.says)
		}
	}
}

var proofForm = regexp.MustCompile(`\[(Test\w+)\]\(([^()\s]+)\)`)

// checkGuarantees counts the promises and says which of them no test shows.
func checkGuarantees(text string, tests func(file string) ([]string, error)) (promises int, wrong []string) {
	for i, line := range strings.Split(text, "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 4 || strings.Contains(cells[1], "---") || strings.TrimSpace(cells[2]) == "Shown by" {
			continue
		}
		promises++
		proofs := proofForm.FindAllStringSubmatch(cells[2], -1)
		if len(proofs) == 0 {
			wrong = append(wrong, fmt.Sprintf("docs/guarantees.md:%d names no test", i+1))
		}
		for _, proof := range proofs {
			there, err := tests(proof[2])
			switch {
			case err != nil:
				wrong = append(wrong, fmt.Sprintf("docs/guarantees.md:%d: %s: %v", i+1, proof[2], err))
			case !slices.Contains(there, proof[1]):
				wrong = append(wrong, fmt.Sprintf("docs/guarantees.md:%d names %s, which %s doesn't have", i+1, proof[1], proof[2]))
			}
		}
	}
	return promises, wrong
}

// testsOf returns the names of a file's tests.
func testsOf(file string) ([]string, error) {
	tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, decl := range tree.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
			names = append(names, f.Name.Name)
		}
	}
	return names, nil
}
