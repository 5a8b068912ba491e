package postgres

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// woken waits for one wake.
func woken(t *testing.T, wakes <-chan struct{}, after string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	select {
	case _, open := <-wakes:
		if !open {
			t.Fatalf("the channel closed after %s", after)
		}
	case <-ctx.Done():
		t.Fatalf("no wake after %s", after)
	}
}

func subscribe(t *testing.T, b *Backend) <-chan struct{} {
	t.Helper()
	wakes, err := b.Wakes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	woken(t, wakes, "subscribing")
	return wakes
}

// TestListenerIsRenewed: a listening connection that the server ends is replaced
// by a fresh one, and what was stored meanwhile is told (WAK-2).
func TestListenerIsRenewed(t *testing.T) {
	t.Parallel()
	b := openFresh(t)
	ref := publish(t, b, owner(""))
	wakes := subscribe(t, b)
	last := int32(0)
	for _, id := range []string{"a", "b"} {
		pid := listenerPID(t, b, last)
		if _, err := b.pool.Exec(t.Context(), `SELECT pg_terminate_backend($1)`, pid); err != nil {
			t.Fatal(err)
		}
		last = pid
		insert(t, b, id, ref)
		woken(t, wakes, "the renewal")
	}
}

// listenerPID finds the session that listens, other than the last one, by the
// name that it gives itself.
func listenerPID(t *testing.T, b *Backend, last int32) (pid int32) {
	t.Helper()
	for range 1000 {
		err := b.pool.QueryRow(t.Context(), `SELECT pid FROM pg_stat_activity WHERE application_name = $1 AND pid <> $2`, b.place.channel(), last).Scan(&pid)
		if err == nil {
			return pid
		}
		if !errors.Is(err, pgx.ErrNoRows) || !pause(t.Context(), 10*time.Millisecond) {
			t.Fatal(err)
		}
	}
	t.Fatal("nobody listens")
	return 0
}

// TestListenerFindsADeadLink: a link that drops everything without a word is
// noticed within two heartbeats.
func TestListenerFindsADeadLink(t *testing.T) {
	t.Parallel()
	home := openFresh(t)
	proxy := startProxy(t, home.pool.Config().ConnConfig)
	listen := home.pool.Config().ConnConfig.Copy()
	listen.Host, listen.Port = proxy.host, proxy.port
	listen.Fallbacks = nil
	cfg := home.cfg
	cfg.Listen, cfg.Heartbeat = listen, 100*time.Millisecond
	b := openAt(t, home.pool, cfg)
	wakes := subscribe(t, b)
	proxy.swallow(true)
	insert(t, b, "lost", publish(t, b, owner("")))
	proxy.swallow(false)
	woken(t, wakes, "the link was dead")
	select {
	case <-wakes: // the renewal may come after the notification of a fresh connection
	default:
	}
}

// TestListenerBehindAPooler is refused: LISTEN would succeed and nothing be heard.
func TestListenerBehindAPooler(t *testing.T) {
	t.Parallel()
	home := openFresh(t)
	proxy := startProxy(t, home.pool.Config().ConnConfig)
	proxy.pretendOtherProcess()
	cfg := home.cfg
	cfg.Listen = home.pool.Config().ConnConfig.Copy()
	cfg.Listen.Host, cfg.Listen.Port, cfg.Listen.Fallbacks = proxy.host, proxy.port, nil
	b := openAt(t, home.pool, cfg)
	if _, err := b.Wakes(t.Context()); !errors.Is(err, ports.ErrUnsupported) || !strings.Contains(err.Error(), "Config.Listen") {
		t.Errorf("got %v, want ErrUnsupported that says what to set", err)
	}
}

// TestWakesWithoutServer: the first subscription tells that it can't listen.
func TestWakesWithoutServer(t *testing.T) {
	t.Parallel()
	home := openFresh(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nowhere := l.Addr().(*net.TCPAddr)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	cfg := home.cfg
	cfg.Listen = home.pool.Config().ConnConfig.Copy()
	cfg.Listen.Host, cfg.Listen.Port, cfg.Listen.Fallbacks = "127.0.0.1", uint16(nowhere.Port), nil
	b := openAt(t, home.pool, cfg)
	if _, err := b.Wakes(t.Context()); !errors.Is(err, ports.ErrUnavailable) {
		t.Errorf("got %v, want ErrUnavailable", err)
	}
	insert(t, b, "r", publish(t, b, owner(""))) // everything else works
	claimOne(t, b, epoch)
}

// TestNotifiesOnlyWhatIsDue counts the notifications of each operation.
func TestNotifiesOnlyWhatIsDue(t *testing.T) {
	t.Parallel()
	b := openFresh(t)
	ref := publish(t, b, owner(""))
	conn, err := pgx.ConnectConfig(t.Context(), b.pool.Config().ConnConfig)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	if _, err := conn.Exec(t.Context(), "LISTEN "+b.place.channel()); err != nil {
		t.Fatal(err)
	}
	told := func() (n int) { // a round trip brings what was sent before it
		for {
			if err := conn.Ping(t.Context()); err != nil {
				t.Fatal(err)
			}
			soon, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			_, err := conn.WaitForNotification(soon)
			cancel()
			if err != nil {
				return n
			}
			n++
		}
	}
	want := func(n int, after string) {
		t.Helper()
		if got := told(); got != n {
			t.Errorf("%d notifications after %s, want %d", got, after, n)
		}
	}
	r := insert(t, b, "r", ref)
	want(1, "an insert")
	l := claimOne(t, b, epoch)
	want(0, "a claim")
	for _, kind := range []record.ScheduleKind{record.ScheduleRetain, record.ScheduleImmediate} {
		tr := next(r, kind)
		if _, err := b.CommitClaimed(t.Context(), commit(l, tr)); err != nil {
			t.Fatal(err)
		}
		r = tr.Run
		want(map[record.ScheduleKind]int{record.ScheduleRetain: 0, record.ScheduleImmediate: 1}[kind], "a commit, "+string(kind))
	}
	l = claimOne(t, b, epoch)
	future := next(r, record.ScheduleAt)
	future.Schedule.At = epoch.Add(time.Microsecond)
	if _, err := b.CommitClaimed(t.Context(), commit(l, future)); err != nil {
		t.Fatal(err)
	}
	want(0, "a commit that parks for later")
	if err := ports.InTx(t.Context(), b, func(tx ports.Backend) error {
		for _, id := range []string{"x", "y", "z"} {
			insert(t, tx, id, ref)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	want(1, "a transaction with three inserts")
	silent := b.cfg
	silent.PollOnly = true
	insert(t, openAt(t, b.pool, silent), "quiet", ref)
	want(0, "an insert with PollOnly")
}

// TestPollOnlyTellsItsOwn: without a listener a process still knows its own wakes.
func TestPollOnlyTellsItsOwn(t *testing.T) {
	t.Parallel()
	home := openFresh(t)
	cfg := home.cfg
	cfg.PollOnly = true
	b := openAt(t, home.pool, cfg)
	ref := publish(t, b, owner(""))
	wakes := subscribe(t, b)
	insert(t, b, "r", ref)
	woken(t, wakes, "an insert")
	if err := ports.InTx(t.Context(), b, func(tx ports.Backend) error {
		insert(t, tx, "s", ref)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	woken(t, wakes, "a transaction")
}
