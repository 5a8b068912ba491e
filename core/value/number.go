package value

import (
	"math"
	"strconv"
)

const two63 = 1 << 63 // as a float64 constant: the first value beyond int64

// fromFloat gives a finite float its one form: int64 when it is integral and
// within int64 (so -0 becomes 0), else float64.
func fromFloat(f float64) (any, *Error) {
	if n, ok := integral(f); ok {
		return n, nil
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, errNotFinite(f)
	}
	return f, nil
}

// integral returns f as an int64 when that loses nothing.
func integral(f float64) (int64, bool) {
	if f >= -two63 && f < two63 {
		n := int64(f)
		return n, float64(n) == f
	}
	return 0, false
}

func errNotFinite(f float64) *Error {
	return fault(CodeNotFinite, strconv.FormatFloat(f, 'g', -1, 64)+" has no JSON form")
}

// toInt reads a normalised number as an int64.
func toInt(v any) (int64, *Error) {
	switch x := v.(type) {
	case int64:
		return x, nil
	case float64:
		if x == math.Trunc(x) {
			return 0, fault(CodeOutOfRange, string(appendFloat(nil, x))+" is beyond int64")
		}
		return 0, fault(CodeMismatch, string(appendFloat(nil, x))+" is not an integer")
	default:
		return 0, mismatch(v, "an integer")
	}
}

// toFloat reads a normalised number as a float64, never rounding an integer.
func toFloat(v any) (float64, *Error) {
	switch x := v.(type) {
	case float64:
		return x, nil
	case int64:
		f := float64(x)
		if f >= two63 || int64(f) != x {
			return 0, fault(CodeOutOfRange, strconv.FormatInt(x, 10)+" has no exact float64")
		}
		return f, nil
	default:
		return 0, mismatch(v, "a number")
	}
}

// appendNumber appends the canonical text of a finite float. One that is
// integral and within int64 prints as that int64 would, so that equal values
// have equal bytes even where the value skipped Normalize.
func appendNumber(dst []byte, f float64) ([]byte, *Error) {
	if n, ok := integral(f); ok {
		return AppendInt(dst, n), nil
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return dst, errNotFinite(f)
	}
	return appendFloat(dst, f), nil
}

// appendFloat appends the ECMAScript Number::toString text of f.
func appendFloat(dst []byte, f float64) []byte {
	if abs := math.Abs(f); abs == 0 || abs >= 1e-6 && abs < 1e21 {
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
	// strconv pads the exponent to two digits, ECMAScript doesn't.
	if n := len(dst); n >= 4 && dst[n-2] == '0' && (dst[n-3] == '-' || dst[n-3] == '+') {
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst
}
