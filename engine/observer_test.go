package engine

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"
)

func testQueue(t *testing.T) *queue {
	t.Helper()
	tel, err := newTelemetry(Config{}.withDefaults())
	must(t, err)
	return &queue{who: "a test", kind: "test", timeout: time.Second, tel: tel, log: slog.New(slog.NewTextHandler(io.Discard, nil))}
}

func TestQueueKeepsOrderAndItsBound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q, gate := testQueue(t), make(chan struct{})
		var got []int
		q.put(t.Context(), func(context.Context) error { <-gate; return nil })
		synctest.Wait()
		for i := range queueSize + 10 {
			q.put(t.Context(), func(context.Context) error { got = append(got, i); return errors.New("and it fails") })
		}
		close(gate)
		<-q.idle()
		if len(got) != queueSize {
			t.Fatalf("%d calls of %d", len(got), queueSize)
		}
		for i, n := range got {
			if n != i {
				t.Fatalf("call %d came at %d", n, i)
			}
		}
		synctest.Wait()
		<-q.idle() // and an idle queue is idle
	})
}

// Each call has a bounded context of its own that outlives the caller's.
func TestQueueBoundsItsCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := testQueue(t)
		ctx, stop := context.WithCancel(t.Context())
		stop()
		began := time.Now()
		var cause error
		q.put(ctx, func(ctx context.Context) error { <-ctx.Done(); cause = ctx.Err(); return nil })
		<-q.idle()
		if passed := time.Since(began); passed != time.Second || cause != context.DeadlineExceeded {
			t.Errorf("ended after %s by %v", passed, cause)
		}
	})
}
