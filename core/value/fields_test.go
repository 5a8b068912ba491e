package value

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

type (
	Base struct {
		ID   string `json:"id"`
		Kind string
	}
	inner struct {
		Hidden int `json:"hidden"`
	}
	Deep   struct{ Base }
	Tagged struct {
		Kind string `json:"Kind"`
	}
	Name string
	tree struct {
		*tree
		X int
	}
)

// The form of a struct is the one that encoding/json gives it.
func TestStructsAsEncodingJSON(t *testing.T) {
	t.Parallel()
	n, b, s := 5, true, "q"
	for name, v := range map[string]any{
		"tags": struct {
			A int    `json:"a"`
			B int    `json:"-"`
			D string `json:",omitempty"`
			f int
			G int `json:"x.y z"`
		}{A: 1, B: 2, f: 5, G: 6},
		"omitempty": struct {
			A string         `json:",omitempty"`
			B []int          `json:",omitempty"`
			C map[string]int `json:",omitempty"`
			D *int           `json:",omitempty"`
			E any            `json:",omitempty"`
			F [0]int         `json:",omitempty"`
			G struct{}       `json:",omitempty"`
			H bool           `json:",omitempty"`
			I float64        `json:",omitempty"`
			J uint           `json:",omitempty"`
		}{},
		"omitzero": struct {
			A time.Time `json:",omitzero"`
			B celsius   `json:",omitzero"`
			C celsius   `json:",omitzero"`
			D []int     `json:",omitzero"`
			E struct{}  `json:",omitzero"`
			F *celsius  `json:",omitzero"`
		}{C: -273.15, D: []int{}},
		"string option": struct {
			A int     `json:",string"`
			B float64 `json:",string"`
			C bool    `json:",string"`
			D string  `json:",string"`
			E *int    `json:",string"`
			F *bool   `json:",string"`
			G *string `json:",string"`
			H *int    `json:",string"`
		}{1, 1.5, true, "x", &n, &b, &s, nil},
		"embedded":             struct{ Base }{Base{"i", "k"}},
		"embedded pointer":     struct{ *Base }{&Base{"i", "k"}},
		"embedded nil pointer": struct{ *Base }{},
		"embedded unexported":  struct{ inner }{inner{1}},
		"embedded, named": struct {
			Base `json:"base"`
		}{Base{"i", "k"}},
		"embedded string": struct{ Name }{"n"},
		"shadowed": struct {
			Base
			ID int `json:"id"`
		}{Base{"i", "k"}, 7},
		"deeper is hidden": struct {
			Deep
			Base
		}{Deep{Base{"deep", "d"}}, Base{"near", "n"}},
		"tagged wins": struct {
			Base
			Tagged
		}{Base{"i", "base"}, Tagged{"tagged"}},
		"odd tags": reflect.New(reflect.StructOf([]reflect.StructField{ // linters refuse to see them written out
			{Name: "A", Type: reflect.TypeFor[int](), Tag: `json:"-,"`},
			{Name: "B", Type: reflect.TypeFor[int](), Tag: `json:"bad\"name"`},
			{Name: "C", Type: reflect.TypeFor[int](), Tag: `json:"bad\\name,omitempty,other"`},
			{Name: "D", Type: reflect.TypeFor[[1]int](), Tag: `json:",string"`},
			{Name: "E", Type: reflect.TypeFor[struct{}](), Tag: `json:"é,string"`},
			{Name: "F", Type: reflect.TypeFor[int](), Tag: `xml:"f"`},
		})).Elem().Interface(),
		"recursive": tree{&tree{nil, 2}, 1},
		"interface": struct{ V any }{Base{"i", "k"}},
	} {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want, err := Decode(data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := mustNormalize(t, v); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %s; encoding/json gives %s", name, mustEncode(t, got), data)
		}
	}
}

// Where encoding/json would drop both of two fields, the struct is refused.
func TestCollidingFields(t *testing.T) {
	t.Parallel()
	type A struct{ X int }
	type B struct{ X int }
	type left struct{ A }
	type right struct{ A }
	integer := reflect.TypeFor[int]()
	twoTags := reflect.StructOf([]reflect.StructField{ // vet refuses to see it written out
		{Name: "P", Type: integer, Tag: `json:"X"`},
		{Name: "Q", Type: integer, Tag: `json:"X,omitempty"`},
	})
	for name, typ := range map[string]reflect.Type{
		"two tags": twoTags,
		"two embedded": reflect.TypeFor[struct {
			A
			B
		}](),
		"one type twice": reflect.TypeFor[struct {
			left
			right
		}](),
	} {
		dst := reflect.New(typ)
		_, err := Normalize(map[string]any{"s": dst.Elem().Interface()})
		t.Run(name, func(t *testing.T) {
			wantFault(t, err, CodeKeyCollision, "s.X")
			wantFault(t, Into(map[string]any{}, dst.Interface()), CodeKeyCollision, "X")
		})
	}
	// A nearer field resolves it.
	got := mustNormalize(t, struct {
		A
		B
		X int
	}{X: 3})
	if !Equal(got, map[string]any{"X": int64(3)}) {
		t.Errorf("got %v", got)
	}
}
