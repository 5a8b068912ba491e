package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/docket-go/docket/conformance"
)

// recipe finds the arguments of the certifying step of a workflow.
var recipe = regexp.MustCompile(`(?m)^ +- run: go run \./certify (.+)$`)

// TestProgram builds the program and runs it as others do.
func TestProgram(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "certify")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Run("the recipe", func(t *testing.T) { testRecipe(t, program) })
	t.Run("a certification that asks nothing isn't green", func(t *testing.T) {
		if out, code := execute(t, t.TempDir(), program, "-run", "^no-such-case$"); code != conformance.ExitCouldNotRun {
			t.Errorf("exit code %d:\n%s", code, out)
		}
	})
}

// testRecipe runs what the recipe for continuous integration runs, on a part of
// the cases, and reads the certificate that it leaves.
func testRecipe(t *testing.T, program string) {
	text, err := os.ReadFile(filepath.Join("..", "testdata", "ci.yml"))
	if err != nil {
		t.Fatal(err)
	}
	step := recipe.FindSubmatch(text)
	if step == nil {
		t.Fatal("the recipe doesn't certify")
	}
	dir := t.TempDir()
	args := strings.Fields(strings.ReplaceAll(string(step[1]), "${{ github.run_number }}", "42"))
	if out, code := execute(t, dir, program, append(args, "-run", "^scope/")...); code != conformance.ExitConformant {
		t.Fatalf("exit code %d:\n%s", code, out)
	}
	data, err := os.ReadFile(filepath.Join(dir, "certificate.json"))
	if err != nil {
		t.Fatal(err)
	}
	var reports []conformance.Report
	if err := json.Unmarshal(data, &reports); err != nil || len(reports) != 1 {
		t.Fatalf("%d reports, %v", len(reports), err)
	}
	if report := reports[0]; report.Backend != "example" || report.Seed != 42 || report.Count(conformance.Pass) == 0 {
		t.Errorf("%s, seed %d: %s", report.Backend, report.Seed, report.Sentence())
	}
}

func execute(t *testing.T, dir, program string, args ...string) (string, int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}
