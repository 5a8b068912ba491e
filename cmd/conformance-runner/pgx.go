package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	postgres "github.com/docket-go/docket/adapters/pgx"
	"github.com/docket-go/docket/adapters/pgx/pgxtest"
	"github.com/docket-go/docket/conformance"
	"github.com/docket-go/docket/conformance/wire"
	"github.com/docket-go/docket/conformance/wire/process"
	"github.com/docket-go/docket/ports"
)

// schemas remembers which schema a backend works in. Each store has one, on one
// server.
type schemas struct {
	prefix string
	server *pgxtest.Server // nil: the pool is not ours to look after
	pool   *pgxpool.Pool

	mu     sync.Mutex
	opened int
	names  map[ports.Backend]string
	peers  *process.Fleet // nil until a peer is asked for
}

// dsnVariable tells a process that serves a store where the server is.
const dsnVariable = "DOCKET_CONFORMANCE_DSN"

// pgxHarness certifies on the server that --dsn names, else on one that package
// pgxtest finds or starts.
func pgxHarness(ctx context.Context, f flags) (_ conformance.Harness, _ func() error, err error) {
	s := &schemas{names: map[ports.Backend]string{}, server: &pgxtest.Server{URL: f.dsn}}
	if f.dsn == "" {
		if s.server, err = pgxtest.Find(ctx); err != nil {
			return conformance.Harness{}, nil, err
		}
	}
	var random [4]byte
	_, _ = rand.Read(random[:]) // never fails
	s.prefix = "certify_" + hex.EncodeToString(random[:])
	if s.pool, err = pgxpool.New(ctx, s.server.URL); err != nil {
		return conformance.Harness{}, nil, errors.Join(fmt.Errorf("--dsn: %w", err), s.stop())
	}
	h := conformance.Harness{
		Name: "pgx",
		Open: func(ctx context.Context) (ports.Backend, error) { return s.open(ctx, s.fresh(), true) },
		Reopen: func(ctx context.Context, b ports.Backend) (ports.Backend, error) {
			return s.open(ctx, s.name(b), false)
		},
		Crash:    s.crash,
		Corrupt:  s.corrupt,
		RawWrite: s.rawWrite,
		Spawn:    s.spawn,
	}
	return h, s.close, nil
}

func (s *schemas) stop() error {
	if s.server == nil || s.server.Way == "" {
		return nil
	}
	return s.server.Close()
}

// close removes the schemas that were opened, and stops a server of our own.
func (s *schemas) close() (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.peers != nil {
		err = s.peers.Close()
	}
	for n := range s.opened {
		_, dropped := s.pool.Exec(context.Background(), "DROP SCHEMA IF EXISTS "+s.schema(n+1)+" CASCADE")
		err = errors.Join(err, dropped)
	}
	s.pool.Close()
	return errors.Join(err, s.stop())
}

func (s *schemas) schema(n int) string { return fmt.Sprintf("%s_%d", s.prefix, n) }

func (s *schemas) fresh() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened++
	return s.schema(s.opened)
}

func (s *schemas) name(b ports.Backend) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.names[b]
}

func (s *schemas) open(ctx context.Context, schema string, fresh bool) (ports.Backend, error) {
	if fresh {
		if err := postgres.Migrate(ctx, s.pool, schema); err != nil {
			return nil, err
		}
	}
	b, err := postgres.New(ctx, s.pool, postgres.Config{Schema: schema})
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names[b] = schema
	return b, nil
}

// crash forgets the backend. It keeps nothing but open transactions, and the
// cases that kill processes see to those.
func (s *schemas) crash(context.Context, ports.Backend) error { return nil }

// spawn starts this program once more, as a process that serves b's schema.
func (s *schemas) spawn(ctx context.Context, b ports.Backend) (conformance.Peer, error) {
	fleet, err := s.fleet(ctx)
	if err != nil {
		return conformance.Peer{}, err
	}
	dir, err := os.MkdirTemp("", "docket-peer-")
	if err != nil {
		return conformance.Peer{}, err
	}
	defer os.Remove(dir) // the protocol names a directory; nothing is kept there
	schema := s.name(b)
	peer, err := fleet.SpawnOn(ctx, schema, dir)
	if err != nil {
		return conformance.Peer{}, err
	}
	kill := peer.Kill
	peer.Kill = func() error { return errors.Join(kill(), s.sessionsEnd(context.WithoutCancel(ctx), schema)) }
	return peer, nil
}

// sessionsEnd waits until the server has noticed that a process was killed. Until
// then the rows of its open transaction stay locked, and claimers pass by them.
func (s *schemas) sessionsEnd(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		var open bool
		err := s.pool.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM pg_stat_activity
			WHERE application_name = $1 AND xact_start IS NOT NULL)`, name).Scan(&open)
		if err != nil || !open {
			return err
		}
		<-tick.C
	}
}

func (s *schemas) fleet(ctx context.Context) (*process.Fleet, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.peers == nil {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		s.peers, err = process.New(ctx, process.Config{
			Path: self, Args: []string{"serve", "pgx"}, Env: []string{dsnVariable + "=" + s.server.URL},
		})
		if err != nil {
			return nil, err
		}
	}
	return s.peers, nil
}

// pgxAgent keeps each store in a schema of the server that DOCKET_CONFORMANCE_DSN
// names.
func pgxAgent() wire.Agent {
	s := &schemas{names: map[ports.Backend]string{}}
	return wire.Agent{
		Name: "pgx",
		Open: func(ctx context.Context, store wire.Store) (ports.Backend, error) {
			dsn := os.Getenv(dsnVariable)
			if dsn == "" {
				return nil, errors.New("set " + dsnVariable + " to the server's URL")
			}
			cfg, err := pgxpool.ParseConfig(dsn)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", dsnVariable, err)
			}
			cfg.ConnConfig.RuntimeParams["application_name"] = store.Name  // for sessionsEnd
			if s.pool, err = pgxpool.NewWithConfig(ctx, cfg); err != nil { // a process serves one store
				return nil, err
			}
			return s.open(ctx, store.Name, store.Fresh)
		},
		Corrupt: func(ctx context.Context, b ports.Backend, t wire.Target) error {
			return s.corrupt(ctx, b, conformance.Target(t))
		},
		RawWrite: func(ctx context.Context, b ports.Backend, raw wire.Raw) error {
			return s.rawWrite(ctx, b, raw.RunID, conformance.Shape(raw.Shape))
		},
	}
}

// behind runs one statement behind the backend's back, with the schema at each
// %[1]s, and wants it to touch one row.
func (s *schemas) behind(ctx context.Context, b ports.Backend, statement string, args ...any) error {
	done, err := s.pool.Exec(ctx, fmt.Sprintf(statement, pgx.Identifier{s.name(b)}.Sanitize()), args...)
	if err == nil && done.RowsAffected() != 1 {
		err = fmt.Errorf("%w: %d rows instead of one", conformance.ErrHook, done.RowsAffected())
	}
	return err
}
