package ports

import (
	"time"

	"github.com/docket-go/docket/core/record"
)

// Check checks the request's shape: owner, ref, encoding, a document that is
// there.
func (r SaveGraph) Check() error {
	c := check{op: "SaveGraph"}
	c.owner(r.Owner)
	c.ref("Version.Ref", r.Version.Ref)
	c.name("Version.Encoding", string(r.Version.Encoding))
	if len(r.Version.Document) == 0 {
		c.refuse("Version.Document", "a graph document is not empty")
	}
	c.tooLarge("Version.Document", len(r.Version.Document), record.MaxRunBytes)
	c.optionalMoment("Now", r.Now)
	return c.err()
}

// Check checks the request's shape.
func (r FetchGraph) Check() error {
	c := check{op: "FetchGraph"}
	c.owner(r.Owner)
	c.ref("Ref", r.Ref)
	return c.err()
}

// Check checks the request's shape.
func (r LatestGraph) Check() error {
	c := check{op: "LatestGraph"}
	c.owner(r.Owner)
	c.name("GraphID", r.GraphID)
	return c.err()
}

// Check checks the request's shape; a cursor is whole or zero.
func (r ListGraphs) Check() error {
	c := check{op: "ListGraphs"}
	c.owner(r.Owner)
	c.name("GraphID", r.GraphID)
	if r.After != (GraphCursor{}) {
		c.moment("After.PublishedAt", r.After.PublishedAt)
		c.hash("After.Hash", r.After.Hash)
	}
	c.limit("Limit", r.Limit, 0)
	return c.err()
}

// Check checks the request's shape: a first transition (RUN-1) that is due by
// its schedule, or claimed and scheduled to retain (RUN-14).
func (r InsertRun) Check() error {
	c := check{op: "InsertRun"}
	c.owner(r.Owner)
	claimed := r.Claim != ClaimGrant{}
	if claimed {
		c.token("Claim.Token", r.Claim.Token)
		c.ttl("Claim.TTL", r.Claim.TTL)
		if r.Transition.Schedule.Kind != record.ScheduleRetain {
			c.refuse("Transition.Schedule.Kind", "a run born claimed retains its claim")
		}
	}
	c.transition(&r.Transition, true, claimed)
	if r.Transition.Run.CheckpointSeq != 1 {
		c.refuse("Transition.Run.CheckpointSeq", "an inserted run has sequence 1")
	}
	if BaseEventSeq(r.Transition) != 0 {
		c.refuse("Transition.Events", "a run's first event has sequence 1")
	}
	c.optionalMoment("Now", r.Now)
	return c.err()
}

// Check checks the request's shape: a token, and a transition that is exactly
// the next one (RUN-2).
func (r CommitClaimed) Check() error {
	c := check{op: "CommitClaimed"}
	c.scope(r.Scope)
	c.token("Token", r.Token)
	if r.Transition.Schedule.Kind == record.ScheduleRetain {
		c.ttl("TTL", r.TTL)
	}
	c.next(&r.Transition, r.RunID, r.ExpectedSeq, true)
	c.optionalMoment("Now", r.Now)
	return c.err()
}

// Check checks the request's shape: a transition that is exactly the next one
// and retains no claim (RUN-6).
func (r CommitUnclaimed) Check() error {
	c := check{op: "CommitUnclaimed"}
	c.scope(r.Scope)
	c.next(&r.Transition, r.RunID, r.ExpectedSeq, false)
	c.optionalMoment("Now", r.Now)
	return c.err()
}

func (c *check) next(t *record.Transition, runID string, expected int64, claimed bool) {
	c.id("RunID", runID)
	c.atLeast("ExpectedSeq", expected, 1)
	c.transition(t, false, claimed)
	if t.Run.ID != runID {
		c.refuse("Transition.Run.ID", "not the run that is committed")
	}
	if t.Run.CheckpointSeq != expected+1 {
		c.refuse("Transition.Run.CheckpointSeq", "not the expected sequence plus one")
	}
}

// Check checks the request's shape.
func (r FetchRun) Check() error { return checkRun("FetchRun", r.Scope, r.RunID, r.Now) }

// Check checks the request's shape.
func (r InspectRun) Check() error { return checkRun("InspectRun", r.Scope, r.RunID, r.Now) }

// Check checks the request's shape.
func (r RecoverRun) Check() error { return checkRun("RecoverRun", r.Scope, r.RunID, r.Now) }

// Check checks the request's shape: durable statuses, a hash only with an id, a
// cursor that is whole or zero.
func (r ListRuns) Check() error {
	c := check{op: "ListRuns"}
	c.scope(r.Scope)
	for _, s := range r.Statuses {
		c.status("Statuses", s)
	}
	if r.GraphID != "" {
		c.name("GraphID", r.GraphID)
	}
	if r.GraphHash != "" {
		c.hash("GraphHash", r.GraphHash)
		if r.GraphID == "" {
			c.refuse("GraphHash", "a graph hash comes with a graph id")
		}
	}
	if r.After != (RunCursor{}) {
		c.moment("After.StartedAt", r.After.StartedAt)
		c.id("After.RunID", r.After.RunID)
	}
	c.limit("Limit", r.Limit, 0)
	return c.err()
}

// Check checks the request's shape: the System scope, and a demand (CLM-2).
func (r ClaimRuns) Check() error {
	c := check{op: "ClaimRuns"}
	c.scope(r.Scope)
	if r.Scope.Kind != ScopeSystem {
		c.refuse("Scope.Kind", "runs are claimed under the system scope")
	}
	c.limit("Limit", r.Limit, 1)
	c.ttl("TTL", r.TTL)
	c.atLeast("MaxAttempts", r.MaxAttempts, 1)
	switch r.Prefer {
	case "", ClassReady, ClassExpired:
	default:
		c.refuse("Prefer", "not a claim class")
	}
	c.optionalMoment("Now", r.Now)
	return c.err()
}

// Check checks the request's shape.
func (r RefreshClaim) Check() error {
	c := check{op: "RefreshClaim"}
	c.claim(r.Scope, r.RunID, r.Token)
	c.ttl("TTL", r.TTL)
	c.optionalMoment("Now", r.Now)
	return c.err()
}

// Check checks the request's shape.
func (r ReleaseClaim) Check() error {
	c := check{op: "ReleaseClaim"}
	c.claim(r.Scope, r.RunID, r.Token)
	c.optionalMoment("Now", r.Now)
	return c.err()
}

// Check checks the request's shape: a retry time or a back-off, and a maximum
// unless the abandon can't poison (CLM-9).
func (r AbandonClaim) Check() error {
	c := check{op: "AbandonClaim"}
	c.claim(r.Scope, r.RunID, r.Token)
	c.atLeast("ExpectedSeq", r.ExpectedSeq, 1)
	c.optionalMoment("RetryAt", r.RetryAt)
	c.atLeast("BackoffBase", int64(r.BackoffBase), 0)
	c.atLeast("BackoffCap", int64(r.BackoffCap), int64(r.BackoffBase))
	if !r.NonPoisoning {
		c.atLeast("MaxAbandons", r.MaxAbandons, 1)
	}
	c.optionalMoment("Now", r.Now)
	return c.err()
}

func (c *check) claim(scope Scope, runID, token string) {
	c.scope(scope)
	c.id("RunID", runID)
	c.token("Token", token)
}

// Check checks the request's shape.
func (r ListEvents) Check() error {
	c := check{op: "ListEvents"}
	c.scope(r.Scope)
	c.id("RunID", r.RunID)
	c.atLeast("AfterSeq", r.AfterSeq, 0)
	c.limit("Limit", r.Limit, 0)
	return c.err()
}

// Check checks the request's shape.
func (r FetchEvent) Check() error {
	c := check{op: "FetchEvent"}
	c.scope(r.Scope)
	c.id("RunID", r.RunID)
	c.atLeast("Seq", r.Seq, 1)
	return c.err()
}

// Check checks the request's shape.
func (r LatestEvent) Check() error { return checkRun("LatestEvent", r.Scope, r.RunID, time.Time{}) }

func checkRun(op string, scope Scope, runID string, now time.Time) error {
	c := check{op: op}
	c.scope(scope)
	c.id("RunID", runID)
	c.optionalMoment("Now", now)
	return c.err()
}
