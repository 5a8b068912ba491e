package repotest

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// modulePrefix is the import path of the repository's root. The root holds no
// package.
const modulePrefix = "github.com/docket-go/docket/"

// root returns the repository's root: the nearest directory upwards that holds
// go.work.
func root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", fmt.Errorf("no go.work above %s", dir)
		}
		dir = up
	}
}

// files returns the slash-separated paths, relative to root, of all files that
// keep accepts. It doesn't enter hidden directories other than .ci.
func files(root string, keep func(name string) bool) ([]string, error) {
	var found []string
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if entry.IsDir() {
			if strings.HasPrefix(entry.Name(), ".") && rel != "." && rel != ".ci" {
				return filepath.SkipDir
			}
			return nil
		}
		if keep(rel) {
			found = append(found, rel)
		}
		return nil
	})
	return found, err
}

// isGo accepts Go sources, but those that the go command ignores.
func isGo(name string) bool {
	for _, part := range strings.Split(path.Dir(name), "/") {
		if part == "testdata" || strings.HasPrefix(part, "_") {
			return false
		}
	}
	base := path.Base(name)
	return strings.HasSuffix(base, ".go") && !strings.HasPrefix(base, "_") && !strings.HasPrefix(base, ".")
}

// isTest reports whether the file is compiled into tests only.
func isTest(name string) bool { return strings.HasSuffix(name, "_test.go") }

// anImport is one import line.
type anImport struct {
	File string // relative to the root
	Line int
	From string // import path of the importing package
	To   string
	Test bool
}

// String tells the import as an error message needs it.
func (i anImport) String() string {
	return fmt.Sprintf("%s:%d imports %s", i.File, i.Line, i.To)
}

// imports reads the import lines of all Go files below root, whatever their
// build constraints say.
func imports(root string) ([]anImport, error) {
	names, err := files(root, isGo)
	if err != nil {
		return nil, err
	}
	var all []anImport
	fset := token.NewFileSet()
	for _, name := range names {
		tree, err := parser.ParseFile(fset, filepath.Join(root, filepath.FromSlash(name)), nil, parser.ImportsOnly)
		if err != nil {
			return nil, err
		}
		for _, spec := range tree.Imports {
			to, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			all = append(all, anImport{
				File: name,
				Line: fset.Position(spec.Pos()).Line,
				From: modulePrefix + path.Dir(name),
				To:   to,
				Test: isTest(name),
			})
		}
	}
	return all, nil
}
