package mutants

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/docket-go/docket/conformance/model"
	"github.com/docket-go/docket/ports"
)

// meeting makes calls that overlap meet between their reading and their
// writing; one that is alone goes on after a moment.
type meeting chan struct{}

func (m meeting) wait() {
	timer := time.NewTimer(2 * time.Millisecond)
	defer timer.Stop()
	select {
	case m <- struct{}{}:
	case <-m:
	case <-timer.C:
	}
}

// torn does an operation on a copy, waits, and puts the rows that it changed
// into the store, whatever happened there meanwhile.
func torn[Q, A any](ctx context.Context, o *outer, m meeting, op string, req Q, f func(*model.State, Q) (A, error), changed func(A) []string) (A, error) {
	var none A
	if err := ports.Ended(ctx, op); err != nil {
		return none, err
	}
	var own *model.State
	o.Edit(func(s *model.State) { own = s.Clone() })
	got, err := f(own, req)
	if err != nil {
		return got, err
	}
	ids := changed(got)
	if len(ids) > 0 {
		m.wait()
	}
	o.Edit(func(s *model.State) {
		for _, id := range ids {
			s.Put(row(own, id))
		}
	})
	return got, nil
}

func outcomes(got ports.Claimed) []string {
	var ids []string
	for _, l := range got.Leases {
		ids = append(ids, l.Run.ID)
	}
	for _, p := range got.Poisoned {
		ids = append(ids, p.RunID)
	}
	return ids
}

// tornClaim selects and leases in two steps.
func tornClaim(m meeting) func(context.Context, *outer, ports.ClaimRuns) (ports.Claimed, error) {
	var tokens atomic.Int64
	return func(ctx context.Context, o *outer, req ports.ClaimRuns) (ports.Claimed, error) {
		if req.Now.IsZero() || closed(ctx, o) {
			return o.Backend.ClaimRuns(ctx, req)
		}
		return torn(ctx, o, m, "ClaimRuns", req, func(s *model.State, req ports.ClaimRuns) (ports.Claimed, error) {
			return s.ClaimRuns(req, func() string { return fmt.Sprintf("torn-token-%016d", tokens.Add(1)) })
		}, outcomes)
	}
}

// tornCommit reads the fence and writes the transition in two steps.
func tornCommit(m meeting) func(context.Context, *outer, ports.CommitClaimed) (ports.Committed, error) {
	return func(ctx context.Context, o *outer, req ports.CommitClaimed) (ports.Committed, error) {
		if req.Now.IsZero() || closed(ctx, o) {
			return o.Backend.CommitClaimed(ctx, req)
		}
		got, err := torn(ctx, o, m, "CommitClaimed", req, (*model.State).CommitClaimed, func(ports.Committed) []string { return []string{req.RunID} })
		ringIfDue(o, req.RunID, req.Now, err)
		return got, err
	}
}

func tornSignal(m meeting) func(context.Context, *outer, ports.CommitUnclaimed) (ports.Committed, error) {
	return func(ctx context.Context, o *outer, req ports.CommitUnclaimed) (ports.Committed, error) {
		if req.Now.IsZero() || closed(ctx, o) {
			return o.Backend.CommitUnclaimed(ctx, req)
		}
		got, err := torn(ctx, o, m, "CommitUnclaimed", req, (*model.State).CommitUnclaimed, func(ports.Committed) []string { return []string{req.RunID} })
		ringIfDue(o, req.RunID, req.Now, err)
		return got, err
	}
}

// closed reports whether the store is closed, by a read that has no effect.
func closed(ctx context.Context, o *outer) bool {
	_, err := o.Backend.FetchRun(ctx, ports.FetchRun{Scope: ports.System(), RunID: "closed?"})
	return ports.CodeOf(err) == ports.CodeClosed
}

func ringIfDue(o *outer, id string, now time.Time, err error) {
	due := false
	o.Edit(func(s *model.State) { r := row(s, id); due = !r.Wake.IsZero() && !r.Wake.After(now) })
	if err == nil && due {
		o.Ring()
	}
}

var racyMutants = []Mutant{
	{Name: "lost-update", Clause: "RUN-7", Off: "A claimed commit compares its fence before, not in, the write.", Racy: true,
		wrap: func(b *model.Backend) ports.Backend {
			return &outer{Backend: b, commitClaimed: tornCommit(make(meeting))}
		}},
	{Name: "lost-signal", Clause: "RUN-6", Off: "Commits and signals compare their sequence before, not in, the write.", Racy: true,
		wrap: func(b *model.Backend) ports.Backend {
			m := make(meeting)
			return &outer{Backend: b, commitClaimed: tornCommit(m), signal: tornSignal(m)}
		}},
	{Name: "leased-twice", Clause: "CLM-5", Off: "A claim selects runs before, not in, the write that leases them.", Racy: true,
		wrap: func(b *model.Backend) ports.Backend {
			return &outer{Backend: b, claimRuns: tornClaim(make(meeting))}
		}},
	{Name: "steal-without-a-second-look", Clause: "CLM-10", Off: "A claim steals a run that was refreshed while it looked.", Racy: true,
		wrap: func(b *model.Backend) ports.Backend {
			m := make(meeting)
			return &outer{Backend: b, claimRuns: tornClaim(m),
				refreshClaim: func(ctx context.Context, o *outer, req ports.RefreshClaim) (ports.Refreshed, error) {
					m.wait()
					return o.Backend.RefreshClaim(ctx, req)
				}}
		}},
	{Name: "bounds-from-another-snapshot", Clause: "EVT-4", Off: "A page's bounds are read before its rows.", Racy: true,
		wrap: wrapping(outer{listEvents: func(ctx context.Context, o *outer, req ports.ListEvents) (ports.EventPage, error) {
			bounds, err := o.Backend.ListEvents(ctx, req)
			if err != nil {
				return bounds, err
			}
			time.Sleep(100 * time.Microsecond)
			page, err := o.Backend.ListEvents(ctx, req)
			page.Oldest, page.Latest, page.LatestSeq = bounds.Oldest, bounds.Latest, bounds.LatestSeq
			return page, err
		}})},
	{Name: "events-appear-out-of-order", Clause: "EVT-6", Off: "A signal's last event is visible before its others.", Racy: true,
		wrap: wrapping(outer{signal: func(ctx context.Context, o *outer, req ports.CommitUnclaimed) (ports.Committed, error) {
			got, err := o.Backend.CommitUnclaimed(ctx, req)
			if n := len(req.Transition.Events); err == nil && n > 1 {
				var whole []model.Event
				o.Edit(func(s *model.State) {
					edit(s, req.RunID, func(r *model.Row) {
						whole = r.Events
						r.Events = append(whole[:len(whole)-n:len(whole)-n], whole[len(whole)-1])
					})
				})
				time.Sleep(300 * time.Microsecond)
				o.Edit(func(s *model.State) { edit(s, req.RunID, func(r *model.Row) { r.Events = whole }) })
			}
			return got, err
		}})},
}
