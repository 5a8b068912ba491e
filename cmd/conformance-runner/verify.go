package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/docket-go/docket/conformance"
)

func newVerifyCommand() *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "verify REPORT [flags] [-- program arguments]",
		Short: "Run the certification of a report again and compare",
		Long: `Runs the suite again with the seed, selection and waivers of a report that --json
wrote, and fails on any difference in outcomes or verdicts. Times may differ.

A report of an embedded backend says which; a program is run only when --exec
names it here: a report never decides what is executed.

Exit codes: 0 the same, 1 different, 2 could not run.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if n := cmd.ArgsLenAtDash(); n != -1 && n != 1 || n == -1 && len(args) > 1 {
				return errors.New("verify: want one report; a program's arguments follow --")
			}
			f.args = args[1:]
			return verify(cmd, args[0], f)
		},
	}
	f.addSource(cmd)
	if err := cmd.Flags().MarkHidden("backend"); err != nil {
		panic(err) // the flag was just added
	}
	return cmd
}

// verify makes every report of a file again.
func verify(cmd *cobra.Command, file string, f flags) error {
	reports, err := readReports(file)
	if err != nil {
		return err
	}
	same := true
	for _, was := range reports {
		is, err := again(cmd, was, f)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		differences := was.Differences(is)
		if len(differences) == 0 {
			fmt.Fprintf(cmd.OutOrStdout(), "%s: the same; %s\n", was.Backend, is.Sentence())
			continue
		}
		same = false
		fmt.Fprintf(cmd.OutOrStdout(), "%s: DIFFERENT\n", was.Backend)
		for _, d := range differences {
			fmt.Fprintf(cmd.OutOrStdout(), "  %s\n", d)
		}
	}
	if !same {
		return exit(conformance.ExitNonConformant)
	}
	return nil
}

// again runs the certification of one report.
func again(cmd *cobra.Command, was conformance.Report, f flags) (conformance.Report, error) {
	f.seed, f.run, f.waive, f.require = was.Seed, was.Selected, nil, levelNames(was.Required)
	for _, id := range names(was.Waivers) {
		f.waive = append(f.waive, id+": "+was.Waivers[id])
	}
	var s source
	switch wasExec := slices.Contains(was.Reproduce, "--exec"); {
	case wasExec && f.exec == "":
		return was, fmt.Errorf("the report is of the program that %q ran: name it with --exec", was.Reproduce)
	case wasExec:
		if f.name == "" {
			f.name = was.Backend
		}
		all, err := f.program()
		if err != nil {
			return was, err
		}
		s = all[0]
	case f.exec != "":
		return was, fmt.Errorf("--exec: the report is of the embedded backend %s", was.Backend)
	default:
		var err error
		if s, err = f.ownBackend(was.Backend); err != nil {
			return was, err
		}
	}
	return certifyOne(cmd, f, s)
}

// levelNames is what --require reads.
func levelNames(levels []conformance.Level) string {
	names := make([]string, len(levels))
	for i, l := range levels {
		names[i] = string(l)
	}
	return strings.Join(names, ",")
}

// readReports reads what --json wrote: a list of reports, or one.
func readReports(file string) ([]conformance.Report, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var reports []conformance.Report
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		reports = make([]conformance.Report, 1)
		err = json.Unmarshal(data, &reports[0])
	} else {
		err = json.Unmarshal(data, &reports)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s is no report: %w", file, err)
	case len(reports) == 0:
		return nil, fmt.Errorf("%s holds no report", file)
	}
	for i, r := range reports {
		if r.Suite == "" || r.Backend == "" || r.Seed == 0 || len(r.Results) == 0 {
			return nil, fmt.Errorf("%s: report %d lacks its suite, backend, seed or results", file, i)
		}
	}
	return reports, nil
}
