package record

import (
	"time"

	"github.com/docket-go/docket/core/graph"
)

// Encoding names how a record's bytes were produced. Readers refuse a label
// they don't know.
type Encoding string

// EncodingJSON is the canonical JSON of package value.
const EncodingJSON Encoding = "json"

// Owner is who a graph or a run belongs to: a tenant, or nobody when Tenant is
// empty (tenantless, one ordinary partition).
type Owner struct {
	Tenant string
}

// Run is a run as it is stored.
type Run struct {
	ID             string
	Graph          graph.Ref
	Status         string // a durable run.Status
	Step           int64  // committed supersteps
	CheckpointSeq  int64  // the fence: exactly +1 a transition
	CheckpointType string // a run.CheckpointType
	EventSeq       int64  // the sequence of the run's latest event
	OpenInterrupts int64
	StartedAt      time.Time
	UpdatedAt      time.Time
	FinishedAt     time.Time // zero until the status is terminal
	Encoding       Encoding
	Document       []byte
	Checksum       Checksum // over Document, by Sum
}

// Clone returns a copy that shares no bytes with r.
func (r Run) Clone() Run {
	r.Document = append([]byte(nil), r.Document...)
	return r
}

// Event is one committed fact of a run.
type Event struct {
	RunID    string
	Seq      int64
	Type     string // a run.EventType
	Step     int64
	Time     time.Time // when the transition was calculated, in the store's time
	Encoding Encoding
	Payload  []byte
	Checksum Checksum // over Payload, by Sum
}

// Clone returns a copy that shares no bytes with e.
func (e Event) Clone() Event {
	e.Payload = append([]byte(nil), e.Payload...)
	return e
}

// GraphVersion is one published graph document.
type GraphVersion struct {
	Ref         graph.Ref
	PublishedAt time.Time // the store's; zero in a save request
	Encoding    Encoding
	Document    []byte // its SHA-256 is Ref.Hash
}

// Clone returns a copy that shares no bytes with g.
func (g GraphVersion) Clone() GraphVersion {
	g.Document = append([]byte(nil), g.Document...)
	return g
}
