package model

import (
	"context"
	"time"

	"github.com/docket-go/docket/ports"
)

// bell tells subscribers that a run may be due. Each has room for one wake: a
// burst costs one poll (WAK-5).
type bell struct {
	subscribers []subscriber
}

type subscriber struct {
	of   *handle
	wake chan struct{}
}

// Wakes subscribes, with one synthetic wake (WAK-2).
func (b *Backend) Wakes(ctx context.Context) (<-chan struct{}, error) {
	if err := ports.Ended(ctx, "Wakes"); err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, ports.Closed("Wakes")
	}
	wake := make(chan struct{}, 1)
	wake <- struct{}{}
	b.bell.subscribers = append(b.bell.subscribers, subscriber{b.handle, wake})
	context.AfterFunc(ctx, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.bell.leave(wake)
	})
	return wake, nil
}

// Ring tells every subscriber of the storage.
func (b *Backend) Ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bell.ring()
}

func (b *bell) ring() {
	for _, s := range b.subscribers {
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}
}

func (b *bell) leave(wake chan struct{}) {
	b.remove(func(s subscriber) bool { return s.wake == wake })
}

// silence ends the subscriptions of a handle.
func (b *bell) silence(h *handle) {
	b.remove(func(s subscriber) bool { return s.of == h })
}

func (b *bell) remove(goes func(subscriber) bool) {
	var left []subscriber
	for _, s := range b.subscribers {
		if goes(s) {
			close(s.wake)
			continue
		}
		left = append(left, s)
	}
	b.subscribers = left
}

// due rings when an insert, commit or recovery left a wake that is due: at once,
// or when its transaction commits (WAK-1, TX-7). Other operations don't ask
// (WAK-3).
func (h *handle) due(id string, now time.Time) {
	r, ok := h.state.Row(id)
	switch {
	case !ok || r.Wake.IsZero() || r.Wake.After(micro(now)):
	case h.inTx:
		h.rings = true
	default:
		h.bell.ring()
	}
}
