package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
)

// Main is a whole program that certifies h, for authors who link their own:
//
//	func main() { conformance.Main(harness) }
//
// It reads the flags -run, -seed, -require, -v, -list, and -json, -junit,
// -markdown and -badge for files, shows its progress on a terminal, and exits 0 if
// the backend conforms, 1 if it doesn't or a required level isn't granted, 2 if
// the suite could not run.
func Main(h Harness) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := mainIn(ctx, h, os.Args, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// request is what a command line asks of Main.
type request struct {
	program string
	pattern string
	seed    uint64
	require string
	verbose bool
	list    bool
	Outputs
}

// mainIn is Main without the process around it. The first argument names the
// program.
func mainIn(ctx context.Context, h Harness, args []string, stdout, stderr io.Writer) int {
	var r request
	flags := flag.NewFlagSet(h.Name, flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&r.pattern, "run", "", "run only the cases whose ID matches this regular expression")
	flags.Uint64Var(&r.seed, "seed", 1, "seed of the generated parts")
	flags.StringVar(&r.require, "require", "", "levels that must be granted, such as core,+tx")
	flags.BoolVar(&r.verbose, "v", false, "show every case, not only those that didn't pass")
	flags.BoolVar(&r.list, "list", false, "list the cases with their clauses and rules and stop")
	r.Outputs.Flags(flags.StringVar)
	if err := flags.Parse(args[1:]); errors.Is(err, flag.ErrHelp) {
		return ExitConformant
	} else if err != nil {
		return ExitCouldNotRun // it was told
	}
	if flags.NArg() > 0 {
		return exitFor(fmt.Errorf("%q: no arguments are expected", flags.Args()), stderr)
	}
	if r.list {
		return exitFor(WriteList(stdout), stderr)
	}
	r.program = filepath.Base(args[0])
	report, err := r.certify(ctx, h, stdout, stderr)
	if err != nil {
		return exitFor(err, stderr)
	}
	return report.ExitCode()
}

// certify runs the suite and writes what it showed.
func (r request) certify(ctx context.Context, h Harness, stdout, stderr io.Writer) (Report, error) {
	if err := r.Outputs.Check(false); err != nil {
		return Report{}, err
	}
	o, err := ReadOptions(r.pattern, r.seed, r.require)
	if err != nil {
		return Report{}, err
	}
	p := NewProgress(stderr, h.Name)
	o.Progress = p.Tell
	report, err := Check(ctx, h, o)
	p.Clear()
	if err != nil {
		return report, err
	}
	if cause := context.Cause(ctx); cause != nil {
		return report, fmt.Errorf("interrupted: %w", cause)
	}
	report.Reproduce = append([]string{r.program}, o.arguments()...)
	if r.verbose {
		if err := report.WriteCases(stdout); err != nil {
			return report, err
		}
	}
	return report, errors.Join(report.WriteText(stdout), r.Outputs.Write([]Report{report}))
}

// ReadOptions reads what a command line says of the suite: the flags --run and
// --require, "" for none, and --seed.
func ReadOptions(pattern string, seed uint64, require string) (Options, error) {
	o := Options{Seed: seed}
	if seed == 0 {
		return o, errors.New("--seed: a seed is at least 1")
	}
	var err error
	if pattern != "" {
		if o.Select, err = regexp.Compile(pattern); err != nil {
			return o, fmt.Errorf("--run: %w", err)
		}
	}
	if require != "" {
		if o.Require, err = ParseLevels(require); err != nil {
			return o, fmt.Errorf("--require: %w", err)
		}
	}
	return o, nil
}

// arguments is the command line that ReadOptions reads.
func (o Options) arguments() []string {
	line := []string{"--seed", fmt.Sprint(max(o.Seed, 1))}
	if o.Select != nil {
		line = append(line, "--run", o.Select.String())
	}
	if len(o.Require) > 0 {
		line = append(line, "--require", joined(o.Require, ","))
	}
	return line
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

// WriteJSON writes reports to a file.
func WriteJSON(file string, reports []Report) error {
	return Outputs{JSON: file}.Write(reports)
}

func writeJSON(w io.Writer, reports []Report) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(reports)
}
