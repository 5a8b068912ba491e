package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	postgres "github.com/docket-go/docket/adapters/pgx"
	"github.com/docket-go/docket/ports"
)

// migration is what a command line says about a schema's tables.
type migration struct {
	store  storeFlags
	to     int
	downTo int
	yes    bool
}

// migrateExample is quoted by docs/postgres.md.
const migrateExample = `
  docket migrate --store postgres://localhost/app --schema docket
  docket migrate status --store postgres://localhost/app --schema docket
  docket migrate sql --schema docket --dir migrations
`

func migrateCommand() *cobra.Command {
	m := &migration{}
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Create and change the tables of a PostgreSQL store",
		Long: `Brings a schema of a PostgreSQL database to the version that this docket works with,
and creates it when it is missing. Each step is one transaction; any number of
processes may do it at once. A SQLite store needs none of this.

Going down removes tables and columns with what is in them: it wants --yes.`,
		Example: strings.Trim(migrateExample, "\n"),
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return needsSubcommand(cmd, args)
			}
			target, down, err := m.target(cmd)
			if err != nil {
				return err
			}
			return m.store.withPool(cmd.Context(), func(pool *pgxpool.Pool) error {
				return m.migrate(cmd, pool, target, down)
			})
		},
	}
	m.store.registerPlace(cmd)
	mandatory(cmd)
	cmd.Flags().IntVar(&m.to, "to", 0, "go up to this `version` (default: the newest)")
	cmd.Flags().IntVar(&m.downTo, "down-to", 0, "go down to this `version`; 0 removes everything")
	cmd.Flags().BoolVar(&m.yes, "yes", false, "with --down-to: lose what the later versions hold")
	cmd.MarkFlagsMutuallyExclusive("to", "down-to")
	cmd.AddCommand(migrateStatusCommand(), migrateSQLCommand())
	return cmd
}

// target reads the flags: the version to go to, and in which direction.
func (m *migration) target(cmd *cobra.Command) (version int, down bool, err error) {
	newest := postgres.NewestVersion()
	version = newest
	switch down = cmd.Flags().Changed("down-to"); {
	case down:
		version = m.downTo
	case cmd.Flags().Changed("to"):
		version = m.to
	}
	switch {
	case down && (version < 0 || version > newest):
		return 0, down, usage("--down-to %d: want 0..%d", version, newest)
	case !down && (version < 1 || version > newest):
		return 0, down, usage("--to %d: want 1..%d", version, newest)
	case down && !m.yes:
		return 0, down, usage("--down-to %d removes what later versions hold: repeat it with --yes to lose that", version)
	case !down && m.yes:
		return 0, down, usage("--yes goes with --down-to")
	}
	return version, down, nil
}

// migrate goes to a version, and never in the other direction than was asked.
func (m *migration) migrate(cmd *cobra.Command, pool *pgxpool.Pool, target int, down bool) error {
	have, err := m.store.version(cmd.Context(), pool)
	if err != nil {
		return err
	}
	name := m.store.schemaName()
	switch {
	case have > postgres.NewestVersion():
		return &failure{exitStore, errors.New(m.store.advice(have))}
	case have == target:
		fmt.Fprintf(cmd.OutOrStdout(), "schema %q: is at version %d\n", name, have)
		return nil
	case have > target && !down:
		return usage("schema %q is at version %d, above %d: --down-to goes down", name, have, target)
	case have < target && down:
		return usage("schema %q is at version %d, below %d: --to goes up", name, have, target)
	}
	step := postgres.MigrateTo
	if down {
		step = postgres.MigrateDown
	}
	if err := step(cmd.Context(), pool, m.store.schema, target); err != nil {
		return m.store.refused(err)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "schema %q: from version %d to %d\n", name, have, target)
	return nil
}

func migrateStatusCommand() *cobra.Command {
	var store storeFlags
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Say which version a schema has",
		Long: `Says which version a schema has and what to run if it isn't the one that this docket
works with. Then it exits 1.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return store.withPool(cmd.Context(), func(pool *pgxpool.Pool) error {
				have, err := store.version(cmd.Context(), pool)
				if err != nil {
					return err
				}
				if have != postgres.NewestVersion() {
					return &failure{exitNo, errors.New(store.advice(have))}
				}
				fmt.Fprintf(cmd.OutOrStdout(), "schema %q: is at version %d, the one that this docket works with\n", store.schemaName(), have)
				return nil
			})
		},
	}
	store.registerPlace(cmd)
	mandatory(cmd)
	return cmd
}

// withPool calls do with a pool on the store, which must be PostgreSQL's.
func (f *storeFlags) withPool(ctx context.Context, do func(*pgxpool.Pool) error) error {
	if !f.isPostgres() {
		return usage("--store %s: only a PostgreSQL store (postgres://…) is migrated; a SQLite file is when it is opened", f.place)
	}
	pool, err := f.pool(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	return do(pool)
}

// version reads the schema's version.
func (f *storeFlags) version(ctx context.Context, pool *pgxpool.Pool) (int, error) {
	if _, err := postgres.Migrations(f.schema); err != nil { // refuses names that can't be a schema's
		return 0, schemaRefused(err)
	}
	have, err := postgres.SchemaVersion(ctx, pool, f.schema)
	if err != nil {
		return 0, f.refused(err)
	}
	return have, nil
}

func schemaRefused(err error) error {
	if errors.Is(err, ports.ErrInvalid) {
		return usage("--schema: %w", err)
	}
	return &failure{exitStore, err}
}
