package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	sqlite "github.com/docket-go/docket/adapters/sqlite-experimental"
	"github.com/docket-go/docket/engine"
	"github.com/docket-go/docket/ports"
)

// storeFlags say which store a command uses, and as whom.
type storeFlags struct {
	place  string // a file, or a PostgreSQL URL
	schema string // of PostgreSQL
	tenant string
}

func (f *storeFlags) register(cmd *cobra.Command) {
	f.registerPlace(cmd)
	cmd.Flags().StringVar(&f.tenant, "tenant", "", "see this tenant's runs; without it, the runs that have no tenant")
}

func (f *storeFlags) registerPlace(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.place, "store", "", "the `store`: a SQLite file, or a URL of PostgreSQL (postgres://…)")
	cmd.Flags().StringVar(&f.schema, "schema", "", "the `schema` of a PostgreSQL store (default public)")
}

// required makes --store mandatory.
func (f *storeFlags) required(cmd *cobra.Command) {
	f.register(cmd)
	mandatory(cmd)
}

func mandatory(cmd *cobra.Command) {
	if err := cmd.MarkFlagRequired("store"); err != nil {
		panic(err) // the flag was registered before
	}
}

// with opens the store, calls do, and closes the store again. The engine has no
// implementations and never drives: it reads and signals.
func (f *storeFlags) with(ctx context.Context, do func(*engine.Engine) error) (err error) {
	backend, closing, err := f.open(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if failed := closing(); err == nil && failed != nil {
			err = &failure{exitStore, fmt.Errorf("store %s: %w", f.shown(), failed)}
		}
	}()
	e, err := engine.New(backend, nil, engine.Config{Tenancy: engine.TenancyOptional})
	if err != nil {
		return &failure{exitStore, err}
	}
	return classify(do(e))
}

// open returns the store and what closes it.
func (f *storeFlags) open(ctx context.Context) (ports.Backend, func() error, error) {
	if f.isPostgres() {
		return f.openPostgres(ctx)
	}
	if f.schema != "" {
		return nil, nil, usage("--schema %s: only a PostgreSQL store (--store postgres://…) has schemas", f.schema)
	}
	// Opening creates a file; a mistyped path must not leave one behind.
	if info, err := os.Stat(f.place); err != nil {
		return nil, nil, &failure{exitStore, fmt.Errorf("store: %w", err)}
	} else if info.IsDir() {
		return nil, nil, &failure{exitStore, fmt.Errorf("store: %s is a directory", f.place)}
	}
	backend, err := sqlite.Open(ctx, sqlite.Config{Path: f.place})
	if err != nil {
		return nil, nil, &failure{exitStore, fmt.Errorf("store %s: %w", f.place, err)}
	}
	return backend, backend.Close, nil
}

// classify gives an engine's error the exit code that it means.
func classify(err error) error {
	var already *failure
	if err == nil || errors.As(err, &already) {
		return err
	}
	switch engine.CodeOf(err) {
	case engine.CodeNotFound, engine.CodeInactive, engine.CodeResolved, engine.CodeConflict, engine.CodeContended, engine.CodePoisoned:
		return &failure{exitNo, err}
	case engine.CodeInvalidInput:
		return &failure{exitNo, err}
	case engine.CodeInvalidTenant:
		return &failure{exitUsage, err}
	}
	return &failure{exitStore, err}
}
