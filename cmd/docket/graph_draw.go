package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/engine"
)

// notations are the forms that draw writes.
var notations = map[string]func(graph.Graph, graph.Marks) string{
	"mermaid": graph.Graph.Mermaid,
	"dot":     graph.Graph.DOT,
}

func drawCommand() *cobra.Command {
	var (
		store  storeFlags
		runID  string
		format string
	)
	cmd := &cobra.Command{
		Use:   "draw [FILE]",
		Short: "Draw a graph, alone or with a run's state",
		Long: `Writes a drawing of the graph document in FILE ("-" is standard input). With --store
and --run it draws the very version that the run is pinned to, and marks how far the
run has come: done, active, waiting, failed.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			draw, known := notations[format]
			if !known {
				return usage("--format %q: want mermaid or dot", format)
			}
			if (runID == "") != (store.place == "") {
				return usage("--store and --run go together")
			}
			if (runID == "") != (len(args) == 1) {
				return usage("draw a FILE, or a run (--store and --run)")
			}
			g, marks, err := pictured(cmd, args, store, runID)
			if err != nil {
				return err
			}
			if _, err := fmt.Fprint(cmd.OutOrStdout(), draw(g, marks)); err != nil {
				return &failure{exitStore, err}
			}
			return nil
		},
	}
	store.register(cmd)
	cmd.Flags().StringVar(&runID, "run", "", "draw the state of this run `id`")
	cmd.Flags().StringVar(&format, "format", "mermaid", "the `notation`: mermaid or dot")
	return cmd
}

// pictured returns what is drawn.
func pictured(cmd *cobra.Command, args []string, store storeFlags, runID string) (g graph.Graph, m graph.Marks, err error) {
	if runID == "" {
		g, err = readGraph(cmd.InOrStdin(), args[0])
		return g, nil, err
	}
	err = store.with(cmd.Context(), func(e *engine.Engine) error {
		r, err := e.FetchRun(cmd.Context(), engine.FetchRun{Tenant: store.tenant, RunID: runID})
		if err != nil {
			return err
		}
		published, err := e.FetchGraph(cmd.Context(), engine.FetchGraph{Tenant: store.tenant, Ref: r.Graph})
		if err != nil {
			return err
		}
		events, err := allEvents(cmd.Context(), e, store.tenant, runID)
		if err != nil {
			return err
		}
		g, m = published.Graph, marks(r, events)
		return nil
	})
	return g, m, err
}

// allEvents reads a run's retained log.
func allEvents(ctx context.Context, e *engine.Engine, tenant, runID string) ([]run.Event, error) {
	var all []run.Event
	query := engine.ListEvents{Tenant: tenant, RunID: runID, Limit: 1000}
	for {
		page, err := e.ListEvents(ctx, query)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Events...)
		if !page.HasMore {
			return all, nil
		}
		query.AfterSeq = page.NextAfterSeq
	}
}
