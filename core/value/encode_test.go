package value

import (
	"crypto/sha256"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

// Each document is written in some spelling; its canonical bytes and their
// SHA-256 must never change.
func TestCanonicalGolden(t *testing.T) {
	t.Parallel()
	documents := []struct{ name, source string }{
		{"RFC 8785 3.2.2", `{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
			"string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]}`},
		{"RFC 8785 3.2.3", `{"\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter Dalet With Dagesh",
			"1": "One", "\ud83d\ude00": "Emoji: Grinning Face", "\u0080": "Control", "\u00f6": "Latin Small Letter O With Diaeresis"}`},
		{"surrogates before U+FFFF", `{"\uffff":2,"\ud83d\ude00":1}`},
		{"surrogates before U+FB33, deep", `[{"a":{"\ufb33":1,"\ud83d\ude00":2,"\ue000":{"\uffff":1,"\ud800\udc00":2}}}]`},
		{"number edges", `[0,-0,1,1.0,1e0,1e2,100,1e20,1e21,1e-6,1e-7,5e-324,1.7976931348623157e308,0.30000000000000004]`},
		{"integers beyond 2^53", `[9007199254740991,9007199254740992,9007199254740993,-9007199254740993,9223372036854775807,-9223372036854775808,9223372036854776000]`},
		{"no HTML escapes", `"a<b>&\u2028\u2029"`},
		{"all controls", `"\u0000\u0001\u0007\b\t\n\u000b\f\r\u001f\u007f\u0080"`},
		{"NFC and NFD", `{"\u00e9":1,"e\u0301":2,"\ufffd":3}`},
		{"empty", `{"a":[],"b":{},"c":"","d":null}`},
		{"node ids", `{"B":1,"Z":1,"a":1,"a-b":1,"a_b":1,"ab":1,"run-1":1,"run_10":1,"é":1}`},
	}
	var out strings.Builder
	for _, d := range documents {
		v, err := Decode([]byte(d.source))
		if err != nil {
			t.Fatalf("%s: %v", d.name, err)
		}
		data := mustEncode(t, v)
		fmt.Fprintf(&out, "# %s\n%s\n%x\n\n", d.name, data, sha256.Sum256([]byte(data)))
	}
	golden(t, "canonical.golden", out.String())
}

func TestRFC8785Examples(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		`{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}`: `{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
		`{"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7}`:                                                                                         "{\"\\r\":2,\"1\":4,\"\u0080\":6,\"ö\":7,\"€\":1,\"😀\":5,\"\ufb33\":3}",
	} {
		v, err := Decode([]byte(source))
		if err != nil {
			t.Fatal(err)
		}
		if got := mustEncode(t, v); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestKeyOrderIsUTF16(t *testing.T) {
	t.Parallel()
	r := seeded(t)
	for range 5000 {
		a, b := randomString(r), randomString(r)
		want := slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
		got := compareUTF16(a, b)
		if (got < 0) != (want < 0) || (got > 0) != (want > 0) {
			t.Fatalf("%+q against %+q: got %d, want %d", a, b, got, want)
		}
		keys := []string{a, b, randomString(r), randomString(r)}
		sortKeys(keys)
		if !slices.IsSortedFunc(keys, compareUTF16) {
			t.Fatalf("not sorted: %+q", keys)
		}
	}
	m := map[string]int{"\uffff": 1, "😀": 2, "a": 3}
	if got := CanonicalKeys(m); !slices.Equal(got, []string{"a", "😀", "\uffff"}) {
		t.Errorf("CanonicalKeys: %+q", got)
	}
	if got := Keys(m); !slices.Equal(got, []string{"a", "\uffff", "😀"}) {
		t.Errorf("Keys: %+q", got)
	}
}

func TestAppendKeepsTheDestination(t *testing.T) {
	t.Parallel()
	dst := []byte("x")
	got, err := Append(dst, map[string]any{"a": []any{int64(1), map[string]any{"b": true}}, "c": 1.5})
	if err != nil || string(got) != `x{"a":[1,{"b":true}],"c":1.5}` {
		t.Errorf("got %s, %v", got, err)
	}
	got, err = Append(dst, map[string]any{"a": []any{int64(1), make(chan int)}})
	if string(got) != "x" {
		t.Errorf("after an error: %s", got)
	}
	wantFault(t, err, CodeUnsupportedType, "a[1]")
	// The pooled state of the failed call must not leak into the next one.
	if got := mustEncode(t, map[string]any{"z": int64(1)}); got != `{"z":1}` {
		t.Errorf("after an error: %s", got)
	}
}

func TestAppendRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		v    any
		code Code
		path string
	}{
		{"a Go int", map[string]any{"n": 1}, CodeUnsupportedType, "n"},
		{"bytes", []any{[]byte("x")}, CodeUnsupportedType, "[0]"},
		{"invalid string", map[string]any{"a b": "\xff"}, CodeInvalidUTF8, `["a b"]`},
		{"invalid key", map[string]any{"\xff": nil}, CodeInvalidUTF8, "[\"\ufffd\"]"},
		{"infinity", []any{math.Inf(1)}, CodeNotFinite, "[0]"},
	} {
		_, err := Encode(tt.v)
		t.Run(tt.name, func(t *testing.T) { wantFault(t, err, tt.code, tt.path) })
	}
	loop := map[string]any{}
	loop["x"] = loop
	_, err := Encode(loop)
	wantCode(t, "a loop", err, CodeTooDeep)
}

// A float that skipped normalisation still prints as the value it equals.
func TestEqualValuesHaveEqualBytes(t *testing.T) {
	t.Parallel()
	for _, f := range []float64{1, math.Copysign(0, -1), 1 << 53, 1<<62 + 1<<12, -1 << 63} {
		n := int64(f)
		if a, b := mustEncode(t, f), mustEncode(t, n); a != b || !Equal(f, n) {
			t.Errorf("%v: %s and %s", f, a, b)
		}
	}
	r := seeded(t)
	for range 3000 {
		a, b := randomValue(r, 2), randomValue(r, 2)
		if Equal(a, b) != (mustEncode(t, a) == mustEncode(t, b)) {
			t.Fatalf("%#v and %#v", a, b)
		}
	}
}

func TestCompareIsExact(t *testing.T) {
	t.Parallel()
	r := seeded(t)
	numbers := []any{int64(math.MaxInt64), int64(math.MinInt64), float64(1 << 63), -float64(1 << 63), int64(1<<53 + 1), float64(1 << 53), 0.5, int64(0), -0.5, 1e300, -1e300}
	for range 200 {
		numbers = append(numbers, int64(r.Uint64()), randomFloat(r))
	}
	exact := func(v any) *big.Rat {
		if n, ok := v.(int64); ok {
			return new(big.Rat).SetInt64(n)
		}
		return new(big.Rat).SetFloat64(v.(float64))
	}
	for _, a := range numbers {
		for _, b := range numbers {
			want := exact(a).Cmp(exact(b))
			got, ok := Compare(a, b)
			if !ok || got != want || Equal(a, b) != (want == 0) {
				t.Fatalf("Compare(%v, %v) = %d, %v; want %d", a, b, got, ok, want)
			}
		}
	}
	for _, pair := range [][2]any{{int64(1), "1"}, {nil, int64(0)}, {math.NaN(), 1.0}, {int64(1), math.NaN()}, {math.NaN(), int64(1)}, {true, true}, {1, 1}} {
		if _, ok := Compare(pair[0], pair[1]); ok {
			t.Errorf("Compare(%v, %v) is ok", pair[0], pair[1])
		}
	}
}

func TestEqual(t *testing.T) {
	t.Parallel()
	one := []any{int64(1)}
	values := []any{int64(1), "1", true, nil, map[string]any{"a": int64(1)}, one, 1.5, map[string]any{}, []any{}, false, int64(0), "", map[string]any{"b": int64(1)}, map[string]any{"a": nil}}
	for i, a := range values {
		for j, b := range values {
			if Equal(a, Clone(b)) != (i == j) {
				t.Errorf("Equal(%v, %v)", a, b)
			}
		}
	}
	// Foreign values equal nothing, and never panic.
	for _, v := range []any{func() {}, []int{1}, map[string]int{}, 1, math.NaN(), struct{}{}} {
		if Equal(v, v) {
			t.Errorf("Equal(%v, itself)", v)
		}
	}
	if !Equal(map[string]any{"a": 1.0, "b": []any{nil}}, map[string]any{"b": []any{nil}, "a": int64(1)}) {
		t.Error("1.0 and 1 differ")
	}
	if Equal(int64(9007199254740993), float64(9007199254740992)) || Equal(int64(9007199254740993), int64(9007199254740992)) {
		t.Error("integers beyond 2^53 compare through float64")
	}
}
