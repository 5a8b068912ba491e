package postgres

import (
	"context"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/docket-go/docket/ports"
)

// Backend is a store in one schema of a PostgreSQL database. It is safe for
// concurrent use.
type Backend struct {
	roles
	cfg   Config
	pool  *pgxpool.Pool
	place place
	wakes *wakes

	inserts *group[*ports.InsertRun, ports.Inserted]
	commits *group[*ports.CommitClaimed, ports.Committed]

	// explicit: the server's default isolation or mode isn't what statements
	// need, so each travels inside BEGIN and COMMIT.
	explicit bool

	mu     sync.Mutex
	open   map[*Tx]struct{}
	closed chan struct{}
}

var (
	_ ports.Backend    = (*Backend)(nil)
	_ ports.Transactor = (*Backend)(nil)
	_ ports.WakeSource = (*Backend)(nil)
	_ ports.Pruner     = (*Backend)(nil)
)

// New returns a backend over the host's pool, which stays the host's: Close
// leaves it open. It looks at the server once, and answers a *SchemaError when
// the tables aren't those of this build, a *ReadOnlyError for a standby.
func New(ctx context.Context, pool *pgxpool.Pool, cfg Config) (*Backend, error) {
	const op = "New"
	if err := cfg.check(); err != nil {
		return nil, &ports.Error{Code: ports.CodeInvalid, Op: op, Err: err}
	}
	if pool == nil {
		return nil, ports.Invalid(op, "pool", "there is none")
	}
	cfg = cfg.withDefaults()
	b := &Backend{
		cfg:    cfg,
		pool:   pool,
		place:  place(cfg.Schema),
		open:   map[*Tx]struct{}{},
		closed: make(chan struct{}),
	}
	b.roles = roles{db: b, sql: statementsOf(b.place, !cfg.PollOnly)}
	b.inserts, b.commits = b.groupInserts(), b.groupCommits()
	b.wakes = newWakes(b.listenConfig(), b.place.channel(), cfg.Heartbeat)
	if err := b.examine(ctx); err != nil {
		return nil, err
	}
	return b, nil
}

// examine looks at the server and at the schema.
func (b *Backend) examine(ctx context.Context) error {
	const op = "New"
	var server serverFacts
	conn, err := b.acquire(ctx, op)
	if err != nil {
		return err
	}
	defer conn.Release()
	if err := server.read(ctx, conn); err != nil {
		return mapError(op, err, reading)
	}
	if err := server.check(op); err != nil {
		return err
	}
	b.explicit = server.isolation != "read committed" || server.readOnly
	have, err := schemaVersion(ctx, conn, b.place)
	if err != nil {
		return mapError(op, err, reading)
	}
	if have != newestVersion {
		return &SchemaError{Schema: string(b.place), Have: have, Want: newestVersion}
	}
	return nil
}

// serverFacts are what the adapter must know of a server.
type serverFacts struct {
	version   int
	encoding  string
	isolation string
	readOnly  bool
	standby   bool
}

func (s *serverFacts) read(ctx context.Context, q querier) error {
	return q.QueryRow(ctx, `SELECT current_setting('server_version_num')::int, current_setting('server_encoding'),
		current_setting('default_transaction_isolation'), current_setting('default_transaction_read_only') = 'on',
		pg_is_in_recovery()`).Scan(&s.version, &s.encoding, &s.isolation, &s.readOnly, &s.standby)
}

// minVersion is the oldest server that is tested against, PostgreSQL 14.
const minVersion = 140000

func (s *serverFacts) check(op string) error {
	switch {
	case s.version < minVersion:
		return ports.Unsupported(op, fmt.Sprintf("PostgreSQL %d is older than 14", s.version/10000))
	case s.encoding != "UTF8":
		return ports.Unsupported(op, fmt.Sprintf("the database's encoding is %s: docket's ids need UTF8", s.encoding))
	case s.standby:
		return ports.Unavailable(op, &ReadOnlyError{})
	}
	return nil
}

// Capabilities tells which optional interfaces the backend has.
func (b *Backend) Capabilities() ports.Capabilities {
	return ports.Capabilities{Transactor: true, WakeSource: true, Pruner: true}
}

// Close ends subscriptions and rolls open transactions back. The pool stays
// open: it is the host's. Later calls answer ports.ErrClosed.
func (b *Backend) Close() error {
	b.mu.Lock()
	if b.isClosed() {
		b.mu.Unlock()
		return nil
	}
	close(b.closed)
	open := b.open
	b.open = nil
	b.mu.Unlock()

	b.wakes.close()
	for tx := range open {
		tx.abort()
	}
	return nil
}

func (b *Backend) isClosed() bool {
	select {
	case <-b.closed:
		return true
	default:
		return false
	}
}
