package engine

import (
	"sync"
	"time"

	"github.com/docket-go/docket/core/value"
)

// storeClock knows the store's time (ADR 0004). In production it keeps an offset to
// the process's monotonic clock, corrected by every answer; with an injected
// clock it is that clock, and the store is told what time it is.
type storeClock struct {
	injected func() time.Time

	mu    sync.Mutex
	store time.Time // the store's time at the moment at; zero while unknown
	at    time.Time // carries the monotonic reading
}

// maxClockAge bounds how long an offset is trusted without a new answer: a
// process that was suspended has a monotonic clock that stood still.
const maxClockAge = time.Minute

// stamp is the Now of a request: zero, so that the store's own clock counts,
// unless a clock is injected.
func (c *storeClock) stamp() (time.Time, error) {
	if c.injected == nil {
		return time.Time{}, nil
	}
	now := value.Time(c.injected())
	if now.IsZero() {
		return time.Time{}, &Error{Code: CodeInvalidClock, Message: "the injected clock returned the zero time"}
	}
	return now, nil
}

// now returns the store's time; ok is false while no recent answer told it.
func (c *storeClock) now() (now time.Time, ok bool) {
	if c.injected != nil {
		now, err := c.stamp()
		return now, err == nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	passed := time.Since(c.at)
	return value.Time(c.store.Add(passed)), !c.store.IsZero() && passed < maxClockAge
}

// learn takes an answer's time. The store's time at the receipt lies between the
// answer's and the answer's plus the round trip; the estimate moves only as far
// as it must to lie there, so that a slow answer never sets it back.
func (c *storeClock) learn(sent, answered time.Time) {
	if c.injected != nil || answered.IsZero() {
		return
	}
	received := time.Now()
	lo, hi := answered, answered.Add(received.Sub(sent))
	c.mu.Lock()
	defer c.mu.Unlock()
	estimate := lo
	if !c.store.IsZero() {
		estimate = c.store.Add(received.Sub(c.at))
	}
	switch {
	case estimate.Before(lo):
		estimate = lo
	case estimate.After(hi):
		estimate = hi
	}
	c.store, c.at = estimate, received
}
