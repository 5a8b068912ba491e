package repotest

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

var errCustom = errors.New("custom")

// spy tells about claims that return something.
type spy struct {
	ports.Backend
	onClaim func()
}

func (s *spy) Unwrap() ports.Backend { return s.Backend }

func (s *spy) ClaimRuns(ctx context.Context, req ports.ClaimRuns) (ports.Claimed, error) {
	c, err := s.Backend.ClaimRuns(ctx, req)
	if len(c.Leases) > 0 {
		s.onClaim()
	}
	return c, err
}

// cut is a backend that stops reaching the store.
type cut struct {
	ports.Backend
	off atomic.Bool
}

func (c *cut) Unwrap() ports.Backend { return c.Backend }

func (c *cut) gone(op string) error {
	if c.off.Load() {
		return ports.Unavailable(op, errCustom)
	}
	return nil
}

func (c *cut) ClaimRuns(ctx context.Context, req ports.ClaimRuns) (ports.Claimed, error) {
	if err := c.gone("ClaimRuns"); err != nil {
		return ports.Claimed{}, err
	}
	return c.Backend.ClaimRuns(ctx, req)
}

func (c *cut) CommitClaimed(ctx context.Context, req ports.CommitClaimed) (ports.Committed, error) {
	if err := c.gone("CommitClaimed"); err != nil {
		return ports.Committed{}, err
	}
	return c.Backend.CommitClaimed(ctx, req)
}

func (c *cut) RefreshClaim(ctx context.Context, req ports.RefreshClaim) (ports.Refreshed, error) {
	if err := c.gone("RefreshClaim"); err != nil {
		return ports.Refreshed{}, err
	}
	return c.Backend.RefreshClaim(ctx, req)
}

func (c *cut) ReleaseClaim(ctx context.Context, req ports.ReleaseClaim) (ports.Released, error) {
	if err := c.gone("ReleaseClaim"); err != nil {
		return ports.Released{}, err
	}
	return c.Backend.ReleaseClaim(ctx, req)
}

// damaging returns one run's record with a byte changed.
type damaging struct {
	ports.Backend
	runID string
}

func (d *damaging) Unwrap() ports.Backend { return d.Backend }

func (d *damaging) ClaimRuns(ctx context.Context, req ports.ClaimRuns) (ports.Claimed, error) {
	c, err := d.Backend.ClaimRuns(ctx, req)
	for i := range c.Leases {
		d.damage(&c.Leases[i].Run)
	}
	return c, err
}

func (d *damaging) FetchRun(ctx context.Context, req ports.FetchRun) (ports.FetchedRun, error) {
	f, err := d.Backend.FetchRun(ctx, req)
	d.damage(&f.Run)
	return f, err
}

func (d *damaging) InspectRun(ctx context.Context, req ports.InspectRun) (ports.RunInfo, error) {
	i, err := d.Backend.InspectRun(ctx, req)
	d.damage(&i.Run)
	return i, err
}

func (d *damaging) damage(r *record.Run) {
	if r.ID == d.runID && len(r.Document) > 0 {
		r.Document[len(r.Document)/2] ^= 1
	}
}
