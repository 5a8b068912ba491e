package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/docket-go/docket/conformance"
)

// certify runs the suite on each backend and reports all of them, the worst
// outcome deciding the exit code.
func certify(cmd *cobra.Command, f flags) error {
	if err := f.Outputs.Check(len(f.backends) > 1 && f.exec == ""); err != nil {
		return err
	}
	sources, err := f.sources()
	if err != nil {
		return err
	}
	var reports []conformance.Report
	for _, s := range sources {
		report, err := certifyOne(cmd, f, s)
		if err != nil {
			return err
		}
		if err := report.WriteText(cmd.OutOrStdout()); err != nil {
			return err
		}
		if _, err = fmt.Fprintln(cmd.OutOrStdout()); err != nil {
			return err
		}
		reports = append(reports, report)
	}
	if err := f.Outputs.Write(reports); err != nil {
		return err
	}
	return verdict(reports)
}

// certifyOne runs the suite on one backend.
func certifyOne(cmd *cobra.Command, f flags, s source) (_ conformance.Report, err error) {
	o, err := conformance.ReadOptions(f.run, f.seed, f.require)
	if err != nil {
		return conformance.Report{}, err
	}
	waivers, err := f.waivers()
	if err != nil {
		return conformance.Report{}, err
	}
	harness, cleanUp, err := s.open(cmd.Context())
	if err != nil {
		return conformance.Report{}, fmt.Errorf("preparing %s: %w", s.name, err)
	}
	defer func() { err = errors.Join(err, cleanUp()) }()
	if len(waivers) > 0 {
		harness.Waive = waivers
	}
	p := conformance.NewProgress(cmd.ErrOrStderr(), harness.Name)
	o.Progress = p.Tell
	report, err := conformance.Check(cmd.Context(), harness, o)
	p.Clear()
	if err != nil {
		return report, err
	}
	if cause := cmd.Context().Err(); cause != nil {
		return report, fmt.Errorf("interrupted while certifying %s: %w", s.name, cause)
	}
	report.Reproduce = f.reproduce(s)
	if f.verbose {
		err = report.WriteCases(cmd.OutOrStdout())
	}
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
