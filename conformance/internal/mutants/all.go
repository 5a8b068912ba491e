package mutants

import (
	_ "embed"
	"slices"
	"strings"
)

// kills lists, for each mutant, the example cases that go red. The test writes
// it with -update.
//
//go:embed kills.txt
var kills string

// All returns every mutant, in the order of the contract.
func All() []Mutant {
	all := slices.Concat(
		scopeMutants, graphMutants, insertMutants, commitMutants, signalMutants, readMutants, claimMutants, holderMutants,
		eventMutants, valueMutants, wakeMutants, pruneMutants, txMutants, lifeMutants, declaredMutants, racyMutants,
	)
	byName := map[string][]string{}
	for line := range strings.Lines(kills) {
		name, cases, _ := strings.Cut(line, ":")
		byName[name] = strings.Fields(cases)
	}
	for i := range all {
		all[i].Kills = byName[all[i].Name]
	}
	return all
}
