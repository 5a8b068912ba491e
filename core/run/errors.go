package run

import (
	"errors"
	"fmt"

	"github.com/docket-go/docket/core/record"
)

// ErrUnsupportedFormat says that a document was written by a later version. It
// is incompatible, not damaged: a newer host can read it.
var ErrUnsupportedFormat = errors.New("run: unsupported_format")

// CorruptError says that a stored document can't be trusted.
type CorruptError struct {
	RunID string
	Path  string // the place in the document, empty when it can't be read at all
	Err   error
}

// Error tells the run, the place and what is wrong there.
func (e *CorruptError) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("run %q is corrupt: %v", e.RunID, e.Err)
	}
	return fmt.Sprintf("run %q is corrupt at %s: %v", e.RunID, e.Path, e.Err)
}

// Unwrap returns what is wrong.
func (e *CorruptError) Unwrap() error { return e.Err }

// damaged keeps an unsupported encoding apart from damage.
func damaged(runID string, err error) error {
	if errors.Is(err, record.ErrUnsupported) {
		return err
	}
	return &CorruptError{RunID: runID, Err: err}
}

// invalid is one broken rule of a document.
type invalid struct {
	path, message string
}

func (e *invalid) Error() string { return e.path + ": " + e.message }

func broken(path, format string, args ...any) error {
	return &invalid{path: path, message: fmt.Sprintf(format, args...)}
}

func unsupportedFormat(runID string, format int64) error {
	return fmt.Errorf("%w: run %q has format %d, this version reads up to %d", ErrUnsupportedFormat, runID, format, Format)
}
