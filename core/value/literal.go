package value

import (
	"math"
	"strconv"
)

// number is a JSON number literal, split while it was scanned.
type number struct {
	text  []byte
	plain bool // neither fraction nor exponent
}

// scanNumber reads the longest number literal at the start of data. The literal
// is malformed when ok is false, and end is where.
func scanNumber(data []byte) (lit number, end int, ok bool) {
	i := 0
	if i < len(data) && data[i] == '-' {
		i++
	}
	switch {
	case i < len(data) && data[i] == '0':
		i++
	case i < len(data) && isDigit(data[i]):
		i = skipDigits(data, i)
	default:
		return number{}, i, false
	}
	plain := true
	if i < len(data) && data[i] == '.' {
		plain = false
		from := i + 1
		if i = skipDigits(data, from); i == from {
			return number{}, i, false
		}
	}
	if i < len(data) && (data[i] == 'e' || data[i] == 'E') {
		plain = false
		i++
		if i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		from := i
		if i = skipDigits(data, from); i == from {
			return number{}, i, false
		}
	}
	return number{text: data[:i], plain: plain}, i, true
}

func skipDigits(data []byte, i int) int {
	for i < len(data) && isDigit(data[i]) {
		i++
	}
	return i
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// value returns the literal's one form.
func (lit number) value() (any, *Error) {
	if lit.plain {
		if n, ok := parseInt(lit.text); ok {
			return n, nil
		}
		return lit.wideInteger()
	}
	if n, ok := lit.exactInt(); ok {
		return n, nil
	}
	f, err := lit.float()
	if err != nil {
		return nil, err
	}
	return fromFloat(f)
}

// parseInt reads -?[0-9]+ exactly; false when it is beyond int64.
func parseInt(text []byte) (int64, bool) {
	digits := text
	if digits[0] == '-' {
		digits = digits[1:]
	}
	if len(digits) > 19 {
		return 0, false
	}
	var n uint64 // 19 digits always fit
	for _, c := range digits {
		n = n*10 + uint64(c-'0')
	}
	if len(digits) == len(text) {
		return int64(n), n <= math.MaxInt64
	}
	return -int64(n), n <= 1<<63
}

// wideInteger reads an integer literal beyond int64. Such a literal promises
// digits that a float64 doesn't keep, so only the text that a float64 prints is
// accepted: what was written is what will be read.
func (lit number) wideInteger() (any, *Error) {
	f, err := lit.float()
	if err != nil {
		return nil, err
	}
	var buf [32]byte
	if string(appendFloat(buf[:0], f)) != string(lit.text) {
		return nil, fault(CodeOutOfRange, "the integer "+lit.show()+" is beyond int64 and no exact float64")
	}
	return f, nil
}

func (lit number) float() (float64, *Error) {
	f, err := strconv.ParseFloat(string(lit.text), 64)
	if err != nil { // the syntax is known to be good: only the range is left
		return 0, fault(CodeOutOfRange, "the number "+lit.show()+" is beyond float64")
	}
	return f, nil
}

// exactInt reads a literal with a fraction or exponent whose exact decimal value
// is an integer within int64 (12.50e1, 9007199254740993.0), without going
// through float64.
func (lit number) exactInt() (int64, bool) {
	var buf [20]byte // a sign and the digits without leading or trailing zeros
	digits := buf[:0]
	scale, zeros := 0, 0 // digits · 10^scale; zeros are held back until a digit follows
	i, fraction, negative := 0, false, lit.text[0] == '-'
	if negative {
		i++
	}
scan:
	for ; i < len(lit.text); i++ {
		switch c := lit.text[i]; {
		case c == '.':
			fraction = true
		case c == '0':
			zeros++
		case isDigit(c):
			for ; zeros > 0 && len(digits) > 0; zeros-- {
				if len(digits) == 19 {
					return 0, false
				}
				digits = append(digits, '0')
			}
			if zeros = 0; len(digits) == 19 {
				return 0, false
			}
			digits = append(digits, c)
		default:
			break scan
		}
		if fraction && lit.text[i] != '.' {
			scale--
		}
	}
	if len(digits) == 0 {
		return 0, true
	}
	exponent, ok := parseExponent(lit.text[i:])
	scale += exponent + zeros
	if !ok || scale < 0 || len(digits)+scale > 19 {
		return 0, false
	}
	for ; scale > 0; scale-- {
		digits = append(digits, '0')
	}
	if negative {
		digits = append(digits, 0)
		copy(digits[1:], digits)
		digits[0] = '-'
	}
	return parseInt(digits)
}

// parseExponent reads e[+-]?[0-9]+ or nothing; false when it is too large to
// leave an integer within int64.
func parseExponent(text []byte) (int, bool) {
	if len(text) == 0 {
		return 0, true
	}
	n, err := strconv.Atoi(string(text[1:]))
	return n, err == nil && n < 1<<40 && n > -1<<40
}

// show returns the literal for a message, cut when it is long.
func (lit number) show() string {
	if len(lit.text) > 40 {
		return string(lit.text[:40]) + "…"
	}
	return string(lit.text)
}
