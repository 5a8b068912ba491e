package engine

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/docket-go/docket/ports"
)

// Retention is what Run throws away beside driving. There are no default ages:
// a zero duration keeps that kind for ever.
type Retention struct {
	Events time.Duration // kept since the store wrote them; at most Runs when both are set
	Runs   time.Duration // terminal runs, kept since they finished; their events go with them
	Graphs time.Duration // versions that no run refers to; an id's newest ten always stay
	Every  time.Duration // between passes; default 5 min
	Batch  int           // most rows of a kind in one step; default 500
	DryRun bool          // only report what would go
}

const (
	pruneEvery = 5 * time.Minute
	pruneBatch = 500
)

func (r *Retention) policy() ports.Retention {
	return ports.Retention{Events: r.Events, Runs: r.Runs, Graphs: r.Graphs}
}

func (r *Retention) request() ports.Prune {
	batch := r.Batch
	if batch == 0 {
		batch = pruneBatch
	}
	return ports.Prune{Policy: r.policy(), Batch: batch, DryRun: r.DryRun}
}

func (r *Retention) check(p *problems, caps ports.Capabilities) {
	if !caps.Pruner {
		p.add("Retention", "is set, but the backend can't prune")
	}
	if err := r.request().Check(); err != nil {
		p.add("Retention", "%v", err)
	}
	if r.Every < 0 {
		p.add("Retention.Every", "is %s", r.Every)
	}
}

// prune makes a pass at every interval. Another process that prunes the same
// store makes a pass an empty one.
func (d *driver) prune(ctx context.Context) error {
	if d.pruner == nil {
		return nil
	}
	every := d.e.cfg.Retention.Every
	if every == 0 {
		every = pruneEvery
	}
	for pause(ctx, d.e.jitter.around(every)) {
		if err := d.prunePass(ctx); err != nil {
			d.e.tel.pruneFailed()
			return fmt.Errorf("a pass failed: %w", err)
		}
	}
	return nil
}

// prunePass removes batch after batch until nothing is left to remove; a dry run
// would be told the same batch for ever.
func (d *driver) prunePass(ctx context.Context) error {
	req := d.e.cfg.Retention.request()
	for ctx.Err() == nil {
		pruned, err := ask(ctx, d.e.store, func(ctx context.Context, now time.Time) (ports.Pruned, time.Time, error) {
			req.Now = now
			a, err := d.pruner.Prune(ctx, req)
			return a, a.Now, err
		})
		if err != nil {
			return err
		}
		if req.DryRun {
			d.e.log.Info("docket: a dry run of the retention policy would remove",
				slog.Int64("events", pruned.Events), slog.Int64("expired_events", pruned.Expired),
				slog.Int64("runs", pruned.Runs), slog.Int64("graphs", pruned.Graphs), slog.Bool("more", pruned.More))
			return nil
		}
		d.e.tel.pruned(pruned)
		if pruned.Skipped || !pruned.More {
			return nil
		}
	}
	return nil
}
