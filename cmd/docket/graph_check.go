package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/docket-go/docket/core/compiler"
	"github.com/docket-go/docket/core/graph"
)

func checkCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE",
		Short: "Say everything that is wrong with a graph document",
		Long: `Reads a graph document ("-" is standard input) and prints every error and warning,
one a line. The structure is checked; whether a host has the implementations, and
what they say about the configuration, only the host's own program can tell.

Exits 1 when there is an error; warnings alone are no error.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			g, err := readGraph(cmd.InOrStdin(), args[0])
			if err != nil {
				return err
			}
			return printDiagnostics(cmd.OutOrStdout(), g, compiler.Check(g, nil))
		},
	}
}

// readGraph reads a document. What can't be read is an answer about the
// document; a file that isn't there is wrong usage.
func readGraph(stdin io.Reader, name string) (graph.Graph, error) {
	data, err := readFile(stdin, name)
	if err != nil {
		return graph.Graph{}, usage("%w", err)
	}
	g, err := graph.Parse(data, nil)
	if err != nil {
		return g, &failure{exitNo, fmt.Errorf("%s: %w", name, err)}
	}
	return g, nil
}

func readFile(stdin io.Reader, name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(stdin)
	}
	return os.ReadFile(name)
}

func printDiagnostics(w io.Writer, g graph.Graph, all []graph.Diagnostic) error {
	faults := 0
	for _, d := range all {
		if d.Severity == graph.SeverityError {
			faults++
		}
		if _, err := fmt.Fprintln(w, d); err != nil {
			return &failure{exitStore, err}
		}
	}
	if _, err := fmt.Fprintf(w, "%s: %s, %s; %s, %s\n", g.ID,
		count(len(g.Nodes), "node"), count(len(g.Edges), "edge"), count(faults, "error"), count(len(all)-faults, "warning")); err != nil {
		return &failure{exitStore, err}
	}
	if faults > 0 {
		return &failure{exitNo, errors.New("the graph has errors")}
	}
	return nil
}

// count says "1 node", "2 nodes".
func count(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return fmt.Sprintf("%d %ss", n, of)
}
