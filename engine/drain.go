package engine

import (
	"context"
	"time"
)

// Drained says how far Drain came.
type Drained struct {
	Moments  int  // committed
	Claims   int  // runs that were driven
	Poisoned int  // runs that a claim poisoned instead
	HitLimit bool // more may be due
}

// Drain drives due runs in the caller's goroutine, one after the other, until
// nothing is due or limit moments are committed; 0 is Config.DrainMoments. Only in
// ModeManual and ModeInline, where nothing else advances. Calls take turns.
func (e *Engine) Drain(ctx context.Context, limit int) (Drained, error) {
	switch {
	case e.bound || e.cfg.Mode == ModeProduction:
		return Drained{}, &Error{Code: CodeUnsupported, Message: "Drain is for an engine in ModeManual or ModeInline that isn't bound to a transaction"}
	case limit < 0:
		return Drained{}, invalid("limit", "is %d, want 0 or more", limit)
	case limit == 0:
		limit = e.cfg.DrainMoments
	}
	if err := e.needsNodes("Drain"); err != nil {
		return Drained{}, err
	}
	return e.driver.drain(ctx, limit)
}

// inline drains everything that is due, in ModeInline; ctx bounds it.
func (e *Engine) inline(ctx context.Context) error {
	if e.cfg.Mode != ModeInline || e.bound || len(e.registry.IDs()) == 0 {
		return nil
	}
	_, err := e.driver.drain(ctx, int(^uint(0)>>1))
	return err
}

func (d *driver) drain(ctx context.Context, limit int) (Drained, error) {
	var out Drained
	select {
	case d.draining <- struct{}{}:
		defer func() { <-d.draining }()
	case <-ctx.Done():
		return out, storeError("", ctx.Err())
	}
	s := newSession(ctx)
	stop := context.AfterFunc(ctx, func() { s.end(ErrShutdown) })
	defer stop()
	defer s.vehicles.Wait() // for renewals that are under way
	for out.Moments < limit {
		if err := ctx.Err(); err != nil {
			return out, storeError("", err)
		}
		claimed, err := d.claim(s.work, 1)
		if err != nil {
			return out, storeError("", err)
		}
		out.Poisoned += len(claimed.Poisoned)
		for _, lease := range claimed.Leases {
			v := d.newVehicle(s, lease)
			v.budget, v.most = min(limit-out.Moments, v.budget), time.Duration(1<<62)
			v.drive()
			out.Claims++
			out.Moments += v.moments
		}
		if len(claimed.Leases)+len(claimed.Poisoned) == 0 {
			d.e.told.flush(d.e.cfg.ObserverTimeout)
			return out, nil
		}
	}
	d.e.told.flush(d.e.cfg.ObserverTimeout)
	out.HitLimit = true
	return out, nil
}
