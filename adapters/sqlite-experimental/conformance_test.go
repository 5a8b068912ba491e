package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/docket-go/docket/conformance"
	"github.com/docket-go/docket/ports"
)

// TestConformance runs the whole suite: the clauses are proved there, the other
// tests of this package prove what only this adapter can get wrong. One reader is
// enough for all of it (LIF-4).
func TestConformance(t *testing.T) {
	t.Parallel()
	conformance.Run(t, harness(t))
}

func harness(t testing.TB) conformance.Harness {
	dir := t.TempDir()
	var files atomic.Int64
	return conformance.Harness{
		Name: "sqlite",
		Open: func(ctx context.Context) (ports.Backend, error) {
			path := filepath.Join(dir, fmt.Sprintf("%d.db", files.Add(1)))
			return Open(ctx, Config{Path: path, Synchronous: SynchronousNormal, Readers: 1})
		},
		Reopen: func(ctx context.Context, b ports.Backend) (ports.Backend, error) {
			return Open(ctx, Config{Path: b.(*Backend).cfg.Path, Synchronous: SynchronousNormal, Readers: 1})
		},
		Crash: func(_ context.Context, b ports.Backend) error {
			return crash(b.(*Backend))
		},
		Corrupt: func(ctx context.Context, b ports.Backend, target conformance.Target) error {
			return corrupt(ctx, b.(*Backend), target)
		},
		RawWrite: func(ctx context.Context, b ports.Backend, runID string, shape conformance.Shape) error {
			return rawWrite(ctx, b.(*Backend), runID, shape)
		},
	}
}

// crash drops the connections where they are: what was not committed is gone.
func crash(b *Backend) error {
	b.mu.Lock()
	open := b.open
	b.mu.Unlock()
	if open == nil {
		b.writer.turn <- struct{}{}
		defer b.writer.give()
	}
	b.writer.discard()
	return nil
}

func corrupt(ctx context.Context, b *Backend, target conformance.Target) error {
	query, args := `UPDATE docket_run_documents SET document = ?1 WHERE run = (SELECT id FROM docket_runs WHERE run_id = ?2)`,
		[]any{target.RunID}
	read := `SELECT document FROM docket_run_documents WHERE run = (SELECT id FROM docket_runs WHERE run_id = ?)`
	switch {
	case target.Ref.ID != "":
		args = []any{ownerKey(target.Owner), target.Ref.ID, target.Ref.Hash}
		query = `UPDATE docket_graph_versions SET document = ?1 WHERE owner = ?2 AND graph_id = ?3 AND hash = ?4`
		read = `SELECT document FROM docket_graph_versions WHERE owner = ? AND graph_id = ? AND hash = ?`
	case target.Seq > 0:
		args = []any{target.RunID, target.Seq}
		query = `UPDATE docket_events SET payload = ?1 WHERE run = (SELECT id FROM docket_runs WHERE run_id = ?2) AND seq = ?3`
		read = `SELECT payload FROM docket_events WHERE run = (SELECT id FROM docket_runs WHERE run_id = ?) AND seq = ?`
	}
	return b.write(ctx, "corrupt", func(ctx context.Context, u *unit) error {
		var data []byte
		if err := u.row(ctx, read, args, &data); err != nil {
			return err
		}
		data[len(data)/2] ^= 0x10
		n, err := u.exec(ctx, query, append([]any{data}, args...)...)
		if err == nil && n != 1 {
			err = sql.ErrNoRows
		}
		return err
	})
}

var rawShapes = map[conformance.Shape]string{
	conformance.ShapeFinishedRunning:  `finished_at = 1`,
	conformance.ShapeTokenAlone:       `wake_at = NULL, claim_token = 'x'`,
	conformance.ShapeReasonAlone:      `poison_reason = 'x'`,
	conformance.ShapeNothingDue:       `wake_at = NULL`,
	conformance.ShapeWakeAndClaim:     `claim_token = 'x', claimed_at = 1, claim_end = 2`,
	conformance.ShapePoisonAndWake:    `poisoned_at = 1, poison_reason = 'x'`,
	conformance.ShapeTerminalWake:     `status = 'done', finished_at = 1`,
	conformance.ShapeTerminalUnended:  `status = 'done', wake_at = NULL`,
	conformance.ShapeUnknownStatus:    `status = 'created', wake_at = NULL`,
	conformance.ShapeNegativeAttempts: `attempts = -1`,
}

func rawWrite(ctx context.Context, b *Backend, runID string, shape conformance.Shape) error {
	set, known := rawShapes[shape]
	if !known {
		return nil // taken as "not refused": a new shape needs its line here
	}
	db, err := sql.Open("sqlite", dsn(b.cfg, false)) // a connection of its own, behind the adapter's back
	if err != nil {
		return err
	}
	defer db.Close()
	result, err := db.ExecContext(ctx, `UPDATE docket_runs SET `+set+` WHERE run_id = ?`, runID)
	if err != nil {
		return err
	}
	if n, _ := result.RowsAffected(); n != 1 {
		panic(errors.New("the raw write met no row"))
	}
	return nil
}
