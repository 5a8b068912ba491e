package node

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"sync"

	"github.com/docket-go/docket/core/value"
)

// CodeInvalidRegistry is the code of every RegistryError.
const CodeInvalidRegistry = "invalid_registry"

// RegistryError says why a set of implementations can't be a registry.
type RegistryError struct {
	ID      string // the implementation id at fault
	Message string
}

// Error returns the id and what is wrong with it.
func (e *RegistryError) Error() string {
	return fmt.Sprintf("%s: implementation %q: %s", CodeInvalidRegistry, e.ID, e.Message)
}

// Code returns CodeInvalidRegistry.
func (e *RegistryError) Code() string { return CodeInvalidRegistry }

// Registry maps implementation ids to nodes, both ways. It is immutable and
// safe for concurrent use. A nil *Registry knows no implementation.
type Registry struct {
	nodes       map[string]Node
	ids         []string
	fingerprint func() string
}

// NewRegistry returns a registry of the given implementations, keyed by ids that
// value.CheckID accepts ("research", "v2.node"). It fails with a *RegistryError on
// a bad id, a nil node, and when two ids name the same node, since a document
// could then not be written back.
func NewRegistry(nodes map[string]Node) (*Registry, error) {
	r := &Registry{nodes: make(map[string]Node, len(nodes)), ids: value.Keys(nodes)}
	seen := make(map[any]string)
	for _, id := range r.ids {
		n := nodes[id]
		if err := value.CheckID(id); err != nil {
			return nil, &RegistryError{ID: id, Message: err.Error()}
		}
		if isNil(n) {
			return nil, &RegistryError{ID: id, Message: "its node is nil"}
		}
		if key, ok := identity(n); ok {
			if other, taken := seen[key]; taken {
				return nil, &RegistryError{ID: id, Message: fmt.Sprintf("%q names the same node: give each id a node of its own", other)}
			}
			seen[key] = id
		}
		r.nodes[id] = n
	}
	r.fingerprint = sync.OnceValue(func() string { return fingerprint(r) })
	return r, nil
}

// Lookup returns the node of an implementation id.
func (r *Registry) Lookup(id string) (Node, bool) {
	if r == nil {
		return nil, false
	}
	n, ok := r.nodes[id]
	return n, ok
}

// IDs returns the known implementation ids, sorted.
func (r *Registry) IDs() []string {
	if r == nil {
		return nil
	}
	return append([]string(nil), r.ids...)
}

// IDOf returns the id under which a node is registered. Only pointers have an
// identity of their own; for other nodes it reports false.
func (r *Registry) IDOf(n Node) (string, bool) {
	want, ok := identity(n)
	if r == nil || !ok {
		return "", false
	}
	for _, id := range r.ids {
		if key, ok := identity(r.nodes[id]); ok && key == want {
			return id, true
		}
	}
	return "", false
}

// Fingerprint identifies the registry's ids and configuration schemas: equal
// registries of equal builds have equal fingerprints. It can't see a change in a
// node's code; hosts that need that give the engine a release id.
func (r *Registry) Fingerprint() string {
	if r == nil {
		return ""
	}
	return r.fingerprint()
}

func fingerprint(r *Registry) string {
	h := sha256.New()
	for _, id := range r.ids {
		line := value.AppendString(nil, id)
		line = append(line, configText(r.nodes[id])...)
		h.Write(append(line, '\n'))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// configText survives a ConfigSchema that panics: compiling the graph reports it.
func configText(n Node) (text []byte) {
	defer func() {
		if recover() != nil {
			text = []byte("!")
		}
	}()
	text, err := value.Encode(n.ConfigSchema().ToMap())
	if err != nil {
		return []byte("!")
	}
	return text
}

func identity(n Node) (any, bool) {
	v := reflect.ValueOf(n)
	if v.Kind() != reflect.Pointer || v.Type().Elem().Size() == 0 {
		return nil, false // pointers to zero-size values may be equal by accident
	}
	return n, true
}

func isNil(n Node) bool {
	if n == nil {
		return true
	}
	switch v := reflect.ValueOf(n); v.Kind() {
	case reflect.Pointer, reflect.Func, reflect.Map, reflect.Slice, reflect.Interface:
		return v.IsNil()
	default:
		return false
	}
}
