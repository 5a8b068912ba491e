package agentpython

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/docket-go/docket/conformance"
	"github.com/docket-go/docket/conformance/wire/process"
)

// TestAgentConforms runs the areas in which an agent of another language could
// go wrong by itself: forms, order, errors, contexts.
func TestAgentConforms(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("python3 is missing: install it, the gate certifies the Python agent")
		}
		t.Skip("python3 is not installed")
	}
	fleet, err := process.New(t.Context(), process.Config{Path: python, Args: []string{"agent.py"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := fleet.Close(); err != nil {
			t.Error(err)
		}
	})
	h := fleet.Harness()
	if !strings.HasPrefix(h.Name, "python ") || h.Reopen != nil {
		t.Errorf("harness %q, reopen %v", h.Name, h.Reopen != nil)
	}
	report, err := conformance.Check(t.Context(), h, conformance.Options{
		Select: regexp.MustCompile(`^(capabilities|insert|commit|life|list|scope)/`),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range report.Results {
		if r.Outcome != conformance.Pass {
			t.Errorf("%s: %s %s\n%s", r.ID, r.Outcome, r.Reason, r.Text())
		}
	}
	if len(report.Results) < 40 {
		t.Errorf("only %d cases", len(report.Results))
	}
}
