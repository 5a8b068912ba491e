package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/core/value"
)

// printLog writes one line for each committed event, and a rule after each
// checkpoint: what stands between two rules was committed together.
func printLog(out io.Writer, events []run.Event) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, e := range events {
		what, about, says := string(e.Type), "run", ""
		if e.NodeID != "" {
			about = e.NodeID
		}
		switch p := e.Payload.(type) {
		case run.Initialized:
			says = "of " + p.Graph.String()
		case run.Completed:
			says = "with " + strings.Join(p.Outputs, ", ")
		case run.Checkpoint:
			what, about, says = "── committed", fmt.Sprint(p.Seq), string(p.Type)
		case run.ChannelUpdated:
			about, says = p.Channel, fmt.Sprintf("version %d", p.Version)
		case run.EdgeTriggered:
			about, says = p.Edge, "to "+p.Target
		case run.NodeCompleted:
			says = fmt.Sprintf("attempt %d", p.Attempt)
		case run.NodeFailed:
			says = fmt.Sprintf("attempt %d: %s", p.Attempt, p.Message)
		case run.InterruptAsked:
			says = p.InterruptID
		case run.InterruptAnswered:
			says = p.InterruptID
		}
		fmt.Fprintf(w, "  %d\tstep %d\t%s\t%s\t%s\n", e.Seq, e.Step, what, about, says)
	}
	w.Flush()
}

// printFlow writes the graph as a list in the order of its flow, with how far
// the run has come.
func printFlow(out io.Writer, g graph.Graph, m graph.Marks) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, id := range flow(g) {
		state := string(m[id])
		if state == "" {
			state = "untouched"
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\n", id, state, strings.Join(leadsTo(g, id), ", "))
	}
	w.Flush()
}

// flow returns the nodes in the order in which edges first reach them.
func flow(g graph.Graph) []string {
	order := []string{graph.Start}
	for next := 0; next < len(order); next++ {
		for _, id := range value.Keys(g.Edges) {
			e := g.Edges[id]
			if slices.Contains(e.From, order[next]) && !slices.Contains(order, e.To) && e.To != graph.Finish {
				order = append(order, e.To)
			}
		}
	}
	return order[1:]
}

// leadsTo says where a node's edges lead, and on which condition.
func leadsTo(g graph.Graph, node string) []string {
	var to []string
	for _, id := range value.Keys(g.Edges) {
		e := g.Edges[id]
		if !slices.Contains(e.From, node) {
			continue
		}
		text := "→ " + e.To
		if e.Barrier() {
			text += " (all of " + strings.Join(e.From, ", ") + ")"
		}
		if e.Guard != nil {
			text += " if " + e.Guard.String()
		}
		to = append(to, text)
	}
	return to
}

// oneLine is a value's canonical text, without entries that say nothing.
func oneLine(v map[string]any) string {
	said := map[string]any{}
	for _, key := range value.Keys(v) {
		if v[key] != "" {
			said[key] = v[key]
		}
	}
	text, err := value.Encode(said)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// pretty is a value's canonical text over several lines.
func pretty(v map[string]any) string {
	text, err := value.Encode(v)
	if err != nil {
		return err.Error()
	}
	var out bytes.Buffer
	if err := json.Indent(&out, text, "", "  "); err != nil {
		return err.Error()
	}
	return out.String()
}
