package postgres

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/docket-go/docket/conformance/wire"
	"github.com/docket-go/docket/ports"
)

// These make the test binary play another process.
const (
	roleVariable   = "DOCKET_POSTGRES_TEST_ROLE"
	urlVariable    = "DOCKET_POSTGRES_TEST_URL"
	schemaVariable = "DOCKET_POSTGRES_TEST_SCHEMA"
)

func playRole(role string) int {
	ctx := context.Background()
	var err error
	switch role {
	case "migrate":
		err = playMigrate(ctx)
	case "serve":
		err = playServer(ctx)
	default:
		err = fmt.Errorf("no role %q", role)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func playMigrate(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, os.Getenv(urlVariable))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	return Migrate(ctx, conn, os.Getenv(schemaVariable))
}

// playServer serves a store over standard input and output until they end.
func playServer(ctx context.Context) error {
	cfg, err := pgxpool.ParseConfig(os.Getenv(urlVariable))
	if err != nil {
		return err
	}
	return wire.Serve(ctx, os.Stdin, os.Stdout, wire.Agent{
		Name: "postgres",
		Open: func(ctx context.Context, s wire.Store) (ports.Backend, error) {
			cfg.ConnConfig.RuntimeParams["application_name"] = s.Name // for sessionsEnd
			pool, err := pgxpool.NewWithConfig(ctx, cfg)
			if err != nil {
				return nil, err
			}
			if s.Fresh {
				if err := Migrate(ctx, pool, s.Name); err != nil {
					return nil, err
				}
			}
			return New(ctx, pool, Config{Schema: s.Name})
		},
	})
}

// sessionsEnd waits until the server has noticed that a process of the name was
// killed. Until then the rows of its open transaction stay locked, and claimers
// pass by them.
func sessionsEnd(ctx context.Context, pool *pgxpool.Pool, name string) error {
	for range 500 {
		var open bool
		err := pool.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM pg_stat_activity
			WHERE application_name = $1 AND xact_start IS NOT NULL)`, name).Scan(&open)
		if err != nil || !open {
			return err
		}
		pause(ctx, 10*time.Millisecond)
	}
	return fmt.Errorf("a session of %s still has a transaction", name)
}
