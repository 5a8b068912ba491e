package compiler

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/node"
)

// Compile checks g and lowers it, with the defaults of its implementations
// filled in as publishing does. The diagnostics are warnings; a graph with errors
// is an *Error that carries those. Without a registry (nil) the result has no
// hash and can't execute.
func Compile(g graph.Graph, reg *node.Registry) (*Graph, []graph.Diagnostic, error) {
	c, advice, err := accept(g, reg)
	if err != nil {
		return nil, advice, err
	}
	ref := graph.Ref{ID: c.g.ID}
	if reg != nil {
		ref.Hash = hash(c.document)
	}
	return c.lower(ref), advice, nil
}

// Published is one immutable graph version.
type Published struct {
	Ref      graph.Ref
	Document []byte      // canonical bytes, whose SHA-256 is Ref.Hash
	Graph    graph.Graph // the effective graph that they hold
}

// Publish checks g and gives it its identity: the effective graph, its canonical
// bytes and their hash. It stores nothing. Publishing an equal graph again gives
// an equal result, unless an implementation's defaults changed in between.
func Publish(g graph.Graph, reg *node.Registry) (Published, []graph.Diagnostic, error) {
	if reg == nil {
		return Published{}, nil, &Error{
			Code: CodeIncompatible, Ref: graph.Ref{ID: g.ID},
			Message: "publishing needs a registry: the implementations' defaults are part of what is published",
		}
	}
	c, advice, err := accept(g, reg)
	if err != nil {
		return Published{}, advice, err
	}
	ref := graph.Ref{ID: c.g.ID, Hash: hash(c.document)}
	return Published{Ref: ref, Document: c.document, Graph: c.g}, advice, nil
}

func accept(g graph.Graph, reg *node.Registry) (*checker, []graph.Diagnostic, error) {
	c := authored(g, reg)
	c.advise()
	graph.SortDiagnostics(c.found)
	advice := warnings(c.found)
	if found := failures(c.found); len(found) > 0 {
		return nil, advice, &Error{Code: CodeInvalidGraph, Ref: graph.Ref{ID: g.ID}, Diagnostics: found, Message: "the graph has errors"}
	}
	return c, advice, nil
}

func hash(document []byte) string {
	sum := sha256.Sum256(document)
	return hex.EncodeToString(sum[:])
}
