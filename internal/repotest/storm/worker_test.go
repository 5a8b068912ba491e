package storm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/docket-go/docket/adapters/pgx/pgxtest"
	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/core/schema"
	"github.com/docket-go/docket/engine"
)

// The role of a worker: the store that it works on, the file where it notes its
// calls, and which of them hangs (0: none). Without them the binary runs its tests.
const (
	storeVariable   = "DOCKET_STORM_STORE"
	journalVariable = "DOCKET_STORM_JOURNAL"
	hangVariable    = "DOCKET_STORM_HANG"
)

// hangs is what a worker says when a call doesn't return.
const hangs = "hangs"

func TestMain(m *testing.M) {
	store, isWorker := os.LookupEnv(storeVariable)
	if !isWorker {
		os.Exit(pgxtest.Run(m))
	}
	if err := work(store, os.Getenv(journalVariable)); err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(1)
	}
}

// claimTTL is how long a killed worker holds its runs.
const claimTTL = 3 * time.Second

// work drives due runs until standard input ends: that is how the parent, or its
// death, stops a worker that isn't killed.
func work(store, journal string) error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	f, err := os.OpenFile(journal, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	hang, err := strconv.ParseInt(os.Getenv(hangVariable), 10, 64)
	if err != nil {
		return err
	}
	registry, err := registry(f, hang)
	if err != nil {
		return err
	}
	backend, err := open(ctx, store)
	if err != nil {
		return err
	}
	defer backend.Close()
	e, err := engine.New(backend, registry, engine.Config{
		ClaimTTL: claimTTL,
		Slots:    8,
		Logger:   slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
	})
	if err != nil {
		return err
	}
	return e.Run(ctx)
}

// call is a line of the journal: one call of a node.
type call struct {
	Process int
	Key     string
}

// registry returns the nodes. Each notes its call in one write, whatever becomes of
// it, and takes a few milliseconds, so that a kill finds it at work. One of them
// may hang.
func registry(journal io.Writer, hang int64) (*node.Registry, error) {
	var calls atomic.Int64
	noted := func(do func(a node.Activation, in node.Input) (node.Result, error)) node.HandlerFunc {
		return func(ctx context.Context, in node.Input) (node.Result, error) {
			a, _ := node.Info(ctx)
			line, err := json.Marshal(call{os.Getpid(), a.IdempotencyKey})
			if err != nil {
				return node.Result{}, err
			}
			if _, err := journal.Write(append(line, '\n')); err != nil {
				return node.Result{}, err
			}
			if calls.Add(1) == hang {
				fmt.Println(hangs)
				<-ctx.Done()
			}
			select {
			case <-time.After(3 * time.Millisecond):
			case <-ctx.Done():
				return node.Result{}, context.Cause(ctx)
			}
			return do(a, in)
		}
	}
	return node.NewRegistry(map[string]node.Node{
		"note": noted(func(a node.Activation, _ node.Input) (node.Result, error) {
			return node.Write("log", a.NodeID), nil
		}),
		"flaky": noted(func(a node.Activation, _ node.Input) (node.Result, error) {
			if a.Attempt == 1 {
				return node.Result{}, errors.New("down")
			}
			return node.Write("log", a.NodeID), nil
		}),
		"ask": noted(func(a node.Activation, in node.Input) (node.Result, error) {
			asks, err := in.State.Bool("asks")
			if err != nil {
				return node.Result{}, node.Permanent(err)
			}
			if asks && len(a.Answers) == 0 {
				return node.Ask(node.Interrupt{ID: "q", Field: "answer", Schema: schema.Enum("yes")}), nil
			}
			return node.Write("log", a.NodeID), nil
		}),
	})
}
