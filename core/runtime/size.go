package runtime

import (
	"fmt"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/core/run"
)

// check returns what in a moment is too large to be stored, nil when nothing is.
func (l Limits) check(m *Moment) (*string, error) {
	tooLarge := func(format string, args ...any) (*string, error) {
		message := fmt.Sprintf(format, args...)
		return &message, nil
	}
	if len(m.Events) > record.MaxCommitEvents {
		return tooLarge("the transition has %d events, more than %d", len(m.Events), record.MaxCommitEvents)
	}
	for i := range m.Events {
		if n := atMost(m.Events[i].Payload); n > l.maxEventBytes() {
			data, err := m.Events[i].EncodePayload()
			if err != nil {
				return nil, err
			}
			if int64(len(data)) > l.maxEventBytes() {
				return tooLarge("a %s event has %d bytes, more than %d", m.Events[i].Type, len(data), l.maxEventBytes())
			}
		}
	}
	if runAtMost(m.Run) <= l.maxRunBytes() {
		return nil, nil
	}
	document, err := m.Document()
	if err != nil {
		return nil, err
	}
	if int64(len(document)) > l.maxRunBytes() {
		return tooLarge("the run document has %d bytes, more than %d", len(document), l.maxRunBytes())
	}
	return nil, nil
}

// blame makes the node whose result is largest answer for a transition that is too
// large: its attempt has failed for good.
func (s *Step) blame(t *transition, message string, attempts []attempt) *Moment {
	var largest *attempt
	var most int64 = -1
	for i := range attempts {
		if n := atMost(attempts[i].write.Update); n > most {
			most, largest = n, &attempts[i]
		}
	}
	failed := attempt{task: largest.task, failure: &failure{reason: ReasonTooLarge, message: message, permanent: true}}
	t.emit(run.EventNodeFailed, failed.task.NodeID, failed.failedPayload())
	return t.fail(run.Failure{Code: run.FailureTooLarge, NodeID: failed.task.NodeID, Message: message})
}

// The estimates below are upper bounds of canonical bytes that cost no
// allocation; only what they can't clear is encoded to be measured.
const (
	maxEscape  = 6  // bytes a byte of text becomes at most
	maxNumber  = 25 // bytes of a number
	entryFrame = 8  // quotes, colon, comma, brackets
	fixedFrame = 4096
)

func runAtMost(r *run.Run) int64 {
	n := fixedFrame + atMost(r.Input) + atMost(r.Output) + atMost(r.Metadata)
	for id, c := range r.Channels { // order-free: a sum
		n += text(id) + atMost(c.Value) + maxNumber + entryFrame*4
	}
	for id, i := range r.Interrupts { // order-free: a sum
		n += text(id)*2 + fixedFrame + atMost(i.Metadata) + atMost(i.Answer) + atMost(i.Schema.ToMap())
	}
	for _, list := range [][]string{r.Changed, r.Pending} {
		for _, id := range list {
			n += text(id) + entryFrame
		}
	}
	for id, sources := range r.Barriers { // order-free: a sum
		n += text(id) + int64(len(sources))*(128+entryFrame)
	}
	if r.Failure != nil {
		n += text(r.Failure.Message) + atMost(r.Failure.Details)
	}
	if r.Active != nil {
		n += superstepAtMost(r.Active)
	}
	return n
}

func superstepAtMost(s *run.Superstep) int64 {
	n := atMost(s.Snapshot) + int64(len(s.Versions))*(128+maxNumber+entryFrame)
	for id, t := range s.Tasks { // order-free: a sum
		n += text(id)*3 + fixedFrame
		for _, f := range t.Failures {
			n += text(f.Message) + 128
		}
	}
	for id, w := range s.Writes { // order-free: a sum
		n += text(id)*3 + fixedFrame + atMost(w.Update) + int64(len(w.Reset))*(128+entryFrame)
		for _, i := range w.Interrupts {
			n += fixedFrame + text(i.ID) + atMost(i.Metadata) + atMost(i.Schema.ToMap())
		}
	}
	return n
}

func atMost(v any) int64 {
	switch v := v.(type) {
	case string:
		return text(v)
	case []any:
		n := int64(entryFrame)
		for _, item := range v {
			n += atMost(item) + 1
		}
		return n
	case map[string]any:
		n := int64(entryFrame)
		for key, item := range v { // order-free: a sum
			n += text(key) + atMost(item) + entryFrame
		}
		return n
	default:
		return maxNumber
	}
}

func text(s string) int64 { return int64(len(s))*maxEscape + 2 }
