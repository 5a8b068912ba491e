package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/docket-go/docket/ports"
)

// stage is how far an operation had come when it failed.
type stage int

const (
	unsent  stage = iota // nothing was sent
	reading              // a statement was sent that, alone, stores nothing
	writing              // a statement was sent that stores by itself
)

// A ReadOnlyError says that the server takes no writes: a standby, or one whose
// transactions can't be made read-write. It comes as ports.ErrUnavailable.
type ReadOnlyError struct {
	Err error // the server's refusal; nil when it was asked
}

// Error says what to do.
func (e *ReadOnlyError) Error() string {
	const text = "postgres: the server is read-only: connect to the primary (target_session_attrs=read-write)"
	if e.Err == nil {
		return text
	}
	return text + ": " + e.Err.Error()
}

// Unwrap returns the server's refusal.
func (e *ReadOnlyError) Unwrap() error { return e.Err }

// mapError turns what went wrong into the contract's closed set; the driver's
// error stays reachable. It is the only place that reads driver errors.
func mapError(op string, err error, at stage) error {
	if err == nil || ports.CodeOf(err) != "" {
		return err
	}
	lost := ports.CodeUnavailable
	if at == writing {
		lost = ports.CodeUncertain
	}
	var server *pgconn.PgError
	code := lost
	switch {
	case errors.As(err, &server):
		code = codeOf(server, lost)
		if server.Code == readOnlyTransaction {
			err = &ReadOnlyError{Err: err}
		}
	case errors.Is(err, pgx.ErrTxClosed):
		code = ports.CodeClosed
	case errors.Is(err, pgx.ErrTxCommitRollback), pgconn.SafeToRetry(err):
		code = ports.CodeUnavailable
	}
	return &ports.Error{Code: code, Op: op, Err: err}
}

// The SQLSTATEs that the adapter treats by themselves.
const (
	uniqueViolation     = "23505"
	foreignKeyViolation = "23503"
	readOnlyTransaction = "25006"
	cachedPlanChanged   = "0A000"
)

// codeOf maps an error that the server reported. An ERROR undoes its statement;
// after a FATAL the session is gone, and what it had committed is not known.
func codeOf(e *pgconn.PgError, lost ports.Code) ports.Code {
	switch e.Code {
	case uniqueViolation:
		return ports.CodeConflict
	case "40003", "08007": // completion or transaction resolution unknown
		return lost
	}
	if e.SeverityUnlocalized == "FATAL" || e.SeverityUnlocalized == "PANIC" {
		return lost
	}
	switch e.Code[:min(2, len(e.Code))] {
	case "23", "XX": // the rows hold what their own rules forbid, or the server says so
		return ports.CodeCorrupt
	}
	return ports.CodeUnavailable
}

// repeatable reports whether a statement that failed alone may be sent again at
// once: it was undone, and for a reason that passes.
func repeatable(err error) bool {
	var server *pgconn.PgError
	if !errors.As(err, &server) {
		return false
	}
	switch server.Code {
	case "40001", "40P01": // serialization failure, deadlock
		return true
	case cachedPlanChanged: // a migration ran: the driver prepares anew
		return server.Message == "cached plan must not change result type"
	}
	return false
}

// notApplied is the error of an operation whose context ended before it sent
// anything (LIF-3).
func notApplied(ctx context.Context, op string) error {
	return ports.Unavailable(op, because(ctx, ctx.Err()))
}

// because adds the context's cause to an error, where it says more.
func because(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(err, cause) {
		return fmt.Errorf("%w: %w", err, cause)
	}
	return err
}
