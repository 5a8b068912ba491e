package repotest

import (
	"fmt"
	"slices"
	"strings"
)

// layer is one row of ADR 0001: what a part of the repository may import.
type layer struct {
	name     string   // directory below the root; a trailing slash means one layer for each child
	sees     []string // layers, besides itself
	external []string // packages outside the repository and the standard library; "x/..." is x and all below it
	tests    layerTests
}

// layerTests is what a layer's tests may import on top.
type layerTests struct {
	sees     []string
	external []string
}

// layers is the whole picture of arrows. A directory that no row names is an
// error: a new part of the repository takes its place here first.
var layers = []layer{
	{name: "core"},
	{name: "ports", sees: []string{"core"}},
	{
		name: "engine",
		sees: []string{"core", "ports"},
		external: []string{
			"go.opentelemetry.io/otel", "go.opentelemetry.io/otel/attribute", "go.opentelemetry.io/otel/codes",
			"go.opentelemetry.io/otel/metric/...", "go.opentelemetry.io/otel/trace/...",
			"golang.org/x/sync/errgroup", "github.com/google/uuid",
		},
		tests: layerTests{external: []string{"go.opentelemetry.io/otel/sdk/...", "github.com/google/go-cmp/..."}},
	},
	{
		name:     "conformance",
		sees:     []string{"core", "ports"},
		external: []string{"github.com/google/go-cmp/...", "golang.org/x/sync/errgroup"},
	},
	{
		// A module of its own: what starts Docker is in no application's graph.
		name:     "adapters/pgx/pgxtest",
		sees:     []string{"adapters/"},
		external: []string{"github.com/jackc/pgx/v5/...", "github.com/ory/dockertest/..."},
		tests:    layerTests{sees: []string{"conformance", "ports"}},
	},
	{
		name:     "adapters/",
		sees:     []string{"core", "ports"},
		external: []string{"modernc.org/sqlite/...", "github.com/jackc/pgx/v5/..."},
		tests: layerTests{
			sees:     []string{"conformance"},
			external: []string{"github.com/google/go-cmp/...", "golang.org/x/sync/errgroup"},
		},
	},
	{name: "cmd/", sees: []string{"core", "ports", "engine", "adapters/", "adapters/pgx/pgxtest", "conformance"}, external: []string{"..."}},
	{name: "examples", sees: []string{"core", "ports", "engine", "adapters/", "conformance"}, external: []string{"..."}},
	{name: "internal/repotest", sees: []string{"core", "ports", "engine", "adapters/", "adapters/pgx/pgxtest", "conformance", "cmd/", "examples"}, external: []string{"..."}},
}

// coreOrder is the order of core's packages: each imports only packages before
// it. Siblings on one line don't see each other.
var coreOrder = [][]string{
	{"value"},
	{"schema"},
	{"reducer", "guard"},
	{"node"},
	{"graph"},
	{"record", "compiler"},
	{"run"},
	{"runtime"},
	{"executor", "lifecycle"},
	{"inline"},
}

// storedVocabulary is all that ports and adapters see of core. Backends store
// records and never decode state, so the machine is none of their business.
var storedVocabulary = []string{"graph", "record", "run", "value"}

// checkArrow says what is wrong with an import, or "".
func checkArrow(i anImport) string {
	from, ok := layerOf(i.From)
	if !ok {
		return fmt.Sprintf("%s: %s belongs to no layer of ADR 0001", i, i.From)
	}
	if !strings.HasPrefix(i.To, modulePrefix) {
		return checkExternal(i, from)
	}
	to, ok := layerOf(i.To)
	if !ok {
		return fmt.Sprintf("%s, which belongs to no layer of ADR 0001", i)
	}
	if from.dir == to.dir {
		return checkCoreOrder(i, from)
	}
	sees := from.sees
	if i.Test {
		sees = slices.Concat(sees, from.tests.sees)
	}
	if !slices.Contains(sees, to.name) || from.name == to.name {
		return fmt.Sprintf("%s: %s must not see %s (ADR 0001)", i, from.dir, to.dir)
	}
	return checkVocabulary(i, from, to)
}

// placed is a layer with the directory that an import path has in it.
type placed struct {
	layer
	dir string
}

// layerOf finds the layer of an import path inside the repository.
func layerOf(importPath string) (placed, bool) {
	rel := strings.TrimPrefix(importPath, modulePrefix) + "/"
	for _, l := range layers {
		if child, found := strings.CutSuffix(l.name, "/"); found {
			rest, inside := strings.CutPrefix(rel, child+"/")
			if name, _, _ := strings.Cut(rest, "/"); inside && name != "" {
				return placed{l, child + "/" + name}, true
			}
			continue
		}
		if strings.HasPrefix(rel, l.name+"/") {
			return placed{l, l.name}, true
		}
	}
	return placed{}, false
}

// checkExternal allows the standard library everywhere and other modules only
// where the layer lists them.
func checkExternal(i anImport, from placed) string {
	if isStandard(i.To) {
		return ""
	}
	allowed := from.external
	if i.Test {
		allowed = slices.Concat(allowed, from.tests.external)
	}
	for _, a := range allowed {
		if subtree, ok := strings.CutSuffix(a, "..."); i.To == a || ok && strings.HasPrefix(i.To+"/", subtree) {
			return ""
		}
	}
	return fmt.Sprintf("%s: %s doesn't list this dependency", i, from.dir)
}

// isStandard reports whether a path is the standard library's: its first
// element has no dot.
func isStandard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".")
}

// checkCoreOrder holds core's packages to their order. Other layers have none.
func checkCoreOrder(i anImport, from placed) string {
	if from.name != "core" || i.From == i.To {
		return ""
	}
	f, okFrom := coreRank(i.From)
	t, okTo := coreRank(i.To)
	switch {
	case !okFrom:
		return fmt.Sprintf("%s: %s has no place in core's order", i, i.From)
	case !okTo:
		return fmt.Sprintf("%s, which has no place in core's order", i)
	case i.Test && t <= f, t < f:
		return ""
	}
	return fmt.Sprintf("%s, which doesn't come before it in core's order", i)
}

// coreRank returns a core package's place in coreOrder.
func coreRank(importPath string) (int, bool) {
	name, _, _ := strings.Cut(strings.TrimPrefix(importPath, modulePrefix+"core/"), "/")
	for rank, names := range coreOrder {
		if slices.Contains(names, name) {
			return rank, true
		}
	}
	return 0, false
}

// checkVocabulary keeps ports and adapters to what they store. Their tests may
// make real runs.
func checkVocabulary(i anImport, from, to placed) string {
	if to.name != "core" || i.Test || from.name != "ports" && from.name != "adapters/" {
		return ""
	}
	if slices.Contains(storedVocabulary, strings.TrimPrefix(i.To, modulePrefix+"core/")) {
		return ""
	}
	return fmt.Sprintf("%s: %s stores records and sees only core's %s", i, from.dir, strings.Join(storedVocabulary, ", "))
}
