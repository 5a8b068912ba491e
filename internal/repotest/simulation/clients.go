package simulation

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/engine"
)

// serve begins everything that comes from outside: starts, answers,
// cancellations and the operator.
func (w *world) serve(ctx, faulty context.Context, wg *sync.WaitGroup) {
	var clients []*engine.Engine
	for n := range 2 {
		l := w.newLink(fmt.Sprintf("c%d", n), false)
		e, err := w.engine(l, engine.Config{}, n == 1)
		if err != nil {
			w.violate(Violation{Check: "clients", Message: err.Error()})
			return
		}
		clients = append(clients, e)
		wg.Go(func() { l.settle(faulty) })
		wg.Go(func() { w.answer(ctx, e, n) })
	}
	wg.Go(func() { w.operate(ctx, clients[0]) })
	for i := range w.Runs {
		c := w.chance.at("run", i)
		id := fmt.Sprintf("r%03d", i)
		wg.Go(func() {
			if sleep(ctx, c.at("start").between(0, startsUntil)) != nil {
				return
			}
			w.start(ctx, c, id, clients)
			if c.at("cancelled").oneIn(6) && sleep(ctx, c.at("cancel after").between(0, 15*time.Second)) == nil {
				w.cancel(ctx, c, id, clients[1])
			}
		})
	}
}

// start starts a run and insists until the start is acknowledged: by a client, or
// by a worker that may then drive it at once.
func (w *world) start(ctx context.Context, c chance, id string, clients []*engine.Engine) {
	req := engine.StartRun{
		RunID: id, Graph: w.graphs[c.at("graph").below(len(w.graphs))].Ref,
		Input: map[string]any{"topic": c.at("topic").below(2)},
	}
	if c.at("later").oneIn(6) {
		req.At = w.storeTime().Add(c.at("at").between(0, 10*time.Second))
	}
	for n := 0; ctx.Err() == nil; n++ {
		e := clients[c.at("client", n).below(len(clients))]
		if c.at("worker", n).oneIn(2) {
			if worker := w.anyWorker(c.at("which", n)); worker != nil {
				e = worker
			}
		}
		_, err := e.StartRun(ctx, req)
		if err == nil {
			w.acks.started(id)
			break
		}
		if !passing(err) {
			w.refused("StartRun", id, err)
			return
		}
		_ = sleep(ctx, c.at("again", n).between(50*time.Millisecond, time.Second))
	}
	w.await(ctx, c, id, clients[c.at("awaits").below(len(clients))])
	if c.at("impostor").oneIn(8) {
		req.Input = map[string]any{"topic": 7}
		if _, err := clients[0].StartRun(ctx, req); engine.CodeOf(err) != engine.CodeConflict && (err == nil || !passing(err)) {
			w.refused("StartRun with another input", id, err)
		}
	}
}

// await waits for a run a little: what it is told must be what is committed.
func (w *world) await(ctx context.Context, c chance, id string, e *engine.Engine) {
	ctx, cancel := context.WithTimeout(ctx, c.at("await").between(0, 5*time.Second))
	defer cancel()
	r, err := e.AwaitRun(ctx, engine.AwaitRun{RunID: id})
	var poisoned *engine.PoisonedError
	switch {
	case err == nil:
		w.acks.awaited(r)
	case !errors.As(err, &poisoned) && !passing(err):
		w.refused("AwaitRun", id, err)
	}
}

// lookEvery is how often somebody looks for questions, at most.
const lookEvery = 300 * time.Millisecond

// answer looks for questions and answers them, as one of several who do.
func (w *world) answer(ctx context.Context, e *engine.Engine, client int) {
	c := w.chance.at("answers", client)
	// All who answer look at the same instants: then several answer at once.
	for n := 0; sleep(ctx, time.Duration(1+c.at("pause", n).below(2))*lookEvery) == nil; n++ {
		page, err := e.ListRuns(ctx, engine.ListRuns{OpenInterrupts: true})
		if err != nil {
			continue
		}
		for _, summary := range page.Items {
			r, err := e.FetchRun(ctx, engine.FetchRun{RunID: summary.ID})
			if err != nil {
				continue
			}
			for i, q := range r.Interrupts {
				if !c.at("answers "+r.ID, n, i).oneIn(4) {
					w.resolve(ctx, e, r.ID, q, fmt.Sprintf("c%d.%d", client, n))
				}
			}
		}
	}
}

func (w *world) resolve(ctx context.Context, e *engine.Engine, id string, q run.Interrupt, text string) {
	req := engine.ResolveInterrupt{RunID: id, InterruptID: q.ID, Value: text}
	bad := w.chance.at("bad answer " + id + q.ID + text).oneIn(10)
	if bad {
		req.Value = map[string]any{"is": "no text"}
	}
	_, err := e.ResolveInterrupt(ctx, req)
	code := engine.CodeOf(err)
	switch {
	case err == nil && !bad:
		w.acks.answered(id, q.ID, text)
		w.ledger.remark(id, text, "hears that its answer to %s is taken", q.ID)
	case err == nil:
		w.refused("ResolveInterrupt with a bad answer", id, err)
	case code == engine.CodeResolved, code == engine.CodeInactive, bad && code == engine.CodeInvalidInput, passing(err):
	default:
		w.refused("ResolveInterrupt", id, err)
	}
}

func (w *world) cancel(ctx context.Context, c chance, id string, e *engine.Engine) {
	for n := 0; ctx.Err() == nil; n++ {
		_, err := e.CancelRun(ctx, engine.CancelRun{RunID: id})
		switch {
		case err == nil:
			w.acks.cancelled(id)
			w.ledger.remark(id, "", "who cancelled hears that the run is cancelled")
			return
		case engine.CodeOf(err) == engine.CodeInactive:
			return
		case !passing(err):
			w.refused("CancelRun", id, err)
			return
		}
		_ = sleep(ctx, c.at("cancel again", n).between(50*time.Millisecond, time.Second))
	}
}

// operate gives poisoned runs back to delivery.
func (w *world) operate(ctx context.Context, e *engine.Engine) {
	for sleep(ctx, 2*time.Second) == nil {
		page, err := e.ListRuns(ctx, engine.ListRuns{Poisoned: true})
		if err != nil {
			continue
		}
		for _, summary := range page.Items {
			_, err := e.RetryPoisonedRun(ctx, engine.RetryPoisonedRun{RunID: summary.ID})
			if err != nil && engine.CodeOf(err) != engine.CodeInactive && !passing(err) {
				w.refused("RetryPoisonedRun", summary.ID, err)
			}
		}
	}
}

// awaitEnds wants every run to end, now that nothing is in the way any more.
func (w *world) awaitEnds(ctx context.Context) {
	e, err := w.engine(w.newLink("await", false), engine.Config{}, true)
	if err != nil {
		w.violate(Violation{Check: "clients", Message: err.Error()})
		return
	}
	ctx, cancel := context.WithTimeout(ctx, endsWithin)
	defer cancel()
	for i := range w.Runs {
		id := fmt.Sprintf("r%03d", i)
		for {
			r, err := e.AwaitRun(ctx, engine.AwaitRun{RunID: id})
			var poisoned *engine.PoisonedError
			switch {
			case err == nil && r.Status.Terminal():
				w.tally.add("runs " + string(r.Status))
			case err == nil, errors.As(err, &poisoned), engine.CodeOf(err) == engine.CodeNotFound:
				if sleep(ctx, 500*time.Millisecond) == nil {
					continue
				}
				w.stuck(id, r.Status, err)
			default:
				w.stuck(id, r.Status, err)
			}
			break
		}
	}
}

func (w *world) stuck(id string, status run.Status, err error) {
	w.ledger.mu.Lock()
	defer w.ledger.mu.Unlock()
	w.ledger.violate("liveness", id, "the run hasn't ended %v after the last fault: %q, %v", endsWithin, status, err)
}

func (w *world) refused(what, id string, err error) {
	w.ledger.mu.Lock()
	defer w.ledger.mu.Unlock()
	w.ledger.violate("answers", id, "%s answers %v", what, err)
}

// passing reports whether a call may simply be made again: the store couldn't be
// reached, or nobody knows whether it was.
func passing(err error) bool {
	switch engine.CodeOf(err) {
	case engine.CodeUnavailable, engine.CodeUncertain, engine.CodeTimeout, engine.CodeContended:
		return true
	}
	return false
}
