package postgres

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
)

// DefaultSchema is the schema that an empty Config.Schema means.
const DefaultSchema = "public"

// Config says where the tables are and how to reach them. The zero value is
// useful.
type Config struct {
	// Schema that holds docket's tables. Two schemas of one database are
	// independent stores. Empty means DefaultSchema.
	Schema string

	// PollOnly sends no NOTIFY and opens no listening connection. Then Wakes tells
	// of this process's own wakes only, and those of others are found by polling.
	// It is for pools that go through a transaction pooler.
	PollOnly bool

	// Listen is where the listening connection goes, outside the pool: directly to
	// the server, also when the pool goes through a pooler. Nil means as the pool.
	Listen *pgx.ConnConfig

	// Heartbeat is how long the listening connection may be silent before it is
	// tried, and how long the trial may take. Zero means 10 s.
	Heartbeat time.Duration

	// AcquireTimeout is how long an operation waits for a connection of the pool
	// before it answers ports.ErrUnavailable. Zero means 30 s.
	AcquireTimeout time.Duration

	// CancelGrace is how long a statement that was sent may still run after its
	// context ended. Most end by themselves and have their answer; the connection
	// of one that doesn't is closed. Zero means 250 ms.
	CancelGrace time.Duration
}

func (c Config) withDefaults() Config {
	if c.Schema == "" {
		c.Schema = DefaultSchema
	}
	if c.Heartbeat == 0 {
		c.Heartbeat = 10 * time.Second
	}
	if c.AcquireTimeout == 0 {
		c.AcquireTimeout = 30 * time.Second
	}
	if c.CancelGrace == 0 {
		c.CancelGrace = 250 * time.Millisecond
	}
	return c
}

// check joins everything that is wrong with c.
func (c Config) check() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf("postgres: Config."+format, args...)) }
	if err := checkSchema(c.Schema); err != nil {
		bad("Schema: %w", err)
	}
	if c.PollOnly && c.Listen != nil {
		bad("Listen: PollOnly opens no listening connection")
	}
	if c.Heartbeat < 0 {
		bad("Heartbeat %v is negative", c.Heartbeat)
	}
	if c.AcquireTimeout < 0 {
		bad("AcquireTimeout %v is negative", c.AcquireTimeout)
	}
	if c.CancelGrace < 0 {
		bad("CancelGrace %v is negative", c.CancelGrace)
	}
	return errors.Join(errs...)
}

// maxIdentifier is where the server cuts a name, without telling.
const maxIdentifier = 63

// checkSchema refuses what the server would change silently or can't hold.
func checkSchema(name string) error {
	switch {
	case len(name) > maxIdentifier:
		return fmt.Errorf("%q has %d bytes: PostgreSQL cuts names at %d", name, len(name), maxIdentifier)
	case !utf8.ValidString(name) || strings.ContainsRune(name, 0):
		return fmt.Errorf("%q is not UTF-8 text without NUL", name)
	case strings.HasPrefix(name, "pg_"):
		return fmt.Errorf("%q: names that start with pg_ are PostgreSQL's own", name)
	}
	return nil
}

// place is a schema as statements name it.
type place string

// sql puts the quoted schema where a text says "docket.".
func (p place) sql(text string) string {
	return strings.ReplaceAll(text, "docket.", p.quoted()+".")
}

func (p place) quoted() string { return pgx.Identifier{string(p)}.Sanitize() }

// channel is the schema's channel of NOTIFY. The hash keeps long names apart
// that the server would cut to the same 63 bytes.
func (p place) channel() string {
	sum := sha256.Sum256([]byte(p))
	return "docket_wake_" + hex.EncodeToString(sum[:16])
}

// The works that one session of a schema does at a time. Advisory locks belong
// to a database, so the schema is all that a key needs to tell.
const (
	lockMigrate = "migrate"
	lockPrune   = "prune"
)

// lock is the 64-bit key of an advisory lock of the schema.
func (p place) lock(work string) int64 {
	sum := sha256.Sum256([]byte("docket " + work + " " + p.quoted()))
	return int64(binary.BigEndian.Uint64(sum[:]))
}
