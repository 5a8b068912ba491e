package ports

import (
	"time"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/core/value"
)

// The sizes of pages.
const (
	MaxPage       = 1000 // the most that any page, and any claim, may ask for
	DefaultPage   = 100  // what a zero Limit means for graph versions and runs
	DefaultEvents = 250  // what a zero Limit means for events (EVT-3)
)

// PageLimit returns a checked limit with its default filled in.
func PageLimit(limit, byDefault int) int {
	if limit == 0 {
		return byDefault
	}
	return limit
}

// The Normal methods return what an adapter works with once a request is
// checked: times in the one form that is compared and stored, UTC in whole
// microseconds (VAL-3), and default page sizes filled in. They change nothing
// that the caller owns.

// Normal returns the request with its times truncated.
func (r SaveGraph) Normal() SaveGraph {
	r.Now = value.Time(r.Now)
	return r
}

// Normal returns the request with its cursor truncated and its limit filled in.
func (r ListGraphs) Normal() ListGraphs {
	r.After.PublishedAt = value.Time(r.After.PublishedAt)
	r.Limit = PageLimit(r.Limit, DefaultPage)
	return r
}

// Normal returns the request with its times truncated.
func (r InsertRun) Normal() InsertRun {
	r.Transition, r.Now = normalTransition(r.Transition), value.Time(r.Now)
	return r
}

// Normal returns the request with its times truncated.
func (r CommitClaimed) Normal() CommitClaimed {
	r.Transition, r.Now = normalTransition(r.Transition), value.Time(r.Now)
	return r
}

// Normal returns the request with its times truncated.
func (r CommitUnclaimed) Normal() CommitUnclaimed {
	r.Transition, r.Now = normalTransition(r.Transition), value.Time(r.Now)
	return r
}

// Normal returns the request with its cursor truncated and its limit filled in.
func (r ListRuns) Normal() ListRuns {
	r.After.StartedAt, r.Now = value.Time(r.After.StartedAt), value.Time(r.Now)
	r.Limit = PageLimit(r.Limit, DefaultPage)
	return r
}

// Normal returns the request with its times truncated and the preference
// filled in.
func (r ClaimRuns) Normal() ClaimRuns {
	r.Now = value.Time(r.Now)
	if r.Prefer == "" {
		r.Prefer = ClassReady
	}
	return r
}

// Normal returns the request with its times truncated.
func (r AbandonClaim) Normal() AbandonClaim {
	r.RetryAt, r.Now = value.Time(r.RetryAt), value.Time(r.Now)
	return r
}

// Normal returns the request with its limit filled in.
func (r ListEvents) Normal() ListEvents {
	r.Limit = PageLimit(r.Limit, DefaultEvents)
	return r
}

// normalTransition copies the events only when one of their times changes:
// those that core calculated are normal already.
func normalTransition(t record.Transition) record.Transition {
	t.Run.StartedAt = value.Time(t.Run.StartedAt)
	t.Run.UpdatedAt = value.Time(t.Run.UpdatedAt)
	t.Run.FinishedAt = value.Time(t.Run.FinishedAt)
	t.Schedule.At = value.Time(t.Schedule.At)
	copied := false
	for i := range t.Events {
		normal := value.Time(t.Events[i].Time)
		if normal == t.Events[i].Time { // the same form, not only the same instant
			continue
		}
		if !copied {
			t.Events, copied = append([]record.Event(nil), t.Events...), true
		}
		t.Events[i].Time = normal
	}
	return t
}

// Backoff returns the wait after a run's abandon number n (from 0): base·2^n,
// at most limit. It never overflows (CLM-9).
func Backoff(base, limit time.Duration, n int64) time.Duration {
	if base <= 0 || base >= limit {
		return max(min(base, limit), 0)
	}
	for ; n > 0 && base < limit; n-- {
		if base > limit/2 {
			return limit
		}
		base *= 2
	}
	return min(base, limit)
}
