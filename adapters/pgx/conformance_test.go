package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/docket-go/docket/conformance"
	"github.com/docket-go/docket/conformance/wire/process"
	"github.com/docket-go/docket/ports"
)

// TestConformance runs the whole suite: the clauses are proved there, the other
// tests of this package prove what only this adapter can get wrong. RUN-11 is
// enforced by CHECKs, which its raw writes meet.
func TestConformance(t *testing.T) {
	t.Parallel()
	conformance.Run(t, harness(t, sharedPool(t), Config{}))
}

// harness opens each store in a schema of its own.
func harness(t testing.TB, pool *pgxpool.Pool, cfg Config) conformance.Harness {
	return conformance.Harness{
		Name: "postgres",
		Open: func(ctx context.Context) (ports.Backend, error) {
			cfg := cfg
			cfg.Schema = fmt.Sprintf("store_%d_%d", os.Getpid(), named.Add(1))
			if err := Migrate(ctx, pool, cfg.Schema); err != nil {
				return nil, err
			}
			return New(ctx, pool, cfg)
		},
		Reopen: func(ctx context.Context, b ports.Backend) (ports.Backend, error) {
			return New(ctx, pool, b.(*Backend).cfg)
		},
		Crash: func(ctx context.Context, b ports.Backend) error {
			return crash(ctx, b.(*Backend))
		},
		Spawn: spawner(t, pool),
		Corrupt: func(ctx context.Context, b ports.Backend, target conformance.Target) error {
			return corrupt(ctx, b.(*Backend), target)
		},
		RawWrite: func(ctx context.Context, b ports.Backend, runID string, shape conformance.Shape) error {
			return rawWrite(ctx, b.(*Backend), runID, shape)
		},
	}
}

// spawner starts this test binary as a process that serves a store.
func spawner(t testing.TB, pool *pgxpool.Pool) func(context.Context, ports.Backend) (conformance.Peer, error) {
	fleet := sync.OnceValues(func() (*process.Fleet, error) {
		return process.New(context.WithoutCancel(t.Context()), process.Config{
			Path: os.Args[0], Env: []string{roleVariable + "=serve", urlVariable + "=" + pool.Config().ConnString()},
		})
	})
	t.Cleanup(func() {
		if f, err := fleet(); err == nil {
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	return func(ctx context.Context, b ports.Backend) (conformance.Peer, error) {
		f, err := fleet()
		if err != nil {
			return conformance.Peer{}, err
		}
		schema := b.(*Backend).cfg.Schema
		peer, err := f.SpawnOn(ctx, schema, t.TempDir())
		if err != nil {
			return conformance.Peer{}, err
		}
		kill := peer.Kill
		peer.Kill = func() error { return errors.Join(kill(), sessionsEnd(context.WithoutCancel(ctx), pool, schema)) }
		return peer, nil
	}
}

// crash drops the sessions of open transactions, as the end of a process does.
// Nothing else of a backend is on the server.
func crash(ctx context.Context, b *Backend) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for tx := range b.open {
		if err := tx.tx.Conn().Close(ctx); err != nil {
			return err
		}
	}
	return nil
}

func corrupt(ctx context.Context, b *Backend, target conformance.Target) error {
	const flip = `set_byte(?, octet_length(?) / 2, get_byte(?, octet_length(?) / 2) # 16)`
	switch {
	case target.Ref.ID != "":
		return execRaw(ctx, b, `UPDATE docket.docket_graph_versions SET document = `+flipped(flip, "document")+`
			WHERE scope_key = $1 AND graph_id = $2 AND hash = $3`, scopeKey(target.Owner), target.Ref.ID, target.Ref.Hash)
	case target.Seq > 0:
		return execRaw(ctx, b, `UPDATE docket.docket_events SET payload = `+flipped(flip, "payload")+`
			WHERE run = (SELECT id FROM docket.docket_runs WHERE run_id = $1) AND seq = $2`, target.RunID, target.Seq)
	}
	return execRaw(ctx, b, `UPDATE docket.docket_runs SET document = `+flipped(flip, "document")+` WHERE run_id = $1`, target.RunID)
}

func flipped(text, column string) string {
	out := ""
	for _, r := range text {
		if r == '?' {
			out += column
		} else {
			out += string(r)
		}
	}
	return out
}

var rawShapes = map[conformance.Shape]string{
	conformance.ShapeFinishedRunning:  `finished_at = now()`,
	conformance.ShapeTokenAlone:       `wake_at = NULL, claim_token = 'x'`,
	conformance.ShapeReasonAlone:      `poison_reason = 'x'`,
	conformance.ShapeNothingDue:       `wake_at = NULL`,
	conformance.ShapeWakeAndClaim:     `claim_token = 'x', claimed_at = now(), claim_end = now()`,
	conformance.ShapePoisonAndWake:    `poisoned_at = now(), poison_reason = 'x'`,
	conformance.ShapeTerminalWake:     `status = 'done', finished_at = now()`,
	conformance.ShapeTerminalUnended:  `status = 'done', wake_at = NULL`,
	conformance.ShapeUnknownStatus:    `status = 'created', wake_at = NULL`,
	conformance.ShapeNegativeAttempts: `attempts = -1`,
}

func rawWrite(ctx context.Context, b *Backend, runID string, shape conformance.Shape) error {
	set, known := rawShapes[shape]
	if !known {
		return nil // taken as "not refused": a new shape needs its line here
	}
	return execRaw(ctx, b, `UPDATE docket.docket_runs SET `+set+` WHERE run_id = $1`, runID)
}
