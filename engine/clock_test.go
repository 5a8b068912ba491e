package engine

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docket-go/docket/ports"
)

func TestClockFollowsTheStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &storeClock{}
		if _, ok := c.now(); ok {
			t.Fatal("a clock that was never told knows the time")
		}
		store := time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC) // far behind this host
		epoch := time.Now()
		at := func() time.Time { return store.Add(time.Since(epoch)) }

		sent := time.Now()
		<-time.After(100 * time.Millisecond)
		answered := at()
		<-time.After(100 * time.Millisecond)
		c.learn(sent, answered)
		check := func(what string, most time.Duration) {
			t.Helper()
			now, ok := c.now()
			if off := now.Sub(at()).Abs(); !ok || off > most {
				t.Errorf("%s: off by %s (known: %v)", what, off, ok)
			}
		}
		check("after a slow answer", 200*time.Millisecond)

		c.learn(time.Now(), at())
		check("after an instant answer", 0)

		// An answer that took long can't set a better estimate back.
		sent, answered = time.Now(), at()
		<-time.After(5 * time.Second)
		c.learn(sent, answered)
		check("after a very slow answer", 0)

		// The store's clock is set forward: the next answer tells.
		store = store.Add(time.Hour)
		c.learn(time.Now(), at())
		check("after the store's clock was set", 0)
		store = store.Add(-time.Minute)
		c.learn(time.Now(), at())
		check("after the store's clock was set back", 0)

		<-time.After(maxClockAge)
		if _, ok := c.now(); ok {
			t.Error("an offset without an answer for long is still trusted")
		}
	})
}

func TestClockKeepsMicrosecondsInUTC(t *testing.T) {
	t.Parallel()
	c := &storeClock{injected: func() time.Time {
		return time.Date(2026, 12, 31, 23, 59, 59, 999_999_999, time.FixedZone("X", -3600))
	}}
	now, err := c.stamp()
	if want := time.Date(2027, 1, 1, 0, 59, 59, 999_999_000, time.UTC); err != nil || now != want {
		t.Errorf("stamp %s, %v, want %s", now, err, want)
	}
}

// A store that was never heard of is asked once, by the cheapest read.
func TestStoreIsAskedForItsTime(t *testing.T) {
	t.Parallel()
	b := newScript(t)
	b.now = time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)
	s := &store{backend: b, clock: &storeClock{}, timeout: time.Second}
	for range 3 {
		now, err := s.now(context.Background(), ports.Tenantless())
		if err != nil || now.Sub(b.now).Abs() > time.Minute {
			t.Fatalf("now %s, %v", now, err)
		}
	}
	if n := b.calls("ListRuns"); n != 1 {
		t.Errorf("asked %d times, want once", n)
	}
}
