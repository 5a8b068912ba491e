package runtime

import (
	"fmt"
	"time"

	"github.com/docket-go/docket/core/record"
)

// DefaultMaxTimeout bounds an attempt when neither the node nor the host does.
const DefaultMaxTimeout = 10 * time.Minute

// Limits are the host's bounds. The zero Limits are the defaults.
type Limits struct {
	// MaxSupersteps bounds a run's committed supersteps, counted over its whole
	// life; 0 is no bound. The smaller of this and the graph's policy holds.
	MaxSupersteps int64
	// MaxTimeout bounds one attempt; 0 is DefaultMaxTimeout. A node without a
	// timeout of its own gets this one; a graph that asks for more is refused with
	// a *HostLimitError before anything is executed.
	MaxTimeout time.Duration
	// MaxRunBytes and MaxEventBytes bound what is stored; 0 is the contract's
	// maximum (record.MaxRunBytes, record.MaxEventBytes), which is also the most.
	// A result that would outgrow them fails its node before any commit.
	MaxRunBytes   int64
	MaxEventBytes int64
}

func (l Limits) maxTimeout() time.Duration {
	if l.MaxTimeout <= 0 {
		return DefaultMaxTimeout
	}
	return l.MaxTimeout
}

func (l Limits) maxRunBytes() int64   { return bound(l.MaxRunBytes, record.MaxRunBytes) }
func (l Limits) maxEventBytes() int64 { return bound(l.MaxEventBytes, record.MaxEventBytes) }

func bound(n, most int64) int64 {
	if n <= 0 || n > most {
		return most
	}
	return n
}

// maxSupersteps returns the bound that holds, 0 for none.
func (l Limits) maxSupersteps(policy int64) int64 {
	if l.MaxSupersteps <= 0 || policy > 0 && policy < l.MaxSupersteps {
		return max(policy, 0)
	}
	return l.MaxSupersteps
}

// HostLimitError says that a node wants longer attempts than the host allows.
// Another host may allow them; nothing was executed.
type HostLimitError struct {
	NodeID  string
	Timeout time.Duration // what the node asks for
	Max     time.Duration // what the host allows
}

// Error names the node and both limits.
func (e *HostLimitError) Error() string {
	return fmt.Sprintf("runtime: node %q has timeout %v, over the host's maximum %v", e.NodeID, e.Timeout, e.Max)
}
