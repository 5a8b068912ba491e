package portstest

import (
	"context"

	"github.com/docket-go/docket/ports"
)

// waking is a faulty backend with a wake source.
type waking struct {
	*faulty
	source ports.WakeSource
}

// Wakes passes the wakes of the source inside on, but for those that the test
// drops. The goroutine that does it ends with ctx.
func (b *waking) Wakes(ctx context.Context) (<-chan struct{}, error) {
	return call(ctx, b.faults, "Wakes", func(ctx context.Context) (<-chan struct{}, error) {
		in, err := b.source.Wakes(ctx)
		if err != nil {
			return nil, err
		}
		out := make(chan struct{}, 1)
		go b.deliver(ctx, in, out)
		return out, nil
	})
}

func (b *waking) deliver(ctx context.Context, in <-chan struct{}, out chan<- struct{}) {
	defer close(out)
	for range in {
		fault, n := b.faults.choose(OpWake)
		if fault.Kind == Drop {
			continue
		}
		if fault.Kind == Delay && b.faults.wait(ctx, OpWake, n) != nil {
			return
		}
		select {
		case out <- struct{}{}:
		default: // a slow reader gets one wake for many (WAK-5)
		}
	}
}
