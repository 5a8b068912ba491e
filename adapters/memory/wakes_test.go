package memory

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// rang reports whether a wake is there: ringing is synchronous, so nothing has
// to be waited for.
func rang(wakes <-chan struct{}) bool {
	select {
	case _, ok := <-wakes:
		return ok
	default:
		return false
	}
}

func subscribe(t *testing.T, ctx context.Context, b *Backend) <-chan struct{} {
	t.Helper()
	wakes, err := b.Wakes(ctx)
	must(t, 0, err)
	if !rang(wakes) {
		t.Fatal("a subscription begins with a wake (WAK-2)")
	}
	return wakes
}

func TestWakes(t *testing.T) {
	t.Parallel()
	b := open(t)
	wakes := subscribe(t, t.Context(), b)
	ref := save(t, b, nobody)
	due := func(want bool, what string) {
		t.Helper()
		if got := rang(wakes); got != want {
			t.Errorf("%s: rang %v", what, got)
		}
	}
	due(false, "saving a graph")
	r := insert(t, b, nobody, "a", epoch)
	due(true, "an insert")
	future := first("b", ref, epoch)
	future.Schedule = record.Schedule{Kind: record.ScheduleAt, At: after(time.Hour)}
	_, err := b.InsertRun(t.Context(), ports.InsertRun{Transition: future, Now: epoch})
	must(t, 0, err)
	due(false, "a future start")

	lease := claim(t, b, 1, epoch).Leases[0]
	_, err = b.ReleaseClaim(t.Context(), ports.ReleaseClaim{Scope: ports.System(), RunID: "a", Token: lease.Token, Now: epoch})
	must(t, 0, err)
	due(false, "a release")
	lease = claim(t, b, 1, epoch).Leases[0]
	retain := next(r, "running", "step_committed", record.ScheduleRetain)
	_, err = b.CommitClaimed(t.Context(), ports.CommitClaimed{
		Scope: ports.System(), RunID: "a", Token: lease.Token, ExpectedSeq: 1, Transition: retain, TTL: time.Minute, Now: epoch,
	})
	must(t, 0, err)
	due(false, "a retained claim")
	signal(t, b, next(retain.Run, "running", "interrupt_resolved", record.ScheduleImmediate), epoch)
	due(true, "a signal")

	tx := begin(t, b)
	insert(t, tx, nobody, "c", epoch)
	due(false, "an insert in a transaction")
	must(t, 0, tx.Commit(t.Context()))
	due(true, "its commit")
	tx = begin(t, b)
	insert(t, tx, nobody, "d", epoch)
	must(t, 0, tx.Rollback(t.Context()))
	due(false, "a roll-back")

	for _, id := range []string{"e", "f", "g"} {
		insert(t, b, nobody, id, epoch)
	}
	due(true, "a burst")
	due(false, "the rest of a burst")
}

func TestWakesEnd(t *testing.T) {
	t.Parallel()
	b := open(t)
	ctx, stop := context.WithCancel(t.Context())
	one, two := subscribe(t, ctx, b), subscribe(t, t.Context(), b)
	stop()
	<-one // closed; a deadlock here fails the test
	insert(t, b, nobody, "a", epoch)
	if !rang(two) {
		t.Error("one subscriber's end deafened another")
	}
	must(t, 0, b.Close())
	if _, open := <-two; open {
		t.Error("the channel survived the backend")
	}
	if _, err := b.Wakes(t.Context()); !errors.Is(err, ports.ErrClosed) {
		t.Errorf("wakes after close: %v", err)
	}
	if _, err := open(t).Wakes(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("wakes under an ended context: %v", err)
	}
}
