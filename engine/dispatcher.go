package engine

import (
	"context"
	"log/slog"
	"time"

	"github.com/docket-go/docket/ports"
)

// maxClaim is the most outcomes a backend gives one claim (CLM-2).
const maxClaim = 1000

// dispatcher looks for due work and hands it to vehicles. One goroutine owns it.
type dispatcher struct {
	d       *driver
	session *session
	outage  backoff // of the current outage; zero while the store answers
	failing bool
	hungry  bool // the last look left work behind, or may have
}

func newDispatcher(d *driver, s *session) *dispatcher {
	// During an outage the loop starts with short waits and never waits longer than
	// it would between ordinary looks: work resumes within one interval.
	return &dispatcher{d: d, session: s, outage: backoff{base: d.e.cfg.Poll / 16, limit: d.e.cfg.Poll}}
}

// loop polls at an interval, at once on a wake, and when a slot comes free while
// work was left behind. It returns when ctx ends.
func (p *dispatcher) loop(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-p.d.wakeup:
			if p.failing {
				continue // an outage isn't hammered: its own timer decides
			}
		case <-p.d.slots.freed:
			if p.failing || !p.hungry {
				continue
			}
		}
		if ctx.Err() != nil {
			return
		}
		timer.Reset(p.look(ctx))
	}
}

// look claims as much as there are free slots, until there is no more or no slot
// is free. It returns the wait until the next look.
func (p *dispatcher) look(ctx context.Context) time.Duration {
	poll := p.d.e.jitter.around(p.d.e.cfg.Poll)
	p.hungry = true
	for p.hungry && ctx.Err() == nil {
		if p.d.saturated() {
			p.d.pulse.saturated()
			return poll
		}
		n := p.d.slots.take(maxClaim)
		if n == 0 {
			return poll
		}
		if err := p.fill(n); err != nil {
			return p.failed(err)
		}
	}
	return poll
}

// fill claims for n taken slots and starts a vehicle a lease. All leases of the
// claim are in hand before the first one starts. Slots that it doesn't fill are
// free again, also when it panics.
func (p *dispatcher) fill(n int) error {
	filled := 0
	defer func() { p.d.slots.give(n - filled) }()
	claimed, err := p.d.claim(p.session.work, n)
	if err != nil {
		return err
	}
	p.failing = false
	p.outage.reset()
	p.d.pulse.answered()
	p.hungry = len(claimed.Leases)+len(claimed.Poisoned) >= n
	for _, lease := range claimed.Leases {
		v := p.d.newVehicle(p.session, lease)
		p.session.vehicles.Add(1)
		filled++
		go p.d.park(p.session, v)
	}
	return nil
}

// claim makes one claim of at most n runs. It is detached: a claim whose answer
// nobody reads would hold its runs until it runs out.
func (d *driver) claim(ctx context.Context, n int) (ports.Claimed, error) {
	req := ports.ClaimRuns{
		Scope: ports.System(), Limit: n, TTL: d.e.cfg.ClaimTTL, MaxAttempts: d.e.cfg.ClaimAttempts,
		Prefer: d.prefer(n),
	}
	claimed, err := d.e.store.claimRuns(detached(ctx), req)
	if err != nil {
		d.e.tel.claimFailed()
		return claimed, err
	}
	d.e.tel.claimed(claimed)
	for _, poisoned := range claimed.Poisoned {
		d.poisoned(poisoned)
	}
	return claimed, nil
}

func (p *dispatcher) failed(err error) time.Duration {
	wait := p.d.e.jitter.below(p.outage.step())
	if !p.failing {
		p.d.e.log.Warn("docket: claiming failed; trying again until the store answers",
			slog.String("error", err.Error()))
	}
	p.failing = true
	p.d.pulse.failed(err)
	return wait
}
