package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	sqlite "github.com/docket-go/docket/adapters/sqlite-experimental"
	"github.com/docket-go/docket/conformance/wire"
	"github.com/docket-go/docket/ports"
)

func main() {
	if info, err := os.Stdin.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		fmt.Fprintln(os.Stderr, "agent speaks to a conformance runner on its standard input: conformance-runner --exec agent")
		return
	}
	if err := wire.Serve(context.Background(), os.Stdin, os.Stdout, agent()); err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(1)
	}
}

// agent keeps each store in a file of the directory that the runner gives it.
func agent() wire.Agent {
	var f file
	return wire.Agent{
		Name: "sqlite",
		Open: func(ctx context.Context, s wire.Store) (ports.Backend, error) {
			f.path = filepath.Join(s.Directory, s.Name+".db")
			return sqlite.Open(ctx, sqlite.Config{
				Path:     f.path,
				WakePoll: 5 * time.Millisecond, // how often it looks for wakes of another process
			})
		},
		Corrupt:  f.corrupt,
		RawWrite: f.rawWrite,
	}
}
