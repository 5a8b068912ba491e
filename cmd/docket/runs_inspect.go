package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/core/value"
	"github.com/docket-go/docket/engine"
)

func inspectCommand() *cobra.Command {
	var store storeFlags
	cmd := &cobra.Command{
		Use:   "inspect RUN",
		Short: "Show a run: state, questions, and who works on it",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return store.with(cmd.Context(), func(e *engine.Engine) error {
				info, err := e.InspectRun(cmd.Context(), engine.InspectRun{Tenant: store.tenant, RunID: args[0]})
				if err != nil {
					return err
				}
				return printRun(cmd.OutOrStdout(), info)
			})
		},
	}
	store.required(cmd)
	return cmd
}

// printRun writes the facts as a table, then the documents and questions.
func printRun(out io.Writer, info engine.RunInfo) error {
	var page bytes.Buffer
	printFacts(&page, info)
	r := info.Run
	for _, section := range []struct {
		title string
		value map[string]any
	}{{"input", r.Input}, {"state", r.State}, {"output", r.Output}, {"metadata", r.Metadata}} {
		if len(section.value) == 0 {
			continue
		}
		text, err := pretty(section.value)
		if err != nil {
			return &failure{exitStore, err}
		}
		fmt.Fprintf(&page, "\n%s\n%s\n", section.title, text)
	}
	for _, i := range r.Interrupts {
		if err := printQuestion(&page, r.ID, i); err != nil {
			return &failure{exitStore, err}
		}
	}
	if _, err := page.WriteTo(out); err != nil {
		return &failure{exitStore, err}
	}
	return nil
}

// printFacts writes one fact a line, leaving out what isn't so.
func printFacts(out io.Writer, info engine.RunInfo) {
	r := info.Run
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fact := func(when bool, name, format string, args ...any) {
		if when {
			fmt.Fprintf(w, name+"\t"+format+"\n", args...)
		}
	}
	fact(true, "run", "%s", r.ID)
	fact(r.Tenant != "", "tenant", "%s", r.Tenant)
	fact(true, "graph", "%s %s", r.Graph.ID, r.Graph.Hash)
	fact(true, "status", "%s", r.Status)
	fact(info.Damage != nil, "damage", "%v", info.Damage)
	if f := r.Failure; f != nil {
		fact(true, "failure", "%s: %s", f.Code, f.Message)
		fact(f.NodeID != "", "failed node", "%s", f.NodeID)
	}
	fact(true, "step", "%d", r.Step)
	fact(true, "sequences", "checkpoint %d, event %d", r.CheckpointSeq, r.EventSeq)
	fact(true, "started", "%s", stamp(r.StartedAt))
	fact(true, "updated", "%s", stamp(r.UpdatedAt))
	fact(!r.FinishedAt.IsZero(), "finished", "%s", stamp(r.FinishedAt))
	fact(info.Poisoned(), "poisoned", "%s: %s (docket recover gives it back)", stamp(info.Poison.At), info.Poison.Reason)
	fact(!info.WakeAt.IsZero(), "due", "%s", stamp(info.WakeAt))
	fact(!info.ClaimedAt.IsZero(), "claimed", "%s until %s", stamp(info.ClaimedAt), stamp(info.ClaimEnd))
	fact(info.Attempts > 0, "claims", "%d since the last commit", info.Attempts)
	fact(info.Abandons > 0, "abandoned", "%d times", info.Abandons)
	fact(true, "store time", "%s", stamp(info.Now))
	w.Flush() //nolint:errcheck // a bytes.Buffer below
}

// printQuestion writes an open interrupt with the command that answers it.
func printQuestion(out io.Writer, runID string, i run.Interrupt) error {
	fmt.Fprintf(out, "\nquestion %s\n  of node %s, since %s; the answer goes to %q\n", i.ID, i.NodeID, stamp(i.CreatedAt), i.Field)
	if !i.Schema.IsZero() {
		text, err := value.Encode(i.Schema.ToMap())
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "  must be %s\n", text)
	}
	if len(i.Metadata) > 0 {
		text, err := value.Encode(i.Metadata)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "  %s\n", text)
	}
	fmt.Fprintf(out, "  answer: docket signal --store STORE %s %s JSON\n", shellWord(runID), shellWord(i.ID))
	return nil
}

// pretty indents a value's canonical bytes; the order of keys stays.
func pretty(v any) ([]byte, error) {
	text, err := value.Encode(v)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	out.WriteString("  ")
	err = json.Indent(&out, text, "  ", "  ")
	return out.Bytes(), err
}
