package runtime

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/docket-go/docket/core/compiler"
	"github.com/docket-go/docket/core/guard"
	"github.com/docket-go/docket/core/reducer"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/core/schema"
	"github.com/docket-go/docket/core/value"
)

// barrier commits a superstep: writes is every task's result, sorted by node id.
func (t *transition) barrier(writes []run.PendingWrite) *Moment {
	t.run.Active = nil
	t.run.Step = t.step

	for i := range writes {
		if len(writes[i].Interrupts) == 0 {
			t.emit(run.EventNodeCompleted, writes[i].NodeID, run.NodeCompleted{
				TaskID: run.TaskID(t.run.ID, t.step, writes[i].NodeID), Attempt: writes[i].Attempt,
			})
		}
	}
	changed, failed := t.applyWrites(writes)
	if failed != nil {
		return t.restart().fail(*failed)
	}
	t.countAnswers(writes, changed)
	fired, err := t.route(writes, changed)
	if err != nil {
		return t.restart().fail(guardFailure(err))
	}
	interrupted := t.settle(writes)
	t.run.Changed = sortedIDs(changed, fired)

	typ := run.CheckpointStep
	if interrupted {
		typ = run.CheckpointInterruptRequested
	}
	if len(candidates(t.g, t.run)) == 0 {
		return t.finish(typ)
	}
	return t.moment(typ, Disposition{Kind: Continue, Reason: ReasonWork})
}

// restart begins again from what is committed: a failed barrier commits no write.
func (t *transition) restart() *transition {
	again := begin(t.g, t.base, t.now)
	again.step = t.step
	return again
}

// applyWrites runs every written field through its reducer, in the order of field
// names, and returns the runtime ids of the changed channels.
func (t *transition) applyWrites(writes []run.PendingWrite) (map[string]bool, *run.Failure) {
	changed := make(map[string]bool)
	for i := range t.g.Fields {
		f := &t.g.Fields[i]
		if w := gather(f.Name, writes); len(w.writers) > 0 {
			if failed := t.applyField(f, w); failed != nil {
				return nil, failed
			}
			changed[f.ID] = true
		}
	}
	return changed, nil
}

// fieldWrites is what a superstep writes to one field.
type fieldWrites struct {
	values  []any    // in the order of writers; a reset alone has none
	authors []string // of the values
	writers []string // everybody who wrote or reset
	reset   bool
}

func gather(name string, writes []run.PendingWrite) (w fieldWrites) {
	for i := range writes {
		v, wrote := writes[i].Update[name]
		_, resets := slices.BinarySearch(writes[i].Reset, name)
		if wrote {
			w.values, w.authors = append(w.values, v), append(w.authors, writes[i].NodeID)
		}
		if wrote || resets {
			w.writers = append(w.writers, writes[i].NodeID)
		}
		w.reset = w.reset || resets
	}
	return w
}

func (t *transition) applyField(f *compiler.Field, w fieldWrites) *run.Failure {
	base := prior(f, t.run)
	if w.reset {
		base = value.Optional{}
	}
	next := base
	if len(w.values) > 0 {
		reduced, err := f.Reducer.Reduce(base, w.values)
		if err != nil {
			return fieldFailure(run.FailureReducer, f, w.writers, err.Error())
		}
		next = reduced
		if reasons := f.Reducer.Validate(next.Value); len(reasons) > 0 {
			return fieldFailure(run.FailureState, f, w.writers, reasonsText(reasons))
		}
	}
	t.setChannel(f.Name, next, run.ChannelUpdated{Writers: w.writers, Repeated: repeated(f, base, w)})
	return nil
}

// repeated returns the writers to an appending field whose list begins with all
// that the field holds already.
func repeated(f *compiler.Field, base value.Optional, w fieldWrites) []string {
	held, _ := base.Value.([]any)
	if f.Reducer.Kind() != reducer.KindAppend || len(held) == 0 {
		return nil
	}
	var again []string
	for i, v := range w.values {
		if list, ok := v.([]any); ok && len(list) >= len(held) && value.Equal(list[:len(held)], held) {
			again = append(again, w.authors[i])
		}
	}
	return again
}

func fieldFailure(code run.FailureCode, f *compiler.Field, writers []string, message string) *run.Failure {
	failed := &run.Failure{
		Code:    code,
		Message: fmt.Sprintf("field %q: %s", f.Name, message),
		Details: map[string]any{"field": f.Name, "writers": texts(writers)},
	}
	if len(writers) == 1 {
		failed.NodeID = writers[0]
	}
	return failed
}

// countAnswers makes the answers that a node's call has seen count as changes of
// the superstep in which that call ended, whenever they arrived.
func (t *transition) countAnswers(writes []run.PendingWrite, changed map[string]bool) {
	if len(t.run.Pending) == 0 {
		return
	}
	for _, i := range t.run.Interrupts { // order-free: fills a set
		called := func(w run.PendingWrite) bool { return w.NodeID == i.NodeID }
		if i.Status == run.InterruptResolved && slices.ContainsFunc(writes, called) {
			changed[run.FieldPrefix+i.Field] = true
		}
	}
}

// route judges the edges of the nodes that completed: a plain edge at once, a
// barrier edge when all of its sources have completed since it last fired. It
// resets even if its guard then refuses.
func (t *transition) route(writes []run.PendingWrite, changed map[string]bool) (fired []string, err error) {
	var edges []*compiler.Edge
	barriers, copied := t.run.Barriers, false
	for i := range writes {
		if len(writes[i].Interrupts) > 0 {
			continue
		}
		n, _ := t.g.Node(writes[i].NodeID)
		for _, e := range n.Out {
			if !e.Barrier {
				edges = append(edges, e)
				continue
			}
			if !copied {
				barriers, copied = maps.Clone(barriers), true
			}
			reached := insert(barriers[e.RuntimeID], n.ID)
			if len(reached) == len(e.Sources) {
				delete(barriers, e.RuntimeID)
				edges = append(edges, e)
				continue
			}
			if barriers == nil {
				barriers = make(map[string][]string)
			}
			barriers[e.RuntimeID] = reached
		}
	}
	t.run.Barriers = barriers
	slices.SortFunc(edges, func(a, b *compiler.Edge) int { return cmp.Compare(a.ID, b.ID) })
	return t.fire(edges, changed)
}

// fire evaluates the guards of edges, sorted by id, and returns the runtime ids of
// those that trigger.
func (t *transition) fire(edges []*compiler.Edge, changed map[string]bool) ([]string, error) {
	env := cells{g: t.g, r: t.run, changed: changed}
	var fired []string
	for _, e := range edges {
		if e.Guard != nil {
			ok, err := e.Guard.Eval(env)
			if err != nil {
				return nil, &edgeError{edge: e.ID, err: err}
			}
			if !ok {
				continue
			}
		}
		fired = append(fired, e.RuntimeID)
		t.emit(run.EventEdgeTriggered, "", run.EdgeTriggered{Edge: e.RuntimeID, Target: e.Target})
	}
	return fired, nil
}

// settle brings pending nodes and interrupts up to date, and reports whether the
// superstep requested an interrupt.
func (t *transition) settle(writes []run.PendingWrite) (interrupted bool) {
	for i := range writes {
		w := &writes[i]
		t.consume(w.NodeID)
		if len(w.Interrupts) == 0 {
			t.run.Pending = remove(t.run.Pending, w.NodeID)
			continue
		}
		t.run.Pending = insert(t.run.Pending, w.NodeID)
		for _, in := range w.Interrupts {
			t.setInterrupt(in)
			t.emit(run.EventInterruptRequested, in.NodeID, run.InterruptAsked{InterruptID: in.ID, Field: in.Field})
		}
		interrupted = true
	}
	return interrupted
}

// consume marks the answers that a node's call has seen.
func (t *transition) consume(nodeID string) {
	if _, pending := slices.BinarySearch(t.run.Pending, nodeID); !pending {
		return
	}
	for _, id := range value.Keys(t.run.Interrupts) {
		i := t.run.Interrupts[id]
		if i.NodeID == nodeID && i.Status == run.InterruptResolved {
			i.Status, i.Schema, i.Metadata, i.Answer = run.InterruptConsumed, schema.Schema{}, nil, nil
			t.setInterrupt(i)
		}
	}
}

// edgeError is a guard that couldn't be evaluated.
type edgeError struct {
	edge string
	err  error
}

func (e *edgeError) Error() string { return fmt.Sprintf("edge %q: %v", e.edge, e.err) }
func (e *edgeError) Unwrap() error { return e.err }

func guardFailure(err error) run.Failure {
	failed := run.Failure{Code: run.FailureGuard, Message: err.Error()}
	var at *edgeError
	if errors.As(err, &at) {
		failed.Details = map[string]any{"edge": at.edge}
	}
	var unknown *guard.UnknownFieldError
	if errors.As(err, &unknown) {
		failed.Details["field"] = unknown.Field
	}
	return failed
}
