package compiler

import (
	"errors"
	"strings"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/core/reducer"
	"github.com/docket-go/docket/core/schema"
	"github.com/docket-go/docket/core/value"
)

// Check returns everything there is to say about g, sorted by path and code.
// With a registry, each node's config is judged after the defaults of its
// implementation are filled in; without one (nil) only the structure is.
func Check(g graph.Graph, reg *node.Registry) []graph.Diagnostic {
	c := authored(g, reg)
	c.advise()
	graph.SortDiagnostics(c.found)
	return c.found
}

// checker judges one graph. What it compiles on the way is kept for lowering, so
// that nothing is done twice.
type checker struct {
	g     graph.Graph // in its one form, owned
	reg   *node.Registry
	found []graph.Diagnostic

	inputs   map[string]*schema.Validator
	fields   map[string]*reducer.Field
	outputs  map[string]*schema.Validator
	impls    map[string]*implementation
	unusable map[string]bool // paths of records that no document can hold
	document []byte          // canonical bytes, once nothing speaks against them
}

// authored judges a graph that an author (or an editor) holds in any form.
func authored(g graph.Graph, reg *node.Registry) *checker {
	normal, found := g.Normalize()
	normal.Diagnostics = nil
	c := newChecker(normal, reg)
	c.found = found
	for _, d := range found {
		c.unusable[d.Path] = true
	}
	c.resolve()
	c.materialize()
	c.judge()
	c.encode()
	return c
}

// stored judges a graph that was published: as it is, without a default more.
func stored(g graph.Graph, reg *node.Registry) *checker {
	c := newChecker(g, reg)
	c.resolve()
	c.judge()
	return c
}

func newChecker(g graph.Graph, reg *node.Registry) *checker {
	return &checker{
		g: g, reg: reg,
		inputs:   make(map[string]*schema.Validator, len(g.Inputs)),
		fields:   make(map[string]*reducer.Field, len(g.Fields)),
		outputs:  make(map[string]*schema.Validator, len(g.Outputs)),
		impls:    make(map[string]*implementation),
		unusable: make(map[string]bool),
	}
}

// judge finds every error.
func (c *checker) judge() {
	c.checkInputs()
	c.checkFields()
	c.checkOutputs()
	c.checkNodes()
	c.checkEdges()
	c.checkBranches()
	c.checkGuards()
	if c.g.Policies.MaxSupersteps < 0 {
		c.error(CodeInvalidPolicy, "policies.max_supersteps", "must be at least 1, or left out for no limit")
	}
}

// encode writes the document. What only the whole can get wrong (too deep, since
// a config that is as deep as a value may be is nested once more) is told here.
func (c *checker) encode() {
	if len(failures(c.found)) > 0 {
		return
	}
	document, err := c.g.JSON(nil)
	if err != nil {
		d := graph.Diagnostic{Code: CodeInvalidDocument, Severity: graph.SeverityError, Message: err.Error()}
		var refused *graph.Error
		if errors.As(err, &refused) {
			d.Path, d.Message = refused.Path, refused.Message
		}
		c.found = append(c.found, d)
	}
	c.document = document
}

func (c *checker) error(code, path, message string) {
	c.found = append(c.found, graph.Diagnostic{Code: code, Severity: graph.SeverityError, Path: path, Message: message})
}

func (c *checker) warn(code, path, message string) {
	c.found = append(c.found, graph.Diagnostic{Code: code, Severity: graph.SeverityWarning, Path: path, Message: message})
}

// broken reports whether something at or below path was already refused, so
// that one mistake isn't told twice.
func (c *checker) broken(path string) bool {
	for at := range c.unusable { // any order gives the same answer
		if rest, ok := strings.CutPrefix(at, path); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return true
		}
	}
	return false
}

// known reports whether name is an input or a state field.
func (c *checker) known(name string) bool {
	if _, ok := c.g.Inputs[name]; ok {
		return true
	}
	_, ok := c.g.Fields[name]
	return ok
}

// failures returns the findings that stop a graph.
func failures(found []graph.Diagnostic) []graph.Diagnostic {
	return filter(found, graph.SeverityError)
}

// warnings returns the findings that don't.
func warnings(found []graph.Diagnostic) []graph.Diagnostic {
	return filter(found, graph.SeverityWarning)
}

func filter(found []graph.Diagnostic, severity graph.Severity) (out []graph.Diagnostic) {
	for _, d := range found {
		if d.Severity == severity {
			out = append(out, d)
		}
	}
	return out
}

func at(path string, keys ...string) string {
	for _, key := range keys {
		path = value.PathKey(path, key)
	}
	return path
}
