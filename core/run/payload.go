package run

import (
	"slices"
	"time"

	"github.com/docket-go/docket/core/graph"
)

// Payload is what an event says. Each event type has one payload type; none holds
// state values.
//
//	switch p := e.Payload.(type) {
//	case run.ChannelUpdated:
//		fmt.Println(p.Channel, p.Version)
//	case run.NodeFailed:
//		fmt.Println(e.NodeID, p.Message)
//	}
type Payload interface {
	// write writes the payload's members in canonical order.
	write(w *writer)
	// read takes the payload's members and returns the payload.
	read(f fields) Payload
	// clone returns a payload that shares no slice.
	clone() Payload
}

// payloads maps every event type to its payload's type.
var payloads = map[EventType]Payload{
	EventInitialized:        Initialized{},
	EventCompleted:          Completed{},
	EventFailed:             RunFailed{},
	EventCancelled:          RunCancelled{},
	EventCheckpoint:         Checkpoint{},
	EventNodeCompleted:      NodeCompleted{},
	EventNodeFailed:         NodeFailed{},
	EventChannelUpdated:     ChannelUpdated{},
	EventEdgeTriggered:      EdgeTriggered{},
	EventInterruptRequested: InterruptAsked{},
	EventInterruptResolved:  InterruptAnswered{},
}

// Initialized is the payload of EventInitialized.
type Initialized struct {
	Graph graph.Ref
}

func (p Initialized) write(w *writer) {
	w.string("graph_hash", p.Graph.Hash)
	w.string("graph_id", p.Graph.ID)
}

func (p Initialized) read(f fields) Payload {
	f.text("graph_hash", &p.Graph.Hash)
	f.text("graph_id", &p.Graph.ID)
	return p
}

func (p Initialized) clone() Payload { return p }

// Completed is the payload of EventCompleted.
type Completed struct {
	Outputs []string // the names of the outputs that have a value
	// Unsatisfied holds the barriers that only some sources reached.
	Unsatisfied []Barrier
}

// Barrier is a barrier edge ("edge:join") that still waits for sources.
type Barrier struct {
	Edge    string
	Reached []string
}

func (p Completed) write(w *writer) {
	w.key("outputs")
	w.list(p.Outputs)
	writeBarriers(w, p.Unsatisfied)
}

func (p Completed) read(f fields) Payload {
	f.strings("outputs", &p.Outputs)
	p.Unsatisfied = readBarriers(f)
	return p
}

func (p Completed) clone() Payload {
	p.Outputs, p.Unsatisfied = slices.Clone(p.Outputs), cloneBarriers(p.Unsatisfied)
	return p
}

func writeBarriers(w *writer, list []Barrier) {
	if len(list) == 0 {
		return
	}
	w.key("unsatisfied_barriers")
	writeList(w, list, func(b Barrier) {
		w.string("edge", b.Edge)
		w.strings("reached", b.Reached)
	})
}

func readBarriers(f fields) (list []Barrier) {
	f.list("unsatisfied_barriers", func(f fields) {
		var b Barrier
		f.text("edge", &b.Edge)
		f.strings("reached", &b.Reached)
		list = append(list, b)
	})
	return list
}

func cloneBarriers(list []Barrier) []Barrier {
	list = slices.Clone(list)
	for i := range list {
		list[i].Reached = slices.Clone(list[i].Reached)
	}
	return list
}

// RunFailed is the payload of EventFailed. The run's Failure holds the details.
type RunFailed struct {
	Code        FailureCode
	Message     string
	Unsatisfied []Barrier
}

func (p RunFailed) write(w *writer) {
	w.string("code", string(p.Code))
	w.string("message", p.Message)
	writeBarriers(w, p.Unsatisfied)
}

func (p RunFailed) read(f fields) Payload {
	var code string
	f.text("code", &code)
	p.Code = FailureCode(code)
	f.text("message", &p.Message)
	p.Unsatisfied = readBarriers(f)
	return p
}

func (p RunFailed) clone() Payload {
	p.Unsatisfied = cloneBarriers(p.Unsatisfied)
	return p
}

// RunCancelled is the payload of EventCancelled: the fact says it all.
type RunCancelled struct{}

func (p RunCancelled) write(*writer)       {}
func (p RunCancelled) read(fields) Payload { return p }
func (p RunCancelled) clone() Payload      { return p }

// NodeCompleted is the payload of EventNodeCompleted.
type NodeCompleted struct {
	TaskID  string
	Attempt int64
}

func (p NodeCompleted) write(w *writer) {
	w.int("attempt", p.Attempt)
	w.string("task_id", p.TaskID)
}

func (p NodeCompleted) read(f fields) Payload {
	f.int("attempt", &p.Attempt)
	f.text("task_id", &p.TaskID)
	return p
}

func (p NodeCompleted) clone() Payload { return p }

// NodeFailed is the payload of EventNodeFailed, one for each failed attempt.
type NodeFailed struct {
	TaskID         string
	Attempt        int64
	IdempotencyKey string
	Reason         string // see package runtime
	Message        string
	RetryAt        time.Time // zero: there is no further attempt
}

func (p NodeFailed) write(w *writer) {
	w.int("attempt", p.Attempt)
	w.string("idempotency_key", p.IdempotencyKey)
	w.string("message", p.Message)
	w.string("reason", p.Reason)
	w.time("retry_at", p.RetryAt)
	w.string("task_id", p.TaskID)
}

func (p NodeFailed) read(f fields) Payload {
	f.int("attempt", &p.Attempt)
	f.text("idempotency_key", &p.IdempotencyKey)
	f.text("message", &p.Message)
	f.text("reason", &p.Reason)
	f.time("retry_at", &p.RetryAt)
	f.text("task_id", &p.TaskID)
	return p
}

func (p NodeFailed) clone() Payload { return p }

// ChannelUpdated is the payload of EventChannelUpdated: who changed a field, never
// what it holds.
type ChannelUpdated struct {
	Channel     string // "state:draft", or "input:topic" at initialisation
	Version     int64
	Writers     []string // node ids, sorted
	InterruptID string   // when an answer changed it
	// Repeated lists the writers to an appending field whose write begins with the
	// field's whole value: they most likely returned what they had read plus
	// something, and the state doubles with every step.
	Repeated []string
}

func (p ChannelUpdated) write(w *writer) {
	w.string("channel", p.Channel)
	if p.InterruptID != "" {
		w.string("interrupt_id", p.InterruptID)
	}
	w.strings("repeated", p.Repeated)
	w.int("version", p.Version)
	w.strings("writers", p.Writers)
}

func (p ChannelUpdated) read(f fields) Payload {
	f.text("channel", &p.Channel)
	f.text("interrupt_id", &p.InterruptID)
	f.strings("repeated", &p.Repeated)
	f.int("version", &p.Version)
	f.strings("writers", &p.Writers)
	return p
}

func (p ChannelUpdated) clone() Payload {
	p.Writers, p.Repeated = slices.Clone(p.Writers), slices.Clone(p.Repeated)
	return p
}

// EdgeTriggered is the payload of EventEdgeTriggered.
type EdgeTriggered struct {
	Edge   string // "edge:join"
	Target string // a node id, or "$finish"
}

func (p EdgeTriggered) write(w *writer) {
	w.string("edge", p.Edge)
	w.string("target", p.Target)
}

func (p EdgeTriggered) read(f fields) Payload {
	f.text("edge", &p.Edge)
	f.text("target", &p.Target)
	return p
}

func (p EdgeTriggered) clone() Payload { return p }

// InterruptAsked is the payload of EventInterruptRequested.
type InterruptAsked struct {
	InterruptID string
	Field       string
}

func (p InterruptAsked) write(w *writer) {
	w.string("field", p.Field)
	w.string("interrupt_id", p.InterruptID)
}

func (p InterruptAsked) read(f fields) Payload {
	f.text("field", &p.Field)
	f.text("interrupt_id", &p.InterruptID)
	return p
}

func (p InterruptAsked) clone() Payload { return p }

// InterruptAnswered is the payload of EventInterruptResolved.
type InterruptAnswered struct {
	InterruptID string
	Field       string
	// AnswerID tells the accepted answer from any other to the same interrupt;
	// empty when whoever answered gave it none.
	AnswerID string
}

func (p InterruptAnswered) write(w *writer) {
	if p.AnswerID != "" {
		w.string("answer_id", p.AnswerID)
	}
	w.string("field", p.Field)
	w.string("interrupt_id", p.InterruptID)
}

func (p InterruptAnswered) read(f fields) Payload {
	f.text("answer_id", &p.AnswerID)
	f.text("field", &p.Field)
	f.text("interrupt_id", &p.InterruptID)
	return p
}

func (p InterruptAnswered) clone() Payload { return p }
