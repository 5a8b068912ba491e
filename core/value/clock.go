package value

import (
	"strconv"
	"strings"
	"time"
)

const timeLayout = "2006-01-02T15:04:05.999999Z07:00"

// Time returns t in UTC, truncated to microseconds, without a monotonic part:
// the only form of time that docket stores or compares (VAL-3).
func Time(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// FormatTime returns the RFC 3339 text of Time(t), with as many fractional
// digits as it needs. The text reads back by ParseTime for the years 0 to 9999.
func FormatTime(t time.Time) string { return Time(t).Format(timeLayout) }

// ParseTime reads an RFC 3339 text, any offset, and returns it as Time does. It
// is strict: no one-digit hours, no comma, no offset over 23:59. The error is an
// *Error with CodeMismatch, or CodeOutOfRange when the year in UTC isn't one of
// 0 to 9999.
func ParseTime(s string) (time.Time, error) {
	t, err := parseTime(s)
	return t, asError(err)
}

func parseTime(s string) (time.Time, *Error) {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil || !isStrict(s) {
		return time.Time{}, fault(CodeMismatch, strconv.QuoteToASCII(Cut(s, 64))+" is not an RFC 3339 time")
	}
	if err := checkYear(t); err != nil {
		return time.Time{}, err
	}
	return Time(t), nil
}

// isStrict refuses what package time reads beyond RFC 3339: a one-digit hour, a
// comma before the fraction, an offset that no clock has.
func isStrict(s string) bool {
	const hour, colon = len("2006-01-02T"), len("2006-01-02T15")
	if s[colon] != ':' || strings.Contains(s[hour:], ",") {
		return false
	}
	if strings.HasSuffix(s, "Z") {
		return true
	}
	offset := s[len(s)-len("07:00"):]
	return offset[:2] <= "23" && offset[3:] <= "59"
}

func checkYear(t time.Time) *Error {
	if y := t.UTC().Year(); y < 0 || y > 9999 {
		return fault(CodeOutOfRange, "the year "+strconv.Itoa(y)+" has no RFC 3339 text")
	}
	return nil
}
