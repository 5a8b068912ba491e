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
	Payload Payload // of the type that Type says; never nil
}

// Clone returns a copy that shares nothing.
func (e Event) Clone() Event {
	e.Payload = e.Payload.clone()
	return e
}

// MarshalPayload returns the payload as canonical JSON, for people and logs.
func (e Event) MarshalPayload() ([]byte, error) {
	w := writer{}
	w.open()
	e.Payload.write(&w)
	w.close()
	return w.b, w.err
}

// EncodePayload returns the canonical bytes that a store keeps for the event: its
// payload, its node and the format number.
func (e Event) EncodePayload() ([]byte, error) {
	w := writer{b: make([]byte, 0, 128)}
	w.open()
	w.int("$format", Format)
	w.key("data")
	w.open()
	e.Payload.write(&w)
	w.close()
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
	e := Event{Seq: rec.Seq, Type: EventType(rec.Type), Step: rec.Step, Time: rec.Time, Payload: payloads[EventType(rec.Type)]}
	if e.Payload == nil {
		return Event{}, &CorruptError{RunID: rec.RunID, Path: "event.type", Err: broken("type", "%q is unknown", rec.Type)}
	}
	doc.sub("data", func(f fields) { e.Payload = e.Payload.read(f) })
	doc.text("node_id", &e.NodeID)
	doc.done()
	if *doc.err != nil {
		return Event{}, &CorruptError{RunID: rec.RunID, Path: "event", Err: *doc.err}
	}
	return e, nil
}
