package conformance

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
)

// Main is a whole program that certifies h, for authors who link their own:
//
//	func main() { conformance.Main(harness) }
//
// It reads the flags -run, -seed, -json and -list and exits 0 if the backend
// conforms, 1 if it doesn't, 2 if the suite could not run.
func Main(h Harness) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := mainIn(ctx, h, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// mainIn is Main without the process around it.
func mainIn(ctx context.Context, h Harness, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet(h.Name, flag.ContinueOnError)
	flags.SetOutput(stderr)
	pattern := flags.String("run", "", "run only the cases whose ID matches this regular expression")
	seed := flags.Uint64("seed", 0, "seed of the generated parts (0 means 1)")
	file := flags.String("json", "", "write the report as JSON to this file")
	list := flags.Bool("list", false, "list the cases with their rules and stop")
	if err := flags.Parse(args); err != nil {
		return ExitCouldNotRun
	}
	if *list {
		return exitFor(WriteList(stdout), stderr)
	}
	o := Options{Seed: *seed}
	if *pattern != "" {
		var err error
		if o.Select, err = regexp.Compile(*pattern); err != nil {
			return exitFor(err, stderr)
		}
	}
	report, err := Check(ctx, h, o)
	if err != nil {
		return exitFor(err, stderr)
	}
	if err := report.WriteText(stdout); err != nil {
		return exitFor(err, stderr)
	}
	if *file != "" {
		if err := WriteJSON(*file, report); err != nil {
			return exitFor(err, stderr)
		}
	}
	return report.ExitCode()
}

// exitFor reports an error that kept the suite from running.
func exitFor(err error, stderr io.Writer) int {
	if err == nil {
		return 0
	}
	fmt.Fprintln(stderr, err)
	return ExitCouldNotRun
}

// WriteList writes every case with its clauses and its rule.
func WriteList(w io.Writer) error {
	for _, c := range Cases() {
		if _, err := fmt.Fprintf(w, "%-52s %v\n    %s\n", c.ID, c.Clauses, c.Rule); err != nil {
			return err
		}
	}
	return nil
}

// WriteJSON writes reports to a file, one object or a list of them.
func WriteJSON(file string, reports any) error {
	data, err := json.MarshalIndent(reports, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(data, '\n'), 0o644)
}
