package value

import (
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
)

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		source string
		code   Code
		offset int64
		path   string
	}{
		{``, CodeSyntax, 0, ""},
		{`  `, CodeSyntax, 2, ""},
		{"\ufeff1", CodeSyntax, 0, ""},
		{`nul`, CodeSyntax, 0, ""},
		{`True`, CodeSyntax, 0, ""},
		{`NaN`, CodeSyntax, 0, ""},
		{`+1`, CodeSyntax, 0, ""},
		{`.5`, CodeSyntax, 0, ""},
		{`1.`, CodeSyntax, 2, ""},
		{`[1.x]`, CodeSyntax, 3, "[0]"},
		{`1e`, CodeSyntax, 2, ""},
		{`1e+`, CodeSyntax, 3, ""},
		{`-`, CodeSyntax, 1, ""},
		{`01`, CodeTrailingBytes, 1, ""},
		{`0x10`, CodeTrailingBytes, 1, ""},
		{`{} {}`, CodeTrailingBytes, 3, ""},
		{"1\x00", CodeTrailingBytes, 1, ""},
		{`[1,]`, CodeSyntax, 3, "[1]"},
		{`[1 2]`, CodeSyntax, 3, ""},
		{`[1`, CodeSyntax, 2, ""},
		{`[`, CodeSyntax, 1, "[0]"},
		{`{"a":1,}`, CodeSyntax, 7, ""},
		{`{a:1}`, CodeSyntax, 1, ""},
		{`{"a" 1}`, CodeSyntax, 5, "a"},
		{`{"a":}`, CodeSyntax, 5, "a"},
		{`{"a":1 "b":2}`, CodeSyntax, 7, ""},
		{`{"a":1`, CodeSyntax, 6, ""},
		{`'a'`, CodeSyntax, 0, ""},
		{`"a`, CodeSyntax, 2, ""},
		{`"a\`, CodeSyntax, 3, ""},
		{`"a\"`, CodeSyntax, 4, ""},
		{"\"a\nb\"", CodeSyntax, 2, ""},
		{"\"\x00\"", CodeSyntax, 1, ""},
		{`"\x"`, CodeSyntax, 1, ""},
		{"\"\\\n\"", CodeSyntax, 1, ""},
		{"\"\\é\"", CodeSyntax, 1, ""},
		{`"\u12"`, CodeSyntax, 1, ""},
		{`"\u12g4"`, CodeSyntax, 1, ""},
		{`"\u"`, CodeSyntax, 1, ""},
		{"\"ab\xff\"", CodeInvalidUTF8, 3, ""},
		{"{\"k\":\"\xfe\"}", CodeInvalidUTF8, 6, "k"},
		{"{\"\xfe\":1}", CodeInvalidUTF8, 2, ""},
		{"\"\xed\xa0\x80\"", CodeInvalidUTF8, 1, ""},     // a surrogate in UTF-8
		{"\"\xc0\x80\"", CodeInvalidUTF8, 1, ""},         // an overlong NUL
		{"\"\xf4\x90\x80\x80\"", CodeInvalidUTF8, 1, ""}, // beyond U+10FFFF
		{`"\ud800"`, CodeInvalidUTF8, 1, ""},
		{`"x\udc00"`, CodeInvalidUTF8, 2, ""},
		{`"\ud800\ud800"`, CodeInvalidUTF8, 1, ""},
		{`"\ud800\u0041"`, CodeInvalidUTF8, 1, ""},
		{`"\ud800\n"`, CodeInvalidUTF8, 1, ""},
		{`"\ud83d\ude0"`, CodeInvalidUTF8, 1, ""},
		{`{"id":"x","id":"y"}`, CodeDuplicateKey, 10, "id"},
		{`{"id":"x","\u0069d":"y"}`, CodeDuplicateKey, 10, "id"},
		{`{"nodes":{"a":{},"b":[{"x":1,"x":1}]}}`, CodeDuplicateKey, 29, "nodes.b[0].x"},
		{`{"":1,"":2}`, CodeDuplicateKey, 6, `[""]`},
		{`{"a":[0,9223372036854775808]}`, CodeOutOfRange, 8, "a[1]"},
		{`[1e400]`, CodeOutOfRange, 1, "[0]"},
	} {
		_, err := Decode([]byte(tt.source))
		var e *Error
		if !errors.As(err, &e) || e.Code != tt.code || e.Offset != tt.offset || e.Path != tt.path {
			t.Errorf("%q: got %v (%+v); want %s at %q, byte %d", tt.source, err, e, tt.code, tt.path, tt.offset)
		}
	}
}

func TestDecodeAccepts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		source string
		want   any
	}{
		{" \t\r\n null \n", nil},
		{`true`, true},
		{`[false]`, []any{false}},
		{`[]`, []any{}},
		{`[ ]`, []any{}},
		{`{ }`, map[string]any{}},
		{`{"a":{"b":[1,2.5,"x"]},"c":null}`, map[string]any{"a": map[string]any{"b": []any{int64(1), 2.5, "x"}}, "c": nil}},
		{`[[1,[2]],[3]]`, []any{[]any{int64(1), []any{int64(2)}}, []any{int64(3)}}},
		{`"\u0041\/\b\f\n\r\t\"\\\u00e9\u2028\u0000"`, "A/\b\f\n\r\t\"\\é\u2028\x00"},
		{`"\ud83d\ude00\uFFFD"`, "😀\ufffd"},
		{`"\\u0000"`, `\u0000`},
		{"\"\ufffd\u007f\"", "\ufffd\u007f"},
		{`{"id":"x","ID":"y"}`, map[string]any{"id": "x", "ID": "y"}}, // only a struct folds case
	} {
		got, err := Decode([]byte(tt.source))
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: got %#v, %v", tt.source, got, err)
		}
		if !json.Valid([]byte(tt.source)) {
			t.Errorf("%s: encoding/json refuses it", tt.source)
		}
	}
}

func TestDepthIsBoundedEverywhereAlike(t *testing.T) {
	t.Parallel()
	nest := func(n int) (string, any) {
		var v any = int64(1)
		for i := range n {
			if i%2 == 0 {
				v = []any{v}
			} else {
				v = map[string]any{"k": v}
			}
		}
		return mustJSON(t, v), v
	}
	text, v := nest(MaxDocumentDepth)
	if got, err := Decode([]byte(text)); err != nil || !Equal(got, v) {
		t.Errorf("Decode at the limit: %v", err)
	}
	if got := mustEncode(t, v); got != text {
		t.Errorf("Encode at the limit: %s", got)
	}
	text, v = nest(MaxDepth)
	if got, err := Normalize(v); err != nil || !Equal(got, v) {
		t.Errorf("Normalize at the limit: %v", err)
	}
	if got, err := Normalize(json.RawMessage(text)); err != nil || !Equal(got, v) {
		t.Errorf("Normalize of raw JSON at the limit: %v", err)
	}
	text, v = nest(MaxDocumentDepth + 1)
	_, err := Decode([]byte(text))
	wantCode(t, "Decode", err, CodeTooDeep)
	_, err = Encode(v)
	wantCode(t, "Encode", err, CodeTooDeep)
	for _, wrap := range []func(any) any{
		func(v any) any { return []any{v} },
		func(v any) any { return map[string]any{"k": v} },
	} {
		deeper := wrap(v)
		text := mustJSON(t, deeper)
		_, err := Decode([]byte(text))
		wantCode(t, "Decode", err, CodeTooDeep)
		_, err = Normalize(deeper)
		wantCode(t, "Normalize", err, CodeTooDeep)
		_, err = Normalize(json.RawMessage(text))
		wantCode(t, "Normalize of raw JSON", err, CodeTooDeep)
		_, err = Normalize(wrap(json.RawMessage(mustJSON(t, v))))
		wantCode(t, "Normalize of raw JSON inside", err, CodeTooDeep)
		_, err = Encode(deeper)
		wantCode(t, "Encode", err, CodeTooDeep)
	}
	for _, deeper := range []any{struct{ V any }{v}, map[color]any{"k": v}, [1]any{v}} {
		_, err := Normalize(deeper)
		wantCode(t, "Normalize by reflection", err, CodeTooDeep)
	}
	_, err = Decode([]byte(strings.Repeat("[", 1<<20)))
	wantCode(t, "a bomb", err, CodeTooDeep)
}

// The pooled state of a call keeps nothing of its document alive, whether the
// call succeeded or not.
func TestPoolsKeepNothing(t *testing.T) {
	t.Parallel()
	for _, source := range []string{`{"a":[1,"x",{"b":["y"]}],"c":{}}`, `{"a":[1,"x",{"b":["y",`, `[{"a":1,"a":"x"}]`} {
		var d decoder
		d.data, d.text = []byte(source), source
		v, err := d.value(0)
		d.reset()
		for _, m := range d.members[:cap(d.members)] {
			if m != (member{}) {
				t.Errorf("%s: a member stays", source)
			}
		}
		for _, item := range d.items[:cap(d.items)] {
			if item != nil {
				t.Errorf("%s: an item stays", source)
			}
		}
		if d.data != nil || d.text != "" {
			t.Errorf("%s: the document stays", source)
		}
		if err != nil {
			v = map[string]any{"a": map[string]any{"b": 1}}
		}
		var e encoder
		_, _ = e.value(nil, v, 0)
		e.reset()
		for _, k := range e.keys[:cap(e.keys)] {
			if k != "" {
				t.Errorf("%s: a key stays", source)
			}
		}
	}
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestDecodeObject(t *testing.T) {
	t.Parallel()
	m, err := DecodeObject([]byte(` {"a":1} `))
	if err != nil || !Equal(m, map[string]any{"a": int64(1)}) {
		t.Errorf("got %v, %v", m, err)
	}
	_, err = DecodeObject([]byte(`[1]`))
	wantFault(t, err, CodeMismatch, "")
	_, err = DecodeObject([]byte(`{`))
	wantCode(t, "an open object", err, CodeSyntax)
}

// A decoded value shares nothing with the bytes it came from, small or large.
func TestDecodeKeepsNothing(t *testing.T) {
	t.Parallel()
	for _, size := range []int{10, maxShared + 10} {
		want := map[string]any{"key": strings.Repeat("x", size), "list": []any{"y\n"}}
		data := []byte(mustEncode(t, want))
		got, err := Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		for i := range data {
			data[i] = '#'
		}
		if !Equal(got, want) {
			t.Errorf("size %d: the value changed with its bytes", size)
		}
	}
}

// A large document takes other paths for its strings; many calls at once share
// the pooled state.
func TestLargeDocuments(t *testing.T) {
	t.Parallel()
	r := seeded(t)
	items := []any{}
	for i := range 2 * maxKeys {
		m := randomValue(r, 3)
		items = append(items, map[string]any{"same": m, "own-" + strconv.Itoa(i): "é\n" + strconv.Itoa(i), "a\"b": int64(i)})
	}
	want := mustEncode(t, items)
	if len(want) <= maxShared {
		t.Fatalf("only %d bytes", len(want))
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			got, err := Decode([]byte(want))
			if err != nil || !reflect.DeepEqual(got, any(items)) {
				t.Errorf("reads back otherwise: %v", err)
				return
			}
			scribble(got)
			_, err = Decode([]byte(`{"left":["open",{"x":1,"x":2}]}`))
			wantFault(t, err, CodeDuplicateKey, "left[1].x")
			if data, err := Encode(items); err != nil || string(data) != want {
				t.Errorf("encodes otherwise: %v", err)
			}
		})
	}
	wg.Wait()
	pad := `{"pad":"` + strings.Repeat("x", maxShared) + `",`
	for _, tail := range []string{`"\u0070ad":1}`, `"k":1,"k":2}`, "\"\xff\":1}", `"\q":1}`} {
		if _, err := Decode([]byte(pad + tail)); err == nil {
			t.Errorf("%q is accepted", tail)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	r := seeded(t)
	for range 3000 {
		v := randomValue(r, 4)
		data := mustEncode(t, v)
		got, err := Decode([]byte(data))
		if err != nil || !reflect.DeepEqual(got, v) || !Equal(got, v) {
			t.Fatalf("%#v\nreads back as %#v, %v", v, got, err)
		}
		if !json.Valid([]byte(data)) {
			t.Fatalf("encoding/json refuses %s", data)
		}
		// Another writer's spelling of the same value.
		other, err := json.MarshalIndent(v, " ", "\t")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Decode(other); err != nil || !reflect.DeepEqual(got, v) {
			t.Fatalf("%s\nreads as %#v, %v", other, got, err)
		}
	}
}
