package executor

import (
	"context"
	"errors"

	"github.com/docket-go/docket/core/node"
)

// Executor makes one activation of a node. A host gives its own to call nodes
// elsewhere (another process, a sandbox); the deadline, the one activation and the
// state stay the runner's. It must be safe for concurrent use and should return
// soon after ctx ends.
type Executor interface {
	Execute(ctx context.Context, n node.Node, in node.Input) (node.Result, error)
}

// Local calls the node.
type Local struct{}

// Execute calls n.
func (Local) Execute(ctx context.Context, n node.Node, in node.Input) (node.Result, error) {
	return n.Call(ctx, in)
}

// ErrTimeout is the cause of a node's context that ended by its deadline.
var ErrTimeout = errors.New("docket: the attempt's deadline passed")
