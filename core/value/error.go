package value

import (
	"strconv"
	"strings"
)

// Code says what is wrong with a value, stable for programs.
type Code string

// The codes of an Error.
const (
	CodeUnsupportedType Code = "unsupported_type" // no form in the data model: func, chan, complex, []byte …
	CodeInvalidUTF8     Code = "invalid_utf8"     // a string or key that isn't Unicode text
	CodeOutOfRange      Code = "out_of_range"     // a number or time that its form can't hold exactly
	CodeNotFinite       Code = "not_finite"       // NaN or an infinity
	CodeTooDeep         Code = "too_deep"         // more nested containers than MaxDepth or MaxDocumentDepth
	CodeTooLarge        Code = "too_large"        // more than MaxItems elements and entries
	CodeCycle           Code = "cycle"            // a Go value that contains itself
	CodeKeyCollision    Code = "key_collision"    // a struct with two fields for one key
	CodeMarshal         Code = "marshal"          // a marshaler or unmarshaler failed or panicked
	CodeDuplicateKey    Code = "duplicate_key"    // an object that names a key twice
	CodeSyntax          Code = "syntax"           // not JSON
	CodeTrailingBytes   Code = "trailing_bytes"   // something follows the document
	CodeMismatch        Code = "mismatch"         // another kind than the one asked for
	CodeMissing         Code = "missing"          // no entry of that name
	CodeUnknownKey      Code = "unknown_key"      // a struct has no field for the key
	CodeInvalidID       Code = "invalid_id"       // an id or name that breaks its rule
)

// Error is what every failing function of this package returns.
type Error struct {
	Code    Code
	Path    string // where, like items[3].when; empty at the top
	Offset  int64  // the byte of the document, when one was decoded
	Message string
	cause   error
}

// Error returns the code, the place and the message in one line.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("value: ")
	b.WriteString(string(e.Code))
	if e.Path != "" {
		b.WriteString(" at ")
		b.WriteString(e.Path)
	}
	if e.Offset > 0 {
		b.WriteString(" (byte ")
		b.WriteString(strconv.FormatInt(e.Offset, 10))
		b.WriteString(")")
	}
	b.WriteString(": ")
	b.WriteString(e.Message)
	return b.String()
}

// Unwrap returns the error of the marshaler or unmarshaler that failed, if any.
func (e *Error) Unwrap() error { return e.cause }

// under moves the error below one more path segment. Paths are built while the
// error unwinds, so that success pays nothing for them.
func (e *Error) under(segment string) *Error {
	switch {
	case e.Path == "":
		e.Path = segment
	case e.Path[0] == '[':
		e.Path = segment + e.Path
	default:
		e.Path = segment + "." + e.Path
	}
	return e
}

func (e *Error) underKey(key string) *Error { return e.under(PathKey("", key)) }
func (e *Error) underIndex(i int) *Error    { return e.under(PathIndex("", i)) }

func fault(code Code, message string) *Error { return &Error{Code: code, Message: message} }

// asError avoids the typed nil that a *Error in an error interface would be.
func asError(e *Error) error {
	if e == nil {
		return nil
	}
	return e
}
