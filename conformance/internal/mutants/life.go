package mutants

import (
	"context"
	"errors"

	"github.com/docket-go/docket/conformance/model"
	"github.com/docket-go/docket/ports"
)

var lifeMutants = []Mutant{
	{Name: "poison-is-in-memory", Clause: "LIF-1", Off: "A reopened store has forgotten which runs are poisoned.",
		reopened: func(s *model.State) {
			editAll(s, func(r *model.Row) {
				if r.Poisoned() {
					r.Poison, r.Wake = ports.Poison{}, r.Run.UpdatedAt
				}
			})
		}},
	{Name: "claims-are-in-memory", Clause: "LIF-1", Off: "A reopened store has forgotten its claims.",
		reopened: func(s *model.State) {
			editAll(s, func(r *model.Row) {
				if r.Claimed() {
					r.Unclaim()
					r.Wake = r.Run.UpdatedAt
				}
			})
		}},
	{Name: "events-are-in-memory", Clause: "LIF-1", Off: "A reopened store has lost its events.",
		reopened: func(s *model.State) { editAll(s, func(r *model.Row) { r.Events = nil }) }},
	{Name: "each-handle-has-its-own", Clause: "LIF-2", Off: "A second handle works on a copy.", apart: true},
	{Name: "ended-context-is-ignored", Clause: "LIF-3", Off: "A fetch works although its context has ended.",
		wrap: wrapping(outer{fetchRun: func(ctx context.Context, o *outer, req ports.FetchRun) (ports.FetchedRun, error) {
			return o.Backend.FetchRun(context.WithoutCancel(ctx), req)
		}})},
	{Name: "cancelled-write-lands", Clause: "LIF-3", Off: "A signal whose context has ended is ErrUnavailable, and applied.",
		wrap: wrapping(outer{signal: func(ctx context.Context, o *outer, req ports.CommitUnclaimed) (ports.Committed, error) {
			got, err := o.Backend.CommitUnclaimed(context.WithoutCancel(ctx), req)
			if ended := ports.Ended(ctx, "CommitUnclaimed"); err == nil && ended != nil {
				return ports.Committed{}, ended
			}
			return got, err
		}})},
	{Name: "cancellation-isn't-told", Clause: "LIF-3", Off: "The error of a cancelled save isn't the context's.",
		wrap: wrapping(outer{saveGraph: func(ctx context.Context, o *outer, req ports.SaveGraph) (ports.SavedGraph, error) {
			got, err := o.Backend.SaveGraph(ctx, req)
			if ctx.Err() != nil {
				err = ports.Unavailable("SaveGraph", errors.New("connection lost"))
			}
			return got, err
		}})},
	{Name: "works-after-close", Clause: "LIF-5", Off: "A closed store goes on.",
		wrap: wrapping(outer{close: func(*outer) error { return nil }})},
	{Name: "closed-is-unavailable", Clause: "LIF-5", Off: "A fetch from a closed store is ErrUnavailable, as if it could be tried again.",
		wrap: wrapping(outer{fetchRun: func(ctx context.Context, o *outer, req ports.FetchRun) (ports.FetchedRun, error) {
			got, err := o.Backend.FetchRun(ctx, req)
			if ports.CodeOf(err) == ports.CodeClosed {
				err = ports.Unavailable("FetchRun", errors.New("no connection"))
			}
			return got, err
		}})},
	{Name: "closing-twice-fails", Clause: "LIF-5", Off: "A second Close fails.",
		wrap: func(b *model.Backend) ports.Backend {
			closed := false
			return &outer{Backend: b, close: func(o *outer) error {
				if closed {
					return errors.New("already closed")
				}
				closed = true
				return o.Backend.Close()
			}}
		}},
}
