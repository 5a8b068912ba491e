package run

import (
	"time"

	"github.com/docket-go/docket/core/record"
)

// Event is one committed fact.
type Event struct {
	Seq     int64
	Type    EventType
	Step    int64  // the superstep it belongs to
	NodeID  string // empty when it isn't about one node
	Time    time.Time
	Payload map[string]any // never holds state values
}

// EncodePayload returns the canonical bytes that a store keeps for the event:
// its payload, its node and the format number.
func (e Event) EncodePayload() ([]byte, error) {
	w := writer{}
	w.open()
	w.int("$format", Format)
	w.object("data", e.Payload)
	if e.NodeID != "" {
		w.string("node_id", e.NodeID)
	}
	w.close()
	return w.b, w.err
}

// DecodeEvent verifies and reads a stored event. It fails with a *CorruptError,
// record.ErrUnsupported or ErrUnsupportedFormat.
func DecodeEvent(rec record.Event) (Event, error) {
	if err := rec.Verify(); err != nil {
		return Event{}, damaged(rec.RunID, err)
	}
	doc, err := open(rec.RunID, rec.Payload)
	if err != nil {
		return Event{}, err
	}
	e := Event{Seq: rec.Seq, Type: EventType(rec.Type), Step: rec.Step, Time: rec.Time}
	doc.object("data", &e.Payload)
	doc.text("node_id", &e.NodeID)
	doc.done()
	if *doc.err != nil {
		return Event{}, &CorruptError{RunID: rec.RunID, Path: "event", Err: *doc.err}
	}
	return e, nil
}
