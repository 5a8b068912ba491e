package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/docket-go/docket/engine"
)

func eventsCommand() *cobra.Command {
	var (
		store storeFlags
		after int64
		limit int
	)
	cmd := &cobra.Command{
		Use:   "events RUN",
		Short: "Print a run's committed events in order",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if after < 0 {
				return usage("--after %d: want 0 or more", after)
			}
			if limit < 1 {
				return usage("--limit %d: want 1 or more", limit)
			}
			return store.with(cmd.Context(), func(e *engine.Engine) error {
				return listEvents(cmd, e, engine.ListEvents{Tenant: store.tenant, RunID: args[0], AfterSeq: after}, limit)
			})
		},
	}
	store.required(cmd)
	cmd.Flags().Int64Var(&after, "after", 0, "only events after this `sequence`")
	cmd.Flags().IntVar(&limit, "limit", 1000, "at most this many events")
	return cmd
}

// listEvents prints up to limit events as a table, page by page.
func listEvents(cmd *cobra.Command, e *engine.Engine, query engine.ListEvents, limit int) error {
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "SEQ\tTIME\tSTEP\tEVENT\tNODE\tPAYLOAD")
	left, more := limit, true
	for more && left > 0 {
		query.Limit = min(left, 1000)
		page, err := e.ListEvents(cmd.Context(), query)
		if err != nil {
			return err
		}
		if query.AfterSeq == 0 && page.Oldest > 1 {
			fmt.Fprintf(cmd.ErrOrStderr(), "Events before %d were pruned.\n", page.Oldest)
		}
		for _, ev := range page.Events {
			payload, err := ev.MarshalPayload()
			if err != nil {
				return &failure{exitStore, err}
			}
			fmt.Fprintf(w, "%d\t%s\t%d\t%s\t%s\t%s\n", ev.Seq, stamp(ev.Time), ev.Step, ev.Type, dash(ev.NodeID), payload)
		}
		left -= len(page.Events)
		query.AfterSeq, more = page.NextAfterSeq, page.HasMore
	}
	if err := w.Flush(); err != nil {
		return &failure{exitStore, err}
	}
	if more {
		fmt.Fprintf(cmd.ErrOrStderr(), "There are more: --after %d\n", query.AfterSeq)
	}
	return nil
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
