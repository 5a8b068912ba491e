package ports

import (
	"time"

	"github.com/docket-go/docket/core/record"
)

// ClaimClass is the kind of claimable run.
type ClaimClass string

// The classes (CLM-1).
const (
	ClassReady   ClaimClass = "ready"   // healthy, running, unclaimed, wake due
	ClassExpired ClaimClass = "expired" // claimed, the claim's end is past
)

// ClaimRuns asks for due runs, System scope (CLM-2).
type ClaimRuns struct {
	Scope       Scope
	Limit       int           // outcomes (leases and poisons), 1..1000
	TTL         time.Duration // the claim ends at the store's time + TTL
	MaxAttempts int64         // ≥ 1: with N exactly N launch, the next need poisons (CLM-3)
	Prefer      ClaimClass    // served first at limit 1 (CLM-4); zero means ClassReady
	Now         time.Time
}

// Lease is one claimed run (CLM-13).
type Lease struct {
	Owner    record.Owner
	Run      record.Run // carries ref and sequence
	Token    string
	Attempt  int64 // 1 for the first launch since the last committed transition
	Class    ClaimClass
	Now      time.Time // the store's time
	ClaimEnd time.Time
}

// PoisonedRun is a run that a claim poisoned instead of leasing.
type PoisonedRun struct {
	Owner  record.Owner
	RunID  string
	Poison Poison
}

// Claimed answers ClaimRuns.
type Claimed struct {
	Leases   []Lease
	Poisoned []PoisonedRun
	Now      time.Time
}

// RefreshClaim asks to move a claim's end forward (CLM-7).
type RefreshClaim struct {
	Scope Scope
	RunID string
	Token string
	TTL   time.Duration
	Now   time.Time
}

// Refreshed answers RefreshClaim.
type Refreshed struct {
	ClaimEnd time.Time
	Now      time.Time
}

// ReleaseClaim asks to give a claim back; the run is due at once (CLM-8).
type ReleaseClaim struct {
	Scope         Scope
	RunID         string
	Token         string
	ReturnAttempt bool // the attempt isn't counted (shutdown)
	Now           time.Time
}

// Released answers ReleaseClaim.
type Released struct {
	Now time.Time
}

// AbandonClaim asks to give a run back that this host can't run (CLM-9). The
// wake is RetryAt when set, else the store's time + Backoff(BackoffBase,
// BackoffCap, abandons before this one).
type AbandonClaim struct {
	Scope        Scope
	RunID        string
	Token        string
	ExpectedSeq  int64
	RetryAt      time.Time
	BackoffBase  time.Duration
	BackoffCap   time.Duration
	MaxAbandons  int64 // ≥ 1 unless NonPoisoning
	NonPoisoning bool
	Now          time.Time
}

// Abandoned answers AbandonClaim.
type Abandoned struct {
	Abandons int64
	WakeAt   time.Time // zero when poisoned
	Poison   Poison
	Now      time.Time
}
