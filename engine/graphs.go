package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/docket-go/docket/core/compiler"
	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// structureOnly is the generation of graphs compiled without implementations:
// every host compiles those alike.
const structureOnly = "structure"

// graphs loads compiled graphs through the cache.
type graphs struct {
	registry   *node.Registry
	cache      GraphCache
	namespace  string
	generation string
	refuseFor  time.Duration
	tel        *telemetry

	mu      sync.Mutex
	refused map[GraphKey]refusal
}

// refusal remembers that this host can't run a graph, for a bounded time: the
// document in the store may be mended, or may not have been what was read.
type refusal struct {
	err   error
	until time.Time
}

// unfitError says that this host can't run a graph: nothing the store does now
// will change that.
type unfitError struct {
	ref graph.Ref
	err error
}

func (e *unfitError) Error() string { return fmt.Sprintf("graph %s can't run here: %v", e.ref, e.err) }
func (e *unfitError) Unwrap() error { return e.err }

func newGraphs(cfg Config, registry *node.Registry, tel *telemetry) *graphs {
	generation := "registry:" + registry.Fingerprint()
	if cfg.Release != "" {
		generation = "release:" + cfg.Release
	}
	return &graphs{
		registry: registry, cache: cfg.GraphCache, namespace: cfg.CacheNamespace, generation: generation,
		refuseFor: cfg.IncompatibleTTL, tel: tel, refused: make(map[GraphKey]refusal),
	}
}

func (g *graphs) key(o record.Owner, ref graph.Ref, generation string) GraphKey {
	return GraphKey{Namespace: g.namespace, Tenant: o.Tenant, Ref: ref, Generation: generation}
}

// executable returns a graph with its implementations. It fails with an
// *unfitError when this host can't run it; other errors are the store's.
func (g *graphs) executable(ctx context.Context, s *store, o record.Owner, ref graph.Ref) (*compiler.Graph, error) {
	key := g.key(o, ref, g.generation)
	if found, ok := g.cache.Get(key); ok {
		g.tel.cacheLookup("hit")
		return found, nil
	}
	if err := g.recall(key); err != nil {
		g.tel.cacheLookup("refused")
		return nil, err
	}
	g.tel.cacheLookup("miss")
	compiled, err := g.load(ctx, s, o, ref, g.registry)
	if err == nil && !compiled.Executable {
		err = &unfitError{ref, errors.New("implementations are missing")}
	}
	var unfit *unfitError
	if errors.As(err, &unfit) {
		g.refuse(key, err)
	}
	if err != nil {
		return nil, err
	}
	g.cache.Put(key, compiled)
	return compiled, nil
}

// structure returns a graph for decisions that execute nothing: starts, signals,
// reads. Any compiled form will do.
func (g *graphs) structure(ctx context.Context, s *store, o record.Owner, ref graph.Ref) (*compiler.Graph, error) {
	if found, ok := g.cache.Get(g.key(o, ref, g.generation)); ok {
		g.tel.cacheLookup("hit")
		return found, nil
	}
	key := g.key(o, ref, structureOnly)
	if found, ok := g.cache.Get(key); ok {
		g.tel.cacheLookup("hit")
		return found, nil
	}
	g.tel.cacheLookup("miss")
	compiled, err := g.load(ctx, s, o, ref, nil)
	if err != nil {
		return nil, err
	}
	g.cache.Put(key, compiled)
	return compiled, nil
}

func (g *graphs) load(ctx context.Context, s *store, o record.Owner, ref graph.Ref, registry *node.Registry) (*compiler.Graph, error) {
	fetched, err := s.fetchGraph(ctx, ports.FetchGraph{Owner: o, Ref: ref})
	switch {
	case errors.Is(err, ports.ErrCorrupt), errors.Is(err, ports.ErrNotFound):
		return nil, &unfitError{ref, err}
	case err != nil:
		return nil, err
	}
	compiled, err := loadVersion(ref, fetched.Version, registry)
	if err != nil {
		return nil, &unfitError{ref, err}
	}
	return compiled, nil
}

// loadVersion proves a stored version and compiles it; a nil registry compiles
// its structure.
func loadVersion(ref graph.Ref, v record.GraphVersion, registry *node.Registry) (*compiler.Graph, error) {
	if v.Encoding != record.EncodingJSON {
		return nil, fmt.Errorf("%w: graph %s has encoding %q", record.ErrUnsupported, ref, v.Encoding)
	}
	return compiler.Load(ref, v.Document, registry)
}

func (g *graphs) recall(key GraphKey) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	known, ok := g.refused[key]
	if !ok {
		return nil
	}
	if time.Now().After(known.until) {
		delete(g.refused, key)
		return nil
	}
	return known.err
}

func (g *graphs) refuse(key GraphKey, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	for k, known := range g.refused { // few, and only while something is wrong
		if now.After(known.until) {
			delete(g.refused, k)
		}
	}
	g.refused[key] = refusal{err: err, until: now.Add(g.refuseFor)}
}

// loadError tells a façade's caller why a graph could not be loaded.
func loadError(runID string, err error) error {
	var unfit *unfitError
	if !errors.As(err, &unfit) {
		return storeError(runID, err)
	}
	var c *compiler.Error
	if errors.As(err, &c) {
		e := graphError(err)
		e.RunID = runID
		return e
	}
	if unsupportedFormat(err) {
		return documentError(runID, err)
	}
	return storeError(runID, unfit.err)
}
