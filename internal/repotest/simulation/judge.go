package simulation

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/core/value"
	"github.com/docket-go/docket/engine"
	"github.com/docket-go/docket/ports"
)

// judge holds what is stored, and what others were told, against the history.
func (w *world) judge(ctx context.Context) {
	histories := w.ledger.histories()
	byRun := map[string]*history{}
	for _, h := range histories {
		byRun[h.runID] = h
		if wrong := h.sequences(); wrong != "" {
			w.found("winners", h, "%s", wrong)
		}
		if wrong := h.future(); wrong != "" && !w.skewed && !w.jumps {
			w.found("times", h, "%s", wrong)
		}
		if wrong := w.stored(ctx, h); wrong != "" {
			w.found("stored", h, "%s", wrong)
		}
		if _, err := w.replay(h); err != nil {
			w.found("replay", h, "%v", err)
		}
	}
	for i := range w.Runs {
		if id := fmt.Sprintf("r%03d", i); w.acks.starts[id] && byRun[id] == nil {
			w.violate(Violation{Check: "acknowledged", RunID: id, Message: "an acknowledged start isn't in the store"})
		}
	}
	w.judgeAnswers(byRun)
	for id := range w.acks.cancels {
		if h := byRun[id]; h == nil || h.last().Run.Status != string(run.Cancelled) {
			w.found("acknowledged", h, "an acknowledged cancellation of %s isn't in the store", id)
		}
	}
	for _, r := range w.acks.awaits {
		h := byRun[r.ID]
		if h == nil || r.CheckpointSeq > int64(len(h.transitions)) || !shows(r, h.transitions[r.CheckpointSeq-1].Run) {
			w.found("acknowledged", h, "who awaited %s was told %s at checkpoint %d, which isn't what was committed", r.ID, r.Status, r.CheckpointSeq)
		}
	}
	for _, o := range w.acks.observed {
		h := byRun[o.runID]
		if o.err != nil || h == nil || o.seq > int64(len(h.transitions)) || h.transitions[o.seq-1].Run.Checksum != o.checksum {
			w.found("observed", h, "an observer was told of checkpoint %d of %s, which isn't what was committed: %v", o.seq, o.runID, o.err)
		}
	}
}

// shows reports whether a caller was shown what a record holds.
func shows(r engine.Run, rec record.Run) bool {
	stored, err := run.Decode(rec.Document)
	return err == nil && r.Status == stored.Status && r.EventSeq == stored.EventSeq &&
		value.Equal(r.State, stored.State()) && value.Equal(r.Output, stored.Output)
}

// judgeAnswers wants at most one acknowledged answer a question, the committed
// one.
func (w *world) judgeAnswers(byRun map[string]*history) {
	for key, texts := range w.acks.answers {
		id, interrupt, _ := strings.Cut(key, " ")
		h := byRun[id]
		if len(texts) > 1 {
			w.found("acknowledged", h, "%d answers to %s were acknowledged: %v", len(texts), interrupt, texts)
		}
		if got := h.answer(interrupt); got != texts[0] {
			w.found("acknowledged", h, "the answer %q to %s was acknowledged, committed is %v", texts[0], interrupt, got)
		}
	}
}

// answer returns the committed answer to an interrupt.
func (h *history) answer(interrupt string) any {
	if h == nil {
		return nil
	}
	for _, t := range h.transitions {
		r, err := run.Decode(t.Run.Document)
		if err == nil && r.Interrupts[interrupt].Status == run.InterruptResolved {
			return r.Interrupts[interrupt].Answer
		}
	}
	return nil
}

// last returns the last transition, the zero one when there is none.
func (h *history) last() record.Transition {
	if len(h.transitions) == 0 {
		return record.Transition{}
	}
	return h.transitions[len(h.transitions)-1].Transition
}

// sequences wants one winner a sequence, events without a gap, and time that
// never goes back.
func (h *history) sequences() string {
	event := int64(0)
	for i, t := range h.transitions {
		if t.Run.CheckpointSeq != int64(i+1) {
			return fmt.Sprintf("checkpoint %d was committed where %d is expected", t.Run.CheckpointSeq, i+1)
		}
		if i > 0 && t.Run.UpdatedAt.Before(h.transitions[i-1].Run.UpdatedAt) {
			return fmt.Sprintf("checkpoint %d is older than the one before", i+1)
		}
		for _, e := range t.Events {
			if event++; e.Seq != event {
				return fmt.Sprintf("event %d was committed where %d is expected", e.Seq, event)
			}
		}
		if t.Run.EventSeq != event {
			return fmt.Sprintf("checkpoint %d counts %d events, there are %d", i+1, t.Run.EventSeq, event)
		}
	}
	return ""
}

// future wants no moment that is later than the store's time of storing it: the
// hosts' clocks are a day off, and count for nothing.
func (h *history) future() string {
	for i, t := range h.transitions {
		if t.Run.UpdatedAt.After(t.now) {
			return fmt.Sprintf("checkpoint %d is from %v, stored at %v", i+1, t.Run.UpdatedAt, t.now)
		}
	}
	return ""
}

// stored compares what the store holds at the end with what it acknowledged.
func (w *world) stored(ctx context.Context, h *history) string {
	if len(h.transitions) == 0 {
		return "nothing was ever committed"
	}
	last := h.last()
	info, err := w.store.InspectRun(ctx, ports.InspectRun{Scope: ports.System(), RunID: h.runID})
	switch {
	case err != nil:
		return err.Error()
	case !bytes.Equal(info.Run.Document, last.Run.Document) || info.Run.Verify() != nil:
		return fmt.Sprintf("the store ends at checkpoint %d, acknowledged is %d, or other bytes", info.Run.CheckpointSeq, last.Run.CheckpointSeq)
	case !run.Status(info.Run.Status).Terminal():
		return "the run is " + info.Run.Status
	case !info.WakeAt.IsZero() || !info.ClaimedAt.IsZero() || info.Poison.Reason != "":
		return "an ended run has a wake, a claim or poison"
	}
	var want []record.Event
	for _, t := range h.transitions {
		want = append(want, t.Events...)
	}
	return w.sameEvents(ctx, h.runID, want)
}

func (w *world) sameEvents(ctx context.Context, runID string, want []record.Event) string {
	req := ports.ListEvents{Scope: ports.System(), RunID: runID, Limit: 7}
	n := 0
	for more := true; more; {
		page, err := w.store.ListEvents(ctx, req)
		if err != nil {
			return err.Error()
		}
		for _, e := range page.Events {
			if n == len(want) || e.Seq != want[n].Seq || e.Checksum != want[n].Checksum || e.Verify() != nil || e.Type != want[n].Type {
				return fmt.Sprintf("the store has event %d %s where number %d of %d is expected", e.Seq, e.Type, n+1, len(want))
			}
			n++
		}
		req.AfterSeq, more = page.NextAfterSeq, page.HasMore
	}
	if n != len(want) {
		return fmt.Sprintf("the store has %d events, acknowledged are %d", n, len(want))
	}
	return ""
}

func (w *world) found(check string, h *history, format string, args ...any) {
	v := Violation{Check: check, Message: fmt.Sprintf(format, args...)}
	if h != nil {
		v.RunID, v.Trace = h.runID, h.trace
	}
	w.violate(v)
}

// figures adds what only the whole history tells.
func (w *world) figures() {
	for _, h := range w.ledger.histories() {
		w.tally.add("runs")
		w.tally.count("transitions", len(h.transitions))
		for _, t := range h.transitions {
			w.tally.add("committed: " + t.Run.CheckpointType)
		}
	}
	for _, calls := range w.journal.calls {
		w.tally.add("node attempts")
		w.tally.count("node calls", len(calls))
		w.tally.addIf(len(calls) > 1, "node attempts made more than once")
		w.tally.addIf(len(calls) > 1 && !w.signalled(calls), "node attempts made more than once, without a signal in between")
	}
	w.tally.count("observations", len(w.acks.observed))
	w.tally.count("waits that ended with their run", len(w.acks.awaits))
}

// signalled reports whether a signal took the run from its worker between an
// attempt's calls: then the attempt is made again although nothing is wrong.
func (w *world) signalled(calls []nodeCall) bool {
	h := w.ledger.runs[calls[0].runID]
	if h == nil {
		return false
	}
	first, last := calls[0].at, calls[len(calls)-1].at
	return slices.ContainsFunc(h.transitions, func(t transition) bool {
		return t.op == "CommitUnclaimed" && first <= t.at && t.at <= last
	})
}
