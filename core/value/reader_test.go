package value

import (
	"math"
	"slices"
	"sync"
	"testing"
	"time"
)

func TestReader(t *testing.T) {
	t.Parallel()
	r := NewReader(map[string]any{
		"s": "x", "i": int64(3), "f": 1.5, "b": true, "l": []any{int64(1)}, "m": map[string]any{"k": "v"},
		"null": nil, "wide": float64(1 << 63), "exact": int64(math.MaxInt64),
	})
	if v, err := r.String("s"); v != "x" || err != nil {
		t.Error(v, err)
	}
	if v, err := r.Int("i"); v != 3 || err != nil {
		t.Error(v, err)
	}
	if v, err := r.Float("f"); v != 1.5 || err != nil {
		t.Error(v, err)
	}
	if v, err := r.Float("i"); v != 3 || err != nil {
		t.Error(v, err)
	}
	if v, err := r.Float("wide"); v != 1<<63 || err != nil {
		t.Error(v, err)
	}
	if v, err := r.Bool("b"); !v || err != nil {
		t.Error(v, err)
	}
	if v, ok := r.Get("null"); v != nil || !ok || !r.Has("null") || r.Has("none") {
		t.Error("null must differ from absent")
	}
	if _, ok := r.Get("none"); ok || r.Len() != 9 {
		t.Error("none is there")
	}
	if got := r.Names(); !slices.IsSorted(got) || len(got) != 9 {
		t.Error(got)
	}
	var n int
	if err := r.Decode("i", &n); n != 3 || err != nil {
		t.Error(n, err)
	}
	for name, read := range map[string]func(string) error{
		"String": func(s string) error { _, err := r.String(s); return err },
		"Int":    func(s string) error { _, err := r.Int(s); return err },
		"Float":  func(s string) error { _, err := r.Float(s); return err },
		"Bool":   func(s string) error { _, err := r.Bool(s); return err },
		"List":   func(s string) error { _, err := r.List(s); return err },
		"Map":    func(s string) error { _, err := r.Map(s); return err },
		"Decode": func(s string) error { return r.Decode(s, new(struct{ X int })) },
	} {
		t.Run(name, func(t *testing.T) {
			wantFault(t, read("no such"), CodeMissing, `["no such"]`)
			wantFault(t, read("null"), CodeMismatch, "null")
		})
	}
	_, err := r.Int("f")
	wantFault(t, err, CodeMismatch, "f")
	_, err = r.Int("wide")
	wantFault(t, err, CodeOutOfRange, "wide")
	_, err = r.Float("exact")
	wantFault(t, err, CodeOutOfRange, "exact")
	_, err = r.String("l")
	wantFault(t, err, CodeMismatch, "l")
	if err.Error() != "value: mismatch at l: a list is not a string" {
		t.Error(err)
	}
}

func TestErrorText(t *testing.T) {
	t.Parallel()
	for want, v := range map[string]any{
		"value: mismatch: null is not a time":                                     nil,
		"value: mismatch: a boolean is not a time":                                true,
		"value: mismatch: an integer is not a time":                               int64(1),
		"value: mismatch: a number with a fraction or beyond int64 is not a time": 1.5,
		"value: mismatch: a list is not a time":                                   []any{},
		"value: mismatch: an object is not a time":                                map[string]any{},
		"value: mismatch: a Go int is not a time":                                 1,
	} {
		if err := Into(v, new(time.Time)); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if o := Some(nil); !o.Set || o == (Optional{}) {
		t.Error("an explicit null is absent")
	}
}

func TestZeroReader(t *testing.T) {
	t.Parallel()
	var r Reader
	if v := r.Values(); v == nil || len(v) != 0 || r.Len() != 0 || r.Has("x") || len(r.Names()) != 0 {
		t.Error("the zero reader isn't empty")
	}
	if err := r.DecodeAll(new(order)); err != nil {
		t.Error(err)
	}
}

func TestReaderDecodeAll(t *testing.T) {
	t.Parallel()
	type part struct {
		ID string `json:"id"`
		In struct {
			A int `json:"a"`
		} `json:"in"`
	}
	var p part
	err := NewReader(map[string]any{"id": "x", "ID": "y", "more": 1.5}).DecodeAll(&p)
	if err != nil || p.ID != "x" {
		t.Errorf("a part of the state: %+v, %v", p, err)
	}
	err = NewReader(map[string]any{"Id": "x"}).DecodeAll(&p)
	wantFault(t, err, CodeUnknownKey, "Id")
	err = NewReader(map[string]any{"in": map[string]any{"b": int64(1)}}).DecodeAll(&p)
	wantFault(t, err, CodeUnknownKey, "in.b")
	var all map[string]any
	if err := NewReader(map[string]any{"x": nil}).DecodeAll(&all); err != nil || len(all) != 1 {
		t.Error(all, err)
	}
}

// Nodes of one superstep read one state at once, and change what they were
// given: nothing of it may reach the others. Worth running under -race.
func TestReaderSharesNothing(t *testing.T) {
	t.Parallel()
	state := func() map[string]any {
		return map[string]any{"l": []any{map[string]any{"n": int64(1)}}, "m": map[string]any{"k": []any{"v"}}}
	}
	kept := state()
	r := NewReader(kept)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			l, _ := r.List("l")
			l[0].(map[string]any)["n"] = "changed"
			m, _ := r.Map("m")
			m["k"].([]any)[0] = "changed"
			m["new"] = true
			v, _ := r.Get("l")
			v.([]any)[0] = nil
			all := r.Values()
			all["m"].(map[string]any)["k"] = nil
			delete(all, "l")
			var into struct {
				L []any          `json:"l"`
				M map[string]any `json:"m"`
			}
			if err := r.DecodeAll(&into); err != nil {
				t.Error(err)
				return
			}
			into.L[0].(map[string]any)["n"] = "changed"
			into.M["k"].([]any)[0] = "changed"
			n, _ := Normalize(kept)
			n.(map[string]any)["m"].(map[string]any)["k"].([]any)[0] = "changed"
		})
	}
	wg.Wait()
	if !Equal(kept, state()) {
		t.Errorf("the state changed: %v", kept)
	}
}
