package value

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxIDBytes   = 255
	maxNameBytes = 128
)

// MaxText bounds the error texts that are stored, in bytes.
const MaxText = 8 << 10

// CheckID says whether s can be an id: 1 to 255 bytes of valid UTF-8 without
// control characters. Case and spaces are significant. The error is an *Error
// with CodeInvalidID.
func CheckID(s string) error {
	switch {
	case s == "":
		return fault(CodeInvalidID, "the id is empty")
	case len(s) > maxIDBytes:
		return fault(CodeInvalidID, "the id has "+strconv.Itoa(len(s))+" bytes, at most 255 are allowed")
	case !utf8.ValidString(s):
		return fault(CodeInvalidID, "the id isn't valid UTF-8")
	}
	if i := strings.IndexFunc(s, unicode.IsControl); i >= 0 {
		return fault(CodeInvalidID, "the id has a control character at byte "+strconv.Itoa(i))
	}
	return nil
}

// CheckName says whether s can be the id of a graph, node, edge, input, field
// or output: [A-Za-z0-9][A-Za-z0-9_-]*, at most 128 bytes. The error is an
// *Error with CodeInvalidID.
func CheckName(s string) error {
	if isName(s) {
		return nil
	}
	switch {
	case s == "":
		return fault(CodeInvalidID, "the name is empty")
	case len(s) > maxNameBytes:
		return fault(CodeInvalidID, "the name has "+strconv.Itoa(len(s))+" bytes, at most 128 are allowed")
	default:
		return fault(CodeInvalidID, strconv.QuoteToASCII(s)+" doesn't match [A-Za-z0-9][A-Za-z0-9_-]*")
	}
}

func isName(s string) bool {
	if s == "" || len(s) > maxNameBytes || s[0] == '_' || s[0] == '-' {
		return false
	}
	for i := 0; i < len(s); i++ {
		if !isNameByte(s[i]) {
			return false
		}
	}
	return true
}

func isNameByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || isDigit(c) || c == '_' || c == '-'
}

// Cut returns s as valid UTF-8 of at most limit bytes: each invalid byte becomes
// U+FFFD, and the end falls on a rune boundary.
func Cut(s string, limit int) string {
	if len(s) <= limit && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	b.Grow(max(0, min(len(s), limit)))
	for _, r := range s { // an invalid byte arrives as U+FFFD
		if b.Len()+utf8.RuneLen(r) > limit {
			break
		}
		b.WriteRune(r)
	}
	return b.String()
}
