package simulation

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/docket-go/docket/engine"
)

// employ fills one place of the fleet: one process after the other, each until it
// dies or is replaced; once the world is calm a last one that stays.
func (w *world) employ(ctx, faulty context.Context, fleet *sync.WaitGroup, slot int) {
	for n := 0; ctx.Err() == nil; n++ {
		name := fmt.Sprintf("w%d.%d", slot, n)
		c := w.chance.at("process " + name)
		p, err := w.startProcess(ctx, faulty, fleet, name, c)
		if err != nil {
			w.violate(Violation{Check: "workers", Message: err.Error()})
			return
		}
		if w.calm() {
			<-ctx.Done()
			p.stop()
			return
		}
		select {
		case <-p.link.crashed:
			p.abandon()
		case <-time.After(c.at("life").between(2*time.Second, 30*time.Second)):
			w.tally.add("fault: process restarted gracefully")
			p.stop()
		case <-w.calmed:
			p.stop()
		}
		_ = sleep(faulty, c.at("down").between(0, 3*time.Second))
	}
}

// process is one worker's life.
type process struct {
	w    *world
	link *link
	quit context.CancelFunc
	done chan struct{}
}

func (w *world) startProcess(ctx, faulty context.Context, fleet *sync.WaitGroup, name string, c chance) (*process, error) {
	calm := w.calm()
	l := w.newLink(name, true)
	older := !calm && c.at("older").oneIn(4)
	w.tally.addIf(older, "fault: process lacks an implementation")
	e, err := w.engine(l, engine.Config{
		Slots:        1 + c.at("slots").below(4),
		DrainMoments: []int{1, 3, 100}[c.at("drain").below(3)],
	}, older)
	if err != nil {
		return nil, err
	}
	life, quit := context.WithCancel(context.WithoutCancel(ctx))
	p := &process{w: w, link: l, quit: quit, done: make(chan struct{})}
	fleet.Go(func() {
		defer close(p.done)
		if err := e.Run(life); err != nil && engine.CodeOf(err) != engine.CodeAbandoned {
			w.violate(Violation{Check: "workers", Message: fmt.Sprintf("%s: Run: %v", name, err)})
		}
	})
	fleet.Go(func() { l.settle(faulty) })
	if !calm && c.at("freezes").oneIn(3) {
		fleet.Go(func() {
			if sleep(faulty, c.at("freeze after").between(0, 15*time.Second)) == nil {
				l.freeze(faulty, c.at("freeze for").between(claimTTL/10, 3*claimTTL))
			}
		})
	}
	w.mu.Lock()
	w.workers[name] = e
	w.mu.Unlock()
	return p, nil
}

// stop ends the process softly and waits for it.
func (p *process) stop() {
	p.abandon()
	<-p.done
}

// abandon lets what is left of the process wind up by itself.
func (p *process) abandon() {
	p.w.mu.Lock()
	delete(p.w.workers, p.link.name)
	p.w.mu.Unlock()
	p.quit()
}

// anyWorker returns a process that was at work a moment ago, or nil.
func (w *world) anyWorker(c chance) *engine.Engine {
	w.mu.Lock()
	defer w.mu.Unlock()
	names := slices.Sorted(maps.Keys(w.workers))
	if len(names) == 0 {
		return nil
	}
	return w.workers[names[c.below(len(names))]]
}

// drain drives runs by hand, in a process whose clock is wrong and keeps changing
// its mind: no fence may depend on it.
func (w *world) drain(ctx context.Context) {
	c := w.chance.at("drainer")
	l := w.newLink("drain", false)
	clock := func() time.Time {
		window := int(w.elapsed() / (5 * time.Second))
		return w.storeTime().Add(c.at("skew", window).between(-4*time.Second, 4*time.Second))
	}
	e, err := w.engine(l, engine.Config{Mode: engine.ModeManual, Clock: clock}, false)
	if err != nil {
		w.violate(Violation{Check: "workers", Message: err.Error()})
		return
	}
	for n := 0; sleep(ctx, c.at("drain", n).between(100*time.Millisecond, 2*time.Second)) == nil; n++ {
		drained, err := e.Drain(context.WithoutCancel(ctx), 1+c.at("limit", n).below(5))
		if err != nil && !passing(err) {
			w.violate(Violation{Check: "workers", Message: fmt.Sprintf("Drain: %v", err)})
		}
		w.tally.count("fault: moments of a process with a skewed clock", drained.Moments)
	}
	l.arrive(context.WithoutCancel(ctx))
}
