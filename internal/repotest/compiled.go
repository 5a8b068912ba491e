package repotest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// compiled is one package with its types.
type compiled struct {
	path  string
	fset  *token.FileSet
	files []*ast.File
	info  *types.Info
}

// compile parses and type-checks the packages of one module. What they import
// comes from the export data that the go command keeps, so nothing is checked
// twice.
func compile(root, module string) ([]compiled, error) {
	listed, err := listPackages(filepath.Join(root, module))
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	for _, p := range listed {
		exports[p.ImportPath] = p.Export
	}
	fset := token.NewFileSet()
	imp := importer.ForCompiler(fset, "gc", func(importPath string) (io.ReadCloser, error) {
		if exports[importPath] == "" {
			return nil, fmt.Errorf("no export data for %s", importPath)
		}
		return os.Open(exports[importPath])
	})
	var all []compiled
	for _, p := range listed {
		if !strings.HasPrefix(p.ImportPath, modulePrefix+module+"/") {
			continue
		}
		c, err := typeCheck(fset, imp, p)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// typeCheck reads one package's production files.
func typeCheck(fset *token.FileSet, imp types.Importer, p listedPackage) (compiled, error) {
	c := compiled{path: p.ImportPath, fset: fset, info: &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{},
		Uses:  map[*ast.Ident]types.Object{},
		Defs:  map[*ast.Ident]types.Object{},
	}}
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.ParseComments)
		if err != nil {
			return c, err
		}
		c.files = append(c.files, file)
	}
	conf := types.Config{Importer: imp}
	_, err := conf.Check(p.ImportPath, fset, c.files, c.info)
	return c, err
}

// listedPackage is what the go command tells about a package.
type listedPackage struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	Export     string
}

// listPackages asks the go command for a module's packages and all they
// import. The module stands alone here, as it does for its users.
func listPackages(dir string) ([]listedPackage, error) {
	out, err := runGo(dir, "off", "list", "-deps", "-export", "-json=ImportPath,Dir,GoFiles,Export", "./...")
	if err != nil {
		return nil, err
	}
	var all []listedPackage
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listedPackage
		switch err := dec.Decode(&p); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, err
		}
		all = append(all, p)
	}
}

// runGo runs the go command in dir with the given GOWORK and returns what it
// printed.
func runGo(dir, gowork string, args ...string) ([]byte, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK="+gowork)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s in %s: %w\n%s", strings.Join(args, " "), dir, err, stderr.String())
	}
	return out, nil
}
