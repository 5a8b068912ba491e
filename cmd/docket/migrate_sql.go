package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	postgres "github.com/docket-go/docket/adapters/pgx"
)

func migrateSQLCommand() *cobra.Command {
	var (
		store storeFlags
		dir   string
		down  bool
	)
	cmd := &cobra.Command{
		Use:   "sql",
		Short: "Print the migrations as SQL, for a tool of your own",
		Long: `Prints the migrations of a schema in order, each as one transaction. With --dir it
writes them as files instead, NNNN_name.up.sql and NNNN_name.down.sql, without
BEGIN and COMMIT, as migration tools want them. It needs no server. The schema
itself must exist before they run.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			scripts, err := postgres.Migrations(store.schema)
			if err != nil {
				return schemaRefused(err)
			}
			if dir != "" {
				if down {
					return usage("--down prints; --dir writes both directions")
				}
				return writeScripts(cmd.OutOrStdout(), scripts, dir)
			}
			return printScripts(cmd.OutOrStdout(), scripts, store.schemaName(), down)
		},
	}
	cmd.Flags().StringVar(&store.schema, "schema", "", "the `schema` (default public)")
	cmd.Flags().StringVar(&dir, "dir", "", "write the files to this `directory`; existing ones are left alone")
	cmd.Flags().BoolVar(&down, "down", false, "print the way down, which removes everything")
	return cmd
}

// writeScripts writes the files, and none over another one.
func writeScripts(out io.Writer, scripts fs.FS, dir string) error {
	if err := os.CopyFS(dir, scripts); err != nil {
		return &failure{exitStore, fmt.Errorf("--dir: %w", err)}
	}
	names, err := fs.Glob(scripts, "*.sql")
	if err != nil {
		return &failure{exitStore, err}
	}
	fmt.Fprintf(out, "%s: %s\n", dir, count(len(names), "file"))
	return nil
}

// printScripts prints one direction as a script for psql.
func printScripts(out io.Writer, scripts fs.FS, schema string, down bool) error {
	pattern := "*.up.sql"
	if down {
		pattern = "*.down.sql"
	}
	names, err := fs.Glob(scripts, pattern)
	if err != nil {
		return &failure{exitStore, err}
	}
	if down {
		slices.Reverse(names)
	} else {
		fmt.Fprintf(out, "-- The schema must exist: CREATE SCHEMA %s;\n\n", pgx.Identifier{schema}.Sanitize())
	}
	for _, name := range names {
		text, err := fs.ReadFile(scripts, name)
		if err != nil {
			return &failure{exitStore, err}
		}
		if _, err := fmt.Fprintf(out, "-- %s\nBEGIN;\n\n%s\nCOMMIT;\n\n", name, text); err != nil {
			return &failure{exitStore, err}
		}
	}
	return nil
}
