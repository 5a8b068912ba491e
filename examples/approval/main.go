package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := program(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// program is one process: the story, or the role that the story gave it.
func program(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	role, given, err := roleFromEnvironment()
	switch {
	case err != nil:
	case given:
		err = role.play(ctx, stdin, stdout, stderr)
	default:
		err = tell(ctx, args, stdin, stdout, stderr)
	}
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(stderr, "approval:", err)
		return 1
	}
	return 0
}

// tell reads the command line and tells the story.
func tell(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("approval", flag.ContinueOnError)
	flags.SetOutput(stderr)
	interactive := flags.Bool("interactive", false, "ask for the decisions instead of deciding by script")
	store := flags.String("store", "", "keep the run in this new SQLite `file` (default: a temporary one)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	dir, err := os.MkdirTemp("", "docket-approval-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s := &story{out: stdout, stderr: &shared{w: stderr}, dir: dir, store: *store, keeps: *store != "", decide: script()}
	if *interactive {
		s.decide = prompt(stdin, stdout)
	}
	if s.store == "" {
		s.store = dir + "/run.db"
	} else if _, err := os.Stat(s.store); err == nil {
		return fmt.Errorf("-store %s exists: the story begins with a new file", s.store)
	}
	return s.tell(ctx)
}
