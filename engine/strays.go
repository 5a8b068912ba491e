package engine

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/docket-go/docket/core/node"
)

// strays are node calls that ignored the end of their context. Go can't end their
// goroutines: they are counted until they return, and whatever they return is
// dropped. Their effects outside may still happen.
type strays struct {
	mu    sync.Mutex
	calls map[string]int // by idempotency key: an attempt may be repeated
	gone  chan struct{}  // closed when none is left; nil while nobody waits
}

func (s *strays) add(a node.Activation)    { s.change(a, 1) }
func (s *strays) remove(a node.Activation) { s.change(a, -1) }

// change counts a call up or down. The two may come in either order: a node may
// return while it is being given up.
func (s *strays) change(a node.Activation, by int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls == nil {
		s.calls = make(map[string]int)
	}
	s.calls[a.IdempotencyKey] += by
	if s.calls[a.IdempotencyKey] == 0 {
		delete(s.calls, a.IdempotencyKey)
	}
	if len(s.calls) == 0 && s.gone != nil {
		close(s.gone)
		s.gone = nil
	}
}

// await gives nodes whose context has just ended a moment to return, and fails
// with those that don't.
func (s *strays) await(d time.Duration) error {
	s.mu.Lock()
	if len(s.calls) == 0 {
		s.mu.Unlock()
		return nil
	}
	if s.gone == nil {
		s.gone = make(chan struct{})
	}
	gone := s.gone
	s.mu.Unlock()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-gone:
		return nil
	case <-t.C:
		return s.err()
	}
}

func (s *strays) err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	keys := make([]string, 0, len(s.calls))
	for key := range s.calls {
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil
	}
	slices.Sort(keys)
	return &Error{
		Code:    CodeAbandoned,
		Message: fmt.Sprintf("%d node calls ignore the end of their context and still run: %s", len(keys), strings.Join(keys, ", ")),
		Details: map[string]any{"idempotency_keys": keys},
	}
}
