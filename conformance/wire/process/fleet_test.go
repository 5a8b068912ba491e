package process_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/conformance"
	"github.com/docket-go/docket/conformance/wire"
	"github.com/docket-go/docket/conformance/wire/process"
	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

func crashCases(t *testing.T, role string) conformance.Report {
	t.Helper()
	f, err := fleet(t, role, wire.Config{})
	if err != nil {
		t.Fatal(err)
	}
	report, err := conformance.Check(t.Context(), f.Harness(), conformance.Options{Select: regexp.MustCompile(`^durable/(crash|survives-a-crash)`)})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// The crash cases pass on a store that keeps its word, whose every handle is a
// process of its own.
func TestCrashPoints(t *testing.T) {
	t.Parallel()
	for _, r := range crashCases(t, "journal").Results {
		skipped := r.Outcome == conformance.Skip && strings.Contains(r.Reason, string(conformance.NeedTransactor))
		// The journal keeps no abandons: the case about every delivery state isn't for it.
		if r.Outcome != conformance.Pass && !skipped && r.ID != "durable/survives-a-crash" {
			t.Errorf("%s", r.Text())
		}
	}
}

// They fail on one that acknowledges before it writes: its commits die with it.
func TestCrashPointsSeeALostCommit(t *testing.T) {
	t.Parallel()
	report := crashCases(t, "forgetful")
	outcome := map[string]conformance.Outcome{}
	for _, r := range report.Results {
		outcome[r.ID] = r.Outcome
	}
	for _, id := range []string{"durable/crash-killed-after-reply", "durable/crash-frozen-after-reply"} {
		if outcome[id] != conformance.Fail {
			t.Errorf("%s: %s, want it to fail", id, outcome[id])
		}
	}
	if report.ExitCode() != conformance.ExitNonConformant {
		t.Errorf("exit code %d", report.ExitCode())
	}
}

// A program that can't be certified is told with what it did.
func TestProgramsThatFail(t *testing.T) {
	t.Parallel()
	for role, says := range map[string][]string{
		"dies":    {"the handshake failed", "exit status 3", "no configuration"},
		"refuses": {`opening store "c`, "the disk is full"},
		"prints":  {"the handshake failed", `begins with the text "list"`, "standard output is for frames only"},
	} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			_, err := fleet(t, role, wire.Config{})
			for _, part := range says {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("%v, want it to say %q", err, part)
				}
			}
		})
	}
}

func TestProgramThatHangs(t *testing.T) {
	t.Parallel()
	for _, role := range []string{"hangs", "stays"} {
		_, err := fleet(t, role, wire.Config{Patience: 100 * time.Millisecond})
		if err == nil || !strings.Contains(err.Error(), "didn't answer hello for 100ms; it is alive") {
			t.Errorf("%s: %v", role, err)
		}
	}
}

func TestProgramThatIsNotThere(t *testing.T) {
	t.Parallel()
	if _, err := process.New(t.Context(), process.Config{Path: "/no/such/agent"}); err == nil || !strings.Contains(err.Error(), "agent /no/such/agent can't be started") {
		t.Errorf("%v", err)
	}
}

// A process that dies in a call is told with its status and its last words, and
// its write is uncertain.
func TestProcessThatDiesAtWork(t *testing.T) {
	t.Parallel()
	f, err := fleet(t, "dies-at-work", wire.Config{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := f.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	doc := []byte("{}")
	_, err = b.SaveGraph(t.Context(), ports.SaveGraph{Version: record.GraphVersion{
		Ref: graph.Ref{ID: "g", Hash: record.Sum(doc).String()}, Encoding: record.EncodingJSON, Document: doc,
	}})
	if !errors.Is(err, ports.ErrUncertain) || !strings.Contains(err.Error(), "exit status 7") || !strings.Contains(err.Error(), "out of memory") {
		t.Errorf("%v", err)
	}
	if _, err := b.LatestGraph(t.Context(), ports.LatestGraph{GraphID: "g"}); !errors.Is(err, ports.ErrUnavailable) {
		t.Errorf("the next call: %v", err)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	f, err := fleet(t, "journal", wire.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if h := f.Harness(); h.Name != "journal 9" || h.Corrupt != nil || h.RawWrite != nil || h.Spawn == nil {
		t.Errorf("harness %q, hooks %v", h.Name, []bool{h.Corrupt != nil, h.RawWrite != nil, h.Spawn != nil})
	}
}

// A store that ends with its process can't be opened by another: the harness
// says so, and the level stays uncertified instead of refused.
func TestVolatileStoresAreNotReopened(t *testing.T) {
	t.Parallel()
	f, err := fleet(t, "volatile", wire.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if h := f.Harness(); !strings.HasPrefix(h.Name, "process.test") || h.Reopen != nil || h.Crash != nil || h.Spawn != nil {
		t.Errorf("harness %q, hooks %v", h.Name, []bool{h.Reopen != nil, h.Crash != nil, h.Spawn != nil})
	}
}
