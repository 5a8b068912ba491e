package value

import (
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// The vectors of RFC 8785, appendix B.
func TestECMAScriptNumbers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		bits uint64
		want string
	}{
		{0x0000000000000000, "0"},
		{0x8000000000000000, "0"},
		{0x0000000000000001, "5e-324"},
		{0x8000000000000001, "-5e-324"},
		{0x7fefffffffffffff, "1.7976931348623157e+308"},
		{0xffefffffffffffff, "-1.7976931348623157e+308"},
		{0x4340000000000000, "9007199254740992"},
		{0xc340000000000000, "-9007199254740992"},
		{0x4430000000000000, "295147905179352830000"},
		{0x44b52d02c7e14af5, "9.999999999999997e+22"},
		{0x44b52d02c7e14af6, "1e+23"},
		{0x44b52d02c7e14af7, "1.0000000000000001e+23"},
		{0x444b1ae4d6e2ef4e, "999999999999999700000"},
		{0x444b1ae4d6e2ef4f, "999999999999999900000"},
		{0x444b1ae4d6e2ef50, "1e+21"},
		{0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
		{0x3eb0c6f7a0b5ed8d, "0.000001"},
		{0x41b3de4355555553, "333333333.3333332"},
		{0x41b3de4355555554, "333333333.33333325"},
		{0x41b3de4355555555, "333333333.3333333"},
		{0x41b3de4355555556, "333333333.3333334"},
		{0x41b3de4355555557, "333333333.33333343"},
		{0xbecbf647612f3696, "-0.0000033333333333333333"},
		{0x43143ff3c1cb0959, "1424953923781206.2"},
	} {
		f := math.Float64frombits(tt.bits)
		got, err := Encode(f)
		if err != nil || string(got) != tt.want {
			t.Errorf("%x: got %s, %v; want %s", tt.bits, got, err, tt.want)
		}
		back, err := Decode([]byte(tt.want))
		if err != nil || !Equal(back, f) {
			t.Errorf("%s reads back as %v, %v", tt.want, back, err)
		}
	}
}

func TestNumberLiterals(t *testing.T) {
	t.Parallel()
	huge := strings.Repeat("9", 400)
	for _, tt := range []struct {
		literal string
		want    any // nil: refused
		code    Code
	}{
		{"0", int64(0), ""},
		{"-0", int64(0), ""},
		{"-0.0", int64(0), ""},
		{"0e999999999999999999999", int64(0), ""},
		{"1", int64(1), ""},
		{"1.0", int64(1), ""},
		{"1e0", int64(1), ""},
		{"1E+0", int64(1), ""},
		{"1e2", int64(100), ""},
		{"12.50e1", int64(125), ""},
		{"1200e-2", int64(12), ""},
		{"0.001e3", int64(1), ""},
		{"-10.0e-1", int64(-1), ""},
		{"1.5", 1.5, ""},
		{"15e-1", 1.5, ""},
		{"9007199254740993", int64(9007199254740993), ""},
		{"9007199254740993.0", int64(9007199254740993), ""},
		{"900719925474099300e-2", int64(9007199254740993), ""},
		{"9.007199254740993e15", int64(9007199254740993), ""},
		{"9007199254740993.5", int64(9007199254740994), ""}, // rounds to an integral float
		{"1.00000000000000000000000000000001", int64(1), ""},
		{"9223372036854775807", int64(math.MaxInt64), ""},
		{"9223372036854775807.0", int64(math.MaxInt64), ""},
		{"-9223372036854775808", int64(math.MinInt64), ""},
		{"-9223372036854775808.000", int64(math.MinInt64), ""},
		{"9223372036854775808", nil, CodeOutOfRange}, // the float prints ...6000
		{"9223372036854776000", float64(1 << 63), ""},
		{"-9223372036854775809", nil, CodeOutOfRange},
		{"9223372036854775808.0", float64(1 << 63), ""}, // not an integer literal
		{"18446744073709551616", nil, CodeOutOfRange},
		{"18446744073709552000", float64(1 << 64), ""},
		{"100000000000000000000", 1e20, ""},
		{"1e20", 1e20, ""},
		{"1e21", 1e21, ""},
		{"1000000000000000000000", nil, CodeOutOfRange}, // its text is 1e+21
		{"1e18", int64(1e18), ""},
		{"1e19", 1e19, ""},
		{"1e-6", 1e-6, ""},
		{"1e-7", 1e-7, ""},
		{"5e-324", 5e-324, ""},
		{"1e-400", int64(0), ""},
		{"-1e-400", int64(0), ""},
		{"1.7976931348623157e308", math.MaxFloat64, ""},
		{"1e309", nil, CodeOutOfRange},
		{"-1e99999999999999999999", nil, CodeOutOfRange},
		{"1e-99999999999999999999", int64(0), ""},
		{"0.1", 0.1, ""},
		{"0.30000000000000004", 0.1 + float64(0.2), ""},
		{huge, nil, CodeOutOfRange},
		{"0." + huge, int64(1), ""},
		{huge + "e-400", int64(1), ""},
	} {
		for _, path := range []struct {
			name string
			read func(string) (any, error)
		}{
			{"Decode", func(s string) (any, error) { return Decode([]byte(s)) }},
			{"Normalize", func(s string) (any, error) { return Normalize(json.Number(s)) }},
		} {
			got, err := path.read(tt.literal)
			if tt.want == nil {
				wantCode(t, path.name+" "+tt.literal, err, tt.code)
			} else if err != nil || got != tt.want {
				t.Errorf("%s(%s) = %T(%v), %v; want %T(%v)", path.name, tt.literal, got, got, err, tt.want, tt.want)
			}
		}
	}
}

// A random decimal literal means what exact arithmetic says it means.
func TestNumberLiteralsAgainstBig(t *testing.T) {
	t.Parallel()
	r := seeded(t)
	for range 20000 {
		lit := randomLiteral(r)
		exact, ok := new(big.Rat).SetString(lit)
		if !ok {
			t.Fatalf("bad literal %q", lit)
		}
		got, err := Decode([]byte(lit))
		f, _ := strconv.ParseFloat(lit, 64)
		switch {
		case exact.IsInt() && exact.Num().IsInt64():
			if got != exact.Num().Int64() {
				t.Fatalf("%s: got %v, %v", lit, got, err)
			}
		case math.IsInf(f, 0):
			wantCode(t, lit, err, CodeOutOfRange)
		case strings.ContainsAny(lit, ".eE"):
			if !Equal(got, mustNormalize(t, f)) {
				t.Fatalf("%s: got %v, %v; want %v", lit, got, err, f)
			}
		default:
			if text := string(appendFloat(nil, f)); (text == lit) != (err == nil) {
				t.Fatalf("%s: got %v, %v; its float is %s", lit, got, err, text)
			}
		}
	}
}

func randomLiteral(r *rand.Rand) string {
	var b strings.Builder
	digits := func(n int) {
		for range n {
			b.WriteByte("0000123456789"[r.IntN(13)])
		}
	}
	if r.IntN(2) == 0 {
		b.WriteByte('-')
	}
	if r.IntN(3) == 0 {
		b.WriteByte('0')
	} else {
		b.WriteByte(byte('1' + r.IntN(9)))
		digits(r.IntN(24))
	}
	if r.IntN(2) == 0 {
		b.WriteByte('.')
		digits(1 + r.IntN(24))
	}
	if r.IntN(2) == 0 {
		b.WriteString("e" + strconv.Itoa(r.IntN(60)-30))
	}
	return b.String()
}

func TestNotFinite(t *testing.T) {
	t.Parallel()
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		_, err := Normalize(map[string]any{"x": f})
		wantFault(t, err, CodeNotFinite, "x")
		_, err = Encode([]any{f})
		wantFault(t, err, CodeNotFinite, "[0]")
	}
}
