package mutants

import (
	"time"

	"github.com/docket-go/docket/conformance/model"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// committing replaces the claimed commit.
func committing(f func(*model.State, ports.CommitClaimed) (ports.Committed, error)) rules {
	return rules{commitClaimed: f}
}

// taking forces a commit that was refused, if wanted says so.
func taking(wanted func(s *model.State, req ports.CommitClaimed, refusal error) bool) rules {
	return committing(func(s *model.State, req ports.CommitClaimed) (ports.Committed, error) {
		got, err := s.CommitClaimed(req)
		if err != nil && wanted(s, req, err) {
			return force(s, req.RunID, req.Transition, req.TTL, req.Now), nil
		}
		return got, err
	})
}

// holds reports whether the run in the scope is held under the request's token.
func holds(s *model.State, req ports.CommitClaimed) bool {
	r := row(s, req.RunID)
	return r.Claimed() && r.Token == req.Token && req.Scope.Matches(r.Owner)
}

var commitMutants = []Mutant{
	{Name: "token-ignored", Clause: "RUN-2", Off: "A commit under any token applies to a claimed run.",
		rules: committing(func(s *model.State, req ports.CommitClaimed) (ports.Committed, error) {
			if r := row(s, req.RunID); r.Claimed() && req.Check() == nil {
				req.Token = r.Token
			}
			return s.CommitClaimed(req)
		})},
	{Name: "sequence-ignored", Clause: "RUN-2", Off: "A commit under the right token applies whatever sequence it expects.",
		rules: taking(func(s *model.State, req ports.CommitClaimed, err error) bool {
			return ports.CodeOf(err) == ports.CodeStale && holds(s, req)
		})},
	{Name: "old-sequence-accepted", Clause: "RUN-2", Off: "A commit that expects an older sequence applies.",
		rules: taking(func(s *model.State, req ports.CommitClaimed, err error) bool {
			return ports.CodeOf(err) == ports.CodeStale && holds(s, req) && req.ExpectedSeq < row(s, req.RunID).Run.CheckpointSeq
		})},
	{Name: "two-sequences-at-once", Clause: "RUN-2", Off: "A proposal may be two sequences further.",
		rules: taking(func(s *model.State, req ports.CommitClaimed, err error) bool {
			return holds(s, req) && req.Transition.Run.CheckpointSeq == req.ExpectedSeq+2 && row(s, req.RunID).Run.CheckpointSeq == req.ExpectedSeq
		})},
	{Name: "stale-commit-wrote", Clause: "RUN-2", Off: "A commit under another token is ErrStale, and is stored all the same.",
		rules: committing(func(s *model.State, req ports.CommitClaimed) (ports.Committed, error) {
			got, err := s.CommitClaimed(req)
			if r := row(s, req.RunID); ports.CodeOf(err) == ports.CodeStale && !r.Terminal() && r.Run.CheckpointSeq == req.ExpectedSeq {
				force(s, req.RunID, req.Transition, req.TTL, req.Now)
			}
			return got, err
		})},
	{Name: "stale-commit-left-its-events", Clause: "RUN-2", Off: "The events of a stale commit stay: they were written outside its transaction.",
		rules: committing(func(s *model.State, req ports.CommitClaimed) (ports.Committed, error) {
			got, err := s.CommitClaimed(req)
			if ports.CodeOf(err) == ports.CodeStale {
				edit(s, req.RunID, func(r *model.Row) {
					r.Events = append(r.Events[:len(r.Events):len(r.Events)], written(req.Transition.Clone().Events, req.Now)...)
				})
			}
			return got, err
		})},
	{Name: "stale-commit-woke", Clause: "RUN-2", Off: "A stale commit leaves its wake on a run that nobody claims.",
		rules: committing(func(s *model.State, req ports.CommitClaimed) (ports.Committed, error) {
			got, err := s.CommitClaimed(req)
			if r := row(s, req.RunID); ports.CodeOf(err) == ports.CodeStale && !r.Wake.IsZero() {
				edit(s, req.RunID, func(r *model.Row) { r.Wake = req.Now.Add(-time.Hour) })
			}
			return got, err
		})},
	{Name: "gap-between-events", Clause: "RUN-2", Off: "Events may leave a gap to the stored ones, or overlap them.",
		rules: taking(func(s *model.State, req ports.CommitClaimed, err error) bool {
			return req.Check() == nil && holds(s, req) && row(s, req.RunID).Run.CheckpointSeq == req.ExpectedSeq
		})},
	{Name: "empty-token-fits-no-claim", Clause: "RUN-2", Off: "An empty token fits a run that nobody claims.",
		rules: taking(func(s *model.State, req ports.CommitClaimed, _ error) bool {
			r := row(s, req.RunID)
			return req.Token == "" && !r.Claimed() && r.Run.CheckpointSeq == req.ExpectedSeq && req.Scope.Matches(r.Owner) && !r.Terminal()
		})},
	{Name: "empty-token-is-stale", Clause: "RUN-2", Off: "An empty token is ErrStale.",
		rules: committing(func(s *model.State, req ports.CommitClaimed) (ports.Committed, error) {
			if req.Token == "" {
				return ports.Committed{}, ports.Stale("CommitClaimed")
			}
			return s.CommitClaimed(req)
		})},
	{Name: "lookup-before-shape", Clause: "RUN-3", Off: "A commit to an unknown run is ErrNotFound whatever its shape.",
		rules: committing(func(s *model.State, req ports.CommitClaimed) (ports.Committed, error) {
			if _, ok := s.Row(req.RunID); !ok {
				return ports.Committed{}, ports.NotFound("CommitClaimed")
			}
			return s.CommitClaimed(req)
		})},
	{Name: "fence-before-shape", Clause: "RUN-3", Off: "A commit under a stale token is ErrStale whatever its shape.",
		rules: committing(func(s *model.State, req ports.CommitClaimed) (ports.Committed, error) {
			if r, ok := s.Row(req.RunID); ok && req.Token != "" && r.Token != req.Token && req.Scope.Matches(r.Owner) {
				return ports.Committed{}, ports.Stale("CommitClaimed")
			}
			return s.CommitClaimed(req)
		})},
	{Name: "attempts-survive-a-commit", Clause: "RUN-4", Off: "A commit doesn't zero the attempts.",
		rules: mendedCommit(func(before model.Row, r *model.Row, _ ports.CommitClaimed) { r.Attempts = before.Attempts })},
	{Name: "abandons-survive-a-commit", Clause: "RUN-4", Off: "A commit doesn't zero the abandons.",
		rules: mendedCommit(func(before model.Row, r *model.Row, _ ports.CommitClaimed) { r.Abandons = before.Abandons })},
	{Name: "attempts-survive-a-signal", Clause: "RUN-4", Off: "A signal doesn't zero the attempts.",
		rules: mendedSignal(func(before model.Row, r *model.Row, _ ports.CommitUnclaimed) { r.Attempts = before.Attempts })},
	{Name: "events-replace-events", Clause: "RUN-4", Off: "The events of a commit replace those that were there.",
		rules: mendedCommit(func(before model.Row, r *model.Row, _ ports.CommitClaimed) { r.Events = r.Events[len(before.Events):] })},
	{Name: "checkpoint-type-stays", Clause: "RUN-4", Off: "A commit leaves the checkpoint type as it was.",
		rules: mendedCommit(func(before model.Row, r *model.Row, _ ports.CommitClaimed) {
			r.Run.CheckpointType = before.Run.CheckpointType
		})},
	{Name: "retain-moves-the-end-back", Clause: "RUN-5", Off: "A retained claim ends when the commit says, also when that is sooner.",
		rules: mendedCommit(func(_ model.Row, r *model.Row, req ports.CommitClaimed) {
			if r.Claimed() {
				r.ClaimEnd = req.Normal().Now.Add(req.TTL)
			}
		})},
	{Name: "retain-leaves-the-end", Clause: "RUN-5", Off: "A retained claim keeps its end.",
		rules: mendedCommit(func(before model.Row, r *model.Row, _ ports.CommitClaimed) {
			if r.Claimed() {
				r.ClaimEnd = before.ClaimEnd
			}
		})},
	{Name: "a-park-is-due-at-once", Clause: "RUN-5", Off: "A run that is parked until a time is due at once.",
		rules: mendedCommit(func(_ model.Row, r *model.Row, req ports.CommitClaimed) {
			if req.Transition.Schedule.Kind == record.ScheduleAt {
				r.Wake = req.Normal().Now
			}
		})},
	{Name: "any-schedule-fits", Clause: "RUN-5", Off: "A waiting run may keep a wake.",
		rules: taking(func(s *model.State, req ports.CommitClaimed, err error) bool {
			t := req.Transition
			return t.Run.Status == "waiting" && t.Schedule.Kind == record.ScheduleImmediate && holds(s, req)
		})},
	{Name: "a-retry-appends-again", Clause: "RUN-13", Off: "The same request again is ErrStale, and appends its events once more.",
		rules: committing(func(s *model.State, req ports.CommitClaimed) (ports.Committed, error) {
			r := row(s, req.RunID)
			got, err := s.CommitClaimed(req)
			if ports.CodeOf(err) == ports.CodeStale && r.Run.Checksum == req.Transition.Run.Checksum {
				edit(s, req.RunID, func(r *model.Row) {
					r.Events = append(r.Events[:len(r.Events):len(r.Events)], written(req.Transition.Clone().Events, req.Now)...)
				})
			}
			return got, err
		})},
	{Name: "a-retry-succeeds", Clause: "RUN-13", Off: "The same request again is answered as if it had just been applied.",
		rules: committing(func(s *model.State, req ports.CommitClaimed) (ports.Committed, error) {
			r := row(s, req.RunID)
			got, err := s.CommitClaimed(req)
			if ports.CodeOf(err) == ports.CodeStale && r.Run.Checksum == req.Transition.Run.Checksum {
				return ports.Committed{Now: req.Now, ClaimEnd: r.ClaimEnd}, nil
			}
			return got, err
		})},
}
