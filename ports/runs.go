package ports

import (
	"time"

	"github.com/docket-go/docket/core/record"
)

// InsertRun asks to store a new run with its first events and first wake (RUN-1).
type InsertRun struct {
	Owner      record.Owner
	Transition record.Transition
	Claim      ClaimGrant // set: the run is born claimed instead of due (RUN-14)
	Now        time.Time  // zero: the store's clock
}

// ClaimGrant is the claim a run is born with; the zero grant is none.
type ClaimGrant struct {
	Token string
	TTL   time.Duration
}

// Inserted answers InsertRun.
type Inserted struct {
	Now      time.Time // the store's time
	ClaimEnd time.Time // zero without a claim
}

// CommitClaimed asks to replace a claimed run by its next transition (RUN-2).
type CommitClaimed struct {
	Scope       Scope
	RunID       string
	Token       string
	ExpectedSeq int64
	Transition  record.Transition
	TTL         time.Duration // with ScheduleRetain: the claim ends at least this long after the store's time
	Now         time.Time
}

// CommitUnclaimed asks to replace a run by the transition of a signal: a
// compare-and-set on the sequence that revokes any claim (RUN-6).
type CommitUnclaimed struct {
	Scope       Scope
	RunID       string
	ExpectedSeq int64
	Transition  record.Transition
	Now         time.Time
}

// Committed answers both commits.
type Committed struct {
	Now      time.Time // the store's time
	ClaimEnd time.Time // zero when the claim was released
}

// FetchRun asks for a run's record.
type FetchRun struct {
	Scope Scope
	RunID string
	Now   time.Time
}

// FetchedRun answers FetchRun.
type FetchedRun struct {
	Owner record.Owner
	Run   record.Run
	Token string    // the current claim's token; only under ScopeSystem (RUN-13)
	Now   time.Time // the store's time
}

// InspectRun asks for a run's operational state.
type InspectRun struct {
	Scope Scope
	RunID string
	Now   time.Time
}

// RunInfo is a run with its delivery state, never its token (RUN-10).
type RunInfo struct {
	Owner     record.Owner
	Run       record.Run
	WakeAt    time.Time // zero: no wake
	ClaimedAt time.Time // zero: unclaimed
	ClaimEnd  time.Time
	Attempts  int64 // claims since the last committed transition
	Abandons  int64
	Poison    Poison
	Now       time.Time // the store's time
}

// PoisonReason says why a run was taken out of delivery.
type PoisonReason string

// The poison reasons.
const (
	PoisonAttempts PoisonReason = "max_claim_attempts_exceeded"
	PoisonAbandons PoisonReason = "max_claim_abandons_exceeded"
)

// Poison marks a run that is never claimed until it is recovered. The zero
// Poison is none.
type Poison struct {
	At     time.Time
	Reason PoisonReason
}

// RunCursor is a position in a newest-first list of runs; the zero cursor is
// the beginning. It is exclusive.
type RunCursor struct {
	StartedAt time.Time
	RunID     string
}

// ListRuns asks for a page of runs (RUN-9). Zero filters match everything.
type ListRuns struct {
	Scope          Scope
	Statuses       []string // durable statuses; empty: all
	GraphID        string
	GraphHash      string // only with GraphID
	OpenInterrupts bool   // only runs with at least one
	Poisoned       bool   // only poisoned runs
	Records        bool   // fill RunSummary.Run.Document and Checksum
	After          RunCursor
	Limit          int // 1..1000, 0 means 100
	Now            time.Time
}

// RunSummary is one row of a list. Run.Document is empty unless asked for.
type RunSummary struct {
	Owner  record.Owner
	Run    record.Run
	Poison Poison
}

// RunPage is a page of runs, newest first by (StartedAt, ID).
type RunPage struct {
	Items   []RunSummary
	Next    RunCursor // the given cursor when Items is empty
	HasMore bool
	Now     time.Time
}

// RecoverRun asks to give a poisoned run back to delivery (RUN-12).
type RecoverRun struct {
	Scope Scope
	RunID string
	Now   time.Time
}

// Recovered answers RecoverRun.
type Recovered struct {
	Changed bool // false when the run was healthy
	Now     time.Time
}
