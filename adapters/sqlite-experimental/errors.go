package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/docket-go/docket/ports"
)

// stage is where an operation was when it failed.
type stage int

const (
	working    stage = iota // before COMMIT was sent: nothing is applied
	committing              // COMMIT was sent
)

// mapError turns what went wrong into the contract's closed set; the driver's
// error stays reachable. It is the only place that reads driver errors.
func mapError(op string, err error, at stage) error {
	if err == nil || ports.CodeOf(err) != "" {
		return err
	}
	code := ports.CodeUnavailable
	if at == committing {
		code = ports.CodeUncertain
	}
	var driver *sqlite.Error
	switch {
	case errors.Is(err, sql.ErrConnDone):
		code = ports.CodeClosed
	case errors.As(err, &driver):
		code = codeOf(driver.Code(), code)
	}
	return &ports.Error{Code: code, Op: op, Err: err}
}

// codeOf maps an extended SQLite result code; the others keep the given code.
func codeOf(result int, others ports.Code) ports.Code {
	switch result & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return ports.CodeUnavailable // a COMMIT that is busy has not committed
	case sqlite3.SQLITE_CONSTRAINT:
		if result == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY || result == sqlite3.SQLITE_CONSTRAINT_UNIQUE {
			return ports.CodeConflict
		}
		return ports.CodeCorrupt // the file holds what its own rules forbid, or the reverse
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_MISMATCH:
		return ports.CodeCorrupt
	}
	return others
}

// isBusy reports whether another connection held the lock that was needed.
func isBusy(err error) bool {
	var driver *sqlite.Error
	if !errors.As(err, &driver) {
		return false
	}
	primary := driver.Code() & 0xff
	return primary == sqlite3.SQLITE_BUSY || primary == sqlite3.SQLITE_LOCKED
}

// notApplied is the error of an operation whose context ended before it wrote
// anything (LIF-3).
func notApplied(ctx context.Context, op string) error {
	err := ctx.Err()
	if cause := context.Cause(ctx); !errors.Is(cause, err) {
		err = fmt.Errorf("%w: %w", err, cause)
	}
	return ports.Unavailable(op, err)
}

// missing turns a query without a row into the answer that hides why (SCP-3).
func missing(op string, err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return ports.NotFound(op)
	}
	return err
}
