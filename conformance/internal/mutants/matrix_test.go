package mutants

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestMatrixIsUpToDate compares the table for readers with the catalogue.
func TestMatrixIsUpToDate(t *testing.T) {
	t.Parallel()
	if *update {
		t.Skip("it is written by the other test")
	}
	m := newMatrix(All())
	want := m.markdown()
	got, err := os.ReadFile(matrixFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s isn't what the catalogue says; write it with -update", matrixFile)
	}
}

var matrixFile = filepath.Join("..", "..", "..", "docs", "mutants.md")

// matrix is who kills whom.
type matrix struct {
	mutants []Mutant
	mu      sync.Mutex
	kills   [][]string
}

func newMatrix(all []Mutant) *matrix {
	m := &matrix{mutants: all}
	for _, mutant := range all {
		m.kills = append(m.kills, mutant.Kills)
	}
	return m
}

func (m *matrix) set(i int, kills []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kills[i] = kills
}

func (m *matrix) write() error {
	var list strings.Builder
	for i, mutant := range m.mutants {
		fmt.Fprintf(&list, "%s: %s\n", mutant.Name, strings.Join(m.kills[i], " "))
	}
	if err := os.WriteFile("kills.txt", []byte(list.String()), 0o644); err != nil {
		return err
	}
	return os.WriteFile(matrixFile, []byte(m.markdown()), 0o644)
}

// markdown is the table for readers: totals by clause, then each mutant.
func (m *matrix) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, `# The mutants

The conformance suite is tested too. Each mutant is the model of the contract (conformance/model) with one rule switched off, and
the suite must notice: the build fails when a mutant survives, or when other cases go red than those listed here. This file is
written by `+"`go test ./internal/mutants -update`"+` in the module conformance. %d mutants.

## By clause

| Clause | Mutants |
| --- | --- |
`, len(m.mutants))
	var clauses []string
	count := map[string]int{}
	for _, mutant := range m.mutants {
		if count[mutant.Clause]++; count[mutant.Clause] == 1 {
			clauses = append(clauses, mutant.Clause)
		}
	}
	slices.SortFunc(clauses, byContract)
	for _, c := range clauses {
		fmt.Fprintf(&b, "| %s | %d |\n", c, count[c])
	}
	b.WriteString("\n## The matrix\n\nRacy mutants break their rule only when calls overlap; the listed cases kill them with the plain seed.\n\n| Mutant | Clause | What is switched off | Killed by |\n| --- | --- | --- | --- |\n")
	for i, mutant := range m.mutants {
		racy := ""
		if mutant.Racy {
			racy = " (racy)"
		}
		fmt.Fprintf(&b, "| %s%s | %s | %s | %s |\n", mutant.Name, racy, mutant.Clause, mutant.Off, strings.Join(m.kills[i], ", "))
	}
	return b.String()
}

// byContract orders clauses as the contract has them.
func byContract(a, b string) int {
	order := []string{"SCP", "GRF", "RUN", "CLM", "EVT", "VAL", "LIM", "WAK", "PRN", "TX", "LIF"}
	group := func(c string) (g, n int) {
		name, number, _ := strings.Cut(c, "-")
		_, _ = fmt.Sscan(number, &n)
		return slices.Index(order, name), n
	}
	ga, na := group(a)
	gb, nb := group(b)
	return (ga-gb)*1000 + na - nb
}
