package engine

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

var errDriver = errors.New("driver")

// driveOnce lets a vehicle of e drive one lease in this goroutine.
func driveOnce(e *Engine, lease ports.Lease) (*vehicle, *session) {
	s := newSession(context.Background())
	v := e.driver.newVehicle(s, lease)
	v.drive()
	return v, s
}

func logNode(calls *int) node.HandlerFunc {
	return func(ctx context.Context, _ node.Input) (node.Result, error) {
		*calls++
		a, _ := node.Info(ctx)
		return node.Write("log", a.NodeID), nil
	}
}

// What a vehicle does after a commit whose outcome is unknown: the very same
// request again, and then what the store shows decides. The node never runs again
// for it.
func TestVehicleAfterAnUnknownCommit(t *testing.T) {
	t.Parallel()
	type store struct {
		token string
		seq   int64
		event bool // the commit's last event is there, or one like it
		bytes bool // the run is what the commit says
	}
	for _, c := range []struct {
		name     string
		answers  []error // to the sends of the first commit
		store    store   // what a read shows afterwards
		sends    int     // of the first commit
		calls    int     // of nodes
		observed int     // moments told
	}{
		{"not applied, then applied", []error{ports.ErrUnavailable, nil}, store{}, 2, 2, 2},
		{"unknown, then applied", []error{ports.ErrUncertain, nil}, store{}, 2, 2, 2},
		{"unknown, landed, ours", []error{ports.ErrUncertain, ports.ErrStale}, store{"the-token", 2, true, false}, 2, 2, 2},
		{"unknown twice, landed, ours", []error{ports.ErrUncertain, ports.ErrUncertain, ports.ErrStale}, store{"the-token", 2, true, false}, 3, 2, 2},
		{"unknown, landed, the claim lost since", []error{ports.ErrUncertain, ports.ErrStale}, store{"another", 3, true, false}, 2, 1, 1},
		{"unknown, another's commit", []error{ports.ErrUncertain, ports.ErrStale}, store{"another", 2, false, false}, 2, 1, 0},
		{"unknown, another's commit of the same moment", []error{ports.ErrUncertain, ports.ErrStale}, store{"another", 2, true, false}, 2, 1, 0},
		{"unknown, landed, claimed by another since", []error{ports.ErrUncertain, ports.ErrStale}, store{"another", 2, true, true}, 2, 1, 1},
		{"unknown, our token, nothing landed", []error{ports.ErrUncertain, ports.ErrStale}, store{"the-token", 1, false, false}, 2, 1, 0},
		{"stale at once", []error{ports.ErrStale}, store{}, 1, 1, 0},
		{"refused", []error{ports.ErrInvalid}, store{}, 1, 1, 0},
		{"a conflict", []error{ports.ErrConflict}, store{}, 1, 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b, calls, observed := newScript(t), 0, 0
				st := b.stage(2, logNode(&calls))
				var first ports.CommitClaimed
				b.commitClaimed = func(n int, req ports.CommitClaimed) (ports.Committed, error) {
					if n > len(c.answers) {
						return ports.Committed{Now: b.now, ClaimEnd: b.now.Add(req.TTL)}, nil
					}
					if n == 1 {
						first = req
					} else if !reflect.DeepEqual(req, first) {
						t.Errorf("send %d isn't the same request", n)
					}
					if err := c.answers[n-1]; err != nil {
						return ports.Committed{}, err
					}
					return ports.Committed{Now: b.now, ClaimEnd: b.now.Add(req.TTL)}, nil
				}
				b.fetchRun = func(req ports.FetchRun) (ports.FetchedRun, error) {
					if req.Scope != ports.System() {
						t.Errorf("a token is read under %+v", req.Scope)
					}
					stored := record.Run{ID: "r", CheckpointSeq: c.store.seq}
					if c.store.bytes {
						stored.Checksum = first.Transition.Run.Checksum
					}
					return ports.FetchedRun{Token: c.store.token, Run: stored, Now: b.now}, nil
				}
				b.fetchEvent = func(req ports.FetchEvent) (ports.FetchedEvent, error) {
					if !c.store.event {
						return ports.FetchedEvent{}, ports.NotFound("FetchEvent")
					}
					return ports.FetchedEvent{Event: first.Transition.Events[len(first.Transition.Events)-1]}, nil
				}
				e := b.engine(st.registry, Config{Observers: []Observer{
					ObserverFunc(func(context.Context, Observation) error { observed++; return nil }),
				}})
				driveOnce(e, b.lease(st.run))
				synctest.Wait()
				sends := b.calls("CommitClaimed")
				if c.calls == 2 {
					sends-- // of the second moment
				}
				if sends != c.sends || calls != c.calls || observed != c.observed {
					t.Errorf("%d sends, %d node calls, %d moments told; want %d, %d, %d", sends, calls, observed, c.sends, c.calls, c.observed)
				}
			})
		})
	}
}

// A store that stays away ends the vehicle when its claim's time has passed; the
// result is dropped, never half stored.
func TestVehicleGivesUpWithItsClaim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, calls := newScript(t), 0
		st := b.stage(1, logNode(&calls))
		b.commitClaimed = func(int, ports.CommitClaimed) (ports.Committed, error) {
			return ports.Committed{}, ports.Unavailable("CommitClaimed", errDriver)
		}
		b.refresh = func(int, ports.RefreshClaim) (ports.Refreshed, error) {
			return ports.Refreshed{}, ports.Unavailable("RefreshClaim", errDriver)
		}
		began := time.Now()
		driveOnce(b.engine(st.registry, Config{}), b.lease(st.run))
		if passed := time.Since(began); passed < time.Minute || passed > 62*time.Second {
			t.Errorf("gave up after %s, want the claim's minute", passed)
		}
		if n := b.calls("CommitClaimed"); calls != 1 || n < 50 || n > 150 {
			t.Errorf("%d node calls, %d sends", calls, n)
		}
	})
}

// A claim that ran out before its vehicle started is dropped before user code.
func TestVehicleDropsALateStart(t *testing.T) {
	t.Parallel()
	b, calls := newScript(t), 0
	st := b.stage(1, logNode(&calls))
	lease := b.lease(st.run)
	lease.ClaimEnd = lease.Now
	driveOnce(b.engine(st.registry, Config{}), lease)
	if calls != 0 || b.calls("CommitClaimed") != 0 {
		t.Errorf("%d node calls, %d commits under a claim that had run out", calls, b.calls("CommitClaimed"))
	}
}

// Renewals begin with the lease and go on through failures; only the store's word
// ends the node's context, with the cause.
func TestVehicleRenewsItsClaim(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		stale int    // the renewal that is stale; 0: none
		then  string // the run's status
		want  error
	}{
		{"kept", 0, "", nil},
		{"lost", 4, "running", ErrClaimLost},
		{"cancelled", 4, "cancelled", ErrRunCancelled},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newScript(t)
				var cause error
				st := b.stage(1, func(ctx context.Context, _ node.Input) (node.Result, error) {
					select {
					case <-time.After(5 * time.Minute):
					case <-ctx.Done():
						cause = context.Cause(ctx)
					}
					return node.Result{}, nil
				})
				began, last := time.Now(), time.Duration(0)
				b.refresh = func(n int, req ports.RefreshClaim) (ports.Refreshed, error) {
					if req.Token != "the-token" || req.TTL != time.Minute {
						t.Errorf("renewal %+v", req)
					}
					if gap := time.Since(began) - last; gap > 20*time.Second {
						t.Errorf("renewal %d came %s after the one before", n, gap)
					}
					last = time.Since(began)
					switch {
					case n == c.stale:
						return ports.Refreshed{}, ports.Stale("RefreshClaim")
					case n%3 == 2:
						return ports.Refreshed{}, ports.Unavailable("RefreshClaim", errDriver)
					}
					return ports.Refreshed{Now: b.now, ClaimEnd: b.now.Add(req.TTL)}, nil
				}
				b.fetchRun = func(ports.FetchRun) (ports.FetchedRun, error) {
					return ports.FetchedRun{Run: record.Run{ID: "r", Status: c.then}, Now: b.now}, nil
				}
				b.commitClaimed = func(int, ports.CommitClaimed) (ports.Committed, error) {
					return ports.Committed{Now: b.now}, nil
				}
				driveOnce(b.engine(st.registry, Config{}), b.lease(st.run))
				synctest.Wait()
				if !errors.Is(cause, c.want) {
					t.Errorf("cause %v, want %v", cause, c.want)
				}
				wantCommits := 0
				if c.want == nil {
					wantCommits = 1
				}
				if n := b.calls("CommitClaimed"); n != wantCommits || b.calls("ReleaseClaim") != 0 {
					t.Errorf("%d commits, %d releases", n, b.calls("ReleaseClaim"))
				}
			})
		})
	}
}

// A run that keeps committing needs no renewals: commits move the claim's end.
func TestVehicleSavesRenewals(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newScript(t)
		st := b.stage(9, func(context.Context, node.Input) (node.Result, error) {
			<-time.After(15 * time.Second)
			return node.Result{}, nil
		})
		b.commitClaimed = func(_ int, req ports.CommitClaimed) (ports.Committed, error) {
			return ports.Committed{Now: b.now, ClaimEnd: b.now.Add(req.TTL)}, nil
		}
		driveOnce(b.engine(st.registry, Config{DrainTime: time.Hour}), b.lease(st.run))
		if n := b.calls("RefreshClaim"); n != 0 {
			t.Errorf("%d renewals beside a commit every 15s", n)
		}
		if n := b.calls("CommitClaimed"); n != 9 {
			t.Errorf("%d commits", n)
		}
	})
}

// A graph that this host can't run is read once while it is known as such; each
// of its runs is abandoned with its attempt.
func TestVehicleAbandonsWhatItCantRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, calls := newScript(t), 0
		st := b.stage(1, logNode(&calls))
		other, err := node.NewRegistry(map[string]node.Node{"other": logNode(&calls)})
		must(t, err)
		var asked []ports.AbandonClaim
		b.abandon = func(req ports.AbandonClaim) (ports.Abandoned, error) {
			asked = append(asked, req)
			if len(asked) == 1 {
				return ports.Abandoned{}, ports.Uncertain("AbandonClaim", errDriver)
			}
			if len(asked) == 2 {
				return ports.Abandoned{}, ports.Stale("AbandonClaim") // the first one had been applied
			}
			return ports.Abandoned{Abandons: 1, WakeAt: b.now.Add(time.Minute), Now: b.now}, nil
		}
		e := b.engine(other, Config{})
		for range 3 {
			driveOnce(e, b.lease(st.run))
		}
		if calls != 0 || b.calls("FetchGraph") != 1 || len(asked) != 4 {
			t.Fatalf("%d node calls, %d graph reads, %d abandons sent", calls, b.calls("FetchGraph"), len(asked))
		}
		for _, req := range asked {
			if req.Token != "the-token" || req.ExpectedSeq != 1 || req.MaxAbandons != 5 || req.NonPoisoning ||
				req.BackoffBase < 22*time.Second || req.BackoffBase > 38*time.Second || req.BackoffCap != time.Hour {
				t.Errorf("abandon %+v", req)
			}
		}
		<-time.After(31 * time.Second)
		driveOnce(e, b.lease(st.run))
		if n := b.calls("FetchGraph"); n != 2 {
			t.Errorf("%d graph reads: the refusal never ends", n)
		}
	})
}

// A store that can't be reached for the graph is no reason to abandon.
func TestVehicleLeavesAnUnreachableGraphAlone(t *testing.T) {
	t.Parallel()
	b, calls := newScript(t), 0
	st := b.stage(1, logNode(&calls))
	b.fetchGraph = func(ports.FetchGraph) (ports.FetchedGraph, error) {
		return ports.FetchedGraph{}, ports.Unavailable("FetchGraph", errDriver)
	}
	driveOnce(b.engine(st.registry, Config{}), b.lease(st.run))
	if calls != 0 || b.calls("AbandonClaim")+b.calls("CommitClaimed") != 0 {
		t.Errorf("%d calls, abandons and commits %d", calls, b.calls("AbandonClaim")+b.calls("CommitClaimed"))
	}
}
