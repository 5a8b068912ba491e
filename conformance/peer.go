package conformance

import (
	"errors"

	"github.com/docket-go/docket/ports"
)

// NeedSpawn is the need of a case that kills or freezes processes.
const NeedSpawn Need = "harness spawn"

// Peer is a handle on a store in a process of its own, which can be killed and
// frozen. The suite closes its backend unless it killed it.
type Peer struct {
	Backend ports.Backend

	// Kill ends the process as SIGKILL does and returns when it is gone. Calls in
	// flight then answer: ErrUncertain if they were writes. Killing it again does
	// nothing.
	Kill func() error

	// Freeze stops the process where it is, as SIGSTOP does, and Thaw lets it go
	// on. Calls on a frozen peer wait.
	Freeze func() error
	Thaw   func() error
}

// ErrHook marks an error of a hook that isn't the store's: the hook itself
// failed, and nothing was learnt about the backend.
var ErrHook = errors.New("conformance: the hook failed")
