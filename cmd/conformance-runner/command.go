package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/docket-go/docket/conformance"
)

// flags are what the command line may say about a certification.
type flags struct {
	backends []string
	run      string
	seed     uint64
	json     string
	verbose  bool
}

func newCommand() *cobra.Command {
	var f flags
	root := &cobra.Command{
		Use:           "conformance-runner",
		Short:         "Certify docket storage backends",
		Long:          "Runs the conformance suite and prints, for each backend, the levels it earns,\nthe three questions with their answers, and every failure with its rule and calls.\n\nExit codes: 0 conformant, 1 not conformant, 2 could not run (or ran no case).",
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return certify(cmd, f) },
	}
	root.Flags().StringSliceVar(&f.backends, "backend", backendNames(), "backends to certify: "+strings.Join(backendNames(), ", "))
	root.Flags().StringVar(&f.run, "run", "", "run only the cases whose ID matches this regular expression")
	root.Flags().Uint64Var(&f.seed, "seed", 1, "seed of the generated parts")
	root.Flags().StringVar(&f.json, "json", "", "also write the reports as JSON to this file")
	root.Flags().BoolVarP(&f.verbose, "verbose", "v", false, "show every case, not only those that didn't pass")
	root.AddCommand(newListCommand(), newServeCommand())
	return root
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

// certify runs the suite on each backend and reports all of them, the worst
// outcome deciding the exit code.
func certify(cmd *cobra.Command, f flags) error {
	options := conformance.Options{Seed: f.seed}
	if f.seed == 0 {
		return errors.New("--seed: a seed is at least 1")
	}
	if f.run != "" {
		var err error
		if options.Select, err = regexp.Compile(f.run); err != nil {
			return fmt.Errorf("--run: %w", err)
		}
	}
	if len(f.backends) == 0 {
		return errors.New("--backend: no backend is named")
	}
	var reports []conformance.Report
	for _, name := range f.backends {
		report, err := certifyOne(cmd, name, options, f.verbose)
		if err != nil {
			return err
		}
		reports = append(reports, report)
	}
	if f.json != "" {
		if err := conformance.WriteJSON(f.json, reports); err != nil {
			return fmt.Errorf("--json: %w", err)
		}
	}
	return verdict(reports)
}

func certifyOne(cmd *cobra.Command, name string, o conformance.Options, verbose bool) (_ conformance.Report, err error) {
	open, known := backends[name]
	if !known {
		return conformance.Report{}, fmt.Errorf("--backend: %q is not one of %s", name, strings.Join(backendNames(), ", "))
	}
	harness, cleanUp, err := open()
	if err != nil {
		return conformance.Report{}, fmt.Errorf("preparing %s: %w", name, err)
	}
	defer func() { err = errors.Join(err, cleanUp()) }()
	p := newProgress(cmd.ErrOrStderr(), name)
	o.Progress = p.tell
	report, err := conformance.Check(cmd.Context(), harness, o)
	p.clear()
	if err != nil {
		return report, err
	}
	if cause := cmd.Context().Err(); cause != nil {
		return report, fmt.Errorf("interrupted while certifying %s: %w", name, cause)
	}
	if verbose {
		writeCases(cmd.OutOrStdout(), report)
	}
	if err := report.WriteText(cmd.OutOrStdout()); err != nil {
		return report, err
	}
	_, err = fmt.Fprintln(cmd.OutOrStdout())
	return report, err
}

// verdict is nil when every backend conforms. A failure outweighs a backend that
// could not be judged.
func verdict(reports []conformance.Report) error {
	worst := conformance.ExitConformant
	for _, r := range reports {
		switch r.ExitCode() {
		case conformance.ExitNonConformant:
			return exit(conformance.ExitNonConformant)
		case conformance.ExitCouldNotRun:
			worst = conformance.ExitCouldNotRun
		}
	}
	if worst == conformance.ExitConformant {
		return nil
	}
	return exit(worst)
}
