package mutants

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/docket-go/docket/conformance/model"
	"github.com/docket-go/docket/ports"
)

var wakeMutants = []Mutant{
	{Name: "nothing-is-told", Clause: "WAK-1", Off: "No operation notifies.",
		wrap: wrapping(outer{wakes: func(ctx context.Context, _ *outer) (<-chan struct{}, error) {
			wake := make(chan struct{}, 1)
			wake <- struct{}{}
			context.AfterFunc(ctx, func() { close(wake) })
			return wake, nil
		}})},
	{Name: "told-before-the-commit", Clause: "WAK-1", Off: "An insert notifies while its transaction is still open.",
		wrap: wrapping(outer{begin: func(o *outer, tx *model.Tx) ports.Tx {
			return &transaction{Tx: tx, inserted: func(string) { o.Ring() }}
		}})},
	{Name: "one-subscriber-hears", Clause: "WAK-1", Off: "Only the first subscriber is told.",
		wrap: func(b *model.Backend) ports.Backend {
			first := true
			return &outer{Backend: b, wakes: func(ctx context.Context, o *outer) (<-chan struct{}, error) {
				if first {
					first = false
					return o.Backend.Wakes(ctx)
				}
				wake := make(chan struct{}, 1)
				wake <- struct{}{}
				context.AfterFunc(ctx, func() { close(wake) })
				return wake, nil
			}}
		}},
	{Name: "no-wake-after-subscribing", Clause: "WAK-2", Off: "A subscription begins without a wake.",
		wrap: wrapping(outer{wakes: func(ctx context.Context, o *outer) (<-chan struct{}, error) {
			wakes, err := o.Backend.Wakes(ctx)
			if err == nil {
				<-wakes
			}
			return wakes, err
		}})},
	{Name: "two-wakes-after-subscribing", Clause: "WAK-2", Off: "A subscription begins with two wakes.",
		wrap: wrapping(outer{wakes: func(ctx context.Context, o *outer) (<-chan struct{}, error) {
			wakes, err := o.Backend.Wakes(ctx)
			if err != nil {
				return nil, err
			}
			twice := make(chan struct{}, 2)
			twice <- struct{}{}
			go func() {
				defer close(twice)
				for range wakes {
					select {
					case twice <- struct{}{}:
					default:
					}
				}
			}()
			return twice, nil
		}})},
	{Name: "a-release-is-told", Clause: "WAK-3", Off: "A release notifies.",
		wrap: wrapping(outer{releaseClaim: func(ctx context.Context, o *outer, req ports.ReleaseClaim) (ports.Released, error) {
			defer o.Ring()
			return o.Backend.ReleaseClaim(ctx, req)
		}})},
	{Name: "an-abandon-is-told", Clause: "WAK-3", Off: "An abandon notifies.",
		wrap: wrapping(outer{abandonClaim: func(ctx context.Context, o *outer, req ports.AbandonClaim) (ports.Abandoned, error) {
			defer o.Ring()
			return o.Backend.AbandonClaim(ctx, req)
		}})},
	{Name: "the-future-is-told", Clause: "WAK-3", Off: "An insert that is due later notifies.",
		wrap: wrapping(outer{insertRun: func(ctx context.Context, o *outer, req ports.InsertRun) (ports.Inserted, error) {
			defer o.Ring()
			return o.Backend.InsertRun(ctx, req)
		}})},
	{Name: "subscriptions-never-end", Clause: "WAK-4", Off: "A subscription goes on after its context ended.",
		wrap: wrapping(outer{wakes: func(ctx context.Context, o *outer) (<-chan struct{}, error) {
			return o.Backend.Wakes(context.WithoutCancel(ctx))
		}})},
	{Name: "wakes-queue-up", Clause: "WAK-5", Off: "A slow subscriber gets one wake for every insert.", wrap: queueing()},
	{Name: "wakes-of-other-stores", Clause: "WAK-5", Off: "An insert notifies the subscribers of every store.", alone: true, wrap: ringingAll()},
}

// queueing keeps a wake for each insert.
func queueing() func(*model.Backend) ports.Backend {
	return func(b *model.Backend) ports.Backend {
		var mu sync.Mutex
		var queues []chan struct{}
		return &outer{Backend: b,
			wakes: func(ctx context.Context, _ *outer) (<-chan struct{}, error) {
				wake := make(chan struct{}, 1000)
				wake <- struct{}{}
				mu.Lock()
				defer mu.Unlock()
				queues = append(queues, wake)
				context.AfterFunc(ctx, func() {
					mu.Lock()
					defer mu.Unlock()
					queues = slices.DeleteFunc(queues, func(q chan struct{}) bool { return q == wake })
					close(wake)
				})
				return wake, nil
			},
			insertRun: func(ctx context.Context, o *outer, req ports.InsertRun) (ports.Inserted, error) {
				got, err := o.Backend.InsertRun(ctx, req)
				mu.Lock()
				defer mu.Unlock()
				for _, wake := range queues {
					if err == nil {
						wake <- struct{}{}
					}
				}
				return got, err
			},
		}
	}
}

// ringingAll rings the bells of all the stores that its mutant opened.
func ringingAll() func(*model.Backend) ports.Backend {
	var mu sync.Mutex
	var all []*model.Backend
	return func(b *model.Backend) ports.Backend {
		mu.Lock()
		all = append(all, b)
		mu.Unlock()
		return &outer{Backend: b, insertRun: func(ctx context.Context, o *outer, req ports.InsertRun) (ports.Inserted, error) {
			got, err := o.Backend.InsertRun(ctx, req)
			if at := req.Transition.Schedule.At; err == nil && req.Claim == (ports.ClaimGrant{}) && !at.After(req.Now.Add(time.Microsecond)) {
				mu.Lock()
				defer mu.Unlock()
				for _, other := range all {
					other.Ring()
				}
			}
			return got, err
		}}
	}
}
