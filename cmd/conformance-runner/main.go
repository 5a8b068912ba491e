package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/docket-go/docket/conformance"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := newCommand().ExecuteContext(ctx)
	stop()
	os.Exit(exitCode(err, os.Stderr))
}

// exit is an error that carries the exit code of a suite that did run.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// exitCode tells how the process ends. Any error but an exit means that the
// suite could not run.
func exitCode(err error, stderr *os.File) int {
	var code exit
	switch {
	case err == nil:
		return conformance.ExitConformant
	case errors.As(err, &code):
		return int(code)
	}
	fmt.Fprintln(stderr, "conformance-runner:", err)
	return conformance.ExitCouldNotRun
}
