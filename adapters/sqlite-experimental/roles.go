package sqlite

import (
	"context"
	"time"

	"github.com/docket-go/docket/ports"
)

// runner executes operations: on the pool, each in a transaction of its own, or
// inside one transaction.
type runner interface {
	// read runs work, which reads by one statement, so from one snapshot.
	read(ctx context.Context, op string, work func(context.Context, *statements) error) error
	// write runs work in a write transaction. Work is told in a context that
	// doesn't end.
	write(ctx context.Context, op string, work func(context.Context, *unit) error) error
}

// roles is the port's graph, run and event operations over a runner. They are
// the same alone and in a transaction.
type roles struct {
	run   runner
	clock func() time.Time
}

// now is the store's time in microseconds: the request's, or the clock's at the
// moment when the operation has its turn.
func (r roles) now(asked time.Time) int64 {
	if asked.IsZero() {
		asked = r.clock()
	}
	return asked.UnixMicro()
}

var _ interface {
	ports.Graphs
	ports.Runs
	ports.Events
} = roles{}
