package memory

import (
	"context"
	"time"

	"github.com/docket-go/docket/ports"
)

// door lets operations in, one way for the committed state, another for a
// transaction: the operations themselves are the same.
type door interface {
	// enter waits for what the operation needs and returns what it works on.
	enter(ctx context.Context, op string, writes bool) (*view, error)
	// leave ends what enter began. Due says that a wake has come (WAK-1).
	leave(writes, due bool, err error)
	// now is the operation's time, asked only between enter and leave, so that
	// the order of writes is the order of their times.
	now(given time.Time) time.Time
}

// operations are the graph, run and event operations behind a door.
type operations struct {
	door door
}

func read[A any](ctx context.Context, o operations, op string, do func(*view) (A, error)) (answer A, err error) {
	v, err := o.door.enter(ctx, op, false)
	if err != nil {
		return answer, err
	}
	defer func() { o.door.leave(false, false, err) }()
	return do(v)
}

// write runs an operation that changes something. Do returns whether a wake is
// due, and changes nothing when it returns an error.
func write[A any](ctx context.Context, o operations, op string, do func(*view) (A, bool, error)) (answer A, err error) {
	v, err := o.door.enter(ctx, op, true)
	if err != nil {
		return answer, err
	}
	due := false
	defer func() { o.door.leave(true, due, err) }()
	answer, due, err = do(v)
	return answer, err
}

var _ ports.Graphs = operations{}
var _ ports.Runs = operations{}
var _ ports.Events = operations{}
