package sqlite

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// Synchronous is how hard a commit pushes towards the disk: SQLite's setting of
// that name, for a file in WAL mode.
type Synchronous string

// The levels. None of them can damage the file.
const (
	// SynchronousFull flushes the log in every commit: a commit survives power
	// loss. The zero value means this level.
	SynchronousFull Synchronous = "FULL"
	// SynchronousNormal flushes only at checkpoints: a commit survives SIGKILL,
	// but the latest ones may be gone after power loss.
	SynchronousNormal Synchronous = "NORMAL"
)

// Config says which file to open and how. The zero value of each field but Path
// is useful.
type Config struct {
	// Path of the database file; it is created if its directory exists. A URI or
	// ":memory:" is refused.
	Path string

	// Clock is the store's clock, used where a request carries no Now. Nil means
	// time.Now.
	Clock func() time.Time

	// BusyTimeout is how long a write waits for other writers, in this process
	// or another one, before it answers ports.ErrUnavailable. Zero means 10 s.
	BusyTimeout time.Duration

	// Synchronous is the durability of a commit. Zero means SynchronousFull.
	Synchronous Synchronous

	// Readers is the number of connections for reads. Zero means 4.
	Readers int

	// WakePoll is how often a wake subscription looks for wakes that another
	// process stored. Wakes of this process are told at once. Zero means 200 ms.
	WakePoll time.Duration
}

func (c Config) withDefaults() Config {
	if c.Clock == nil {
		c.Clock = time.Now
	}
	if c.BusyTimeout == 0 {
		c.BusyTimeout = 10 * time.Second
	}
	if c.Synchronous == "" {
		c.Synchronous = SynchronousFull
	}
	if c.Readers == 0 {
		c.Readers = 4
	}
	if c.WakePoll == 0 {
		c.WakePoll = 200 * time.Millisecond
	}
	return c
}

// check joins everything that is wrong with c.
func (c Config) check() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf("sqlite: Config."+format, args...)) }
	switch {
	case c.Path == "":
		bad("Path is empty")
	case c.Path == ":memory:" || strings.HasPrefix(c.Path, "file:"):
		bad("Path %q: give the path of a file; an in-memory database is one database per connection, so use adapters/memory or a file in a temporary directory", c.Path)
	case strings.ContainsRune(c.Path, 0):
		bad("Path holds a NUL")
	}
	switch c.Synchronous {
	case "", SynchronousFull, SynchronousNormal:
	default:
		bad("Synchronous %q: want %q or %q", c.Synchronous, SynchronousFull, SynchronousNormal)
	}
	if c.BusyTimeout < 0 {
		bad("BusyTimeout %v is negative", c.BusyTimeout)
	}
	if c.Readers < 0 {
		bad("Readers %d is negative", c.Readers)
	}
	if c.WakePoll < 0 {
		bad("WakePoll %v is negative", c.WakePoll)
	}
	return errors.Join(errs...)
}

// absolute pins the path, so that a later chdir can't make a new connection
// open another file.
func (c Config) absolute() (Config, error) {
	path, err := filepath.Abs(c.Path)
	if err != nil {
		return c, fmt.Errorf("sqlite: Config.Path %q: %w", c.Path, err)
	}
	c.Path = path
	return c, nil
}
