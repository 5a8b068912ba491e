package runtime

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/docket-go/docket/core/compiler"
	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/core/value"
)

// Step is one planned superstep: either Tasks to execute, or a Moment because
// there is nothing to execute.
type Step struct {
	Tasks  []Task
	Moment *Moment

	g      *compiler.Graph
	run    *run.Run
	limits Limits
	number int64
}

// Task is one attempt to execute.
type Task struct {
	ID             string
	NodeID         string
	Step           int64 // the superstep, from 1
	Attempt        int64 // from 1
	IdempotencyKey string
	Node           node.Node
	Input          node.Input
	Timeout        time.Duration // always positive
	Activation     node.Activation
}

// Plan decides from committed state what the next superstep executes. On a parked
// superstep these are the tasks that are due; otherwise the nodes whose incoming
// edges fired and the pending nodes whose interrupts are all resolved, without
// those that still have an open one (an edge that fires meanwhile is served by the
// node's next call). Tasks are sorted by node id.
//
// The Step carries a Moment instead when the run completes, is over its superstep
// bound, or was woken before any attempt is due.
//
// It fails with a *HostLimitError before anything is executed, and with a plain
// error on a run that isn't running or a graph without implementations.
func Plan(g *compiler.Graph, r *run.Run, l Limits, now time.Time) (*Step, error) {
	if r.Status != run.Running {
		return nil, fmt.Errorf("runtime: run %q is %s, there is nothing to plan", r.ID, r.Status)
	}
	s := &Step{g: g, run: r, limits: l, number: r.Step + 1}
	if r.Active != nil {
		return s, s.planParked(now)
	}
	nodes := candidates(g, r)
	if len(nodes) == 0 {
		t := begin(g, r, now)
		s.Moment = t.finish(run.CheckpointInterruptRequested)
		return s, nil
	}
	if limit := l.maxSupersteps(g.MaxSupersteps); limit > 0 && r.Step >= limit {
		s.Moment = begin(g, r, now).fail(run.Failure{
			Code:    run.FailureSupersteps,
			Message: fmt.Sprintf("the run has committed its %d supersteps and still has work: %s", limit, strings.Join(nodes, ", ")),
			Details: map[string]any{"max_supersteps": limit, "next": texts(nodes)},
		})
		return s, nil
	}
	return s, s.addTasks(nodes)
}

// candidates returns, sorted, the nodes that can run.
func candidates(g *compiler.Graph, r *run.Run) []string {
	nodes := make([]string, 0, len(r.Changed)+len(r.Pending))
	for _, id := range r.Changed {
		name, ok := strings.CutPrefix(id, run.EdgePrefix)
		if !ok {
			continue
		}
		if e, known := g.Edge(name); known && isNode(e.Target) {
			nodes = append(nodes, e.Target)
		}
	}
	nodes = append(nodes, r.Pending...)
	if len(nodes) == 0 {
		return nil
	}
	slices.Sort(nodes)
	nodes = slices.Compact(nodes)
	if len(r.Pending) == 0 {
		return nodes
	}
	open := make(map[string]bool)
	for _, i := range r.Interrupts { // order-free: fills a set
		if i.Status == run.InterruptOpen {
			open[i.NodeID] = true
		}
	}
	return slices.DeleteFunc(nodes, func(id string) bool { return open[id] })
}

// planParked selects the tasks of a parked superstep that are due.
func (s *Step) planParked(now time.Time) error {
	active := s.run.Active
	now = value.Time(now)
	var due []string
	for _, id := range value.Keys(active.Tasks) {
		if !active.Tasks[id].DueAt.After(now) {
			due = append(due, active.Tasks[id].NodeID)
		}
	}
	if len(due) == 0 {
		t := begin(s.g, s.run, now)
		s.Moment = t.moment(run.CheckpointRetry, t.parkUntilDue())
		return nil
	}
	slices.Sort(due)
	return s.addTasks(due)
}

func (s *Step) addTasks(nodes []string) error {
	state, versions := view(s.g, s.run)
	s.Tasks = make([]Task, 0, len(nodes))
	for _, id := range nodes {
		n, ok := s.g.Node(id)
		if !ok || n.Impl == nil {
			return fmt.Errorf("runtime: run %q: node %q has no implementation here", s.run.ID, id)
		}
		timeout, most := n.Timeout, s.limits.maxTimeout()
		if timeout > most {
			return &HostLimitError{NodeID: id, Timeout: timeout, Max: most}
		}
		if timeout == 0 {
			timeout = most
		}
		task := Task{
			NodeID: id, Step: s.number, Attempt: s.attempt(id),
			Node: n.Impl, Input: node.Input{State: state, Config: n.ConfigReader}, Timeout: timeout,
		}
		task.ID, task.IdempotencyKey = run.Identity(s.run.ID, s.number, id, task.Attempt)
		task.Activation = node.Activation{
			RunID: s.run.ID, NodeID: id, Step: s.number, Attempt: task.Attempt,
			TaskID: task.ID, IdempotencyKey: task.IdempotencyKey,
			Versions: versions, Answers: answers(s.run, id),
		}
		s.Tasks = append(s.Tasks, task)
	}
	return nil
}

// attempt returns the number of a node's next attempt.
func (s *Step) attempt(nodeID string) int64 {
	if s.run.Active == nil {
		return 1
	}
	return s.run.Active.Tasks[run.TaskID(s.run.ID, s.number, nodeID)].Attempt
}

// answers returns what a pending node's interrupts were answered, by id.
func answers(r *run.Run, nodeID string) []node.Answer {
	if _, pending := slices.BinarySearch(r.Pending, nodeID); !pending {
		return nil
	}
	var list []node.Answer
	for _, id := range value.Keys(r.Interrupts) {
		i := r.Interrupts[id]
		if i.NodeID == nodeID && i.Status == run.InterruptResolved {
			list = append(list, node.Answer{InterruptID: id, Field: i.Field, Value: value.Clone(i.Answer)})
		}
	}
	return list
}

func isNode(target string) bool { return target != "" && target[0] != '$' }
