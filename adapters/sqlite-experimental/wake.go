package sqlite

import (
	"context"
	"sync"
	"time"

	"github.com/docket-go/docket/ports"
)

// wakes tells subscriptions about wakes that are due. A wake of this process is
// told when its transaction is committed; one of another process is seen as a
// change of the counter in docket_wakes.
type wakes struct {
	mu     sync.Mutex
	subs   map[*subscription]struct{}
	closed bool
	group  sync.WaitGroup
}

type subscription struct {
	ch   chan struct{}
	seen int64 // the counter's value that the subscriber has been told of
}

func newWakes() *wakes { return &wakes{subs: map[*subscription]struct{}{}} }

// Wakes subscribes to wakes until ctx ends or the backend is closed, then closes
// the channel. A reader who is busy gets one wake for many.
func (b *Backend) Wakes(ctx context.Context) (<-chan struct{}, error) {
	if ctx.Err() != nil {
		return nil, notApplied(ctx, "Wakes")
	}
	s := &subscription{ch: make(chan struct{}, 1)}
	if !b.wakes.add(s) {
		return nil, ports.Closed("Wakes")
	}
	n, err := b.storedWakes(ctx)
	if err != nil {
		b.wakes.remove(s)
		b.wakes.group.Done()
		return nil, err
	}
	b.wakes.begin(s, n)
	go func() {
		defer b.wakes.group.Done()
		b.watch(ctx, s)
	}()
	return s.ch, nil
}

func (b *Backend) storedWakes(ctx context.Context) (n int64, err error) {
	err = b.read(ctx, "Wakes", func(ctx context.Context, q *statements) error {
		return q.row(ctx, `SELECT n FROM docket_wakes`, nil, &n)
	})
	return n, err
}

// watch looks at the counter until the subscription ends. A look that fails
// costs latency only (WAK-4): the next one sees the same change.
func (b *Backend) watch(ctx context.Context, s *subscription) {
	defer b.wakes.remove(s)
	tick := time.NewTicker(b.cfg.WakePoll)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.closed:
			return
		case <-tick.C:
		}
		if n, err := b.storedWakes(ctx); err == nil {
			b.wakes.look(s, n)
		}
	}
}

// add registers s, so that no wake of this process is missed from here on, and
// counts it among the subscriptions that Close waits for.
func (w *wakes) add(s *subscription) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false
	}
	w.subs[s] = struct{}{}
	w.group.Add(1)
	return true
}

// begin sends the first wake (WAK-2). It covers whatever was stored before it:
// the n wakes of the past are not news to the next look.
func (w *wakes) begin(s *subscription, n int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s.wake(n)
}

func (w *wakes) remove(s *subscription) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.subs, s)
	close(s.ch)
}

// tell wakes everybody: the counter reached n with a transaction of ours.
func (w *wakes) tell(n int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for s := range w.subs {
		s.news(n)
	}
}

// look wakes s if the counter in the file went beyond what it was told of.
func (w *wakes) look(s *subscription, n int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s.news(n)
}

// news wakes once for each value of the counter, whether the commit or the look
// at the file comes first.
func (s *subscription) news(n int64) {
	if n > s.seen {
		s.wake(n)
	}
}

// wake covers every wake up to n: whoever looks for due runs after it sees all.
func (s *subscription) wake(n int64) {
	s.seen = max(s.seen, n)
	select {
	case s.ch <- struct{}{}:
	default:
	}
}

// close ends new subscriptions; the running ones end by the backend's closed.
func (w *wakes) close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.group.Wait()
}

// nextWake moves the counter inside a transaction.
func nextWake(ctx context.Context, op string, q *statements) (int64, error) {
	var n int64
	err := q.row(ctx, `UPDATE docket_wakes SET n = n + 1 WHERE id = 1 RETURNING n`, nil, &n)
	return n, mapError(op, err, working)
}
