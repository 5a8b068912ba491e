package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/core/reducer"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/core/schema"
	"github.com/docket-go/docket/core/value"
)

// TestGuideValues proves the guide's table of values, row by row.
func TestGuideValues(t *testing.T) {
	t.Parallel()
	const ones = "`1`, `1.0`, `uint8(1)`, `json.Number(\"1e0\")`"
	for _, row := range []struct {
		code string
		v    any
		want string
	}{
		{ones, 1, "`1`"}, {ones, 1.0, "`1`"}, {ones, uint8(1), "`1`"}, {ones, json.Number("1e0"), "`1`"},
		{"`float32(0.5)`", float32(0.5), "`0.5`"},
		{"`math.Copysign(0, -1)`", math.Copysign(0, -1), "`0`"},
		{"`[]string(nil)`", []string(nil), "`[]`"},
		{"`map[string]int(nil)`", map[string]int(nil), "`{}`"},
		{"`(*int)(nil)`", (*int)(nil), "`null`"},
		{"`struct{ A int }{1}`", struct{ A int }{1}, "`{\"A\":1}`"},
		{"`time.Unix(0, 1999)`", time.Unix(0, 1999), "`\"1970-01-01T00:00:00.000001Z\"`"},
		{"`time.Second`", time.Second, "`1000000000`"},
		{"`[]byte(\"x\")`", []byte("x"), "refused: `unsupported_type`"},
		{"`math.NaN()`", math.NaN(), "refused: `not_finite`"},
		{"`uint64(math.MaxUint64)`", uint64(math.MaxUint64), "refused: `out_of_range`"},
		{"`\"\\xff\"`", "\xff", "refused: `invalid_utf8`"},
		{"`func() {}`", func() {}, "refused: `unsupported_type`"},
	} {
		inGuide(t, row.code, row.want)
		if got := normalised(t, row.v); got != row.want {
			t.Errorf("%s: got %s, the guide says %s", row.code, got, row.want)
		}
	}
}

func normalised(t *testing.T, v any) string {
	v, err := value.Normalize(v)
	var refused *value.Error
	if errors.As(err, &refused) {
		return fmt.Sprintf("refused: `%s`", refused.Code)
	}
	data, err := value.Encode(v)
	if err != nil {
		t.Error(err)
	}
	return "`" + string(data) + "`"
}

// TestGuideReducers proves the guide's table of reducers, row by row.
func TestGuideReducers(t *testing.T) {
	t.Parallel()
	words, maps := schema.List(schema.String()), schema.List(schema.Map())
	for _, row := range []struct {
		code   string
		rule   reducer.Reducer
		field  schema.Schema
		before string // "": unset
		writes []string
		after  string
	}{
		{"reducer.Last()", reducer.Last(), schema.String(), `"a"`, []string{`"b"`, `"c"`}, `"c"`},
		{"reducer.First()", reducer.First(), schema.String(), "", []string{`"b"`, `"c"`}, `"b"`},
		{"reducer.First()", reducer.First(), schema.String(), `"a"`, []string{`"b"`}, `"a"`},
		{"reducer.Append()", reducer.Append(), words, `["a"]`, []string{`"b"`, `["a","c"]`}, `["a","b","a","c"]`},
		{"reducer.Append().OnlyUnique()", reducer.Append().OnlyUnique(), words, `["a"]`, []string{`"b"`, `["a","c"]`}, `["a","b","c"]`},
		{"reducer.Append().KeepLast(2)", reducer.Append().KeepLast(2), words, `["a"]`, []string{`"b"`, `"c"`}, `["b","c"]`},
		{"reducer.Union(\"id\")", reducer.Union("id"), maps, `[{"id":1}]`, []string{`{"id":1,"n":2}`, `{"id":2}`}, `[{"id":1},{"id":2}]`},
		{"reducer.Merge()", reducer.Merge(), schema.Map(), `{"a":{"x":1}}`, []string{`{"a":{"y":2}}`}, `{"a":{"y":2}}`},
		{"reducer.DeepMerge()", reducer.DeepMerge(), schema.Map(), `{"a":{"x":1}}`, []string{`{"a":{"y":2}}`}, `{"a":{"x":1,"y":2}}`},
		{"reducer.Sum()", reducer.Sum(), schema.Integer(), "", []string{"1", "2"}, "3"},
	} {
		before := "unset"
		var prior value.Optional
		if row.before != "" {
			before, prior = "`"+row.before+"`", value.Some(decoded(t, row.before))
		}
		inGuide(t, "`"+row.code+"`", before, "`"+strings.Join(row.writes, "`, `")+"`", "`"+row.after+"`")
		f, err := reducer.Compile(row.rule, row.field)
		if err != nil {
			t.Error(err)
			continue
		}
		var writes []any
		for _, w := range row.writes {
			writes = append(writes, decoded(t, w))
		}
		next, err := f.Reduce(prior, writes)
		if err != nil || !value.Equal(next.Value, decoded(t, row.after)) {
			t.Errorf("%s on %s: got %v, %v; the guide says %s", row.code, before, next.Value, err, row.after)
		}
	}
}

// TestGuideNulls proves what the guide says of null writes.
func TestGuideNulls(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rule  reducer.Reducer
		field schema.Schema
		want  string // "": refused
	}{
		"last":   {reducer.Last(), schema.String(), "null"},
		"first":  {reducer.First(), schema.String(), "null"},
		"append": {reducer.Append(), schema.List(schema.String()), "[null]"},
		"merge":  {reducer.Merge(), schema.Map(), ""},
		"sum":    {reducer.Sum(), schema.Integer(), ""},
	} {
		f, err := reducer.Compile(c.rule, c.field)
		if err != nil {
			t.Fatal(err)
		}
		if refused := f.ValidateWrite(nil) != nil; refused != (c.want == "") {
			t.Errorf("%s: null is refused: %v", name, refused)
		}
		if c.want == "" {
			continue
		}
		next, err := f.Reduce(value.Optional{}, []any{nil})
		if err != nil || !next.Set || !value.Equal(next.Value, decoded(t, c.want)) {
			t.Errorf("%s: null gives %+v, %v; the guide says %s", name, next, err, c.want)
		}
	}
}

// TestGuideFailures finds every failure code in the guide's table.
func TestGuideFailures(t *testing.T) {
	t.Parallel()
	text := guide(t)
	for _, code := range run.FailureCodes() {
		if !strings.Contains(text, "\n| `"+string(code)+"` |") {
			t.Errorf("docs/core.md doesn't explain the failure %s", code)
		}
	}
}

func inGuide(t *testing.T, cells ...string) {
	t.Helper()
	row := "\n| " + strings.Join(cells, " | ") + " |\n"
	if !strings.Contains(guide(t), row) {
		t.Errorf("docs/core.md lacks the row %s", strings.TrimSpace(row))
	}
}

func guide(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, "docs", "core.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func decoded(t *testing.T, text string) any {
	t.Helper()
	v, err := value.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}
