package conformance

import (
	"maps"
	"slices"
	"strings"

	"github.com/docket-go/docket/ports"
)

// Case is one thing that must be true of every backend.
type Case struct {
	ID       string   // stable, never reused: area/what-is-true
	Clauses  []string // the clauses of the contract that it proves
	Level    Level    // zero: LevelCore
	Requires []Need   // what must be there for it to run
	Rule     string   // one sentence, printed on failure

	run func(*env)
}

// Need is something that a case requires of the backend or the harness.
type Need string

// The needs. A missing capability means that the backend doesn't claim it; a
// missing hook means that the clause can't be certified.
const (
	NeedTransactor Need = "transactor"
	NeedWakeSource Need = "wake source"
	NeedPruner     Need = "pruner"
	NeedAdmission  Need = "admission"
	NeedFIFO       Need = "fifo" // no admission: CLM-4 holds

	NeedReopen   Need = "harness reopen"
	NeedCrash    Need = "harness crash"
	NeedCorrupt  Need = "harness corrupt"
	NeedRawWrite Need = "harness raw write"
)

// Run runs the case against a fresh store of h, with the given seed, as part of
// t. It is for authors who look into one case; Run and Check add the deadline,
// containment and verdicts.
func (c Case) Run(t T, h Harness, seed uint64) {
	c.run(newEnv(t, h, c, seed))
}

func (c Case) level() Level {
	if c.Level == "" {
		return LevelCore
	}
	return c.Level
}

func (c Case) answersQuestion() bool {
	for _, q := range Questions() {
		if q.covers(c) {
			return true
		}
	}
	return false
}

// Cases returns every case of the suite, sorted by ID.
func Cases() []Case {
	all := slices.Concat(
		capabilityCases, scopeCases, graphCases, insertCases, commitCases, scheduleCases, signalCases,
		recoverCases, listCases, inspectCases, shapeCases, limitCases, claimCases, fairnessCases, fenceCases,
		releaseCases, abandonCases, eventCases, valueCases, sharingCases, raceCases, clockCases, lifeCases,
		txCases, wakeCases, pruneCases, durableCases, crashCases, scriptCases, historyCases,
	)
	slices.SortFunc(all, func(a, b Case) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// missing tells the first need that isn't there, and whether it is a hook of
// the harness rather than a capability of the backend.
func (c Case) missing(h Harness, caps ports.Capabilities) (need Need, hook bool) {
	there := map[Need]bool{
		NeedTransactor: caps.Transactor, NeedWakeSource: caps.WakeSource, NeedPruner: caps.Pruner,
		NeedAdmission: caps.Admission, NeedFIFO: !caps.Admission,
	}
	hooks := map[Need]bool{
		NeedReopen: h.Reopen != nil, NeedCrash: h.Crash != nil, NeedSpawn: h.Spawn != nil,
		NeedCorrupt: h.Corrupt != nil, NeedRawWrite: h.RawWrite != nil,
	}
	for _, n := range c.Requires {
		if have, is := hooks[n]; is && !have {
			return n, true
		}
		if have, is := there[n]; is && !have {
			return n, false
		}
	}
	return "", false
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}

// on lists clauses.
func on(clauses string) []string { return strings.Fields(clauses) }
