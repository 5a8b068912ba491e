package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/docket-go/docket/conformance"
	"github.com/docket-go/docket/conformance/wire"
	"github.com/docket-go/docket/ports"
)

// agents are the backends that this program can serve to another runner, or to
// itself: the processes that crash cases kill are started that way.
var agents = map[string]func() wire.Agent{
	"pgx":    pgxAgent,
	"sqlite": sqliteAgent,
}

func newServeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "serve BACKEND",
		Short: "Serve an embedded backend over the wire protocol",
		Long:  "Serves a backend on standard input and output, as an agent for --exec:\n\n  conformance-runner --exec conformance-runner -- serve sqlite",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			agent, known := agents[args[0]]
			if !known {
				return fmt.Errorf("serve: %q is not one of %s", args[0], strings.Join(names(agents), ", "))
			}
			return wire.Serve(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), agent())
		},
	}
}

// sqliteAgent keeps each store in a file of its directory.
func sqliteAgent() wire.Agent {
	f := &files{paths: map[ports.Backend]string{}}
	return wire.Agent{
		Name: "sqlite",
		Open: func(ctx context.Context, s wire.Store) (ports.Backend, error) {
			path := filepath.Join(s.Directory, s.Name+databaseSuffix)
			if _, err := os.Stat(path); (err == nil) == s.Fresh {
				return nil, fmt.Errorf("%s: fresh is %t", path, s.Fresh)
			}
			return f.open(ctx, path)
		},
		Corrupt: func(ctx context.Context, b ports.Backend, t wire.Target) error {
			return f.corrupt(ctx, b, conformance.Target(t))
		},
		RawWrite: func(ctx context.Context, b ports.Backend, raw wire.Raw) error {
			return f.rawWrite(ctx, b, raw.RunID, conformance.Shape(raw.Shape))
		},
	}
}
