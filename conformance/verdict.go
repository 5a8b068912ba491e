package conformance

import (
	"fmt"
	"slices"
	"strings"
)

// Level is a part of the contract that a backend is certified for as a whole.
type Level string

// The levels. Every backend needs LevelCore; the others follow its capabilities.
const (
	LevelCore      Level = "core"       // scope, graphs, runs, claims, events, values, life without restarts
	LevelTx        Level = "+tx"        // Transactor
	LevelWakes     Level = "+wakes"     // WakeSource
	LevelRetention Level = "+retention" // Pruner
	LevelAdmission Level = "+admission" // AdmissionAdmin
	LevelDurable   Level = "+durable"   // reopen, crash, damage, two processes
)

// Levels lists the levels in the order of reports.
func Levels() []Level {
	return []Level{LevelCore, LevelTx, LevelWakes, LevelRetention, LevelAdmission, LevelDurable}
}

// ParseLevels reads the names of levels, separated by commas: core,+tx.
func ParseLevels(text string) ([]Level, error) {
	var all []Level
	for name := range strings.SplitSeq(text, ",") {
		level := Level(strings.TrimSpace(name))
		if !slices.Contains(Levels(), level) {
			return nil, fmt.Errorf("conformance: level %q is not one of %s", level, joined(Levels(), ", "))
		}
		if !slices.Contains(all, level) {
			all = append(all, level)
		}
	}
	return all, nil
}

// joined is strings.Join for names that have a type.
func joined[S ~string](names []S, separator string) string {
	var b strings.Builder
	for i, name := range names {
		if i > 0 {
			b.WriteString(separator)
		}
		b.WriteString(string(name))
	}
	return b.String()
}

// Verdict is what the suite says about a level or a question.
type Verdict string

// The verdicts.
const (
	Granted      Verdict = "granted"       // every case ran and passed
	Refused      Verdict = "refused"       // a case failed, or was waived
	NotDeclared  Verdict = "not declared"  // the backend doesn't claim it
	NotCertified Verdict = "not certified" // some case didn't run: a hook is absent, or it wasn't selected
)

// Question is one of the three that every certificate answers by name.
type Question struct {
	Name    string
	Clauses []string
}

// Questions returns the three questions.
func Questions() []Question {
	return []Question{
		{"transaction atomicity", []string{"RUN-1", "RUN-2", "RUN-4", "EVT-2", "TX-1", "TX-2", "TX-3", "TX-4", "TX-5", "TX-6", "TX-7"}},
		{"claim fencing", []string{"RUN-2", "CLM-2", "CLM-6", "CLM-7", "CLM-10", "CLM-11"}},
		{"checkpoint sequencing", []string{"RUN-2", "RUN-3", "RUN-6", "RUN-7", "EVT-1"}},
	}
}

func (q Question) covers(c Case) bool {
	return slices.ContainsFunc(c.Clauses, func(clause string) bool { return slices.Contains(q.Clauses, clause) })
}

// asks reports whether the result is a part of the answer. What the backend
// doesn't declare is none.
func (q Question) asks(r Result) bool {
	return !r.Undeclared && slices.ContainsFunc(r.Clauses, func(clause string) bool {
		return slices.Contains(q.Clauses, clause) && r.mayProve(clause)
	})
}

// LevelVerdict is the verdict about one level.
type LevelVerdict struct {
	Level   Level   `json:"level"`
	Verdict Verdict `json:"verdict"`
	Passed  int     `json:"passed"`
	Cases   int     `json:"cases"`
}

// QuestionVerdict is the verdict about one question, with the clauses that were
// proved for it.
type QuestionVerdict struct {
	Question string   `json:"question"`
	Verdict  Verdict  `json:"verdict"`
	Clauses  []string `json:"clauses"`
	Passed   int      `json:"passed"`
	Cases    int      `json:"cases"`
}

func judgeLevels(results []Result) []LevelVerdict {
	var out []LevelVerdict
	for _, l := range Levels() {
		var of []Result
		for _, r := range results {
			if r.Level == l {
				of = append(of, r)
			}
		}
		v := LevelVerdict{Level: l, Cases: len(of), Passed: count(of, Pass)}
		v.Verdict = judge(of)
		out = append(out, v)
	}
	return out
}

func judgeQuestions(results []Result) []QuestionVerdict {
	var out []QuestionVerdict
	for _, q := range Questions() {
		var of []Result
		for _, r := range results {
			if q.asks(r) {
				of = append(of, r)
			}
		}
		v := QuestionVerdict{Question: q.Name, Cases: len(of), Passed: count(of, Pass), Verdict: judge(of)}
		for _, clause := range q.Clauses {
			if slices.ContainsFunc(of, func(r Result) bool {
				return r.Outcome == Pass && slices.Contains(r.Clauses, clause) && r.mayProve(clause)
			}) {
				v.Clauses = append(v.Clauses, clause)
			}
		}
		out = append(out, v)
	}
	return out
}

// judge turns the results of one part into its verdict. A failure outweighs
// everything, then whatever didn't run.
func judge(of []Result) Verdict {
	undeclared := 0
	for _, r := range of {
		if r.Undeclared {
			undeclared++
		}
	}
	switch {
	case count(of, Fail)+count(of, Waived) > 0:
		return Refused
	case len(of) > 0 && undeclared == len(of):
		return NotDeclared
	case len(of) == 0 || count(of, Pass)+undeclared < len(of):
		return NotCertified
	}
	return Granted
}

func count(of []Result, o Outcome) int {
	n := 0
	for _, r := range of {
		if r.Outcome == o {
			n++
		}
	}
	return n
}
