package memory

import (
	"sync/atomic"
	"time"

	"github.com/docket-go/docket/core/value"
)

// clock is the store's time in whole microseconds. It never goes backwards,
// also when what it reads does.
type clock struct {
	read func() time.Time
	last atomic.Int64
}

// now returns the time of one operation: the given one, else the clock's.
func (c *clock) now(given time.Time) time.Time {
	if !given.IsZero() {
		return value.Time(given)
	}
	micros := c.read().UnixMicro()
	for {
		last := c.last.Load()
		if micros <= last {
			return time.UnixMicro(last).UTC()
		}
		if c.last.CompareAndSwap(last, micros) {
			return time.UnixMicro(micros).UTC()
		}
	}
}
