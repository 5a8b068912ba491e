package repotest

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestModules(t *testing.T) {
	t.Parallel()
	dir := mustRoot(t)
	all, err := modfiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	work, err := readWorkspace(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(work.Use)+len(outside) != len(all) {
		t.Errorf("go.work uses %d modules, %d stay outside, the tree has %d", len(work.Use), len(outside), len(all))
	}
	for _, wrong := range checkModules(all, work) {
		t.Error(wrong)
	}
}

// TestModulesRefuse proves that the rule can fail.
func TestModulesRefuse(t *testing.T) {
	t.Parallel()
	const good = `{"core": {"Go": "1.26"},
		"ports": {"Go": "1.26", "Require": ["core"], "Replace": {"core": "../core"}},
		"engine": {"Go": "1.26", "Require": ["ports", "core"], "Replace": {"core": "../core", "ports": "../ports"}}}`
	for _, c := range []struct{ name, from, to, says string }{
		{"core has a dependency", `"core": {"Go": "1.26"`, `"core": {"Go": "1.26", "Require": ["ports"], "Replace": {"ports": "../ports", "core": "../core"}`, "core requires"},
		{"other language version", `"ports": {"Go": "1.26"`, `"ports": {"Go": "1.25"`, "go 1.25"},
		{"a near sibling isn't replaced", `"Replace": {"core": "../core", "ports": "../ports"}`, `"Replace": {"core": "../core"}`, "engine has github.com/docket-go/docket/ports"},
		{"a far sibling isn't replaced", `"Require": ["ports", "core"], "Replace": {"core": "../core", "ports": "../ports"}`, `"Require": ["ports"], "Replace": {"ports": "../ports"}`, "engine has github.com/docket-go/docket/core"},
		{"replaced by something else", `"Replace": {"core": "../core"}`, `"Replace": {"core": "../engine"}`, "isn't its directory"},
		{"replaces a stranger", `"Replace": {"core": "../core"}`, `"Replace": {"core": "../core", "other": "../other"}`, "isn't a module"},
		{"not in the workspace", `"core": {"Go": "1.26"}`, `"core": {"Go": "1.26"}, "unused": {"Go": "1.26"}`, "go.work must use every module but examples/core-only, see unused"},
	} {
		if got := checkModules(fakeModules(t, good)); len(got) > 0 {
			t.Fatalf("the good example fails: %q", got)
		}
		bad := strings.Replace(good, c.from, c.to, 1)
		if got := strings.Join(checkModules(fakeModules(t, bad)), "\n"); !strings.Contains(got, c.says) {
			t.Errorf("%s: %q, want it to say %q", c.name, got, c.says)
		}
	}
}

// fakeModules builds modules from a terse form.
func fakeModules(t *testing.T, text string) (map[string]modfile, workspace) {
	t.Helper()
	var terse map[string]struct {
		Go      string
		Require []string
		Replace map[string]string
	}
	if err := json.Unmarshal([]byte(text), &terse); err != nil {
		t.Fatal(err)
	}
	all := map[string]modfile{}
	work := workspace{Go: "1.26"}
	for dir, m := range terse {
		mod := modfile{Dir: dir, Go: m.Go}
		mod.Module.Path = modulePrefix + dir
		for _, r := range m.Require {
			mod.Require = append(mod.Require, requirement{Path: modulePrefix + r, Version: "v0.0.0"})
		}
		for old, to := range m.Replace {
			mod.Replace = append(mod.Replace, struct {
				Old, New struct{ Path, Version string }
			}{
				Old: struct{ Path, Version string }{Path: modulePrefix + old},
				New: struct{ Path, Version string }{Path: to},
			})
		}
		all[mod.Module.Path] = mod
		if dir != "unused" {
			work.Use = append(work.Use, struct{ DiskPath string }{"./" + dir})
		}
	}
	return all, work
}
