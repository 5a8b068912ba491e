package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/docket-go/docket/conformance"
)

// flags are what the command line may say about a certification.
type flags struct {
	backends []string
	dsn      string // of a PostgreSQL server
	exec     string
	args     []string // of the program
	name     string
	run      string
	seed     uint64
	waive    []string
	require  string
	verbose  bool
	conformance.Outputs
}

func newCommand() *cobra.Command {
	var f flags
	root := &cobra.Command{
		Use:   "conformance-runner [flags] [-- program arguments]",
		Short: "Certify docket storage backends",
		Long: `Runs the conformance suite and prints, for each backend, the levels it earns,
the three questions with their answers, and every failure with its rule and calls.

Without flags it certifies the embedded backends. --exec certifies a program that
speaks the wire protocol, in any language.

Exit codes: 0 conformant, 1 not conformant (or not granted what --require names),
2 could not run (or ran no case).`,
		Example: `  conformance-runner --backend sqlite --run '^durable/' -v
  conformance-runner --backend sqlite --require core,+tx,+durable
  conformance-runner --backend pgx --dsn postgres://localhost/scratch
  conformance-runner --exec ./agent --json report.json -- --data-in memory
  conformance-runner verify report.json --exec ./agent -- --data-in memory`,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.args = args
			return certify(cmd, f)
		},
	}
	f.addSource(root)
	root.Flags().StringVar(&f.run, "run", "", "run only the cases whose ID matches this regular expression")
	root.Flags().Uint64Var(&f.seed, "seed", 1, "seed of the generated parts")
	root.Flags().StringArrayVar(&f.waive, "waive", nil, "expect a case to fail: 'case-id: reason'; may be repeated")
	root.Flags().StringVar(&f.require, "require", "", "`levels` that every backend must be granted, such as core,+tx,+durable")
	f.Outputs.Flags(root.Flags().StringVar)
	root.AddCommand(newListCommand(), newVerifyCommand(), newServeCommand())
	return root
}

// addSource adds the flags that say what is certified.
func (f *flags) addSource(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&f.backends, "backend", embeddedNames, "backends to certify: "+strings.Join(backendNames(), ", "))
	cmd.Flags().StringVar(&f.dsn, "dsn", "", "with --backend pgx: the server's URL, as a role that may create schemas (default: a server of its own)")
	cmd.Flags().StringVar(&f.exec, "exec", "", "certify this program instead; its arguments follow --")
	cmd.Flags().StringVar(&f.name, "name", "", "with --exec: the backend's name in reports (default: what it says)")
	cmd.Flags().BoolVarP(&f.verbose, "verbose", "v", false, "show every case, not only those that didn't pass")
	cmd.MarkFlagsMutuallyExclusive("backend", "exec")
}

func newListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the cases with their clauses and rules",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return conformance.WriteList(cmd.OutOrStdout())
		},
	}
}

// waivers reads 'case-id: reason' texts.
func (f flags) waivers() (map[string]string, error) {
	waivers := map[string]string{}
	for _, text := range f.waive {
		id, reason, ok := strings.Cut(text, ":")
		if reason = strings.TrimSpace(reason); !ok || reason == "" {
			return nil, fmt.Errorf("--waive %q: want 'case-id: reason'", text)
		}
		waivers[strings.TrimSpace(id)] = reason
	}
	return waivers, nil
}
