package inline

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/docket-go/docket/core/compiler"
	"github.com/docket-go/docket/core/executor"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/core/runtime"
)

// Config configures a run. The zero Config runs on the runner's own clock.
type Config struct {
	RunID    string         // "": "inline"
	Metadata map[string]any // the run's
	Limits   runtime.Limits
	Executor executor.Executor // nil: executor.Local{}
	App      any               // node.Activation.App
	// Now and Sleep are the clock and the wait of each park; give both or neither.
	// Without them time is virtual: it starts at Epoch and Sleep moves it.
	Now   func() time.Time
	Sleep func(ctx context.Context, d time.Duration) error
	// Observe is called with every checkpoint, when set.
	Observe func(runtime.Checkpoint)
}

// Epoch is where virtual time starts.
var Epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// ErrIdle says that a run has nothing to step: it waits for answers, or has ended.
var ErrIdle = errors.New("inline: the run is idle")

// Runner is one run.
type Runner struct {
	g           *compiler.Graph
	cfg         Config
	exec        *executor.Runner
	run         *run.Run
	disposition runtime.Disposition
	checkpoints []runtime.Checkpoint
}

// Run starts a run and drives it until it waits or ends: Start and Drive. The
// Runner is returned with Drive's error too.
func Run(ctx context.Context, g *compiler.Graph, input map[string]any, cfg Config) (*Runner, error) {
	r, err := Start(g, input, cfg)
	if err != nil {
		return nil, err
	}
	return r, r.Drive(ctx)
}

// Start initialises a run; nothing is executed. It fails with an
// *runtime.InputError when the input doesn't fit the graph.
func Start(g *compiler.Graph, input map[string]any, cfg Config) (*Runner, error) {
	if cfg.RunID == "" {
		cfg.RunID = "inline"
	}
	r, err := newRunner(g, cfg, Epoch)
	if err != nil {
		return nil, err
	}
	cfg = r.cfg
	m, err := runtime.Initialize(g, runtime.Start{RunID: cfg.RunID, Input: input, Metadata: cfg.Metadata, Now: cfg.Now()})
	if err != nil {
		return nil, err
	}
	r.commit(m)
	return r, nil
}

// Resume takes up a committed run, as it was returned by Runner.Run or read by
// run.Decode. The graph must be the version that the run pins.
func Resume(g *compiler.Graph, committed *run.Run, cfg Config) (*Runner, error) {
	if committed.Graph != g.Ref {
		return nil, fmt.Errorf("inline: run %q is of graph %s, not of %s", committed.ID, committed.Graph, g.Ref)
	}
	r, err := newRunner(g, cfg, committed.UpdatedAt)
	if err != nil {
		return nil, err
	}
	r.run = committed.Clone()
	r.disposition = runtime.Disposition{Kind: runtime.Continue}
	if due, parked := committed.NextDue(); parked {
		r.disposition = runtime.Disposition{Kind: runtime.ParkAt, At: due}
	}
	return r, nil
}

func newRunner(g *compiler.Graph, cfg Config, epoch time.Time) (*Runner, error) {
	if (cfg.Now == nil) != (cfg.Sleep == nil) {
		return nil, errors.New("inline: Config.Now and Config.Sleep go together")
	}
	if cfg.Now == nil {
		clock := &virtualClock{now: epoch}
		cfg.Now, cfg.Sleep = clock.Now, clock.Sleep
	}
	exec := executor.New(executor.Config{Executor: cfg.Executor, App: cfg.App})
	return &Runner{g: g, cfg: cfg, exec: exec}, nil
}

// Drive steps until the run waits for answers or has ended, sleeping through its
// parks. It fails when ctx ends, and on a graph that can't be executed here; a run
// that failed is no error: see Run.
func (r *Runner) Drive(ctx context.Context) error {
	for {
		if _, err := r.Step(ctx); errors.Is(err, ErrIdle) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// Step sleeps through a park, if there is one, and then makes at most one superstep
// and exactly one moment. It fails with ErrIdle when there is nothing to do.
func (r *Runner) Step(ctx context.Context) (runtime.Checkpoint, error) {
	if r.run.Status != run.Running {
		return runtime.Checkpoint{}, fmt.Errorf("%w: it is %s", ErrIdle, r.run.Status)
	}
	if wait := r.disposition.At.Sub(r.cfg.Now()); r.disposition.Kind == runtime.ParkAt && wait > 0 {
		if err := r.cfg.Sleep(ctx, wait); err != nil {
			return runtime.Checkpoint{}, err
		}
	}
	m, err := r.advance(ctx)
	if err != nil {
		return runtime.Checkpoint{}, err
	}
	return r.commit(m), nil
}

func (r *Runner) advance(ctx context.Context) (*runtime.Moment, error) {
	step, err := runtime.Plan(r.g, r.run, r.cfg.Limits, r.cfg.Now())
	if err != nil {
		return nil, err
	}
	if step.Moment != nil {
		return step.Moment, nil
	}
	outcomes, err := r.exec.Run(ctx, step.Tasks)
	if err != nil {
		return nil, err
	}
	return runtime.Update(step, outcomes, r.cfg.Now())
}

// Resolve answers an interrupt; Drive or Step goes on from there. It fails with a
// *runtime.SignalError when the answer is refused.
func (r *Runner) Resolve(interruptID string, answer any) (runtime.Checkpoint, error) {
	m, err := runtime.Resolve(r.g, r.run, runtime.Answer{InterruptID: interruptID, Value: answer}, r.cfg.Now())
	if err != nil {
		return runtime.Checkpoint{}, err
	}
	return r.commit(m), nil
}

// Cancel ends the run. Cancelling a cancelled run changes nothing; another ended
// run is a *runtime.SignalError.
func (r *Runner) Cancel() error {
	m, err := runtime.Cancel(r.run, r.cfg.Now())
	if m != nil {
		r.commit(m)
	}
	return err
}

func (r *Runner) commit(m *runtime.Moment) runtime.Checkpoint {
	r.run, r.disposition = m.Run, m.Disposition
	c := m.Checkpoint()
	r.checkpoints = append(r.checkpoints, c)
	if r.cfg.Observe != nil {
		r.cfg.Observe(c)
	}
	return c
}

// Status returns the run's status.
func (r *Runner) Status() run.Status { return r.run.Status }

// Run returns a copy of the run as last committed.
func (r *Runner) Run() *run.Run { return r.run.Clone() }

// Checkpoints returns what was committed by this Runner, in order.
func (r *Runner) Checkpoints() []runtime.Checkpoint {
	return append([]runtime.Checkpoint(nil), r.checkpoints...)
}

// Events returns the events of every checkpoint, in order.
func (r *Runner) Events() []run.Event {
	var events []run.Event
	for _, c := range r.checkpoints {
		events = append(events, c.Events()...)
	}
	return events
}
