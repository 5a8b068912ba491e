package memory

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/ports"
)

// row is a stored run with its delivery state and its retained events. It is
// immutable once it is put: a change is a new row. Rows of one run share the
// backing array of their events, which only ever grows behind what an older
// row can see.
type row struct {
	owner     record.Owner
	run       record.Run
	token     string
	wakeAt    time.Time
	claimedAt time.Time
	claimEnd  time.Time
	attempts  int64
	abandons  int64
	poison    ports.Poison
	events    []event
}

// event is a stored event with the store's time of writing it (PRN-6).
type event struct {
	record.Event
	writtenAt time.Time
}

func (r *row) status() run.Status { return run.Status(r.run.Status) }

func (r *row) poisoned() bool { return r.poison != ports.Poison{} }

// due reports whether the row has a wake that has come.
func (r *row) due(now time.Time) bool { return !r.wakeAt.IsZero() && !r.wakeAt.After(now) }

func (r *row) claim(token string, now time.Time, ttl time.Duration) {
	r.token, r.claimedAt, r.claimEnd = token, now, end(now, ttl)
	r.wakeAt = time.Time{}
}

func (r *row) unclaim(wakeAt time.Time) {
	r.token, r.claimedAt, r.claimEnd = "", time.Time{}, time.Time{}
	r.wakeAt = wakeAt
}

// poisonAs takes the run out of delivery: neither wake nor claim (RUN-11).
func (r *row) poisonAs(reason ports.PoisonReason, now time.Time) {
	r.unclaim(time.Time{})
	r.poison = ports.Poison{At: now, Reason: reason}
}

func (r *row) info(now time.Time) ports.RunInfo {
	return ports.RunInfo{
		Owner: r.owner, Run: r.run.Clone(),
		WakeAt: r.wakeAt, ClaimedAt: r.claimedAt, ClaimEnd: r.claimEnd,
		Attempts: r.attempts, Abandons: r.abandons, Poison: r.poison, Now: now,
	}
}

// end returns when a claim taken now ends, in whole microseconds (VAL-3).
func end(now time.Time, ttl time.Duration) time.Time {
	return now.Add(ttl.Truncate(time.Microsecond))
}

// appended returns the events followed by copies of more. The payloads of one
// transition share one allocation; none can grow into its neighbour.
func appended(events []event, more []record.Event, now time.Time) []event {
	size := 0
	for i := range more {
		size += len(more[i].Payload)
	}
	payloads := make([]byte, 0, size)
	events = slices.Grow(events, len(more))
	for _, e := range more {
		start := len(payloads)
		payloads = append(payloads, e.Payload...)
		e.Payload = payloads[start:len(payloads):len(payloads)]
		events = append(events, event{Event: e, writtenAt: now})
	}
	return events
}

// kept returns the record with a document of its own.
func kept(r record.Run) record.Run {
	r.Document = bytes.Clone(r.Document)
	return r
}

// compareStarted orders runs as lists do, oldest first (RUN-9).
func compareStarted(a *row, startedAt time.Time, id string) int {
	return cmp.Or(a.run.StartedAt.Compare(startedAt), cmp.Compare(a.run.ID, id))
}

// version is a stored graph version. Its record is immutable; runs counts the
// stored runs that refer to it (GRF-5).
type version struct {
	record.GraphVersion
	runs int
}

func (v *version) metadata() ports.GraphVersion {
	return ports.GraphVersion{Ref: v.Ref, PublishedAt: v.PublishedAt, Size: int64(len(v.Document))}
}

// versionKey is what a version is keyed by (GRF-1); lineKey is whose versions
// are listed together.
type (
	versionKey struct {
		owner record.Owner
		ref   graph.Ref
	}
	lineKey struct {
		owner record.Owner
		id    string
	}
)

func (k versionKey) line() lineKey { return lineKey{k.owner, k.ref.ID} }

// comparePublished orders versions as lists do, oldest first (GRF-3).
func comparePublished(v *version, publishedAt time.Time, hash string) int {
	return cmp.Or(v.PublishedAt.Compare(publishedAt), cmp.Compare(v.Ref.Hash, hash))
}
