package backend

import (
	"context"
	"sync"
	"time"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/core/value"
	"github.com/docket-go/docket/ports"
)

// Store is a backend in memory. Make one with New.
type Store struct {
	mu       sync.Mutex // held for the whole of each operation
	closed   bool
	latest   time.Time // what the store's own clock told last
	versions map[versionKey]record.GraphVersion
	runs     map[string]row // by run id, which is unique in the store (RUN-1)
}

// versionKey is what a graph version is kept under (GRF-1).
type versionKey struct {
	owner record.Owner
	ref   graph.Ref
}

var _ ports.Backend = (*Store)(nil)

// New returns an empty store.
func New() *Store {
	return &Store{versions: map[versionKey]record.GraphVersion{}, runs: map[string]row{}}
}

// Capabilities declares none of the optional interfaces.
func (s *Store) Capabilities() ports.Capabilities { return ports.Capabilities{} }

// Close ends the store; closing it again does nothing.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

// request is any request of the port.
type request interface{ Check() error }

// operate is the frame of every operation: the shape is checked before anything
// is looked up (RUN-3), an ended context and a closed store are told (LIF-3,
// LIF-5), and do has the store for itself. A writer never holds it for long, so
// waiting for the mutex is prompt enough for a context.
func operate[A any](ctx context.Context, s *Store, op string, req request, do func() (A, error)) (A, error) {
	var none A
	if err := req.Check(); err != nil {
		return none, err
	}
	if err := ports.Ended(ctx, op); err != nil {
		return none, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return none, ports.Closed(op)
	}
	return do()
}

// now is the time of an operation: the given one, else that of the store's own
// clock, which never goes back. Both are whole microseconds of UTC (VAL-3).
func (s *Store) now(given time.Time) time.Time {
	if !given.IsZero() {
		return value.Time(given)
	}
	if now := value.Time(time.Now()); now.After(s.latest) {
		s.latest = now
	}
	return s.latest
}
