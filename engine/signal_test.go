package engine

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

func (s *script) serve(run record.Run) {
	s.fetchRun = func(ports.FetchRun) (ports.FetchedRun, error) {
		return ports.FetchedRun{Run: run.Clone(), Now: s.now}, nil
	}
}

// Losing every race is told as such, and is safe to repeat.
func TestSignalIsContended(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, calls := newScript(t), 0
		st := b.stage(1, logNode(&calls))
		b.serve(st.run)
		b.commitUnclaimed = func(int, ports.CommitUnclaimed) (ports.Committed, error) {
			return ports.Committed{}, ports.Stale("CommitUnclaimed")
		}
		_, err := b.engine(nil, Config{}).CancelRun(t.Context(), CancelRun{RunID: "r"})
		if CodeOf(err) != CodeContended || !errors.Is(err, ports.ErrStale) {
			t.Errorf("CancelRun: %v", err)
		}
		if n := b.calls("CommitUnclaimed"); n != 32 || b.calls("FetchRun") != 32 {
			t.Errorf("%d tries with %d reads, want 32 of both", n, b.calls("FetchRun"))
		}
	})
}

// After an unknown outcome the very same commit is sent again; when the fence has
// moved, the event log decides whose commit moved it.
func TestSignalAfterAnUnknownCommit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		landed  bool
		readErr error
		commits int // all sends
		want    Code
	}{
		{"it was ours", true, nil, 2, ""},
		{"it was another's, then ours", false, nil, 3, ""},
		{"the log can't be read", false, ports.ErrUnavailable, 2, CodeUncertain},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b, calls := newScript(t), 0
				st := b.stage(1, logNode(&calls))
				b.serve(st.run)
				var sent ports.CommitUnclaimed
				b.commitUnclaimed = func(n int, req ports.CommitUnclaimed) (ports.Committed, error) {
					switch n {
					case 1:
						sent = req
						return ports.Committed{}, ports.Uncertain("CommitUnclaimed", errDriver)
					case 2:
						if req.ExpectedSeq != sent.ExpectedSeq || req.Transition.Run.Checksum != sent.Transition.Run.Checksum {
							t.Error("the second send isn't the first again")
						}
						return ports.Committed{}, ports.Inactive("CommitUnclaimed")
					}
					return ports.Committed{Now: b.now}, nil
				}
				b.fetchEvent = func(req ports.FetchEvent) (ports.FetchedEvent, error) {
					last := sent.Transition.Events[len(sent.Transition.Events)-1]
					if req.Seq != last.Seq {
						t.Errorf("event %d is read, want %d", req.Seq, last.Seq)
					}
					if c.readErr != nil {
						return ports.FetchedEvent{}, c.readErr
					}
					if !c.landed {
						last.Checksum[0] ^= 1
					}
					return ports.FetchedEvent{Event: last}, nil
				}
				_, err := b.engine(nil, Config{}).CancelRun(t.Context(), CancelRun{RunID: "r"})
				if CodeOf(err) != c.want || b.calls("CommitUnclaimed") != c.commits {
					t.Errorf("CancelRun: %v after %d sends, want %q after %d", err, b.calls("CommitUnclaimed"), c.want, c.commits)
				}
			})
		})
	}
}

// A caller that gives up between two tries is told so.
func TestSignalEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, calls := newScript(t), 0
		st := b.stage(1, logNode(&calls))
		b.serve(st.run)
		b.commitUnclaimed = func(int, ports.CommitUnclaimed) (ports.Committed, error) {
			<-time.After(time.Second)
			return ports.Committed{}, ports.Stale("CommitUnclaimed")
		}
		ctx, stop := context.WithTimeout(t.Context(), 3500*time.Millisecond)
		defer stop()
		_, err := b.engine(nil, Config{}).CancelRun(ctx, CancelRun{RunID: "r"})
		if CodeOf(err) != CodeTimeout || !errors.Is(err, context.DeadlineExceeded) || b.calls("CommitUnclaimed") != 4 {
			t.Errorf("CancelRun: %v after %d tries", err, b.calls("CommitUnclaimed"))
		}
	})
}

// Under admission nobody is born claimed: the start falls back to a run that is
// due, and the slot is free again.
func TestStartFallsBackWithoutHandOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, calls := newScript(t), 0
		st := b.stage(1, logNode(&calls))
		var kinds []record.ScheduleKind
		b.insert = func(req ports.InsertRun) (ports.Inserted, error) {
			if err := req.Check(); err != nil {
				t.Errorf("insert: %v", err)
			}
			kinds = append(kinds, req.Transition.Schedule.Kind)
			if req.Claim != (ports.ClaimGrant{}) {
				return ports.Inserted{}, ports.Unsupported("InsertRun", "admission")
			}
			return ports.Inserted{Now: b.now}, nil
		}
		e := b.engine(st.registry, Config{})
		if _, err := e.graphs.executable(t.Context(), e.store, record.Owner{}, st.published.Ref); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- e.Run(ctx) }()
		synctest.Wait()
		for range 2 {
			if _, err := e.StartRun(t.Context(), StartRun{Graph: st.published.Ref}); err != nil {
				t.Fatal(err)
			}
		}
		if len(kinds) != 3 || kinds[0] != record.ScheduleRetain || kinds[1] != record.ScheduleImmediate || kinds[2] != record.ScheduleImmediate {
			t.Errorf("inserts %v", kinds)
		}
		if h := e.Health(); h.SlotsUsed != 0 {
			t.Errorf("a slot leaked: %+v", h)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
