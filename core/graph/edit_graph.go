package graph

import (
	"fmt"
	"unicode/utf8"

	"github.com/docket-go/docket/core/value"
)

// Rename sets the graph's name for people; its id never changes.
func Rename(name string) Edit {
	return text("name", name, func(g *Graph) { g.Name = name })
}

// Describe sets the graph's description.
func Describe(description string) Edit {
	return text("description", description, func(g *Graph) { g.Description = description })
}

func text(key, s string, set func(*Graph)) Edit {
	return editFunc(func(g *Graph) error {
		if !utf8.ValidString(s) {
			return &Error{Code: CodeInvalidRecord, Path: key, Message: notUTF8}
		}
		set(g)
		return nil
	})
}

// PutPolicies sets the graph's policies.
func PutPolicies(p Policies) Edit {
	return editFunc(func(g *Graph) error {
		g.Policies = p
		return nil
	})
}

// UpdatePolicies replaces the graph's policies by what change makes of them. A
// graph whose policies are zero has none to update.
func UpdatePolicies(change func(Policies) Policies) Edit {
	return editFunc(func(g *Graph) error {
		if g.Policies == (Policies{}) {
			return &Error{Code: CodeNotFound, Path: "policies", Message: "there are no policies to update"}
		}
		g.Policies = change(g.Policies)
		return nil
	})
}

// DeletePolicies removes the graph's policies.
func DeletePolicies() Edit {
	return editFunc(func(g *Graph) error {
		if g.Policies == (Policies{}) {
			return &Error{Code: CodeNotFound, Path: "policies", Message: "there are no policies to delete"}
		}
		g.Policies = Policies{}
		return nil
	})
}

// PutMetadata sets one entry of the graph's metadata. Any value with a
// normalised form will do.
func PutMetadata(key string, v any) Edit {
	return editFunc(func(g *Graph) error {
		var r report
		entry := r.object("metadata", map[string]any{key: v})
		if err := r.err(); err != nil {
			return err
		}
		if g.Metadata == nil {
			g.Metadata = make(map[string]any)
		}
		g.Metadata[key] = entry[key]
		return nil
	})
}

// UpdateMetadata replaces one entry of the graph's metadata by what change makes
// of a copy of it.
func UpdateMetadata(key string, change func(any) any) Edit {
	return editFunc(func(g *Graph) error {
		old, ok := g.Metadata[key]
		if !ok {
			return noMetadata(key, "update")
		}
		return PutMetadata(key, change(value.Clone(old))).apply(g)
	})
}

// DeleteMetadata removes one entry of the graph's metadata.
func DeleteMetadata(key string) Edit {
	return editFunc(func(g *Graph) error {
		if _, ok := g.Metadata[key]; !ok {
			return noMetadata(key, "delete")
		}
		delete(g.Metadata, key)
		return nil
	})
}

func noMetadata(key, verb string) error {
	return &Error{
		Code: CodeNotFound, Path: value.PathKey("metadata", key),
		Message: fmt.Sprintf("there is no entry %q to %s", key, verb),
	}
}
