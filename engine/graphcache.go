package engine

import (
	"container/list"
	"sync"

	"github.com/docket-go/docket/core/compiler"
	"github.com/docket-go/docket/core/graph"
)

// GraphKey names one compiled graph. Generation tells apart what different code
// compiled from the same document, so that a graph never crosses from one
// release of the host's nodes to another.
type GraphKey struct {
	Namespace  string
	Tenant     string
	Ref        graph.Ref
	Generation string
}

// GraphCache keeps compiled graphs. It may forget any of them at any time: that
// costs a read and a compilation. It must be safe for concurrent use.
type GraphCache interface {
	Get(key GraphKey) (*compiler.Graph, bool)
	Put(key GraphKey, g *compiler.Graph)
}

// NewGraphCache returns a cache of the size graphs used last. With size 0 or less
// it keeps none.
func NewGraphCache(size int) GraphCache {
	return &recentGraphs{size: size, order: list.New(), entries: make(map[GraphKey]*list.Element)}
}

type recentGraphs struct {
	size int

	mu      sync.Mutex
	order   *list.List // of recentGraph, used last first
	entries map[GraphKey]*list.Element
}

type recentGraph struct {
	key   GraphKey
	graph *compiler.Graph
}

func (c *recentGraphs) Get(key GraphKey) (*compiler.Graph, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	el, ok := c.entries[key]
	if !ok {
		return nil, false
	}
	c.order.MoveToFront(el)
	return el.Value.(recentGraph).graph, true
}

func (c *recentGraphs) Put(key GraphKey, g *compiler.Graph) {
	if c.size <= 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if el, ok := c.entries[key]; ok {
		el.Value = recentGraph{key, g}
		c.order.MoveToFront(el)
		return
	}
	c.entries[key] = c.order.PushFront(recentGraph{key, g})
	if c.order.Len() > c.size {
		oldest := c.order.Back()
		c.order.Remove(oldest)
		delete(c.entries, oldest.Value.(recentGraph).key)
	}
}
