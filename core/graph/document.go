package graph

import (
	"github.com/docket-go/docket/core/guard"
	"github.com/docket-go/docket/core/reducer"
	"github.com/docket-go/docket/core/schema"
)

const (
	// Start is the virtual node that every run has completed when it begins.
	// It is legal only as the single source of an edge.
	Start = "$start"
	// Finish is the virtual node that marks the end of a path. It is legal
	// only as the target of an edge.
	Finish = "$finish"
	// SchemaVersion is the document layout that this package reads and writes.
	SchemaVersion = 1
)

// Graph is an authored graph document: plain data that is edited, compared,
// drawn and exchanged. It carries no hash; publishing gives it one.
type Graph struct {
	ID            string
	Name          string
	Description   string
	SchemaVersion int64 // 0 means SchemaVersion, the only one there is
	Inputs        map[string]Input
	Fields        map[string]Field // share one namespace with Inputs
	Outputs       map[string]Output
	Nodes         map[string]Node
	Edges         map[string]Edge
	Policies      Policies
	Metadata      map[string]any
	// Diagnostics is where an editor keeps what the compiler said last. It is
	// transient: no document holds it and it never counts towards identity.
	Diagnostics []Diagnostic
}

// Input is one value that a run is started with. Nodes and guards read it as
// state; nothing writes it after the start.
type Input struct {
	Schema      schema.Schema
	Description string
	Metadata    map[string]any
}

// Field is one state field, with the reducer that folds a superstep's writes
// into it.
type Field struct {
	Schema      schema.Schema
	Reducer     reducer.Reducer // zero: last_value
	Description string
	Metadata    map[string]any
}

// Output projects an input or a field into the run's output.
type Output struct {
	Source      string // the name of an input or a field
	Required    bool   // a run that ends without a value here fails
	Schema      schema.Schema
	Description string
	Metadata    map[string]any
}

// Node is one step of the graph: an implementation of the host's registry and
// how it is configured.
type Node struct {
	Implementation string
	Config         map[string]any
	// Branches names groups of outgoing edges that are alternatives of each
	// other, for tools that draw and edit. Execution only looks at guards.
	Branches    map[string][]string
	Policies    NodePolicies
	Label       string
	Description string
	Metadata    map[string]any
}

// Edge leads from one node, or from several as a barrier, to one node.
type Edge struct {
	// From holds one source for a plain edge. Several make a barrier, which
	// fires when each of them has completed since it fired last.
	From         []string
	To           string
	Guard        *guard.Guard // nil: always
	Label        string
	SourceHandle string
	TargetHandle string
	Metadata     map[string]any
}

// Policies bounds a whole run.
type Policies struct {
	MaxSupersteps int64 // 0: none; counted per run, not per process
}

// Barrier reports whether e waits for several sources.
func (e Edge) Barrier() bool { return len(e.From) > 1 }
