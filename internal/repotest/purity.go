package repotest

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strconv"
)

// impureImports are standard packages that core's production files never
// import: they read the world or act on it.
var impureImports = map[string]string{
	"crypto/rand":   "a result must not depend on chance",
	"database/sql":  "core knows nothing of storage",
	"io/ioutil":     "core does no I/O",
	"log":           "core emits nothing",
	"log/slog":      "core emits nothing",
	"math/rand":     "a result must not depend on chance",
	"math/rand/v2":  "a result must not depend on chance",
	"net":           "core does no I/O",
	"net/http":      "core does no I/O",
	"os":            "core does no I/O",
	"os/exec":       "core does no I/O",
	"os/signal":     "core does no I/O",
	"plugin":        "implementations come from the host's registry",
	"syscall":       "core does no I/O",
	"testing":       "production code doesn't import testing",
	"testing/quick": "production code doesn't import testing",
	"unsafe":        "values are never reinterpreted",
	"runtime/pprof": "core emits nothing",
	"expvar":        "core emits nothing",
	"hash/maphash":  "its seed differs from process to process",
	"encoding/gob":  "it isn't canonical",
	"path/filepath": "a result must not depend on the system",
}

// clockReads are functions that read the clock. No package of core may.
var clockReads = map[string][]string{
	"time": {"Now", "Since", "Until"},
}

// timers are functions that wait. Only the executor may, since it enforces
// deadlines.
var timers = map[string][]string{
	"time":    {"After", "AfterFunc", "NewTicker", "NewTimer", "Sleep", "Tick"},
	"context": {"WithDeadline", "WithDeadlineCause", "WithTimeout", "WithTimeoutCause", "AfterFunc"},
}

const executorPath = modulePrefix + "core/executor"

// impurities lists what a production file of core does that a pure function
// can't: imports, clocks, timers, goroutines.
func impurities(fset *token.FileSet, file *ast.File, pkg string) []string {
	var found []string
	report := func(at ast.Node, format string, args ...any) {
		found = append(found, fset.Position(at.Pos()).String()+": "+fmt.Sprintf(format, args...))
	}
	names := importNames(file)
	for _, spec := range file.Imports {
		to, _ := strconv.Unquote(spec.Path.Value)
		if why, impure := impureImports[to]; impure {
			report(spec, "imports %s: %s", to, why)
		}
		if spec.Name != nil && spec.Name.Name == "." {
			report(spec, "dot import of %s hides what is called", to)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			if pkg != executorPath {
				report(n, "starts a goroutine outside core/executor")
			}
		case *ast.SelectorExpr:
			// A mention is enough: time.Now passed as a value reads the clock later.
			of, isName := n.X.(*ast.Ident)
			if !isName || of.Obj != nil {
				return true
			}
			from := names[of.Name]
			if slices.Contains(clockReads[from], n.Sel.Name) {
				report(n, "%s.%s reads the clock: time is an argument (ADR 0004)", from, n.Sel.Name)
			}
			if slices.Contains(timers[from], n.Sel.Name) && pkg != executorPath {
				report(n, "%s.%s waits outside core/executor", from, n.Sel.Name)
			}
		}
		return true
	})
	return found
}

// importNames maps the names that a file uses for imported packages to their
// paths.
func importNames(file *ast.File) map[string]string {
	names := map[string]string{}
	for _, spec := range file.Imports {
		to, _ := strconv.Unquote(spec.Path.Value)
		name := path.Base(to)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = to
	}
	return names
}
