package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/engine"
)

// findings is what the story saw: enough to judge whether the run was durable.
type findings struct {
	before, after engine.Run  // the run as stored before and after the kill
	run           engine.Run  // at the end
	events        []run.Event // the whole log
	calls         []call      // every call of a node, whether its work was committed or not
	dead, second  int         // processes of the two workers
	answered      int64
}

// finding is one thing that must be true.
type finding struct {
	says  string
	holds bool
}

// check writes what must be true and whether it is; it fails unless all is.
func (f *findings) check(out io.Writer) error {
	wrong := 0
	for _, c := range f.all() {
		mark := "ok  "
		if !c.holds {
			mark = "NOT "
			wrong++
		}
		fmt.Fprintf(out, "  %s%s\n", mark, c.says)
	}
	if wrong > 0 {
		return fmt.Errorf("%d things are not as they must be", wrong)
	}
	return nil
}

func (f *findings) all() []finding {
	return []finding{
		{"the kill changed nothing in the store", f.before.CheckpointSeq == f.after.CheckpointSeq && f.after.State["notes"] == nil},
		{"facts worked in both workers, with one idempotency key", f.redone("facts")},
		{"quotes worked in both workers, with one idempotency key", f.redone("quotes")},
		{"research worked once: a committed step is never done again", f.count("research") == 1},
		{"each step committed each of its nodes exactly once", f.committedOnce()},
		{"the notes of the redone step are there once", f.notes() == 4},
		{"events are numbered 1, 2, 3, … without a gap", f.gapless()},
		{"publishing failed once and was retried durably", f.retried()},
		{"each answer led to its draft or to publication", f.run.Output["drafts"] == f.answered},
		{"the run is done", f.run.Status == run.Done},
	}
}

// redone reports whether both workers called the node in the superstep that the
// kill interrupted, as the same attempt.
func (f *findings) redone(node string) bool {
	keys := map[int]string{}
	for _, c := range f.calls {
		if c.Node == node && c.Step == f.after.Step+1 {
			keys[c.Process] = c.Key
		}
	}
	return keys[f.dead] != "" && keys[f.dead] == keys[f.second]
}

func (f *findings) count(node string) int {
	n := 0
	for _, c := range f.calls {
		if c.Node == node {
			n++
		}
	}
	return n
}

func (f *findings) committedOnce() bool {
	seen := map[string]bool{}
	for _, e := range f.events {
		if e.Type != run.EventNodeCompleted {
			continue
		}
		task := run.TaskID(f.run.ID, e.Step, e.NodeID)
		if seen[task] {
			return false
		}
		seen[task] = true
	}
	return len(seen) > 0
}

func (f *findings) notes() int {
	notes, _ := f.run.State["notes"].([]any)
	return len(notes)
}

func (f *findings) gapless() bool {
	for i, e := range f.events {
		if e.Seq != int64(i+1) {
			return false
		}
	}
	return int64(len(f.events)) == f.run.EventSeq
}

// retried reports whether the log holds a failed attempt of publish, the park
// that followed, and its second attempt's completion, in this order.
func (f *findings) retried() bool {
	isFailure := func(e run.Event) bool { return e.Type == run.EventNodeFailed && e.NodeID == "publish" }
	isPark := func(e run.Event) bool {
		p, ok := e.Payload.(run.Checkpoint)
		return ok && p.Type == run.CheckpointRetry
	}
	isSuccess := func(e run.Event) bool {
		p, ok := e.Payload.(run.NodeCompleted)
		return ok && e.NodeID == "publish" && p.Attempt == 2
	}
	failed, parked, done := slices.IndexFunc(f.events, isFailure), slices.IndexFunc(f.events, isPark), slices.IndexFunc(f.events, isSuccess)
	return failed >= 0 && failed < parked && parked < done
}
