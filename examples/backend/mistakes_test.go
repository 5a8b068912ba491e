package backend

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// mistakes are what authors get wrong first, each a store with one operation
// changed, and the case of the suite that says so.
var mistakes = []struct {
	name   string
	caught string
	store  func() ports.Backend
}{
	{"the token isn't compared", "commit/other-token-is-stale", func() ports.Backend { return sequenceOnly{New()} }},
	{"an ended claim is refused", "fence/expired-token-stays-authoritative", func() ports.Backend { return impatient{New()} }},
	{"the fence is read, then the row is written", "race/one-commit-wins", func() ports.Backend { return readThenWrite{New()} }},
	{"the caller's bytes are kept", "sharing/what-was-given-is-kept-apart", func() ports.Backend { return keepsBytes{New()} }},
	{"the stored bytes are handed out", "sharing/what-was-returned-is-kept-apart", func() ports.Backend { return sharesBytes{New()} }},
	{"attempts are counted when a claim ends", "claims/attempts-outlive-the-holder", func() ports.Backend { return countsLate{New()} }},
	{"a full page has more", "list/pages-are-exact", func() ports.Backend { return fullHasMore{New()} }},
	{"ids are ordered as words", "list/newest-first-by-time-and-id", func() ports.Backend { return byWord{New()} }},
	{"a signal leaves the claim", "signal/revokes-the-claim", func() ports.Backend { return politeSignal{New()} }},
	{"a foreign run is told from an unknown one", "scope/strangers-learn-nothing", func() ports.Backend { return talkative{New()} }},
}

// sequenceOnly takes the sequence for the whole fence.
type sequenceOnly struct{ *Store }

func (s sequenceOnly) CommitClaimed(ctx context.Context, req ports.CommitClaimed) (ports.Committed, error) {
	s.mu.Lock()
	if stored := s.runs[req.RunID]; stored.token != "" && req.Token != "" {
		req.Token = stored.token
	}
	s.mu.Unlock()
	return s.Store.CommitClaimed(ctx, req)
}

// impatient takes the claim's end for the end of its token (CLM-11).
type impatient struct{ *Store }

func (s impatient) CommitClaimed(ctx context.Context, req ports.CommitClaimed) (ports.Committed, error) {
	s.mu.Lock()
	ended := s.runs[req.RunID].claimEnd.Before(s.now(req.Now))
	s.mu.Unlock()
	if ended {
		return ports.Committed{}, ports.Stale("CommitClaimed")
	}
	return s.Store.CommitClaimed(ctx, req)
}

// readThenWrite compares the fence in one step and writes in another, as a SELECT
// that is followed by an UPDATE without the fence in its WHERE does (RUN-7).
type readThenWrite struct{ *Store }

func (s readThenWrite) CommitClaimed(ctx context.Context, req ports.CommitClaimed) (ports.Committed, error) {
	fetched, err := s.FetchRun(ctx, ports.FetchRun{Scope: ports.System(), RunID: req.RunID, Now: req.Now})
	if err != nil || fetched.Token != req.Token || fetched.Run.CheckpointSeq != req.ExpectedSeq || req.Check() != nil {
		return s.Store.CommitClaimed(ctx, req)
	}
	runtime.Gosched()
	s.mu.Lock()
	defer s.mu.Unlock()
	r, t := s.runs[req.RunID], req.Transition.Clone()
	now := s.now(req.Now)
	r.run, r.events = t.Run, append(r.events, t.Events...)
	r.unclaim(wakeOf(t.Schedule, now))
	s.put(r)
	return ports.Committed{Now: now}, nil
}

// keepsBytes stores the caller's slices (VAL-1).
type keepsBytes struct{ *Store }

func (s keepsBytes) InsertRun(ctx context.Context, req ports.InsertRun) (ports.Inserted, error) {
	got, err := s.Store.InsertRun(ctx, req)
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		r := s.runs[req.Transition.Run.ID]
		r.events = req.Transition.Events
		s.put(r)
	}
	return got, err
}

// sharesBytes returns the store's own slices.
type sharesBytes struct{ *Store }

func (s sharesBytes) FetchRun(ctx context.Context, req ports.FetchRun) (ports.FetchedRun, error) {
	got, err := s.Store.FetchRun(ctx, req)
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		got.Run.Document = s.runs[req.RunID].run.Document
	}
	return got, err
}

// countsLate counts an attempt when its holder reports back: whoever dies is
// free (CLM-3).
type countsLate struct{ *Store }

func (s countsLate) ClaimRuns(ctx context.Context, req ports.ClaimRuns) (ports.Claimed, error) {
	got, err := s.Store.ClaimRuns(ctx, req)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, lease := range got.Leases {
		r := s.runs[lease.Run.ID]
		r.returnAttempt()
		s.put(r)
	}
	return got, err
}

func (s countsLate) ReleaseClaim(ctx context.Context, req ports.ReleaseClaim) (ports.Released, error) {
	got, err := s.Store.ReleaseClaim(ctx, req)
	if err == nil && !req.ReturnAttempt {
		s.mu.Lock()
		defer s.mu.Unlock()
		r := s.runs[req.RunID]
		r.attempts++
		s.put(r)
	}
	return got, err
}

// fullHasMore takes a full page for one with a successor (RUN-9).
type fullHasMore struct{ *Store }

func (s fullHasMore) ListRuns(ctx context.Context, req ports.ListRuns) (ports.RunPage, error) {
	page, err := s.Store.ListRuns(ctx, req)
	page.HasMore = len(page.Items) == req.Normal().Limit
	return page, err
}

// byWord orders ids as a database's language does, not by their bytes (VAL-2).
type byWord struct{ *Store }

func (s byWord) ListRuns(ctx context.Context, req ports.ListRuns) (ports.RunPage, error) {
	page, err := s.Store.ListRuns(ctx, req)
	slices.SortStableFunc(page.Items, func(a, b ports.RunSummary) int {
		if byTime := b.Run.StartedAt.Compare(a.Run.StartedAt); byTime != 0 {
			return byTime
		}
		return strings.Compare(strings.ToLower(b.Run.ID), strings.ToLower(a.Run.ID))
	})
	return page, err
}

// politeSignal lets the holder finish (RUN-6).
type politeSignal struct{ *Store }

func (s politeSignal) CommitUnclaimed(ctx context.Context, req ports.CommitUnclaimed) (ports.Committed, error) {
	s.mu.Lock()
	before := s.runs[req.RunID]
	s.mu.Unlock()
	got, err := s.Store.CommitUnclaimed(ctx, req)
	if err == nil && before.token != "" && req.Transition.Schedule.Kind == record.ScheduleImmediate {
		s.mu.Lock()
		defer s.mu.Unlock()
		r := s.runs[req.RunID]
		r.wakeAt, r.token, r.claimedAt, r.claimEnd = before.wakeAt, before.token, before.claimedAt, before.claimEnd
		s.put(r)
	}
	return got, err
}

// talkative says why a run isn't found (SCP-3).
type talkative struct{ *Store }

func (s talkative) FetchRun(ctx context.Context, req ports.FetchRun) (ports.FetchedRun, error) {
	got, err := s.Store.FetchRun(ctx, req)
	s.mu.Lock()
	_, exists := s.runs[req.RunID]
	s.mu.Unlock()
	if errors.Is(err, ports.ErrNotFound) && exists {
		return got, errors.Join(err, errors.New("it belongs to somebody else"))
	}
	return got, err
}
