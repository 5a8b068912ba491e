package conformance

import (
	"crypto/sha256"
	"encoding/hex"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/docket-go/docket/ports"
)

// Version of the suite; a stricter clause is a new minor version.
const Version = "0.1.0"

// Outcome is how a case ended.
type Outcome string

// The outcomes.
const (
	Pass   Outcome = "pass"
	Fail   Outcome = "fail"
	Skip   Outcome = "skip"   // a capability isn't declared, or a hook is absent
	Waived Outcome = "waived" // failed, as the harness said it would
	Broke  Outcome = "error"  // the harness broke: nothing is known
)

// Result is what one case showed.
type Result struct {
	ID         string        `json:"id"`
	Level      Level         `json:"level"`
	Clauses    []string      `json:"clauses"`
	Requires   []Need        `json:"requires,omitempty"`
	Rule       string        `json:"rule"`
	Outcome    Outcome       `json:"outcome"`
	Reason     string        `json:"reason,omitempty"`     // of a skip or waiver
	Undeclared bool          `json:"undeclared,omitempty"` // skipped because the backend doesn't claim it
	Failures   []string      `json:"failures,omitempty"`
	Log        []string      `json:"log,omitempty"` // the calls of a case that failed
	Elapsed    time.Duration `json:"elapsed_ns"`
}

// Environment says where a report was made.
type Environment struct {
	Go   string `json:"go"`
	OS   string `json:"os"`
	Arch string `json:"arch"`
}

// Report is the certificate: everything that is needed to believe it and to make
// it again.
type Report struct {
	Suite        string             `json:"suite"`
	Digest       string             `json:"digest"` // of the ids of all cases
	Backend      string             `json:"backend"`
	Capabilities ports.Capabilities `json:"capabilities"`
	Seed         uint64             `json:"seed,string"`
	Selected     string             `json:"selected,omitempty"` // the --run pattern
	Required     []Level            `json:"required,omitempty"` // the levels that must be granted
	Started      time.Time          `json:"started"`
	Elapsed      time.Duration      `json:"elapsed_ns"`
	Environment  Environment        `json:"environment"`
	Waivers      map[string]string  `json:"waivers,omitempty"`
	Reproduce    []string           `json:"reproduce,omitempty"` // the command line that makes it again
	Levels       []LevelVerdict     `json:"levels"`
	Questions    []QuestionVerdict  `json:"questions"`
	Results      []Result           `json:"results"`
}

// Count tells how many cases had the outcome.
func (r Report) Count(o Outcome) int { return count(r.Results, o) }

// The exit codes of programs that run the suite.
const (
	ExitConformant    = 0
	ExitNonConformant = 1
	ExitCouldNotRun   = 2
)

// ExitCode is ExitConformant if cases ran, none failed and the required levels
// are granted; ExitNonConformant if a case failed or a required level isn't
// granted; ExitCouldNotRun if the harness broke or no case ran.
func (r Report) ExitCode() int {
	switch {
	case r.Count(Fail) > 0:
		return ExitNonConformant
	case r.Count(Broke) > 0 || r.Count(Pass)+r.Count(Waived) == 0:
		return ExitCouldNotRun
	case len(r.lacking()) > 0:
		return ExitNonConformant
	}
	return ExitConformant
}

// lacking lists the required levels that aren't granted.
func (r Report) lacking() []LevelVerdict {
	var lacks []LevelVerdict
	for _, v := range r.Levels {
		if slices.Contains(r.Required, v.Level) && v.Verdict != Granted {
			lacks = append(lacks, v)
		}
	}
	return lacks
}

// ProvedClauses lists the clauses that at least one case proved and none
// disproved, sorted as in the contract. A clause about an optional capability is
// proved only by cases that require it: that a backend has no transactions, as
// it says, proves nothing about transactions.
func (r Report) ProvedClauses() []string {
	state := map[string]bool{}
	for _, res := range r.Results {
		for _, c := range res.Clauses {
			switch was, seen := state[c]; {
			case res.Outcome == Pass && res.mayProve(c):
				state[c] = was || !seen
			case res.Outcome == Fail || res.Outcome == Waived:
				state[c] = false
			}
		}
	}
	var proved []string
	for c, good := range state {
		if good {
			proved = append(proved, c)
		}
	}
	slices.SortFunc(proved, compareClauses)
	return proved
}

// capabilityOf tells which capability a clause is about, by its class. The other
// classes hold for every backend.
var capabilityOf = map[string]Need{
	"TX": NeedTransactor, "WAK": NeedWakeSource, "PRN": NeedPruner, "ADM": NeedAdmission,
}

// mayProve reports whether a pass says something of the clause, which it cites.
func (r Result) mayProve(clause string) bool {
	class, _, _ := strings.Cut(clause, "-")
	need, optional := capabilityOf[class]
	return !optional || slices.Contains(r.Requires, need)
}

// compareClauses orders RUN-2 before RUN-10.
func compareClauses(a, b string) int {
	classA, numberA, _ := strings.Cut(a, "-")
	classB, numberB, _ := strings.Cut(b, "-")
	if c := strings.Compare(classA, classB); c != 0 {
		return c
	}
	if len(numberA) != len(numberB) {
		return len(numberA) - len(numberB)
	}
	return strings.Compare(numberA, numberB)
}

// digest identifies the set of cases that this suite knows.
func digest(cases []Case) string {
	sum := sha256.New()
	for _, c := range cases {
		sum.Write([]byte(c.ID + "\n"))
	}
	return hex.EncodeToString(sum.Sum(nil))
}

func here() Environment {
	return Environment{Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
}
