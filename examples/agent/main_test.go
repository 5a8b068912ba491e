package main

import (
	"os"
	"regexp"
	"testing"

	"github.com/docket-go/docket/conformance"
	"github.com/docket-go/docket/conformance/wire/process"
)

// agentVariable makes the test binary the agent.
const agentVariable = "DOCKET_EXAMPLE_AGENT"

func TestMain(m *testing.M) {
	if os.Getenv(agentVariable) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// The agent passes what depends on processes and on damage; the whole suite runs
// in the gate.
func TestAgentConforms(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	fleet, err := process.New(t.Context(), process.Config{Path: self, Env: []string{agentVariable + "=1"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := fleet.Close(); err != nil {
			t.Error(err)
		}
	})
	report, err := conformance.Check(t.Context(), fleet.Harness(), conformance.Options{
		Select: regexp.MustCompile(`^(durable|shape|capabilities|wakes)/|damage`),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range report.Results {
		if r.Outcome != conformance.Pass {
			t.Errorf("%s: %s %s\n%s", r.ID, r.Outcome, r.Reason, r.Text())
		}
	}
	if len(report.Results) < 25 {
		t.Errorf("only %d cases", len(report.Results))
	}
}
