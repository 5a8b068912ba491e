package crash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"testing"
	"time"

	sqlite "github.com/docket-go/docket/adapters/sqlite-experimental"
	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/engine"
)

// roleVariable names the store that a worker works on; without it the binary
// runs its tests.
const roleVariable = "DOCKET_CRASH_STORE"

func TestMain(m *testing.M) {
	store, isWorker := os.LookupEnv(roleVariable)
	if !isWorker {
		os.Exit(m.Run())
	}
	if err := work(store); err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(1)
	}
}

// claimTTL is how long each killed worker holds the run.
const claimTTL = 400 * time.Millisecond

// work drives due runs until standard input ends: that is how the parent, or its
// death, stops a worker that isn't killed.
func work(store string) error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	registry, err := registry(store + ".journal")
	if err != nil {
		return err
	}
	backend, err := sqlite.Open(ctx, sqlite.Config{Path: store})
	if err != nil {
		return err
	}
	defer backend.Close()
	e, err := engine.New(backend, registry, engine.Config{
		// Every kill costs the rest of a claim, and may come before any commit: a
		// short claim and a long patience.
		ClaimTTL:      claimTTL,
		ClaimAttempts: 1000,
		DrainMoments:  5, // give the claim up now and then: that is a point to die at, too
		Logger:        slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
		Observers:     []engine.Observer{engine.ObserverFunc(tellCommit)},
	})
	if err != nil {
		return err
	}
	fmt.Println("ready")
	return e.Run(ctx)
}

func tellCommit(_ context.Context, o engine.Observation) error {
	_, err := fmt.Println("commit", o.Checkpoint.Seq())
	return err
}

// registry returns the nodes. Each notes that it was called, whatever becomes of
// the call: the journal is what proves that kills interrupted something.
func registry(journal string) (*node.Registry, error) {
	noted := func(work node.HandlerFunc) node.HandlerFunc {
		return func(ctx context.Context, in node.Input) (node.Result, error) {
			self, _ := node.Info(ctx)
			if err := note(journal, self); err != nil {
				return node.Result{}, err
			}
			fmt.Println("call", self.IdempotencyKey)
			return work(ctx, in)
		}
	}
	return node.NewRegistry(map[string]node.Node{
		"count": noted(func(context.Context, node.Input) (node.Result, error) {
			return node.Write("rounds", 1), nil
		}),
		"log": noted(func(ctx context.Context, _ node.Input) (node.Result, error) {
			self, _ := node.Info(ctx)
			return node.Write("log", self.TaskID), nil
		}),
		"flaky": noted(func(ctx context.Context, _ node.Input) (node.Result, error) {
			self, _ := node.Info(ctx)
			if self.Attempt == 1 && self.Step%3 == 0 {
				return node.Result{}, errors.New("down")
			}
			return node.Write("attempts", self.Attempt), nil
		}),
	})
}

// call is a line of the journal.
type call struct {
	Process int
	Key     string
}

// note appends one line in one write, so that lines of several processes don't
// mix.
func note(journal string, self node.Activation) error {
	line, err := json.Marshal(call{os.Getpid(), self.IdempotencyKey})
	if err != nil {
		return err
	}
	f, err := os.OpenFile(journal, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}
