package ports

import (
	"context"
	"errors"
	"strings"
)

// The closed set of errors: each says what the caller may do next.
//
// Answers wrote nothing and leave a surrounding transaction usable (TX-3):
// ErrInvalid, ErrNotFound, ErrInactive, ErrExists, ErrStale, ErrUnsupported.
// Faults are the rest. When several apply, the first of this order is told:
// invalid, not found, inactive, stale, conflict.
var (
	ErrInvalid     = errors.New("docket: invalid request")
	ErrNotFound    = errors.New("docket: not found")
	ErrInactive    = errors.New("docket: run is terminal")
	ErrExists      = errors.New("docket: id is taken")
	ErrStale       = errors.New("docket: fence moved")
	ErrUnsupported = errors.New("docket: unsupported by this backend")

	ErrConflict    = errors.New("docket: same key, other content")
	ErrCorrupt     = errors.New("docket: stored data is damaged")
	ErrUnavailable = errors.New("docket: store unavailable, not applied")
	ErrUncertain   = errors.New("docket: outcome unknown, may be applied")
)

// ErrClosed is what a closed backend (LIF-5) or an ended transaction (TX-4)
// answers.
var ErrClosed = errors.New("docket: closed")

// Code is the stable text of an error's kind, for logs and for ports spoken
// over a pipe.
type Code string

// The codes, one for each error above.
const (
	CodeInvalid     Code = "invalid"
	CodeNotFound    Code = "not_found"
	CodeInactive    Code = "inactive"
	CodeExists      Code = "exists"
	CodeStale       Code = "stale"
	CodeUnsupported Code = "unsupported"
	CodeConflict    Code = "conflict"
	CodeCorrupt     Code = "corrupt"
	CodeUnavailable Code = "unavailable"
	CodeUncertain   Code = "uncertain"
	CodeClosed      Code = "closed"
)

// Codes returns every code, answers first.
func Codes() []Code {
	codes := make([]Code, len(kinds))
	for i, k := range kinds {
		codes[i] = k.code
	}
	return codes
}

var kinds = [...]struct {
	code     Code
	sentinel error
	answer   bool
}{
	{CodeInvalid, ErrInvalid, true},
	{CodeNotFound, ErrNotFound, true},
	{CodeInactive, ErrInactive, true},
	{CodeExists, ErrExists, true},
	{CodeStale, ErrStale, true},
	{CodeUnsupported, ErrUnsupported, true},
	{CodeConflict, ErrConflict, false},
	{CodeCorrupt, ErrCorrupt, false},
	{CodeUnavailable, ErrUnavailable, false},
	{CodeUncertain, ErrUncertain, false},
	{CodeClosed, ErrClosed, false},
}

// Err returns the sentinel of the code, nil for a code outside the set.
func (c Code) Err() error {
	for _, k := range kinds {
		if k.code == c {
			return k.sentinel
		}
	}
	return nil
}

// Answer reports whether the code is an answer: nothing was written, and a
// surrounding transaction stays usable.
func (c Code) Answer() bool {
	for _, k := range kinds {
		if k.code == c {
			return k.answer
		}
	}
	return false
}

// CodeOf returns the code of an error of the set, "" for nil and for an error
// outside it. An error that is both a context's and one of the set has the
// set's code (LIF-3).
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	for _, k := range kinds {
		if errors.Is(err, k.sentinel) {
			return k.code
		}
	}
	return ""
}

// IsAnswer reports whether err is an answer. Nil is neither answer nor fault.
func IsAnswer(err error) bool { return CodeOf(err).Answer() }

// IsFault reports whether err is a fault: an error that is no answer, errors
// outside the set included. A fault makes a transaction roll-back only (TX-3).
func IsFault(err error) bool { return err != nil && !IsAnswer(err) }

// Detail tells apart errors of one code that a caller treats differently.
type Detail string

// DetailTooLarge marks an ErrInvalid that is about a limit (LIM-1).
const DetailTooLarge Detail = "too_large"

// Error is an error of the set with its circumstances. It is the sentinel of
// its code, and unwraps to what caused it: the driver's or the context's error.
type Error struct {
	Code    Code
	Detail  Detail
	Op      string // the operation, e.g. "CommitClaimed"
	Path    string // the part of the request at fault, e.g. "Transition.Run.ID"
	Message string
	Err     error
}

// Error tells all but, for not_found and exists, the operation: those texts are
// the same whoever owns the row, so nothing can be learned from them (SCP-3,
// RUN-1).
func (e *Error) Error() string {
	text := "docket: " + string(e.Code)
	if sentinel := e.Code.Err(); sentinel != nil {
		text = sentinel.Error()
	}
	if e.Code == CodeNotFound || e.Code == CodeExists {
		return text
	}
	parts := []string{text}
	if place := strings.Trim(e.Op+"."+e.Path, "."); place != "" {
		parts = append(parts, place)
	}
	if e.Message != "" {
		parts = append(parts, e.Message)
	}
	if e.Err != nil {
		parts = append(parts, e.Err.Error())
	}
	return strings.Join(parts, ": ")
}

// Is reports whether target is the sentinel of the error's code.
func (e *Error) Is(target error) bool { return target != nil && e.Code.Err() == target }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Invalid returns an ErrInvalid that names the place in the request.
func Invalid(op, path, message string) *Error {
	return &Error{Code: CodeInvalid, Op: op, Path: path, Message: message}
}

// NotFound returns an ErrNotFound.
func NotFound(op string) *Error { return &Error{Code: CodeNotFound, Op: op} }

// Inactive returns an ErrInactive.
func Inactive(op string) *Error { return &Error{Code: CodeInactive, Op: op} }

// Exists returns an ErrExists.
func Exists(op string) *Error { return &Error{Code: CodeExists, Op: op} }

// Stale returns an ErrStale.
func Stale(op string) *Error { return &Error{Code: CodeStale, Op: op} }

// Unsupported returns an ErrUnsupported that says what isn't supported.
func Unsupported(op, message string) *Error {
	return &Error{Code: CodeUnsupported, Op: op, Message: message}
}

// Conflict returns an ErrConflict that says what differs.
func Conflict(op, message string) *Error {
	return &Error{Code: CodeConflict, Op: op, Message: message}
}

// Corrupt returns an ErrCorrupt around what was found.
func Corrupt(op string, err error) *Error {
	return &Error{Code: CodeCorrupt, Op: op, Err: err}
}

// Unavailable returns an ErrUnavailable around the driver's or the context's
// error: the operation was not applied.
func Unavailable(op string, err error) *Error {
	return &Error{Code: CodeUnavailable, Op: op, Err: err}
}

// Uncertain returns an ErrUncertain around the driver's or the context's error:
// the operation may have been applied.
func Uncertain(op string, err error) *Error {
	return &Error{Code: CodeUncertain, Op: op, Err: err}
}

// Closed returns an ErrClosed.
func Closed(op string) *Error { return &Error{Code: CodeClosed, Op: op} }

// Ended returns nil while ctx lives, and afterwards the error of an operation
// that wasn't sent: ErrUnavailable that is also the context's error (LIF-3).
func Ended(ctx context.Context, op string) error {
	if err := ctx.Err(); err != nil {
		return Unavailable(op, err)
	}
	return nil
}
