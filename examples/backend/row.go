package backend

import (
	"time"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/ports"
)

// row is a stored run with its events and its delivery state. A healthy running
// row has a wake or a claim; every other row has neither (RUN-11).
type row struct {
	owner  record.Owner
	run    record.Run
	events []record.Event

	wakeAt    time.Time // zero: no wake
	token     string    // "": no claim
	claimedAt time.Time
	claimEnd  time.Time
	attempts  int64
	abandons  int64
	poison    ports.Poison
}

func (r row) status() run.Status { return run.Status(r.run.Status) }

func (r row) poisoned() bool { return r.poison != ports.Poison{} }

// claim gives the run to the holder of a token, until the store's time plus TTL.
func (r *row) claim(token string, now time.Time, ttl time.Duration) {
	r.wakeAt = time.Time{}
	r.token, r.claimedAt, r.claimEnd = token, now, end(now, ttl)
}

// unclaim takes the claim away and leaves a wake, or none for the zero time.
func (r *row) unclaim(wakeAt time.Time) {
	r.token, r.claimedAt, r.claimEnd = "", time.Time{}, time.Time{}
	r.wakeAt = wakeAt
}

// poisonAs takes the run out of delivery.
func (r *row) poisonAs(reason ports.PoisonReason, now time.Time) {
	r.unclaim(time.Time{})
	r.poison = ports.Poison{At: now, Reason: reason}
}

// returnAttempt uncounts the attempt of the claim that is given back.
func (r *row) returnAttempt() { r.attempts = max(r.attempts-1, 0) }

// visible finds a run. One that is unknown and one outside the scope are the
// same answer: nobody learns that an id exists (SCP-3).
func (s *Store) visible(op string, scope ports.Scope, id string) (row, error) {
	r, ok := s.runs[id]
	if !ok || !scope.Matches(r.owner) {
		return row{}, ports.NotFound(op)
	}
	return r, nil
}

// held finds a run that is claimed under exactly this token (CLM-6). The claim's
// end isn't asked: until somebody steals it the token is good (CLM-11).
func (s *Store) held(op string, scope ports.Scope, id, token string) (row, error) {
	r, err := s.visible(op, scope, id)
	if err == nil && r.token != token {
		return row{}, ports.Stale(op)
	}
	return r, err
}

// put stores a changed row. It is the last thing that an operation does.
func (s *Store) put(r row) { s.runs[r.run.ID] = r }

// end is when a claim ends, in whole microseconds (VAL-3).
func end(now time.Time, ttl time.Duration) time.Time { return now.Add(ttl.Truncate(time.Microsecond)) }

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
