package simulation

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/docket-go/docket/adapters/memory"
	"github.com/docket-go/docket/core/compiler"
	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/engine"
	"github.com/docket-go/docket/ports"
)

// Config asks for one simulation.
type Config struct {
	Seed uint64
	Runs int
	Calm bool // no faults at all
	// Sabotage puts a broken store in the place of the one that keeps the contract,
	// to see who notices. Nil: none.
	Sabotage func(ports.Backend) ports.Backend
	// Meddle stands between each process and the referee, as if the engines
	// themselves were broken. Nil: nobody does.
	Meddle func(ports.Backend) ports.Backend
}

// Report is what came of it.
type Report struct {
	Violations []Violation
	Figures    map[string]int
}

// Violation is one broken promise.
type Violation struct {
	Check   string // which check found it
	RunID   string // empty when no single run is concerned
	Message string
	Trace   []string // what happened to the run, in order
}

// The times of a world.
const (
	claimTTL     = 6 * time.Second
	storeTimeout = 900 * time.Millisecond
	startsUntil  = 25 * time.Second
	faultsUntil  = 40 * time.Second
	endsWithin   = 4 * time.Minute // once the faults have stopped
)

// world is one store, its fleet and its clients.
type world struct {
	Config
	chance   chance
	mildness int // the higher, the fewer faults
	began    time.Time
	tally    tally

	store   ports.Backend
	offset  atomic.Int64 // of the store's clock, in nanoseconds
	ledger  *ledger
	journal journal
	acks    acks

	graphs   []*compiler.Graph
	attempts int64 // ClaimAttempts
	abandons int64 // MaxAbandons
	skewed   bool  // a process has a clock of its own
	jumps    bool  // the store's clock is set now and then
	calmed   chan struct{}

	mu         sync.Mutex
	workers    map[string]*engine.Engine // at work now
	violations []Violation
}

// Simulate lives through one world. Call it inside a synctest bubble; ctx ends it
// early.
func Simulate(ctx context.Context, cfg Config) Report {
	w := &world{
		Config: cfg, chance: chance(cfg.Seed).at("world"), began: time.Now(),
		calmed: make(chan struct{}), workers: map[string]*engine.Engine{},
	}
	w.mildness = []int{40, 80, 160, 500}[w.chance.at("mildness").below(4)]
	w.attempts = []int64{3, 5, 1000}[w.chance.at("attempts").below(3)]
	w.abandons = []int64{3, 1000}[w.chance.at("abandons").below(2)]
	w.skewed = !cfg.Calm && w.chance.at("drainer").oneIn(2)
	w.jumps = !cfg.Calm && w.chance.at("clock shifts").oneIn(2)
	w.offset.Store(int64(w.chance.at("offset").between(-24*time.Hour, 24*time.Hour)))
	kept := memory.New(memory.Config{Clock: func() time.Time { return time.Now().Add(time.Duration(w.offset.Load())) }})
	w.store = kept
	if cfg.Sabotage != nil {
		w.store = cfg.Sabotage(kept)
	}
	if cfg.Calm {
		close(w.calmed)
	}
	w.ledger = newLedger(w)
	if err := w.publish(ctx); err != nil {
		w.violate(Violation{Check: "graphs", Message: err.Error()})
		return Report{Violations: w.violations}
	}
	w.live(ctx)
	w.judge(ctx)
	_ = kept.Close()
	w.figures()
	return Report{Violations: w.violations, Figures: w.tally.figures()}
}

// publish saves the world's graphs.
func (w *world) publish(ctx context.Context) error {
	e, err := w.engine(w.newLink("setup", false), engine.Config{}, false)
	if err != nil {
		return err
	}
	registry, err := w.registry(nil, false)
	if err != nil {
		return err
	}
	for n := range 3 {
		g, err := randomGraph(w.chance.at("graph", n), fmt.Sprintf("g%d", n))
		if err != nil {
			return err
		}
		for {
			if _, err = e.SaveGraph(ctx, engine.SaveGraph{Graph: g}); err == nil || !passing(err) {
				break
			}
		}
		if err != nil {
			return err
		}
		compiled, _, err := compiler.Compile(g, registry)
		if err != nil {
			return err
		}
		w.graphs = append(w.graphs, compiled)
	}
	return nil
}

// live lets the fleet work under faults, then without, until every run has ended.
func (w *world) live(ctx context.Context) {
	ctx, end := context.WithCancel(ctx)
	faulty, calm := context.WithCancel(ctx)
	defer calm()
	var fleet, clients sync.WaitGroup
	for slot := range 2 + w.chance.at("workers").below(3) {
		fleet.Go(func() { w.employ(ctx, faulty, &fleet, slot) })
	}
	if w.skewed {
		fleet.Go(func() { w.drain(faulty) })
	}
	if w.jumps {
		fleet.Go(func() { w.shiftClock(faulty) })
	}
	w.serve(ctx, faulty, &clients)
	_ = sleep(ctx, faultsUntil)
	if !w.calm() {
		close(w.calmed)
	}
	calm()
	w.awaitEnds(ctx)
	end()
	clients.Wait()
	fleet.Wait()
	time.Sleep(2 * deafFor) // nodes that ignore the end of their context return in the end
}

func (w *world) calm() bool {
	select {
	case <-w.calmed:
		return true
	default:
		return false
	}
}

// shiftClock sets the store's clock forward and back.
func (w *world) shiftClock(ctx context.Context) {
	for n := 0; sleep(ctx, w.chance.at("shift", n).between(2*time.Second, 20*time.Second)) == nil; n++ {
		w.offset.Add(int64(w.chance.at("shift by", n).between(-claimTTL, 2*claimTTL)))
		w.tally.add("fault: the store's clock jumps")
	}
}

func (w *world) elapsed() time.Duration { return time.Since(w.began) }

func (w *world) storeTime() time.Time {
	return time.Now().Add(time.Duration(w.offset.Load())).UTC().Truncate(time.Microsecond)
}

// registry returns the implementations as one process has them. Older ones lack
// what is new.
func (w *world) registry(l *link, older bool) (*node.Registry, error) {
	nodes := map[string]node.Node{}
	for _, id := range []string{implWork, implNew, implCount, implAsk} {
		if id == implNew && older {
			continue
		}
		nodes[id] = node.HandlerFunc(func(ctx context.Context, in node.Input) (node.Result, error) {
			a, _ := node.Info(ctx)
			w.journal.begin(a, l.name, w.elapsed(), w.storeTime())
			l.stand()
			defer l.stand()
			return scriptOf(w.chance.at("attempt"), id, a, in).act(ctx)
		})
	}
	return node.NewRegistry(nodes)
}

// engine returns an engine that works through a link.
func (w *world) engine(l *link, cfg engine.Config, older bool) (*engine.Engine, error) {
	registry, err := w.registry(l, older)
	if err != nil {
		return nil, err
	}
	cfg.ClaimTTL, cfg.StoreTimeout, cfg.Poll = claimTTL, storeTimeout, 500*time.Millisecond
	cfg.ShutdownGrace, cfg.AttemptMax = 2*time.Second, attemptMax
	cfg.ClaimAttempts, cfg.MaxAbandons = w.attempts, w.abandons
	cfg.AbandonBackoff, cfg.AbandonMaxBackoff, cfg.IncompatibleTTL = 500*time.Millisecond, 4*time.Second, time.Second
	cfg.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	cfg.Observers = []engine.Observer{engine.ObserverFunc(w.acks.observe)}
	e, err := engine.New(l.backend, registry, cfg)
	if err != nil {
		return nil, fmt.Errorf("engine.New: %w", err)
	}
	return e, nil
}

func (w *world) violate(v Violation) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.violations = append(w.violations, v)
}
