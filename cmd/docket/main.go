package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// The exit codes, as doc.go explains them.
const (
	exitDone  = 0
	exitNo    = 1
	exitUsage = 2
	exitStore = 3
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := execute(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// execute runs one command line and returns its exit code.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := rootCommand()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitDone
	}
	code := exitUsage // what isn't a failure of ours is cobra's complaint
	var f *failure
	if errors.As(err, &f) {
		code = f.code
	}
	if text := err.Error(); text != "" {
		fmt.Fprintln(stderr, "docket:", strings.TrimPrefix(text, "docket: ")) // the engine says docket too
	}
	if code == exitUsage {
		fmt.Fprintln(stderr, "Try: docket --help")
	}
	return code
}

// failure is an error with the exit code that it means. With no error the
// output has told everything already.
type failure struct {
	code int
	err  error
}

func (f *failure) Error() string {
	if f.err == nil {
		return ""
	}
	return f.err.Error()
}

func (f *failure) Unwrap() error { return f.err }

func usage(format string, args ...any) error {
	return &failure{exitUsage, fmt.Errorf(format, args...)}
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "docket",
		Short: "Check graphs; look at and signal the runs of a store",
		Long: `docket checks and draws graph documents, and looks at and signals the runs of
a store, while workers use it or not.

Exit codes: 0 done, 1 the answer is no, 2 wrong usage, 3 the store can't be used.`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	graphs := &cobra.Command{Use: "graph", Short: "Check and draw graph documents", RunE: needsSubcommand, Args: cobra.ArbitraryArgs}
	graphs.AddCommand(checkCommand(), drawCommand())
	runs := &cobra.Command{Use: "runs", Short: "Look at the runs of a store", RunE: needsSubcommand, Args: cobra.ArbitraryArgs}
	runs.AddCommand(listCommand(), inspectCommand(), eventsCommand())
	root.AddCommand(graphs, runs, signalCommand(), cancelCommand(), recoverCommand(), migrateCommand())
	root.CompletionOptions.DisableDefaultCmd = true
	return root
}

// needsSubcommand refuses a group without one of its commands; cobra alone
// would print the help and report success.
func needsSubcommand(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage("%s has no command %q", cmd.CommandPath(), args[0])
	}
	return usage("%s needs a command: see %s --help", cmd.CommandPath(), cmd.CommandPath())
}
