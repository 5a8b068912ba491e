package sqlite

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// subscribe returns the wakes after the first, synthetic one (WAK-2).
func subscribe(t *testing.T, b *Backend) <-chan struct{} {
	t.Helper()
	wakes, err := b.Wakes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	<-wakes
	return wakes
}

// A wake that another handle stored is found by looking at the counter, once;
// what is silent there is silent here (WAK-1, WAK-3, TX-7).
func TestWakesOfAnotherProcess(t *testing.T) {
	t.Parallel()
	b := openFresh(t)
	other, err := Open(t.Context(), Config{Path: b.cfg.Path, WakePoll: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	ref := publish(t, b, record.Owner{})
	wakes := subscribe(t, other)
	insert(t, b, "r", ref)
	<-wakes

	before := counter(t, b)
	lease := claimOne(t, b, epoch)
	if _, err := b.ReleaseClaim(t.Context(), ports.ReleaseClaim{Scope: ports.System(), RunID: "r", Token: lease.Token, Now: epoch}); err != nil {
		t.Fatal(err)
	}
	lease = claimOne(t, b, epoch)
	if _, err := b.RefreshClaim(t.Context(), ports.RefreshClaim{Scope: ports.System(), RunID: "r", Token: lease.Token, TTL: time.Hour, Now: epoch}); err != nil {
		t.Fatal(err)
	}
	later := next(lease.Run, record.ScheduleAt)
	later.Schedule.At = epoch.Add(time.Hour)
	if _, err := b.CommitClaimed(t.Context(), ports.CommitClaimed{
		Scope: ports.System(), RunID: "r", Token: lease.Token, ExpectedSeq: 1, Transition: later, Now: epoch,
	}); err != nil {
		t.Fatal(err)
	}
	boom := errors.New("boom")
	err = ports.InTx(t.Context(), b, func(tx ports.Backend) error {
		_, err := tx.InsertRun(t.Context(), ports.InsertRun{Transition: first("gone", ref), Now: epoch})
		return errors.Join(err, boom)
	})
	if !errors.Is(err, boom) {
		t.Fatal(err)
	}
	if after := counter(t, b); after != before {
		t.Errorf("the counter moved from %d to %d without a due wake", before, after)
	}
	err = ports.InTx(t.Context(), b, func(tx ports.Backend) error {
		_, err := tx.InsertRun(t.Context(), ports.InsertRun{Transition: first("s", ref), Now: epoch})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	<-wakes
	if after := counter(t, b); after != before+1 {
		t.Errorf("the counter moved from %d to %d for one transaction", before, after)
	}
}

// Waking in the same process doesn't wait for the poll.
func TestWakesOfThisProcess(t *testing.T) {
	t.Parallel()
	b, err := Open(t.Context(), Config{Path: t.TempDir() + "/docket.db", WakePoll: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	ref := publish(t, b, record.Owner{})
	one, two := subscribe(t, b), subscribe(t, b)
	insert(t, b, "r", ref)
	<-one
	<-two
	lease := claimOne(t, b, epoch)
	if _, err := b.AbandonClaim(t.Context(), ports.AbandonClaim{
		Scope: ports.System(), RunID: "r", Token: lease.Token, ExpectedSeq: 1, MaxAbandons: 1, Now: epoch,
	}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-one:
		t.Error("an abandon woke")
	default:
	}
	if _, err := b.RecoverRun(t.Context(), ports.RecoverRun{Scope: ports.System(), RunID: "r", Now: epoch}); err != nil {
		t.Fatal(err)
	}
	<-one
}

// The wakes of the past are no news to a new subscription, and one wake is told
// once, whether its commit or the look at the file comes first (WAK-3).
func TestWakesAreToldOnce(t *testing.T) {
	t.Parallel()
	b, err := Open(t.Context(), Config{Path: t.TempDir() + "/docket.db", WakePoll: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	ref := publish(t, b, record.Owner{})
	insert(t, b, "before", ref)
	wakes := subscribe(t, b)
	silent := func(after string) {
		t.Helper()
		for s := range b.wakes.subs {
			b.wakes.look(s, counter(t, b))
		}
		b.wakes.tell(counter(t, b))
		select {
		case <-wakes:
			t.Errorf("a second wake came after %s", after)
		default:
		}
	}
	silent("the first one")
	insert(t, b, "now", ref)
	<-wakes
	silent("a commit")
}

func TestWakesEndWithTheirContext(t *testing.T) {
	t.Parallel()
	b := openFresh(t)
	ctx, cancel := context.WithCancel(t.Context())
	wakes, err := b.Wakes(ctx)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	for range wakes { // until it is closed
	}
	b.wakes.group.Wait()
	if len(b.wakes.subs) != 0 {
		t.Errorf("%d subscriptions are left", len(b.wakes.subs))
	}
}

func counter(t *testing.T, b *Backend) (n int64) {
	t.Helper()
	if err := b.sql.row(t.Context(), `SELECT n FROM docket_wakes`, nil, &n); err != nil {
		t.Fatal(err)
	}
	return n
}
