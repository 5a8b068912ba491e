package mutants

import (
	"context"
	"fmt"
	"time"

	"github.com/docket-go/docket/conformance"
	"github.com/docket-go/docket/conformance/model"
	"github.com/docket-go/docket/ports"
)

// Harness opens the model with the mutant's rule switched off; the zero Mutant
// is the true model. The storage of a handle stays in memory, so Reopen and
// Crash have something to find.
func Harness(m Mutant) conformance.Harness {
	return conformance.Harness{
		Name:   "model: " + m.Name,
		Open:   func(context.Context) (ports.Backend, error) { return m.open(), nil },
		Reopen: m.reopen,
		Crash:  func(context.Context, ports.Backend) error { return nil },
		Corrupt: func(_ context.Context, b ports.Backend, target conformance.Target) (err error) {
			modelOf(b).Edit(func(s *model.State) { err = corrupt(s, target) })
			return err
		},
		RawWrite: func(_ context.Context, b ports.Backend, id string, shape conformance.Shape) (err error) {
			modelOf(b).Edit(func(s *model.State) { err = rawWrite(s, id, shape, m.rawShapes) })
			return err
		},
	}
}

func (m Mutant) open() ports.Backend {
	of := func(s *model.State) model.Operations { return operations{s, m.rules} }
	return m.wrapped(model.NewBackendOf(of))
}

func (m Mutant) wrapped(b *model.Backend) ports.Backend {
	if m.wrap == nil {
		return b
	}
	return m.wrap(b)
}

func (m Mutant) reopen(_ context.Context, b ports.Backend) (ports.Backend, error) {
	again := modelOf(b).Reopen()
	if m.apart {
		again = modelOf(b).Copy()
	}
	if m.reopened != nil {
		again.Edit(m.reopened)
	}
	return m.wrapped(again), nil
}

// modelOf finds the model inside a wrapped one.
func modelOf(b ports.Backend) *model.Backend {
	if inner, ok := b.(interface{ inside() *model.Backend }); ok {
		return inner.inside()
	}
	return b.(*model.Backend)
}

// corrupt flips the last bit of stored bytes.
func corrupt(s *model.State, target conformance.Target) error {
	flip := func(data []byte) error {
		if len(data) == 0 {
			return fmt.Errorf("nothing to damage")
		}
		data[len(data)-1] ^= 1
		return nil
	}
	if target.Ref.ID != "" {
		v, _ := s.Graph(target.Owner, target.Ref)
		return flip(v.Document)
	}
	r, _ := s.Row(target.RunID)
	if target.Seq == 0 {
		return flip(r.Run.Document)
	}
	for _, e := range r.Events {
		if e.Seq == target.Seq {
			return flip(e.Payload)
		}
	}
	return fmt.Errorf("no such event")
}

// rawWrite stores a misshapen row unless the store's own check refuses it.
func rawWrite(s *model.State, id string, shape conformance.Shape, unchecked bool) error {
	r, ok := s.Row(id)
	if !ok {
		return fmt.Errorf("no run %q", id)
	}
	misshape(&r, shape)
	info := ports.RunInfo{
		Run: r.Run, WakeAt: r.Wake, ClaimedAt: r.ClaimedAt, ClaimEnd: r.ClaimEnd, Attempts: r.Attempts, Poison: r.Poison,
	}
	if err := ports.CheckRow(info, r.Token); err != nil && !unchecked {
		return err
	}
	if r.Attempts < 0 && !unchecked {
		return fmt.Errorf("negative attempts")
	}
	s.Put(r)
	return nil
}

func misshape(r *model.Row, shape conformance.Shape) {
	now := r.Run.UpdatedAt
	switch shape {
	case conformance.ShapeFinishedRunning:
		r.Run.FinishedAt = now
	case conformance.ShapeTokenAlone:
		r.Wake, r.Token = time.Time{}, "raw"
	case conformance.ShapeReasonAlone:
		r.Wake, r.Poison.Reason = time.Time{}, ports.PoisonAttempts
	case conformance.ShapeNothingDue:
		r.Wake = time.Time{}
	case conformance.ShapeWakeAndClaim:
		r.Token, r.ClaimedAt, r.ClaimEnd = "raw", now, now
	case conformance.ShapePoisonAndWake:
		r.Poison = ports.Poison{At: now, Reason: ports.PoisonAttempts}
	case conformance.ShapeTerminalWake:
		r.Run.Status, r.Run.FinishedAt = "done", now
	case conformance.ShapeTerminalUnended:
		r.Run.Status, r.Wake = "done", time.Time{}
	case conformance.ShapeUnknownStatus:
		r.Run.Status, r.Wake = "created", time.Time{}
	case conformance.ShapeNegativeAttempts:
		r.Attempts = -1
	}
}
