package runtime

import (
	"fmt"
	"math"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/core/run"
)

// oversize says what in a moment is too large to be stored.
type oversize struct {
	message string
	nodeID  string // when it is about one node
}

// check returns what is too large, nil when nothing is.
func (l Limits) check(m *Moment) (*oversize, error) {
	tooLarge := func(format string, args ...any) (*oversize, error) {
		return &oversize{message: fmt.Sprintf(format, args...)}, nil
	}
	if len(m.Events) > record.MaxCommitEvents {
		return tooLarge("the transition has %d events, more than %d", len(m.Events), record.MaxCommitEvents)
	}
	for i := range m.Events {
		if payloadAtMost(m.Events[i].Payload) <= l.maxEventBytes() {
			continue
		}
		data, err := m.Events[i].EncodePayload()
		if err != nil {
			return nil, err
		}
		if int64(len(data)) > l.maxEventBytes() {
			large, err := tooLarge("a %s event has %d bytes, more than %d", m.Events[i].Type, len(data), l.maxEventBytes())
			large.nodeID = m.Events[i].NodeID
			return large, err
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

// blame makes one node answer for a transition that is too large, the one it is
// about or else the one with the largest result: its attempt has failed for good.
func (s *Step) blame(t *transition, large *oversize, attempts []attempt) *Moment {
	var culprit *attempt
	var most int64 = -1
	for i := range attempts {
		n := atMost(attempts[i].write.Update)
		if attempts[i].task.NodeID == large.nodeID {
			n = math.MaxInt64
		}
		if n > most {
			most, culprit = n, &attempts[i]
		}
	}
	failed := attempt{task: culprit.task, failure: &failure{reason: ReasonTooLarge, message: large.message, permanent: true}}
	t.emit(run.EventNodeFailed, failed.task.NodeID, failed.failedPayload())
	return t.fail(run.Failure{Code: run.FailureTooLarge, NodeID: failed.task.NodeID, Message: large.message})
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

// payloadAtMost bounds the payloads that can grow; the others are made of a few ids.
func payloadAtMost(p run.Payload) int64 {
	const ids = 8 * 256 * maxEscape
	n := int64(fixedFrame + ids)
	switch p := p.(type) {
	case run.NodeFailed:
		n += text(p.Message)
	case run.RunFailed:
		n += text(p.Message) + barriersAtMost(p.Unsatisfied)
	case run.Completed:
		n += int64(len(p.Outputs))*(128+entryFrame) + barriersAtMost(p.Unsatisfied)
	case run.ChannelUpdated:
		n += int64(len(p.Writers)+len(p.Repeated)) * (128 + entryFrame)
	case run.Checkpoint:
		n += int64(len(p.Tasks))*ids + int64(len(p.Finished))*(128+entryFrame)
	}
	return n
}

func barriersAtMost(list []run.Barrier) int64 {
	var n int64
	for _, b := range list {
		n += 256 + int64(len(b.Reached))*(128+entryFrame)
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
