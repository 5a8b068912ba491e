package simulation

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/docket-go/docket/conformance/model"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// ledger stands at the store. Whoever comes through it takes turns; it compares
// what the store answers with what the contract's model answers, and writes down
// what was committed.
type ledger struct {
	w *world

	mu    sync.Mutex
	model *model.State
	lost  bool // the model and the store have parted: only the first difference tells something
	runs  map[string]*history
	order []string // of the runs' starts
}

// history is what one run went through.
type history struct {
	runID       string
	transitions []transition
	trace       []string
}

// transition is one that the store has acknowledged.
type transition struct {
	record.Transition
	op    string
	by    string
	claim bool          // it was committed under a claim, or born with one
	at    time.Duration // of the world
	now   time.Time     // the store's, as it was committed
}

func newLedger(w *world) *ledger {
	return &ledger{w: w, model: model.New(), runs: map[string]*history{}}
}

// book returns the ledger as one process comes through it.
func (l *ledger) book(by string, store ports.Backend) ports.Backend {
	return &tap{inner: store, hook: func(ctx context.Context, c call) (any, error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		answer, err := c.send(ctx, c.req)
		if code := ports.CodeOf(err); code == ports.CodeUnavailable || code == ports.CodeClosed {
			return answer, err // nothing was applied
		}
		if !l.lost {
			l.judge(by, c, answer, err)
		}
		return answer, err
	}}
}

// judge follows one operation. The model is told the store's time.
func (l *ledger) judge(by string, c call, answer any, err error) {
	switch req := c.req.(type) {
	case ports.SaveGraph:
		req.Now = or(req.Now, l.w.storeTime())
		_, wantErr := l.model.SaveGraph(req)
		l.same(c, "", nil, nil, err, wantErr)
	case ports.InsertRun:
		got, id := answer.(ports.Inserted), req.Transition.Run.ID
		req.Now = or(got.Now, req.Now, l.w.storeTime())
		want, wantErr := l.model.InsertRun(req)
		l.note(id, by, c, describe(req.Transition), req.Transition.Run.CheckpointSeq, err)
		if l.same(c, id, got, want, err, wantErr) && err == nil {
			l.commit(transition{Transition: req.Transition, op: c.op, by: by, claim: req.Claim.Token != "", now: req.Now})
		}
	case ports.CommitClaimed:
		got := answer.(ports.Committed)
		req.Now = or(got.Now, req.Now, l.w.storeTime())
		want, wantErr := l.model.CommitClaimed(req)
		l.note(req.RunID, by, c, describe(req.Transition)+" under "+short(req.Token), req.Transition.Run.CheckpointSeq, err)
		if l.same(c, req.RunID, got, want, err, wantErr) && err == nil {
			l.commit(transition{Transition: req.Transition, op: c.op, by: by, claim: true, now: req.Now})
		}
	case ports.CommitUnclaimed:
		got := answer.(ports.Committed)
		req.Now = or(got.Now, req.Now, l.w.storeTime())
		want, wantErr := l.model.CommitUnclaimed(req)
		l.note(req.RunID, by, c, describe(req.Transition), req.Transition.Run.CheckpointSeq, err)
		if l.same(c, req.RunID, got, want, err, wantErr) && err == nil {
			l.commit(transition{Transition: req.Transition, op: c.op, by: by, now: req.Now})
		}
	default:
		l.judgeDelivery(by, c, answer, err)
	}
}

func (l *ledger) judgeDelivery(by string, c call, answer any, err error) {
	switch req := c.req.(type) {
	case ports.ClaimRuns:
		l.judgeClaim(by, c, req, answer.(ports.Claimed), err)
	case ports.RefreshClaim:
		got := answer.(ports.Refreshed)
		req.Now = or(got.Now, req.Now, l.w.storeTime())
		want, wantErr := l.model.RefreshClaim(req)
		l.note(req.RunID, by, c, short(req.Token), 0, err)
		l.same(c, req.RunID, got, want, err, wantErr)
	case ports.ReleaseClaim:
		got := answer.(ports.Released)
		req.Now = or(got.Now, req.Now, l.w.storeTime())
		want, wantErr := l.model.ReleaseClaim(req)
		l.note(req.RunID, by, c, short(req.Token), 0, err)
		l.same(c, req.RunID, got, want, err, wantErr)
	case ports.AbandonClaim:
		got := answer.(ports.Abandoned)
		req.Now = or(got.Now, req.Now, l.w.storeTime())
		want, wantErr := l.model.AbandonClaim(req)
		l.note(req.RunID, by, c, fmt.Sprintf("%s, abandon %d %s", short(req.Token), got.Abandons, got.Poison.Reason), 0, err)
		l.w.tally.addIf(err == nil, "runs given back for want of an implementation")
		l.w.tally.addIf(got.Poison.Reason != "", "runs poisoned after they were given back too often")
		l.same(c, req.RunID, got, want, err, wantErr)
	case ports.RecoverRun:
		got := answer.(ports.Recovered)
		req.Now = or(got.Now, req.Now, l.w.storeTime())
		want, wantErr := l.model.RecoverRun(req)
		l.note(req.RunID, by, c, fmt.Sprint(got.Changed), 0, err)
		l.w.tally.addIf(got.Changed, "poisoned runs recovered")
		l.same(c, req.RunID, got, want, err, wantErr)
	case ports.FetchRun:
		l.judgeRead(c, req.RunID, answer.(ports.FetchedRun).Run, err)
	case ports.InspectRun:
		l.judgeRead(c, req.RunID, answer.(ports.RunInfo).Run, err)
	}
}

// judgeClaim follows a claim, whose choices the contract leaves open.
func (l *ledger) judgeClaim(by string, c call, req ports.ClaimRuns, got ports.Claimed, err error) {
	if err != nil {
		l.violate("contract", "", "%s: %v", c.op, err)
		return
	}
	req.Now = got.Now
	for _, lease := range got.Leases {
		l.note(lease.Run.ID, by, c, fmt.Sprintf("%s, attempt %d, %s", short(lease.Token), lease.Attempt, lease.Class), lease.Run.CheckpointSeq, nil)
		l.judgeRead(c, lease.Run.ID, lease.Run, nil)
		l.w.tally.addIf(lease.Class == ports.ClassExpired, "claims stolen after they ran out")
	}
	for _, p := range got.Poisoned {
		l.note(p.RunID, by, c, "poisons: "+string(p.Poison.Reason), 0, nil)
		l.w.tally.add("runs poisoned after too many launches")
	}
	l.w.tally.count("runs claimed", len(got.Leases))
	if wrong := l.model.FollowClaim(req, got); wrong != nil && !l.lost {
		l.lost = true
		for _, lease := range got.Leases {
			l.violate("contract", lease.Run.ID, "%s: %v", c.op, wrong)
		}
		l.violate("contract", "", "%s: %v", c.op, wrong)
	}
}

// judgeRead wants every read to show the last acknowledged transition.
func (l *ledger) judgeRead(c call, runID string, got record.Run, err error) {
	row, there := l.model.Row(runID)
	switch {
	case l.lost || !there && ports.CodeOf(err) == ports.CodeNotFound:
	case err != nil || !there:
		l.violate("read", runID, "%s: %v; stored: %v", c.op, err, there)
	case got.CheckpointSeq != row.Run.CheckpointSeq || got.Checksum != row.Run.Checksum:
		l.lost = true
		l.violate("lost", runID, "%s shows checkpoint %d (%s), acknowledged is %d (%s)", c.op,
			got.CheckpointSeq, got.Checksum.String()[:12], row.Run.CheckpointSeq, row.Run.Checksum.String()[:12])
	}
}

// same compares an answer with the model's.
func (l *ledger) same(c call, runID string, got, want any, err, wantErr error) bool {
	l.w.tally.addIf(ports.CodeOf(err) == ports.CodeStale, c.op+" refused by the fence")
	if ports.CodeOf(err) == ports.CodeOf(wantErr) && fmt.Sprint(got) == fmt.Sprint(want) {
		return true
	}
	l.lost = true
	l.violate("contract", runID, "%s answers %v, %v; the contract says %v, %v", c.op, got, err, want, wantErr)
	return false
}

func (l *ledger) commit(t transition) {
	t.Transition, t.at = t.Clone(), l.w.elapsed()
	h := l.history(t.Run.ID)
	h.transitions = append(h.transitions, t)
}

func (l *ledger) history(runID string) *history {
	h := l.runs[runID]
	if h == nil {
		h = &history{runID: runID}
		l.runs[runID] = h
		l.order = append(l.order, runID)
	}
	return h
}

// histories returns all runs in the order of their starts, once nobody writes any
// more.
func (l *ledger) histories() []*history {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := make([]*history, 0, len(l.order))
	for _, id := range l.order {
		list = append(list, l.runs[id])
	}
	return list
}

// note adds a line to a run's trace.
func (l *ledger) note(runID, by string, c call, what string, seq int64, err error) {
	line := fmt.Sprintf("%9.3fs %-6s %s", l.w.elapsed().Seconds(), by, c.op)
	if seq > 0 {
		line += fmt.Sprintf(" %d", seq)
	}
	line += ": " + what
	if err != nil {
		line += ": " + string(ports.CodeOf(err))
	}
	h := l.history(runID)
	h.trace = append(h.trace, line)
}

// remark adds a line from outside the store, such as a fault on the way.
func (l *ledger) remark(runID, by, format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.history(runID)
	h.trace = append(h.trace, fmt.Sprintf("%9.3fs %-6s ", l.w.elapsed().Seconds(), by)+fmt.Sprintf(format, args...))
}

func (l *ledger) violate(check, runID, format string, args ...any) {
	var trace []string
	if h := l.runs[runID]; h != nil {
		trace = slices.Clone(h.trace)
	}
	l.w.violate(Violation{Check: check, RunID: runID, Message: fmt.Sprintf(format, args...), Trace: trace})
}

func describe(t record.Transition) string {
	text := fmt.Sprintf("%s, step %d, %d events, %s", t.Run.CheckpointType, t.Run.Step, len(t.Events), t.Schedule.Kind)
	if t.Schedule.Kind == record.ScheduleAt {
		text += t.Schedule.At.Format(" 15:04:05.000")
	}
	return text
}

// short is enough of a token to tell it from others in a trace.
func short(token string) string { return "claim " + token[:min(len(token), 6)] }

func or(times ...time.Time) time.Time {
	for _, t := range times {
		if !t.IsZero() {
			return t
		}
	}
	return time.Time{}
}
