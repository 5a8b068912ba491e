package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	postgres "github.com/docket-go/docket/adapters/pgx"
	"github.com/docket-go/docket/ports"
)

// isPostgres reports whether the store is a URL of PostgreSQL's.
func (f *storeFlags) isPostgres() bool {
	return strings.HasPrefix(f.place, "postgres://") || strings.HasPrefix(f.place, "postgresql://")
}

// openPostgres opens a store whose tables are this build's. It listens to no
// wakes, but what it signals wakes the workers.
func (f *storeFlags) openPostgres(ctx context.Context) (ports.Backend, func() error, error) {
	pool, err := f.pool(ctx)
	if err != nil {
		return nil, nil, err
	}
	backend, err := postgres.New(ctx, pool, postgres.Config{Schema: f.schema})
	if err != nil {
		pool.Close()
		return nil, nil, f.refused(err)
	}
	return backend, func() error {
		err := backend.Close()
		pool.Close()
		return err
	}, nil
}

// pool connects when it is first used. One connection is all that a command
// needs.
func (f *storeFlags) pool(ctx context.Context) (*pgxpool.Pool, error) {
	if _, err := url.Parse(f.place); err != nil { // whose text may hold pieces of the password
		return nil, usage("--store: this is no URL: want postgres://user@host:port/database, with special characters percent-encoded")
	}
	cfg, err := pgxpool.ParseConfig(f.place)
	if err != nil {
		var wrong *pgconn.ParseConfigError
		if errors.As(err, &wrong) {
			wrong.ConnString = f.shown()
		}
		return nil, usage("--store: %w", err)
	}
	cfg.MaxConns, cfg.MinConns, cfg.MinIdleConns = 1, 0, 0
	if settings := cfg.ConnConfig.RuntimeParams; settings["application_name"] == "" {
		settings["application_name"] = "docket"
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, &failure{exitStore, fmt.Errorf("store %s: %w", f.shown(), err)}
	}
	return pool, nil
}

// refused says why the store wasn't opened, and what command helps.
func (f *storeFlags) refused(err error) error {
	var wrong *postgres.SchemaError
	switch {
	case errors.As(err, &wrong):
		return &failure{exitStore, fmt.Errorf("store %s: %s", f.shown(), f.advice(wrong.Have))}
	case errors.Is(err, ports.ErrInvalid):
		return usage("%w", err)
	}
	return &failure{exitStore, fmt.Errorf("store %s: %w", f.shown(), err)}
}

// advice says how far a schema is from this build's, and the command that helps.
func (f *storeFlags) advice(have int) string {
	newest := postgres.NewestVersion()
	switch {
	case have > newest:
		return fmt.Sprintf("schema %q is at version %d, newer than this docket's %d: use a newer docket", f.schemaName(), have, newest)
	case have == 0:
		return fmt.Sprintf("schema %q has no tables of docket's yet: run\n  %s", f.schemaName(), f.migrateCommand())
	}
	return fmt.Sprintf("schema %q is at version %d, this docket works with %d: run\n  %s", f.schemaName(), have, newest, f.migrateCommand())
}

func (f *storeFlags) schemaName() string {
	if f.schema == "" {
		return postgres.DefaultSchema
	}
	return f.schema
}

func (f *storeFlags) migrateCommand() string {
	command := "docket migrate --store " + shellWord(f.shown())
	if f.schema != "" {
		command += " --schema " + shellWord(f.schema)
	}
	return command
}

// shown is the store's name without its passwords.
func (f *storeFlags) shown() string {
	if !f.isPostgres() {
		return f.place
	}
	u, err := url.Parse(f.place)
	if err != nil {
		scheme, _, _ := strings.Cut(f.place, "://")
		return scheme + "://…"
	}
	query := u.Query()
	for name := range query { // order-free: Encode sorts
		if strings.Contains(name, "password") {
			query.Set(name, "xxxxx")
			u.RawQuery = query.Encode()
		}
	}
	return u.Redacted()
}
