package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/engine"
)

func listCommand() *cobra.Command {
	var (
		store    storeFlags
		statuses []string
		query    engine.ListRuns
		limit    int
	)
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List runs, newest first",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			query.Tenant = store.tenant
			for _, s := range statuses {
				if !run.Status(s).Durable() {
					return usage("--status %q: want one of %s", s, statusNames())
				}
				query.Statuses = append(query.Statuses, run.Status(s))
			}
			if limit < 1 {
				return usage("--limit %d: want 1 or more", limit)
			}
			return store.with(cmd.Context(), func(e *engine.Engine) error {
				return listRuns(cmd, e, query, limit)
			})
		},
	}
	store.required(cmd)
	cmd.Flags().StringSliceVar(&statuses, "status", nil, "only runs with this `status`; may be repeated")
	cmd.Flags().StringVar(&query.GraphID, "graph", "", "only runs of this graph `id`")
	cmd.Flags().BoolVar(&query.OpenInterrupts, "asking", false, "only runs that wait for an answer")
	cmd.Flags().BoolVar(&query.Poisoned, "poisoned", false, "only runs that were taken out of delivery")
	cmd.Flags().IntVar(&limit, "limit", 50, "at most this many runs")
	return cmd
}

// listRuns prints up to limit runs as a table, page by page.
func listRuns(cmd *cobra.Command, e *engine.Engine, query engine.ListRuns, limit int) error {
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "RUN\tSTATUS\tSTEP\tGRAPH\tSTARTED\tUPDATED\tREMARK")
	left, more := limit, true
	for more && left > 0 {
		query.Limit = min(left, 1000)
		page, err := e.ListRuns(cmd.Context(), query)
		if err != nil {
			return err
		}
		for _, r := range page.Items {
			fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%s\t%s\n",
				r.ID, r.Status, r.Step, r.Graph, stamp(r.StartedAt), stamp(r.UpdatedAt), remark(r))
		}
		left -= len(page.Items)
		query.After, more = page.Next, page.HasMore
	}
	if err := w.Flush(); err != nil {
		return &failure{exitStore, err}
	}
	if more {
		fmt.Fprintf(cmd.ErrOrStderr(), "There are more: raise --limit above %d.\n", limit)
	}
	return nil
}

// remark says what an operator may have to do about a run.
func remark(r engine.RunSummary) string {
	var says []string
	if r.OpenInterrupts > 0 {
		says = append(says, "asks "+count(int(r.OpenInterrupts), "question"))
	}
	if r.Poison.Reason != "" {
		says = append(says, "poisoned: "+string(r.Poison.Reason))
	}
	return strings.Join(says, ", ")
}

func statusNames() string {
	var names []string
	for _, s := range run.Statuses() {
		names = append(names, string(s))
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// stamp writes a time for a table, "-" for none.
func stamp(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02 15:04:05.000Z")
}
