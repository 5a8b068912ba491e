package runtime

import (
	"fmt"
	"slices"
	"time"

	"github.com/docket-go/docket/core/compiler"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/core/schema"
	"github.com/docket-go/docket/core/value"
)

// attempt is a task's outcome after its judgement.
type attempt struct {
	task    *Task
	write   run.PendingWrite // what a successful attempt leaves
	failure *failure
	code    run.FailureCode // of a permanent failure
	retryAt time.Time       // zero: no further attempt
}

// judge decides for every outcome, in the order of node ids, whether its attempt
// succeeded, will be made again, or has failed for good.
func (s *Step) judge(outcomes []Outcome, now time.Time) ([]attempt, error) {
	inOrder, err := s.match(outcomes)
	if err != nil {
		return nil, err
	}
	attempts := make([]attempt, len(s.Tasks))
	var ids map[string]bool
	for i := range s.Tasks {
		task, o := &s.Tasks[i], inOrder(i)
		a := attempt{task: task, failure: o.failure, code: run.FailureNode}
		if len(o.result.Interrupts) > 0 && ids == nil {
			ids = s.interruptIDs()
		}
		if a.failure == nil {
			s.accept(&a, o, ids, now)
		}
		if a.failure != nil && !a.failure.permanent {
			a.retryAt = s.retryAt(task, now)
		}
		attempts[i] = a
	}
	return attempts, nil
}

// match returns the outcome of the ith task, whatever order the outcomes came in.
func (s *Step) match(outcomes []Outcome) (func(i int) *Outcome, error) {
	inOrder := len(outcomes) == len(s.Tasks)
	for i := 0; i < len(outcomes) && inOrder; i++ {
		inOrder = outcomes[i].TaskID == s.Tasks[i].ID
	}
	if inOrder {
		return func(i int) *Outcome { return &outcomes[i] }, nil
	}
	byTask := make(map[string]*Outcome, len(outcomes))
	for i := range outcomes {
		byTask[outcomes[i].TaskID] = &outcomes[i]
	}
	if len(byTask) != len(s.Tasks) || len(outcomes) != len(s.Tasks) {
		return nil, fmt.Errorf("runtime: run %q: %d outcomes for %d tasks", s.run.ID, len(outcomes), len(s.Tasks))
	}
	for i := range s.Tasks {
		if byTask[s.Tasks[i].ID] == nil {
			return nil, fmt.Errorf("runtime: run %q: no outcome for task %q", s.run.ID, s.Tasks[i].ID)
		}
	}
	return func(i int) *Outcome { return byTask[s.Tasks[i].ID] }, nil
}

// accept checks what a node returned against the graph.
func (s *Step) accept(a *attempt, o *Outcome, ids map[string]bool, now time.Time) {
	a.write = run.PendingWrite{NodeID: a.task.NodeID, Attempt: a.task.Attempt, Update: o.result.Update}
	var reasons []schema.Reason
	for _, name := range value.Keys(o.result.Update) {
		f, reason := writable(s.g, name)
		if f == nil {
			reasons = append(reasons, *reason)
			continue
		}
		reasons = append(reasons, schema.Within(name, f.Reducer.ValidateWrite(o.result.Update[name]))...)
	}
	for _, name := range o.result.Reset {
		if f, reason := writable(s.g, name); f == nil {
			reasons = append(reasons, *reason)
		}
	}
	if len(o.result.Reset) > 0 {
		a.write.Reset = slices.Compact(slices.Sorted(slices.Values(o.result.Reset)))
	}
	for i, in := range o.result.Interrupts {
		stored := run.Interrupt{
			ID: in.ID, NodeID: a.task.NodeID, Field: in.Field, Step: s.number, Status: run.InterruptOpen,
			Schema: in.Schema, Metadata: in.Metadata, CreatedAt: now,
		}
		if stored.ID == "" {
			stored.ID = run.InterruptID(s.number, a.task.NodeID, i+1)
		}
		reasons = append(reasons, schema.Within(fmt.Sprintf("interrupts[%d]", i), s.checkInterrupt(stored, ids))...)
		ids[stored.ID] = true
		a.write.Interrupts = append(a.write.Interrupts, stored)
	}
	if len(reasons) > 0 {
		a.code = run.FailureInvalidUpdate
		a.failure = &failure{reason: ReasonInvalid, message: value.Cut(reasonsText(reasons), value.MaxText), permanent: true}
	}
}

func (s *Step) checkInterrupt(i run.Interrupt, ids map[string]bool) []schema.Reason {
	var reasons []schema.Reason
	if err := value.CheckID(i.ID); err != nil {
		reasons = append(reasons, schema.Reason{Path: "id", Code: "invalid_id", Message: err.Error()})
	} else if ids[i.ID] {
		reasons = append(reasons, schema.Reason{Path: "id", Code: "duplicate_id", Message: fmt.Sprintf("the run has an interrupt %q already", i.ID)})
	}
	if f, reason := writable(s.g, i.Field); f == nil {
		reason.Path = "field"
		reasons = append(reasons, *reason)
	}
	if !i.Schema.IsZero() {
		reasons = append(reasons, schema.Within("schema", i.Schema.Check())...)
	}
	return reasons
}

// interruptIDs returns the ids that the run has used.
func (s *Step) interruptIDs() map[string]bool {
	ids := make(map[string]bool, len(s.run.Interrupts))
	for id := range s.run.Interrupts { // order-free: fills a set
		ids[id] = true
	}
	if s.run.Active != nil {
		for _, w := range s.run.Active.Writes { // order-free: fills a set
			for _, i := range w.Interrupts {
				ids[i.ID] = true
			}
		}
	}
	return ids
}

// retryAt returns when the task is attempted again; zero when its policy gives no
// further attempt.
func (s *Step) retryAt(t *Task, now time.Time) time.Time {
	n, _ := s.g.Node(t.NodeID)
	if n.Retry == nil || t.Attempt >= n.Retry.MaxAttempts {
		return time.Time{}
	}
	return value.Time(now.Add(n.Retry.Delay(t.Attempt, t.IdempotencyKey)))
}

// writable returns a state field, or why the name can't be written.
func writable(g *compiler.Graph, name string) (*compiler.Field, *schema.Reason) {
	if f, ok := g.Field(name); ok {
		return f, nil
	}
	if _, ok := g.Input(name); ok {
		return nil, &schema.Reason{Path: name, Code: "read_only", Message: fmt.Sprintf("%q is an input: inputs are read-only", name)}
	}
	return nil, &schema.Reason{Path: name, Code: "unknown_field", Message: fmt.Sprintf("the graph has no state field %q", name)}
}
