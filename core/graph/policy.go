package graph

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/bits"
	"time"
)

// NodePolicies bounds one node's attempts.
type NodePolicies struct {
	TimeoutMS int64  // 0: the host's maximum
	Retry     *Retry // nil: one attempt
}

// Backoff is how the wait grows from one failed attempt to the next.
type Backoff string

const (
	// Constant waits the same after every failed attempt; the default.
	Constant Backoff = "constant"
	// Exponential doubles the wait after every failed attempt.
	Exponential Backoff = "exponential"
)

// Retry says how often a node is attempted and how long it waits in between.
type Retry struct {
	MaxAttempts  int64 // ≥ 1, the first attempt included
	BackoffMS    int64 // ≥ 0
	Backoff      Backoff
	MaxBackoffMS int64   // 0: no cap
	Jitter       float64 // 0..1: the part of a wait that may be cut off
}

// maxWait is the longest wait in whole milliseconds that a Duration holds.
const maxWait = math.MaxInt64 / int64(time.Millisecond)

// Delay returns the wait after failed attempt number attempt (1 is the first).
// Jitter only ever shortens it, by a part that the SHA-256 of key decides, so
// every process computes the same deadline for the same attempt. The result is
// in whole microseconds, never negative, never above the cap, and never
// overflows.
func (r Retry) Delay(attempt int64, key string) time.Duration {
	wait := r.wait(attempt)
	cut := wait.jitter(r.Jitter, key)
	return time.Duration(wait) - cut
}

type wait time.Duration

// wait is the delay before jitter: it never shrinks from attempt to attempt.
func (r Retry) wait(attempt int64) wait {
	ms := min(max(r.BackoffMS, 0), maxWait)
	if r.Backoff == Exponential && ms > 0 {
		doublings := max(attempt-1, 0)
		// ms has bits.Len64 significant bits; past 62 in all the shift would
		// overflow, and any such wait is above maxWait anyway.
		if doublings > int64(62-bits.Len64(uint64(ms))) {
			ms = maxWait
		} else {
			ms = min(ms<<doublings, maxWait)
		}
	}
	if r.MaxBackoffMS > 0 {
		ms = min(ms, r.MaxBackoffMS)
	}
	return wait(time.Duration(ms) * time.Millisecond)
}

// jitter is w·j·h as an integer: j and h are 32-bit fractions, their product a
// 64-bit one, and the high word of the 128-bit product is the part to cut.
func (w wait) jitter(j float64, key string) time.Duration {
	if !(j > 0) || w <= 0 {
		return 0
	}
	sum := sha256.Sum256([]byte(key))
	h := uint64(binary.BigEndian.Uint32(sum[:4]))
	cut, _ := bits.Mul64(uint64(w), uint64(min(j, 1)*(1<<32))*h)
	return time.Duration(cut).Truncate(time.Microsecond)
}
