package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"testing"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/docket-go/docket/ports"
)

func TestCodeOf(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		result           int
		before, inCommit ports.Code
	}{
		{sqlite3.SQLITE_BUSY, ports.CodeUnavailable, ports.CodeUnavailable},
		{sqlite3.SQLITE_BUSY_SNAPSHOT, ports.CodeUnavailable, ports.CodeUnavailable},
		{sqlite3.SQLITE_LOCKED, ports.CodeUnavailable, ports.CodeUnavailable},
		{sqlite3.SQLITE_FULL, ports.CodeUnavailable, ports.CodeUncertain},
		{sqlite3.SQLITE_IOERR_FSYNC, ports.CodeUnavailable, ports.CodeUncertain},
		{sqlite3.SQLITE_READONLY, ports.CodeUnavailable, ports.CodeUncertain},
		{sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, ports.CodeConflict, ports.CodeConflict},
		{sqlite3.SQLITE_CONSTRAINT_UNIQUE, ports.CodeConflict, ports.CodeConflict},
		{sqlite3.SQLITE_CONSTRAINT_CHECK, ports.CodeCorrupt, ports.CodeCorrupt},
		{sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY, ports.CodeCorrupt, ports.CodeCorrupt},
		{sqlite3.SQLITE_CORRUPT, ports.CodeCorrupt, ports.CodeCorrupt},
		{sqlite3.SQLITE_NOTADB, ports.CodeCorrupt, ports.CodeCorrupt},
	} {
		if got := codeOf(tc.result, ports.CodeUnavailable); got != tc.before {
			t.Errorf("result %d before COMMIT is %s, want %s", tc.result, got, tc.before)
		}
		if got := codeOf(tc.result, ports.CodeUncertain); got != tc.inCommit {
			t.Errorf("result %d in COMMIT is %s, want %s", tc.result, got, tc.inCommit)
		}
	}
}

// The driver's error stays reachable, and an answer passes through untouched.
func TestMapError(t *testing.T) {
	t.Parallel()
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "x.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	_, driver := db.ExecContext(t.Context(), `CREATE TABLE x (y INTEGER CHECK (y > 0)); INSERT INTO x VALUES (0)`)
	mapped := mapError("Op", driver, working)
	if !errors.Is(mapped, ports.ErrCorrupt) || !errors.Is(mapped, driver) {
		t.Errorf("a CHECK's refusal is mapped to %v", mapped)
	}
	answer := ports.Stale("Op")
	for in, want := range map[error]error{
		answer: answer, sql.ErrConnDone: ports.ErrClosed, context.Canceled: ports.ErrUnavailable,
	} {
		if got := mapError("Op", in, working); !errors.Is(got, want) || !errors.Is(got, in) {
			t.Errorf("%v is mapped to %v, want %v", in, got, want)
		}
	}
	if got := mapError("Op", errors.New("cut off"), committing); !errors.Is(got, ports.ErrUncertain) {
		t.Errorf("an unknown error of COMMIT is mapped to %v", got)
	}
	if mapError("Op", nil, working) != nil {
		t.Error("nil is mapped to an error")
	}
}
