package main

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/docket-go/docket/adapters/memory"
	"github.com/docket-go/docket/conformance"
	"github.com/docket-go/docket/ports"
)

// opener gives a backend's harness and what undoes it.
type opener func(context.Context, flags) (conformance.Harness, func() error, error)

// backends are those that the runner can open by itself.
var backends = map[string]opener{
	"memory": memoryHarness,
	"pgx":    pgxHarness,
	"sqlite": sqliteHarness,
}

// embeddedNames are those that need nothing but this program.
var embeddedNames = []string{"memory", "sqlite"}

func backendNames() []string { return names(backends) }

func names[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func memoryHarness(context.Context, flags) (conformance.Harness, func() error, error) {
	clocks := newClocks()
	h := conformance.Harness{
		Name: "memory",
		Open: func(context.Context) (ports.Backend, error) {
			c := new(clock)
			b := memory.New(memory.Config{Clock: c.now})
			clocks.of(b, c)
			return b, nil
		},
		Clock: clocks.advance,
	}
	return h, func() error { return nil }, nil
}

// clock is the process's, moved forward by the suite.
type clock struct {
	mu    sync.Mutex
	ahead time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.ahead)
}

// clocks finds the clock of a backend.
type clocks struct {
	mu        sync.Mutex
	byBackend map[ports.Backend]*clock
}

func newClocks() *clocks { return &clocks{byBackend: map[ports.Backend]*clock{}} }

func (c *clocks) of(b ports.Backend, its *clock) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.byBackend[b] = its
}

// advance is a conformance.Harness.Clock.
func (c *clocks) advance(_ context.Context, b ports.Backend, by time.Duration) error {
	c.mu.Lock()
	its := c.byBackend[b]
	c.mu.Unlock()
	its.mu.Lock()
	defer its.mu.Unlock()
	its.ahead += by
	return nil
}
