package inline

import (
	"context"
	"time"
)

// virtualClock is time that only sleeping moves.
type virtualClock struct{ now time.Time }

func (c *virtualClock) Now() time.Time { return c.now }

func (c *virtualClock) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	c.now = c.now.Add(d)
	return nil
}
