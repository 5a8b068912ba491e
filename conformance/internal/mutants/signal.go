package mutants

import (
	"time"

	"github.com/docket-go/docket/conformance/model"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

var signalMutants = []Mutant{
	{Name: "signal-doesn't-move-the-fence", Clause: "RUN-6", Off: "A signal leaves the sequence where it was.",
		rules: mendedSignal(func(before model.Row, r *model.Row, _ ports.CommitUnclaimed) {
			r.Run.CheckpointSeq = before.Run.CheckpointSeq
		})},
	{Name: "signal-leaves-the-claim", Clause: "RUN-6", Off: "A signal to a claimed run leaves its holder the claim.",
		rules: mendedSignal(func(before model.Row, r *model.Row, _ ports.CommitUnclaimed) {
			if before.Claimed() && !r.Terminal() {
				r.Token, r.ClaimedAt, r.ClaimEnd, r.Wake = before.Token, before.ClaimedAt, before.ClaimEnd, time.Time{}
			}
		})},
	{Name: "signal-may-retain", Clause: "RUN-6", Off: "A signal that retains is taken.",
		rules: rules{commitUnclaimed: func(s *model.State, req ports.CommitUnclaimed) (ports.Committed, error) {
			if r := row(s, req.RunID); req.Transition.Schedule.Kind == record.ScheduleRetain && r.Claimed() {
				return force(s, req.RunID, req.Transition, time.Minute, req.Now), nil
			}
			return s.CommitUnclaimed(req)
		}}},
	{Name: "signal-heals", Clause: "RUN-6", Off: "A signal to a poisoned run gives it back to delivery.",
		rules: mendedSignal(func(_ model.Row, r *model.Row, req ports.CommitUnclaimed) {
			if r.Poisoned() {
				r.Poison, r.Wake = ports.Poison{}, req.Normal().Now
			}
		})},
	{Name: "an-end-keeps-the-poison", Clause: "RUN-6", Off: "A run that is cancelled while it is poisoned keeps its poison.",
		rules: mendedSignal(func(before model.Row, r *model.Row, _ ports.CommitUnclaimed) { r.Poison = before.Poison })},
	{Name: "stale-before-inactive", Clause: "RUN-6", Off: "A signal with an old sequence to a run that ended is ErrStale.",
		rules: rules{commitUnclaimed: func(s *model.State, req ports.CommitUnclaimed) (ports.Committed, error) {
			got, err := s.CommitUnclaimed(req)
			if ports.CodeOf(err) == ports.CodeInactive && row(s, req.RunID).Run.CheckpointSeq != req.ExpectedSeq {
				err = ports.Stale("CommitUnclaimed")
			}
			return got, err
		}}},
	{Name: "signal-ignores-the-sequence", Clause: "RUN-6", Off: "A signal applies whatever sequence it expects.",
		rules: rules{commitUnclaimed: func(s *model.State, req ports.CommitUnclaimed) (ports.Committed, error) {
			got, err := s.CommitUnclaimed(req)
			if ports.CodeOf(err) == ports.CodeStale {
				return force(s, req.RunID, req.Transition, 0, req.Now), nil
			}
			return got, err
		}}},
	{Name: "a-claim-touches-updated-at", Clause: "RUN-8", Off: "A claim moves updated_at.",
		rules: mendedLeases(func(r *model.Row, l *ports.Lease) { r.Run.UpdatedAt = l.Now })},
	{Name: "poison-touches-updated-at", Clause: "RUN-8", Off: "An abandon that poisons moves updated_at.",
		rules: rules{abandonClaim: func(s *model.State, req ports.AbandonClaim) (ports.Abandoned, error) {
			got, err := s.AbandonClaim(req)
			if err == nil && got.Poison != (ports.Poison{}) {
				edit(s, req.RunID, func(r *model.Row) { r.Run.UpdatedAt = got.Now })
			}
			return got, err
		}}},
	{Name: "raw-shapes-are-taken", Clause: "RUN-11", Off: "The store takes a raw write that breaks the shape of a row.", rawShapes: true},
	{Name: "a-release-forgets-the-end", Clause: "RUN-11", Off: "A released run keeps the end of its claim.",
		rules: rules{releaseClaim: func(s *model.State, req ports.ReleaseClaim) (ports.Released, error) {
			before := row(s, req.RunID)
			got, err := s.ReleaseClaim(req)
			if err == nil {
				edit(s, req.RunID, func(r *model.Row) { r.ClaimEnd = before.ClaimEnd })
			}
			return got, err
		}}},
	{Name: "recovery-keeps-the-counts", Clause: "RUN-12", Off: "A recovered run keeps its attempts.",
		rules: recovering(func(before model.Row, r *model.Row, _ time.Time) { r.Attempts = before.Attempts })},
	{Name: "recovery-uses-a-sequence", Clause: "RUN-12", Off: "A recovery advances the sequence.",
		rules: recovering(func(_ model.Row, r *model.Row, _ time.Time) { r.Run.CheckpointSeq++ })},
	{Name: "recovery-wakes-later", Clause: "RUN-12", Off: "A recovered run is due only a second later.",
		rules: recovering(func(_ model.Row, r *model.Row, _ time.Time) { r.Wake = r.Wake.Add(time.Second) })},
	{Name: "recovery-wakes-the-healthy", Clause: "RUN-12", Off: "Recovering a run that is due moves its wake to now.",
		rules: rules{recoverRun: func(s *model.State, req ports.RecoverRun) (ports.Recovered, error) {
			got, err := s.RecoverRun(req)
			if err == nil && !got.Changed && !row(s, req.RunID).Wake.IsZero() {
				edit(s, req.RunID, func(r *model.Row) { r.Wake = got.Now })
			}
			return got, err
		}}},
	{Name: "recovery-of-the-ended-is-a-no-op", Clause: "RUN-12", Off: "Recovering a run that ended answers that nothing changed.",
		rules: rules{recoverRun: func(s *model.State, req ports.RecoverRun) (ports.Recovered, error) {
			got, err := s.RecoverRun(req)
			if ports.CodeOf(err) == ports.CodeInactive {
				return ports.Recovered{Now: req.Now}, nil
			}
			return got, err
		}}},
}

// recovering edits a row that was poisoned and recovered.
func recovering(f func(before model.Row, r *model.Row, now time.Time)) rules {
	return rules{recoverRun: func(s *model.State, req ports.RecoverRun) (ports.Recovered, error) {
		before := row(s, req.RunID)
		got, err := s.RecoverRun(req)
		if err == nil && got.Changed {
			edit(s, req.RunID, func(r *model.Row) { f(before, r, got.Now) })
		}
		return got, err
	}}
}
