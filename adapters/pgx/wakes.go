package postgres

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/docket-go/docket/ports"
)

// wakes tells subscriptions about wakes that are due. The first subscription
// opens the listening connection, all share it, and the last one closes it.
type wakes struct {
	config    *pgx.ConnConfig // nil: nothing is listened to
	channel   string
	heartbeat time.Duration

	opening sync.Mutex // held while a listener is opened or taken down

	mu      sync.Mutex
	subs    map[chan struct{}]struct{}
	stop    func() // ends the listener; nil when none runs
	stopped bool
	running sync.WaitGroup
}

func newWakes(config *pgx.ConnConfig, channel string, heartbeat time.Duration) *wakes {
	return &wakes{config: config, channel: channel, heartbeat: heartbeat, subs: map[chan struct{}]struct{}{}}
}

// listenConfig is where the listening connection goes; nil when there is none.
func (b *Backend) listenConfig() *pgx.ConnConfig {
	switch {
	case b.cfg.PollOnly:
		return nil
	case b.cfg.Listen != nil:
		return b.cfg.Listen.Copy()
	}
	return b.pool.Config().ConnConfig.Copy()
}

// Wakes subscribes to wakes until ctx ends or the backend is closed, then closes
// the channel. A reader who is busy gets one wake for many. The first one opens a
// connection outside the pool, and answers ErrUnavailable when it can't; one that
// is lost later is renewed.
func (b *Backend) Wakes(ctx context.Context) (<-chan struct{}, error) {
	const op = "Wakes"
	if b.isClosed() {
		return nil, ports.Closed(op)
	}
	if ctx.Err() != nil {
		return nil, notApplied(ctx, op)
	}
	sub := make(chan struct{}, 1)
	if !b.wakes.add(sub) {
		return nil, ports.Closed(op)
	}
	if err := b.wakes.start(ctx, op); err != nil {
		b.wakes.remove(sub)
		return nil, err
	}
	b.wakes.greet(sub)
	context.AfterFunc(ctx, func() { b.wakes.remove(sub) })
	return sub, nil
}

// start opens the listener unless one runs. The subscription it is for is
// there already, so that the end of another one doesn't close the listener.
func (w *wakes) start(ctx context.Context, op string) error {
	w.opening.Lock()
	defer w.opening.Unlock()
	w.mu.Lock()
	needless := w.config == nil || w.stop != nil || w.stopped
	w.mu.Unlock()
	if needless {
		return nil
	}
	l := &listener{config: w.config, channel: w.channel, heartbeat: w.heartbeat, tell: w.tell}
	if err := l.connect(ctx); err != nil {
		return mapError(op, err, unsent)
	}
	living, stop := context.WithCancel(context.Background())
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stop = stop
	w.running.Go(func() { l.run(living) })
	return nil
}

// add registers a subscription.
func (w *wakes) add(sub chan struct{}) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return false
	}
	w.subs[sub] = struct{}{}
	return true
}

// remove closes a subscription, and the listener with the last one.
func (w *wakes) remove(sub chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, there := w.subs[sub]; !there {
		return
	}
	delete(w.subs, sub)
	close(sub)
	if len(w.subs) == 0 && w.stop != nil {
		w.stop()
		w.stop = nil
	}
}

// greet sends the first wake, for what was stored before the subscription
// (WAK-2).
func (w *wakes) greet(sub chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, there := w.subs[sub]; there {
		wake(sub)
	}
}

// tell wakes every subscription; for one that hasn't taken its wake, that is
// enough.
func (w *wakes) tell() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for sub := range w.subs {
		wake(sub)
	}
}

func wake(sub chan struct{}) {
	select {
	case sub <- struct{}{}:
	default:
	}
}

// close ends all subscriptions and waits for the listener.
func (w *wakes) close() {
	w.mu.Lock()
	w.stopped = true
	for sub := range w.subs {
		close(sub)
	}
	clear(w.subs)
	if w.stop != nil {
		w.stop()
		w.stop = nil
	}
	w.mu.Unlock()
	w.running.Wait()
}
