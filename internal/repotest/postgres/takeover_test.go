package postgres

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	postgres "github.com/docket-go/docket/adapters/pgx"
	"github.com/docket-go/docket/adapters/pgx/pgxtest"
	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/engine"
)

// roleVariable makes the test binary a worker on the database that it names.
const roleVariable = "DOCKET_POSTGRES_WORKER"

// claimTTL is how long the killed worker holds its run.
const claimTTL = 1500 * time.Millisecond

// holdRun is the life of a worker that is killed in the middle of a node: it says
// the attempt's idempotency key and works until then.
func holdRun(source string) error {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, source)
	if err != nil {
		return err
	}
	backend, err := postgres.New(ctx, pool, postgres.Config{})
	if err != nil {
		return err
	}
	registry, err := registryOf(map[string]node.HandlerFunc{
		"before": note,
		"work": func(ctx context.Context, _ node.Input) (node.Result, error) {
			a, _ := node.Info(ctx)
			fmt.Println("key", a.IdempotencyKey)
			<-ctx.Done()
			return node.Result{}, context.Cause(ctx)
		},
	})
	if err != nil {
		return err
	}
	e, err := engine.New(backend, registry, engine.Config{ClaimTTL: claimTTL})
	if err != nil {
		return err
	}
	return e.Run(ctx)
}

// TestTakeOver kills a worker with SIGKILL inside a node. While it lives it keeps
// its run, for longer than a claim's TTL; then another one makes the same attempt
// again, and nothing that was committed.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	source := pgxtest.Database(t)
	keys := make(chan string, 10)
	survivor := newProcess(t, source, postgres.Config{}, map[string]node.HandlerFunc{
		"before": note,
		"work": func(ctx context.Context, in node.Input) (node.Result, error) {
			a, _ := node.Info(ctx)
			keys <- a.IdempotencyKey
			return note(ctx, in)
		},
	}, engine.Config{ClaimTTL: claimTTL, Poll: 100 * time.Millisecond})
	survivor.start(chain(t, "before", "work"), "r")

	victim, said := startVictim(t, source)
	survivor.work()
	var claimedAt time.Time
	waitFor(t, func() bool {
		info, err := survivor.InspectRun(t.Context(), engine.InspectRun{RunID: "r"})
		if claimedAt.IsZero() {
			claimedAt = info.ClaimedAt
		}
		if err != nil || info.Run.Status != run.Running || !info.ClaimedAt.Equal(claimedAt) {
			t.Fatalf("under its living worker the run is %s, claimed since %s and %s; %v", info.Run.Status, claimedAt, info.ClaimedAt, err)
		}
		return info.ClaimEnd.Sub(info.ClaimedAt) > 2*claimTTL
	})
	killedAt := time.Now()
	if err := victim.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = victim.Wait()
	r := survivor.await("r")
	if took := time.Since(killedAt); took > 4*claimTTL {
		t.Errorf("it took %v to take the run over", took)
	}
	if got := fmt.Sprint(r.Output["log"]); r.Status != run.Done || got != "[before work]" {
		t.Errorf("%s with %s; failure %+v", r.Status, got, r.Failure)
	}
	if key := <-keys; key != said || len(keys) > 0 {
		t.Errorf("the attempt was made again under the key %q, not %q", key, said)
	}
	if got := fmt.Sprint(survivor.completions(r)); got != "map[before:1 work:1]" {
		t.Errorf("completions %s", got)
	}
}

// startVictim starts the worker that is to be killed and waits until it is inside
// the node; it returns the idempotency key that the node saw.
func startVictim(t *testing.T, source string) (victim *exec.Cmd, key string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	victim = exec.CommandContext(t.Context(), exe)
	victim.Env = append(os.Environ(), roleVariable+"="+source)
	victim.Stderr = os.Stderr
	stdout, err := victim.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if said, ok := strings.CutPrefix(lines.Text(), "key "); ok {
			return victim, said
		}
	}
	t.Fatalf("the worker ended before it was killed: %v", victim.Wait())
	return nil, ""
}
