package engine

import (
	"context"
	"log/slog"

	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/ports"
)

// Engine is the façade over one backend and, in a process that calls Run, the
// driver of its due runs. It is safe for concurrent use.
type Engine struct {
	cfg      Config
	registry *node.Registry
	store    *store
	graphs   *graphs
	driver   *driver
	waiters  *waiters
	told     *teller
	tel      *telemetry
	jitter   *jitter
	log      *slog.Logger
	bound    bool // to a caller's transaction
}

// New returns an engine over a backend. The registry holds the implementations
// of the nodes; a nil registry is enough to read, signal and draw. It fails with
// CodeInvalidConfig and every problem of the configuration. The backend stays
// the caller's to close.
func New(backend ports.Backend, registry *node.Registry, cfg Config) (*Engine, error) {
	if backend == nil {
		return nil, &Error{Code: CodeInvalidConfig, Message: "the backend is nil"}
	}
	cfg = cfg.withDefaults()
	caps := backend.Capabilities()
	if err := cfg.validate(caps); err != nil {
		return nil, err
	}
	tel, err := newTelemetry(cfg)
	if err != nil {
		return nil, &Error{Code: CodeInvalidConfig, Message: "telemetry: " + err.Error(), Err: err}
	}
	e := &Engine{
		cfg:      cfg,
		registry: registry,
		store:    &store{backend: backend, clock: &storeClock{injected: cfg.Clock}, timeout: cfg.StoreTimeout},
		waiters:  newWaiters(),
		tel:      tel,
		jitter:   newJitter(),
		log:      cfg.Logger,
	}
	e.graphs = newGraphs(cfg, registry, tel)
	e.told = newTeller(cfg, tel)
	e.driver, err = newDriver(e, caps)
	if err != nil {
		return nil, err
	}
	return e, nil
}

// In returns an engine whose façade calls go through a transaction-bound backend
// of the caller: they commit or vanish with the caller's transaction. It starts
// nothing in this process before that commit, drives nothing, and Run and Drain
// on it are refused.
func (e *Engine) In(tx ports.Backend) *Engine {
	bound := *e
	bound.store = &store{backend: tx, clock: e.store.clock, timeout: e.store.timeout}
	bound.bound = true
	return &bound
}

// Registry returns the registry the engine was made with.
func (e *Engine) Registry() *node.Registry { return e.registry }

// committed tells this process about a commit it made: whoever awaits the run,
// the worker whose claim a signal took, the dispatcher when the run is due.
// Inside a caller's transaction nothing is committed yet, so nothing is told;
// the store's own wake comes with the commit (TX-7).
func (e *Engine) committed(ctx context.Context, c commit) {
	if e.bound {
		return
	}
	e.tel.committed(c.moment)
	if c.signal {
		e.tel.links.put(c.moment.Run.ID, e.tel.spanOf(ctx))
	}
	e.waiters.tell(c.owner, c.moment.Run)
	e.driver.noticed(c)
	e.told.observe(ctx, c)
}
