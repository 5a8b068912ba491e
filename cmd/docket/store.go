package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	sqlite "github.com/docket-go/docket/adapters/sqlite-experimental"
	"github.com/docket-go/docket/engine"
)

// storeFlags say which store a command uses, and as whom.
type storeFlags struct {
	path   string
	tenant string
}

func (f *storeFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.path, "store", "", "the store's SQLite `file`")
	cmd.Flags().StringVar(&f.tenant, "tenant", "", "see this tenant's runs; without it, the runs that have no tenant")
}

// required makes --store mandatory.
func (f *storeFlags) required(cmd *cobra.Command) {
	f.register(cmd)
	if err := cmd.MarkFlagRequired("store"); err != nil {
		panic(err) // the flag was registered the line before
	}
}

// with opens the store, calls do, and closes the store again. The engine has no
// implementations and never drives: it reads and signals.
func (f *storeFlags) with(ctx context.Context, do func(*engine.Engine) error) (err error) {
	// Opening creates a file; a mistyped path must not leave one behind.
	if info, err := os.Stat(f.path); err != nil {
		return &failure{exitStore, fmt.Errorf("store: %w", err)}
	} else if info.IsDir() {
		return &failure{exitStore, fmt.Errorf("store: %s is a directory", f.path)}
	}
	backend, err := sqlite.Open(ctx, sqlite.Config{Path: f.path})
	if err != nil {
		return &failure{exitStore, fmt.Errorf("store %s: %w", f.path, err)}
	}
	defer func() {
		if closing := backend.Close(); err == nil && closing != nil {
			err = &failure{exitStore, fmt.Errorf("store %s: %w", f.path, closing)}
		}
	}()
	e, err := engine.New(backend, nil, engine.Config{Tenancy: engine.TenancyOptional})
	if err != nil {
		return &failure{exitStore, err}
	}
	return classify(do(e))
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
