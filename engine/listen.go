package engine

import (
	"context"
	"errors"
)

// listen makes the dispatcher look at once when the backend tells that a run is
// due. Losing the source costs latency only (WAK-4): polling goes on.
func (d *driver) listen(ctx context.Context) error {
	if d.wakes == nil {
		return nil
	}
	wakes, err := d.wakes.Wakes(ctx)
	if err != nil {
		d.e.tel.wakeSource("failed")
		return err
	}
	d.e.tel.wakeSource("subscribed")
	for {
		select {
		case _, ok := <-wakes:
			if !ok {
				d.e.tel.wakeSource("lost")
				return errors.New("the wake source ended")
			}
			d.e.tel.wakeSource("wake")
			d.wake()
		case <-ctx.Done():
			return nil
		}
	}
}
