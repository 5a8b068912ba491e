package graph_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/guard"
	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/core/reducer"
	"github.com/docket-go/docket/core/schema"
	"github.com/docket-go/docket/core/value"
)

func TestDocumentIsCanonicalAndReadsBack(t *testing.T) {
	t.Parallel()
	data, err := full().JSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "full.json", data)
	back, err := graph.Parse(data, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !back.Equal(full()) {
		t.Error("Parse(JSON(g)) differs from g")
	}
	m, err := back.ToMap(nil)
	if err != nil {
		t.Fatal(err)
	}
	again, err := graph.FromMap(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !again.Equal(back) {
		t.Error("FromMap(ToMap(g)) differs from g")
	}
	second, _ := again.JSON(nil)
	if string(second) != string(data) {
		t.Errorf("bytes moved:\n%s\n%s", data, second)
	}
}

func TestReadValuesAreInTheirOneForm(t *testing.T) {
	t.Parallel()
	data, _ := full().JSON(nil)
	g, err := graph.Parse(data, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := g.Inputs["limit"].Schema.Default; got != value.Some(int64(9007199254740993)) {
		t.Errorf("an integer beyond 2^53 lost digits: %v", got)
	}
	if got := g.Nodes["write"].Config["seed"]; got != int64(7) {
		t.Errorf("seed is %T", got)
	}
	if got := g.Nodes["write"].Config["tool"]; !value.Equal(got, map[string]any{"$ref": "#/x"}) {
		t.Errorf("the literal tag reached the config: %v", got)
	}
	if got := g.Metadata["literal"]; !value.Equal(got, map[string]any{"$literal": "kept"}) {
		t.Errorf("a value that looks like a tag changed: %v", got)
	}
	if got := g.Edges["both"].From; got[0] != "check" || got[1] != "ship" {
		t.Errorf("sources aren't sorted: %v", got)
	}
}

// doc is a document with one part replaced.
func doc(part string) string {
	return `{"schema_version":1,"id":"g",` + part + `}`
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	node := func(part string) string { return doc(`"nodes":{"n":{` + part + `}}`) }
	edge := func(part string) string { return doc(`"edges":{"e":{` + part + `}}`) }
	tests := map[string]struct{ in, code, path string }{
		"not json":              {`{`, graph.CodeInvalidDocument, ""},
		"trailing bytes":        {`{"schema_version":1,"id":"g"} {}`, graph.CodeInvalidDocument, ""},
		"no object":             {`[]`, graph.CodeInvalidDocument, ""},
		"no version":            {`{"id":"g"}`, graph.CodeUnsupportedSchemaVersion, "schema_version"},
		"newer version":         {`{"id":"g","schema_version":2,"whatever":1}`, graph.CodeUnsupportedSchemaVersion, "schema_version"},
		"text version":          {`{"id":"g","schema_version":"1"}`, graph.CodeUnsupportedSchemaVersion, "schema_version"},
		"no id":                 {`{"schema_version":1}`, graph.CodeInvalidPublicID, "id"},
		"case variant key":      {`{"schema_version":1,"id":"x","ID":"y"}`, graph.CodeUnknownKey, "ID"},
		"duplicate key":         {`{"schema_version":1,"id":"x","nodes":{},"nodes":{}}`, graph.CodeInvalidDocument, ""},
		"escaped duplicate key": {`{"schema_version":1,"id":"x","\u0069d":"y"}`, graph.CodeInvalidDocument, ""},
		"duplicate node":        {doc(`"nodes":{"n":{},"n":{}}`), graph.CodeInvalidDocument, "nodes"},
		"invalid UTF-8":         {doc("\"name\":\"\xff\""), graph.CodeInvalidDocument, "name"},
		"unknown key":           {doc(`"hash":"x"`), graph.CodeUnknownKey, "hash"},
		"diagnostics":           {doc(`"diagnostics":[]`), graph.CodeUnknownKey, "diagnostics"},
		"unknown node key":      {node(`"impl":"x"`), graph.CodeUnknownKey, "nodes.n.impl"},
		"null text":             {doc(`"name":null`), graph.CodeInvalidDocument, "name"},
		"null schema":           {doc(`"fields":{"f":{"schema":null}}`), graph.CodeInvalidSchema, "fields.f.schema"},
		"nodes as a list":       {doc(`"nodes":[]`), graph.CodeInvalidDocument, "nodes"},
		"node as text":          {doc(`"nodes":{"n":"x"}`), graph.CodeInvalidDocument, "nodes.n"},
		"node id":               {doc(`"nodes":{"../x":{}}`), graph.CodeInvalidPublicID, `nodes["../x"]`},
		"$start as a node":      {doc(`"nodes":{"$start":{}}`), graph.CodeInvalidPublicID, `nodes["$start"]`},
		"long field name":       {doc(`"fields":{"` + strings.Repeat("x", 129) + `":{}}`), graph.CodeInvalidPublicID, ""},
		"implementation id":     {node(`"implementation":"a\u0000b"`), graph.CodeInvalidRecord, "nodes.n.implementation"},
		"config as a list":      {node(`"config":[]`), graph.CodeInvalidDocument, "nodes.n.config"},
		"config expression":     {node(`"config":{"a":[{"$env":"HOME"}]}`), graph.CodeReservedKey, "nodes.n.config.a[0]"},
		"literal and more":      {node(`"config":{"a":{"$literal":1,"b":2}}`), graph.CodeReservedKey, "nodes.n.config.a"},
		"config is no object":   {node(`"config":{"$literal":1}`), graph.CodeInvalidDocument, "nodes.n.config"},
		"default expression":    {doc(`"inputs":{"i":{"schema":{"type":"map","default":{"$x":1}}}}`), graph.CodeReservedKey, "inputs.i.schema.default"},
		"unknown type":          {doc(`"inputs":{"i":{"schema":{"type":"strnig"}}}`), graph.CodeInvalidSchema, "inputs.i.schema.type"},
		"unknown reducer":       {doc(`"fields":{"f":{"reducer":"appendd"}}`), graph.CodeInvalidReducer, "fields.f.reducer"},
		"on_error node":         {node(`"on_error":"x"`), graph.CodeReservedOnError, "nodes.n.on_error"},
		"on_error policy":       {node(`"policies":{"on_error":"x"}`), graph.CodeReservedOnError, "nodes.n.policies.on_error"},
		"on_error branch":       {node(`"branches":{"on_error":[]}`), graph.CodeReservedOnError, "nodes.n.branches.on_error"},
		"branch as text":        {node(`"branches":{"b":"e"}`), graph.CodeInvalidDocument, "nodes.n.branches.b"},
		"branch of numbers":     {node(`"branches":{"b":["e",1]}`), graph.CodeInvalidDocument, "nodes.n.branches.b[1]"},
		"unknown policy":        {node(`"policies":{"retries":3}`), graph.CodeUnknownKey, "nodes.n.policies.retries"},
		"unknown retry key":     {node(`"policies":{"retry":{"max":3}}`), graph.CodeUnknownKey, "nodes.n.policies.retry.max"},
		"unknown backoff":       {node(`"policies":{"retry":{"backoff":"linear"}}`), graph.CodeInvalidPolicy, "nodes.n.policies.retry.backoff"},
		"fractional timeout":    {node(`"policies":{"timeout_ms":1.5}`), graph.CodeInvalidDocument, "nodes.n.policies.timeout_ms"},
		"huge timeout":          {node(`"policies":{"timeout_ms":1e20}`), graph.CodeInvalidDocument, "nodes.n.policies.timeout_ms"},
		"graph policy":          {doc(`"policies":{"max_steps":3}`), graph.CodeUnknownKey, "policies.max_steps"},
		"no source":             {edge(`"to":"n"`), graph.CodeInvalidRecord, "edges.e.from"},
		"empty sources":         {edge(`"from":[],"to":"n"`), graph.CodeInvalidRecord, "edges.e.from"},
		"empty source":          {edge(`"from":["a",""],"to":"n"`), graph.CodeInvalidRecord, "edges.e.from[1]"},
		"source as a number":    {edge(`"from":1,"to":"n"`), graph.CodeInvalidDocument, "edges.e.from"},
		"no target":             {edge(`"from":"n"`), graph.CodeInvalidRecord, "edges.e.to"},
		"unknown guard":         {edge(`"from":"n","to":"m","guard":{"$maybe":1}`), graph.CodeInvalidGuard, "edges.e.guard"},
		"plain guard":           {edge(`"from":"n","to":"m","guard":{"equals":1}`), graph.CodeInvalidGuard, "edges.e.guard"},
		"null guard":            {edge(`"from":"n","to":"m","guard":null`), graph.CodeInvalidGuard, "edges.e.guard"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, err := graph.Parse([]byte(test.in), nil)
			var refused *graph.Error
			if !errors.As(err, &refused) {
				t.Fatalf("Parse(%s) = %v, %v", test.in, g, err)
			}
			if refused.Code != test.code || !strings.HasPrefix(refused.Path, test.path) {
				t.Errorf("got %v, want code %s at %s", err, test.code, test.path)
			}
			if refused.Message == "" {
				t.Error("no message")
			}
		})
	}
}

func TestZeroIsOmitted(t *testing.T) {
	t.Parallel()
	plain := doc(`"edges":{"e":{"from":"n","to":"m"}},"fields":{"f":{"schema":{"type":"string"}}},"nodes":{"n":{"policies":{"retry":{"max_attempts":2}}}}`)
	explicit := doc(`"name":"","inputs":{},"policies":{"max_supersteps":0},"metadata":{},
		"edges":{"e":{"from":["n"],"to":"m","label":""}},
		"fields":{"f":{"schema":{"type":"string","required":false},"reducer":"last_value"}},
		"nodes":{"n":{"config":{},"branches":{},"policies":{"timeout_ms":0,"retry":{"max_attempts":2,"backoff":"constant","jitter":0}}}}`)
	a, err := graph.Parse([]byte(plain), nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := graph.Parse([]byte(explicit), nil)
	if err != nil {
		t.Fatal(err)
	}
	first, _ := a.JSON(nil)
	second, _ := b.JSON(nil)
	if string(first) != string(second) {
		t.Errorf("an explicit zero made another document:\n%s\n%s", first, second)
	}
}

func TestTextIsByteExact(t *testing.T) {
	t.Parallel()
	texts := []string{"a<b>&\u2028", "\u00e9", "e\u0301", "\ufffd", "a\x00b", "\U0001f600"}
	seen := make(map[string]string)
	for _, text := range texts {
		g := graph.Graph{ID: "g", Description: text, Metadata: map[string]any{text: text}}
		data, err := g.JSON(nil)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if strings.Contains(string(data), `\u003c`) || strings.Contains(string(data), `\u2028`) {
			t.Errorf("HTML escapes in %s", data)
		}
		if other, taken := seen[string(data)]; taken {
			t.Errorf("%q and %q are one document", text, other)
		}
		seen[string(data)] = text
		back, err := graph.Parse(data, nil)
		if err != nil || back.Description != text {
			t.Errorf("%q came back as %q (%v)", text, back.Description, err)
		}
	}
	for _, text := range []string{"\xff", "\xfe", "a\xed\xa0\x80"} {
		for _, g := range []graph.Graph{
			{ID: "g", Description: text},
			{ID: "g", Metadata: map[string]any{"k": text}},
			{ID: "g", Metadata: map[string]any{text: "v"}},
			{ID: "g", Edges: map[string]graph.Edge{"e": {From: []string{text}, To: "n"}}},
			{ID: "g", Nodes: map[string]graph.Node{"n": {Branches: map[string][]string{"b": {text}}}}},
		} {
			if data, err := g.JSON(nil); err == nil {
				t.Errorf("%q was accepted: %s", text, data)
			}
		}
	}
}

func TestWhatNoDocumentCanHold(t *testing.T) {
	t.Parallel()
	bad := guard.Equals(guard.Field("f"), func() {})
	unknown := guard.Guard{Op: "maybe"}
	tests := map[string]struct {
		g          graph.Graph
		code, path string
	}{
		"id":       {graph.Graph{ID: "a b"}, graph.CodeInvalidPublicID, "id"},
		"version":  {graph.Graph{ID: "g", SchemaVersion: 2}, graph.CodeUnsupportedSchemaVersion, "schema_version"},
		"config":   {graph.Graph{ID: "g", Nodes: map[string]graph.Node{"n": {Config: map[string]any{"a": []any{func() {}}}}}}, graph.CodeInvalidRecord, "nodes.n.config.a[0]"},
		"bytes":    {graph.Graph{ID: "g", Metadata: map[string]any{"k": []byte("x")}}, graph.CodeInvalidRecord, "metadata.k"},
		"schema":   {graph.Graph{ID: "g", Inputs: map[string]graph.Input{"i": {Schema: schema.Schema{Required: true}}}}, graph.CodeInvalidSchema, "inputs.i.schema"},
		"type":     {graph.Graph{ID: "g", Inputs: map[string]graph.Input{"i": {Schema: schema.Schema{Type: "text"}}}}, graph.CodeInvalidSchema, "inputs.i.schema.type"},
		"reducer":  {graph.Graph{ID: "g", Fields: map[string]graph.Field{"f": {Schema: schema.String(), Reducer: reducer.Reducer{Kind: "max"}}}}, graph.CodeInvalidReducer, "fields.f.reducer"},
		"backoff":  {graph.Graph{ID: "g", Nodes: map[string]graph.Node{"n": {Policies: graph.NodePolicies{Retry: &graph.Retry{Backoff: "x"}}}}}, graph.CodeInvalidPolicy, "nodes.n.policies.retry.backoff"},
		"literal":  {graph.Graph{ID: "g", Edges: map[string]graph.Edge{"e": {From: []string{"a"}, To: "b", Guard: &bad}}}, graph.CodeInvalidGuard, "edges.e.guard"},
		"operator": {graph.Graph{ID: "g", Edges: map[string]graph.Edge{"e": {From: []string{"a"}, To: "b", Guard: &unknown}}}, graph.CodeInvalidGuard, "edges.e.guard"},
		"sources":  {graph.Graph{ID: "g", Edges: map[string]graph.Edge{"e": {To: "b"}}}, graph.CodeInvalidRecord, "edges.e.from"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := test.g.ToMap(nil)
			var refused *graph.Error
			if !errors.As(err, &refused) || refused.Code != test.code || refused.Path != test.path {
				t.Fatalf("ToMap = %v, %v; want %s at %s", m, err, test.code, test.path)
			}
			if test.g.Equal(test.g) {
				t.Error("a graph without a document equals itself")
			}
		})
	}
}

// TestDeepestDocument takes the deepest config that is a value there and back, and
// refuses the next.
func TestDeepestDocument(t *testing.T) {
	t.Parallel()
	deep := map[string]any{}
	for range value.MaxDepth - 1 {
		deep = map[string]any{"d": deep}
	}
	g := graph.Graph{ID: "g", Nodes: map[string]graph.Node{"n": {Config: deep}}}
	data, err := g.JSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	if back, err := graph.Parse(data, nil); err != nil || !value.Equal(back.Nodes["n"].Config, deep) {
		t.Errorf("the deepest config: %v", err)
	}
	m, err := g.ToMap(nil)
	if err != nil {
		t.Fatal(err)
	}
	if back, err := graph.FromMap(m, nil); err != nil || !back.Equal(g) {
		t.Errorf("FromMap of the deepest config: %v", err)
	}
	g.Nodes["n"] = graph.Node{Config: map[string]any{"d": deep}}
	_, err = g.JSON(nil)
	var refused *graph.Error
	if !errors.As(err, &refused) || refused.Code != graph.CodeInvalidRecord || !strings.HasPrefix(refused.Path, "nodes.n.config.d.") {
		t.Errorf("got %v", err)
	}
}

// A value one level too deep is refused when it is read, not when the graph is
// written again.
func TestTooDeepInADocument(t *testing.T) {
	t.Parallel()
	nest := func(levels int) string {
		return strings.Repeat(`{"d":`, levels) + "1" + strings.Repeat("}", levels)
	}
	for part, path := range map[string]string{
		`"metadata":%s`:               "metadata",
		`"nodes":{"n":{"config":%s}}`: "nodes.n.config",
		`"fields":{"f":{"schema":{"type":"map","default":%s}}}`:                       "fields.f.schema",
		`"edges":{"e":{"from":"a","to":"b","guard":{"$equals":[{"$field":"f"},%s]}}}`: "edges.e.guard",
	} {
		for levels := value.MaxDepth - 4; levels < value.MaxDepth+3; levels++ {
			data := doc(strings.Replace(part, "%s", nest(levels), 1))
			g, err := graph.Parse([]byte(data), nil)
			if err == nil {
				if _, err := g.JSON(nil); err != nil {
					t.Errorf("%s, %d levels: read but not written: %v", path, levels, err)
				}
				continue
			}
			var refused *graph.Error
			if !errors.As(err, &refused) || !strings.HasPrefix(refused.Path, path) || levels < value.MaxDepth-2 {
				t.Errorf("%s, %d levels: %v", path, levels, err)
			}
		}
	}
}

func TestDeepGuardsAreWrittenOnlyIfTheyReadBack(t *testing.T) {
	t.Parallel()
	var literal any = int64(1)
	for levels := range value.MaxDepth + 1 {
		test := guard.Equals(guard.Field("f"), literal)
		g := graph.Graph{ID: "g", Edges: map[string]graph.Edge{"e": {From: []string{"a"}, To: "b", Guard: &test}}}
		if data, err := g.JSON(nil); err == nil {
			if _, err := graph.Parse(data, nil); err != nil {
				t.Fatalf("%d levels are written but not read: %v", levels, err)
			}
		}
		literal = []any{literal}
	}
}

func TestRegistry(t *testing.T) {
	t.Parallel()
	nop := func(context.Context, node.Input) (node.Result, error) { return node.Result{}, nil }
	reg, err := node.NewRegistry(map[string]node.Node{"a": node.HandlerFunc(nop)})
	if err != nil {
		t.Fatal(err)
	}
	g := small(t)
	data, err := g.JSON(reg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := graph.Parse(data, reg); err != nil {
		t.Error(err)
	}
	g, err = g.Apply(graph.PutNode("b", graph.Node{Implementation: "v2.b"}), graph.PutNode("c", graph.Node{}))
	if err != nil {
		t.Fatal(err)
	}
	data, err = g.JSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	var refused *graph.Error
	if _, err = g.JSON(reg); !errors.As(err, &refused) || refused.Code != graph.CodeUnregisteredImplementation || refused.Path != "nodes.b.implementation" {
		t.Errorf("JSON: %v", err)
	}
	if _, err = graph.Parse(data, reg); !errors.As(err, &refused) || refused.Code != graph.CodeUnknownImplementation || refused.Path != "nodes.b.implementation" {
		t.Errorf("Parse: %v", err)
	}
}

func TestFromMapTakesWhatNormalisesAndSharesNothing(t *testing.T) {
	t.Parallel()
	config := map[string]any{"list": []any{"a"}}
	m := map[string]any{"id": "g", "schema_version": 1, "nodes": map[string]map[string]any{"n": {"config": config}}}
	g, err := graph.FromMap(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	config["list"].([]any)[0] = "boom"
	if got := g.Nodes["n"].Config["list"].([]any)[0]; got != "a" {
		t.Errorf("the caller's map reached the graph: %v", got)
	}
	out, err := g.ToMap(nil)
	if err != nil {
		t.Fatal(err)
	}
	out["nodes"].(map[string]any)["n"].(map[string]any)["config"].(map[string]any)["list"].([]any)[0] = "boom"
	if got := g.Nodes["n"].Config["list"].([]any)[0]; got != "a" {
		t.Errorf("the written map reaches the graph: %v", got)
	}
	if _, err := graph.FromMap(map[string]any{"id": make(chan int)}, nil); err == nil {
		t.Error("a channel was accepted")
	}
}
