package postgres

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/docket-go/docket/ports"
)

var yearly = ports.Prune{Policy: ports.Retention{Runs: time.Hour, Events: time.Hour, Graphs: time.Hour}, Batch: 10}

// TestPrunersTakeTurns: while one is at work the others of the schema skip, those
// of another schema don't; when it dies, the next one works (PRN-4).
func TestPrunersTakeTurns(t *testing.T) {
	t.Parallel()
	b, other := openFresh(t), openFresh(t)
	holder, err := b.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Release()
	if _, err := holder.Exec(t.Context(), "BEGIN"); err != nil {
		t.Fatal(err)
	}
	if _, err := holder.Exec(t.Context(), "SELECT pg_advisory_xact_lock($1)", b.place.lock(lockPrune)); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		b    *Backend
		want bool
	}{{b, true}, {other, false}} {
		if got, err := tc.b.Prune(t.Context(), yearly); err != nil || got.Skipped != tc.want {
			t.Errorf("%+v, %v; want skipped %v", got, err, tc.want)
		}
	}
	if err := holder.Conn().Close(context.WithoutCancel(t.Context())); err != nil { // it dies with its transaction open
		t.Fatal(err)
	}
	for range 200 { // the server notices when the session's process gets to it
		got, err := b.Prune(t.Context(), yearly)
		if err != nil {
			t.Fatal(err)
		}
		if !got.Skipped {
			return
		}
		pause(t.Context(), 10*time.Millisecond)
	}
	t.Error("nobody took over")
}

// TestPruneLeavesLockedRows to those who hold them, without waiting.
func TestPruneLeavesLockedRows(t *testing.T) {
	t.Parallel()
	b := openFresh(t)
	ref := publish(t, b, owner(""))
	for n := range 2 {
		r := insert(t, b, fmt.Sprint("r", n), ref)
		if _, err := b.CommitClaimed(t.Context(), commit(claimOne(t, b, epoch), ended(r))); err != nil {
			t.Fatal(err)
		}
	}
	tx, err := b.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	for _, sql := range []string{
		`SELECT 1 FROM docket.docket_runs WHERE run_id = 'r0' FOR UPDATE`,
		`SELECT 1 FROM docket.docket_events WHERE run = (SELECT id FROM docket.docket_runs WHERE run_id = 'r0') FOR UPDATE`,
	} {
		if _, err := tx.Exec(t.Context(), b.place.sql(sql)); err != nil {
			t.Fatal(err)
		}
	}
	req := yearly
	req.Now = epoch.Add(2 * time.Hour)
	got, err := b.Prune(t.Context(), req)
	if err != nil || got.Expired != 2 || got.Runs != 1 || !got.More {
		t.Errorf("%+v, %v; want the two events and the run of r1, and more", got, err)
	}
	inspect(t, b, "r0")
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := b.Prune(t.Context(), req); err != nil || got.Runs != 1 || got.More {
		t.Errorf("%+v, %v; want the run of r0, and no more", got, err)
	}
}

// TestPruneWorksThroughABacklog: a batch looks only at the oldest expired runs,
// and yet each one makes progress until nothing is left.
func TestPruneWorksThroughABacklog(t *testing.T) {
	t.Parallel()
	b := openFresh(t)
	fill(t, b, 100)
	const expired, events, batch = 96, 2 * 96, 7
	req := ports.Prune{Policy: ports.Retention{Runs: time.Hour}, Batch: batch, Now: epoch.Add(2 * time.Hour)}
	var sum ports.Pruned
	for more := true; more; {
		got, err := b.Prune(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if got.Runs+got.Expired == 0 && got.More {
			t.Fatalf("a batch without progress after %+v", sum)
		}
		if got.Runs > batch || got.Expired > batch {
			t.Errorf("a batch of %d removed %+v", batch, got)
		}
		sum.Runs, sum.Expired, sum.Events, more = sum.Runs+got.Runs, sum.Expired+got.Expired, sum.Events+got.Events, got.More
	}
	if sum.Runs != expired || sum.Expired != events || sum.Events != 0 {
		t.Errorf("removed %+v; want %d runs and their %d events", sum, expired, events)
	}
}

// TestPruneIsRepeated when a run was inserted on a version that was about to go.
func TestPruneIsRepeated(t *testing.T) {
	t.Parallel()
	refused := mapError("Prune", &pgconn.PgError{Code: foreignKeyViolation}, reading)
	if !newlyReferred(refused) || newlyReferred(context.Canceled) {
		t.Error("what the foreign key refused isn't taken for it")
	}
}

// TestRetentionOfPartsOfAMicrosecond keeps at least that long.
func TestRetentionOfPartsOfAMicrosecond(t *testing.T) {
	t.Parallel()
	p := pruning{answer: ports.Pruned{Now: epoch}}
	for kept, want := range map[time.Duration]any{
		0:                      nil,
		time.Microsecond:       epoch.Add(-time.Microsecond),
		time.Microsecond + 1:   epoch.Add(-2 * time.Microsecond),
		2*time.Microsecond - 1: epoch.Add(-2 * time.Microsecond),
		time.Hour:              epoch.Add(-time.Hour),
	} {
		if got := p.before(kept); got != want {
			t.Errorf("%v: %v, want %v", kept, got, want)
		}
	}
}
