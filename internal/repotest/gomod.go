package repotest

import (
	"encoding/json"
	"fmt"
	"go/version"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// modfile is what the go command tells about a go.mod file.
type modfile struct {
	Dir     string `json:"-"` // relative to the root
	Module  struct{ Path string }
	Go      string
	Require []requirement
	Replace []struct {
		Old, New struct{ Path, Version string }
	}
}

// requirement is one require line.
type requirement struct {
	Path, Version string
	Indirect      bool
}

// modfiles reads every go.mod below root, by module path.
func modfiles(root string) (map[string]modfile, error) {
	names, err := files(root, func(name string) bool { return path.Base(name) == "go.mod" })
	if err != nil {
		return nil, err
	}
	all := map[string]modfile{}
	for _, name := range names {
		dir := path.Dir(name)
		out, err := runGo(filepath.Join(root, dir), "off", "mod", "edit", "-json")
		if err != nil {
			return nil, err
		}
		m := modfile{Dir: dir}
		if err := json.Unmarshal(out, &m); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all[m.Module.Path] = m
	}
	return all, nil
}

// workspace is what the go command tells about go.work.
type workspace struct {
	Go  string
	Use []struct{ DiskPath string }
}

func readWorkspace(root string) (workspace, error) {
	var w workspace
	out, err := runGo(root, "", "work", "edit", "-json")
	if err != nil {
		return w, err
	}
	return w, json.Unmarshal(out, &w)
}

// outside names the modules that stay out of the workspace, as an application's
// would: what they prove is that a released module is enough.
var outside = []string{"examples/core-only"}

// checkModules says what is wrong with the modules of the repository: each
// must stand alone until releases give the others versions.
func checkModules(all map[string]modfile, work workspace) []string {
	var wrong []string
	report := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	var used []string
	for _, u := range work.Use {
		used = append(used, path.Clean(u.DiskPath))
	}
	direct := map[string]map[string]string{} // third-party module → version → who requires it
	for _, name := range slices.Sorted(maps.Keys(all)) {
		m := all[name]
		if want := modulePrefix + m.Dir; name != want {
			report("%s: its module path is %s, want %s", m.Dir, name, want)
		}
		if slices.Contains(used, m.Dir) == slices.Contains(outside, m.Dir) {
			report("go.work must use every module but %s, see %s", strings.Join(outside, ", "), m.Dir)
		}
		// Only the language: a dependency may ask for 1.26.0 where 1.26 was written.
		if version.Lang("go"+m.Go) != version.Lang("go"+work.Go) {
			report("%s: go %s, but the workspace has go %s", m.Dir, m.Go, work.Go)
		}
		if m.Dir == "core" && len(m.Require) > 0 {
			report("core requires %s: it has no requirement", m.Require[0].Path)
		}
		wrong = append(wrong, checkReplacements(m, all)...)
		for _, r := range m.Require {
			if !r.Indirect && !strings.HasPrefix(r.Path, modulePrefix) {
				if direct[r.Path] == nil {
					direct[r.Path] = map[string]string{}
				}
				direct[r.Path][r.Version] = m.Dir
			}
		}
	}
	for _, dep := range slices.Sorted(maps.Keys(direct)) {
		if len(direct[dep]) > 1 {
			report("%s is required in several versions: %v", dep, direct[dep])
		}
	}
	return wrong
}

// checkReplacements demands a replacement by its directory for every sibling
// in the module's graph, near or far, and none that leads elsewhere.
func checkReplacements(m modfile, all map[string]modfile) []string {
	var wrong []string
	replaced := map[string]bool{}
	for _, r := range m.Replace {
		to, known := all[r.Old.Path]
		switch {
		case !known:
			wrong = append(wrong, fmt.Sprintf("%s replaces %s, which isn't a module of this repository", m.Dir, r.Old.Path))
		case path.Join(m.Dir, r.New.Path) != to.Dir:
			wrong = append(wrong, fmt.Sprintf("%s replaces %s by %s, which isn't its directory", m.Dir, r.Old.Path, r.New.Path))
		}
		replaced[r.Old.Path] = true
	}
	for _, name := range siblings(m, all) {
		if !replaced[name] {
			wrong = append(wrong, fmt.Sprintf("%s has %s in its graph and doesn't replace it", m.Dir, name))
		}
	}
	return wrong
}

// siblings returns the modules of this repository in m's graph, sorted.
func siblings(m modfile, all map[string]modfile) []string {
	seen := map[string]bool{}
	queue := []modfile{m}
	for len(queue) > 0 {
		next := queue[0]
		queue = queue[1:]
		for _, r := range next.Require {
			if strings.HasPrefix(r.Path, modulePrefix) && !seen[r.Path] {
				seen[r.Path] = true
				queue = append(queue, all[r.Path])
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}
