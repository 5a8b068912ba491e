package memory

import (
	"context"
	"sync"

	"github.com/docket-go/docket/ports"
)

// Wakes implements ports.WakeSource.
func (b *Backend) Wakes(ctx context.Context) (<-chan struct{}, error) {
	const op = "Wakes"
	if err := b.alive(ctx, op); err != nil {
		return nil, err
	}
	wakes := make(chan struct{}, 1)
	wakes <- struct{}{} // for what was missed before (WAK-2)
	if !b.bell.add(ctx, wakes) {
		return nil, ports.Closed(op)
	}
	return wakes, nil
}

// bell tells subscribers that some run is due. Each has room for one wake, so
// ringing never waits, and a burst is one wake (WAK-5).
type bell struct {
	mu          sync.Mutex
	closed      bool
	subscribers map[chan struct{}]func() bool // to: stop watching the context
}

func (l *bell) add(ctx context.Context, wakes chan struct{}) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	if l.subscribers == nil {
		l.subscribers = map[chan struct{}]func() bool{}
	}
	l.subscribers[wakes] = context.AfterFunc(ctx, func() { l.remove(wakes) })
	return true
}

func (l *bell) remove(wakes chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.subscribers[wakes]; ok {
		delete(l.subscribers, wakes)
		close(wakes)
	}
}

func (l *bell) ring() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for wakes := range l.subscribers {
		select {
		case wakes <- struct{}{}:
		default:
		}
	}
}

func (l *bell) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for wakes, stop := range l.subscribers {
		stop()
		delete(l.subscribers, wakes)
		close(wakes)
	}
}
