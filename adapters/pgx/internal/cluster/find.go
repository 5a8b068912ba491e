package cluster

import (
	"cmp"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// ErrNotInstalled says that this machine has no PostgreSQL server binaries.
var ErrNotInstalled = errors.New("cluster: no PostgreSQL server is installed (no initdb and postgres in PATH, /usr/lib/postgresql/*/bin or /usr/local/pgsql/bin)")

// Find returns the directory with initdb and postgres: the one in PATH, else the
// newest where distributions put them.
func Find() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		if resolved, err := filepath.EvalSymlinks(path); err == nil && complete(filepath.Dir(resolved)) {
			return filepath.Dir(resolved), nil
		}
	}
	var found []string
	for _, pattern := range []string{"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/local/pgsql/bin", "/opt/homebrew/opt/postgresql@*/bin"} {
		dirs, _ := filepath.Glob(pattern) // the patterns are well formed
		for _, dir := range dirs {
			if complete(dir) {
				found = append(found, dir)
			}
		}
	}
	if len(found) == 0 {
		return "", ErrNotInstalled
	}
	return slices.MaxFunc(found, func(a, b string) int { return cmp.Compare(major(a), major(b)) }), nil
}

func complete(dir string) bool {
	for _, name := range []string{"initdb", "postgres"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.IsDir() {
			return false
		}
	}
	return true
}

// major is the version that a directory's name tells, 0 when it tells none.
func major(dir string) int {
	digits := strings.FieldsFunc(dir, func(r rune) bool { return r < '0' || r > '9' })
	if len(digits) == 0 {
		return 0
	}
	n, _ := strconv.Atoi(digits[0])
	return n
}
