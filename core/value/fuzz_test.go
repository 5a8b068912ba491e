package value

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"testing"
)

func seedDocuments(f *testing.F) {
	for _, s := range []string{
		`null`, `[]`, `{}`, `{"a":[1,2.5,"x",null,true]}`, `"\ud83d\ude00\u0000"`, `"\ud800"`, `{"id":1,"\u0069d":2}`,
		`[9007199254740993,9223372036854775808,1e400,-0,1e-7,12.50e1]`, `{"😀":1,"` + "\uffff" + `":2}`, "\"\xff\"", `[[[[`, ` 1 2`,
	} {
		f.Add([]byte(s))
	}
}

// FuzzDecode proves that whatever is accepted is JSON to others too, reads back
// from its canonical bytes as itself, and that those bytes are a fixed point.
// What is refused is either not JSON or falls under a named rule.
func FuzzDecode(f *testing.F) {
	seedDocuments(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := Decode(data)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Offset < 0 || e.Offset > int64(len(data)) {
				t.Fatalf("%q: %v", data, err)
			}
			stricter := e.Code == CodeDuplicateKey || e.Code == CodeInvalidUTF8 || e.Code == CodeOutOfRange || e.Code == CodeTooDeep
			if json.Valid(data) && !stricter {
				t.Fatalf("%q is JSON: %v", data, err)
			}
			return
		}
		if !json.Valid(data) {
			t.Fatalf("%q isn't JSON, but is %#v", data, v)
		}
		canonical, err := Encode(v)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Decode(canonical)
		if err != nil || !Equal(again, v) || !reflect.DeepEqual(again, v) {
			t.Fatalf("%q: %#v reads back as %#v, %v", data, v, again, err)
		}
		if second, err := Encode(again); err != nil || !bytes.Equal(second, canonical) {
			t.Fatalf("%q, then %q, %v", canonical, second, err)
		}
		if !Equal(Clone(v), v) {
			t.Fatalf("%q: a clone differs", data)
		}
	})
}

// FuzzNormalize compares the two ways in: a document that encoding/json decoded
// normalises to the value that Decode reads.
func FuzzNormalize(f *testing.F) {
	seedDocuments(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.UseNumber()
		var loose any
		if dec.Decode(&loose) != nil {
			return
		}
		got, err := Normalize(loose)
		want, strict := Decode(data)
		if strict == nil && (err != nil || !reflect.DeepEqual(got, want)) {
			t.Fatalf("%q: %#v, %v; Decode reads %#v", data, got, err, want)
		}
		if err != nil {
			return
		}
		if again, err := Normalize(got); err != nil || !reflect.DeepEqual(again, got) {
			t.Fatalf("%#v normalises to %#v, %v", got, again, err)
		}
		var into any
		if err := Into(got, &into); err != nil || !reflect.DeepEqual(into, got) {
			t.Fatalf("Into: %#v, %v", into, err)
		}
	})
}
