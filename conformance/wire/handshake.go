package wire

import (
	"fmt"

	"github.com/docket-go/docket/ports"
)

// The versions that both sides must share.
const (
	Protocol = 1     // of the messages
	Contract = "0.1" // of package ports, whose requests and answers they carry
)

// Hello is the first request: the runner's versions, and the store that this
// connection is a handle on.
type Hello struct {
	Protocol  int64
	Contract  string
	Suite     string // the version of the suite, for the agent's log
	Store     string // the store's name: a lower-case letter, then letters, digits and _, at most 32 bytes, new for every store
	Directory string // exists, and is this store's own: a place for files
	Fresh     bool   // the store is new and must be empty; else it must be there
}

// Welcome answers Hello.
type Welcome struct {
	Protocol     int64
	Contract     string
	Name         string // of the backend, for reports
	Version      string
	Capabilities ports.Capabilities
	Volatile     bool // stores end with their process: the level +durable is not asked for
	Hooks        Hooks
}

// Hooks declares what an agent can do to its own storage, behind its backend's
// back, for the cases about damage.
type Hooks struct {
	Corrupt  bool // the operation corrupt
	RawWrite bool // the operation raw_write
}

// VersionError is a handshake between two sides that don't fit.
type VersionError struct {
	What   string // "protocol" or "contract"
	Runner string
	Agent  string
}

// Error tells both versions.
func (v *VersionError) Error() string {
	return fmt.Sprintf("wire: the runner speaks %s %s, the agent %s", v.What, v.Runner, v.Agent)
}

// matches compares the versions of both sides.
func (w Welcome) matches(h Hello) error {
	if w.Protocol != h.Protocol {
		return &VersionError{What: "protocol", Runner: fmt.Sprint(h.Protocol), Agent: fmt.Sprint(w.Protocol)}
	}
	if w.Contract != h.Contract {
		return &VersionError{What: "contract", Runner: h.Contract, Agent: w.Contract}
	}
	return nil
}
