package conformance

import (
	"fmt"
	"time"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

var commitCases = []Case{
	{
		ID: "commit/replaces-record-and-appends-events", Clauses: on("RUN-4 EVT-1"),
		Rule: "A commit replaces record, type and schedule and appends its events.",
		run:  commitReplaces,
	},
	{
		ID: "commit/zeroes-the-counts", Clauses: on("RUN-4 CLM-3"),
		Rule: "A commit zeroes attempts and abandons: the next claim is attempt 1 again.",
		run:  commitZeroesCounts,
	},
	{
		ID: "commit/without-events", Clauses: on("RUN-4 EVT-1"),
		Rule: "A transition without events leaves the event sequence alone.",
		run:  commitWithoutEvents,
	},
	{
		ID: "commit/other-token-is-stale", Clauses: on("RUN-2 CLM-6"),
		Rule: "A commit under another token is ErrStale and writes nothing.",
		run:  otherTokenIsStale,
	},
	{
		ID: "commit/unclaimed-run-is-stale", Clauses: on("RUN-2"),
		Rule: "A claimed commit on a run that nobody claims is ErrStale and writes nothing.",
		run:  unclaimedRunIsStale,
	},
	{
		ID: "commit/old-sequence-is-stale", Clauses: on("RUN-2 RUN-13"),
		Rule: "A commit that expects an older sequence is ErrStale and writes nothing, also under the right token.",
		run:  oldSequenceIsStale,
	},
	{
		ID: "commit/future-sequence-is-stale", Clauses: on("RUN-2"),
		Rule: "A commit that expects a sequence not reached yet is ErrStale and writes nothing.",
		run:  futureSequenceIsStale,
	},
	{
		ID: "commit/sequence-is-exactly-plus-one", Clauses: on("RUN-2 RUN-3"),
		Rule: "A proposal that isn't the expected sequence plus exactly one is ErrInvalid and writes nothing.",
		run:  sequenceIsPlusOne,
	},
	{
		ID: "commit/events-continue-without-gap", Clauses: on("RUN-2 EVT-1"),
		Rule: "Events that don't continue the stored event sequence are refused and nothing is written.",
		run:  eventsContinue,
	},
	{
		ID: "commit/empty-token-is-invalid", Clauses: on("RUN-2"),
		Rule: "An empty token is ErrInvalid, on a claimed and on an unclaimed run.",
		run:  emptyTokenIsInvalid,
	},
	{
		ID: "commit/shape-is-checked-before-lookup", Clauses: on("RUN-3"),
		Rule: "A transition of the wrong shape is ErrInvalid, also for a run that doesn't exist and under a stale fence.",
		run:  commitShapeBeforeLookup,
	},
	{
		ID: "commit/unknown-run-is-not-found", Clauses: on("RUN-3 SCP-3"),
		Rule: "A commit or signal to an unknown run is ErrNotFound.",
		run:  commitUnknownRun,
	},
	{
		ID: "commit/terminal-run-is-stale", Clauses: on("RUN-2 CLM-6"),
		Rule: "Every claim-fenced operation on a terminal run is ErrStale and writes nothing.",
		run:  terminalRunIsStale,
	},
	{
		ID: "commit/repeated-request-applies-once", Clauses: on("RUN-13 RUN-2"),
		Rule: "The same request sent again, unchanged, is ErrStale; a read shows the token with the expected sequence plus one.",
		run:  repeatedRequestAppliesOnce,
	},
	{
		ID: "commit/updated-at-moves-only-by-commits", Clauses: on("RUN-8"),
		Rule: "Claims, refreshes, releases, abandons, poison and recovery leave the record and its updated_at alone.",
		run:  updatedAtMovesOnlyByCommits,
	},
	{
		ID: "commit/many-steps-keep-one-history", Clauses: on("RUN-4 EVT-1 EVT-3"),
		Rule: "After a seeded walk of commits and signals the record is the last one and the events are all of them.",
		run:  manyStepsKeepOneHistory,
	},
}

func commitReplaces(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	token := s.claim(r).Token
	e.advance(time.Second)
	s.commit(r, token, change{Kind: record.ScheduleRetain, Events: 3, Pad: 100})
	s.stored(r)
	e.advance(time.Second)
	s.commit(r, token, change{Status: failed, Events: 4})
	s.stored(r)
}

func commitZeroesCounts(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	lease := s.claim(r)
	_, err := s.abandon(r, lease.Token, ports.AbandonClaim{RetryAt: e.now, NonPoisoning: true})
	e.ok(err, "abandoning")
	s.claim(r)
	e.advance(ttl + time.Microsecond)
	lease = s.claim(r)
	e.same(int64(2), lease.Attempt, "the attempt after one expiry")
	s.commit(r, lease.Token, change{})
	s.delivers(r, delivery{WakeAt: e.now}, "after a commit")
	e.same(int64(1), s.claim(r).Attempt, "the attempt after a commit")
}

func commitWithoutEvents(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	s.commit(r, s.claim(r).Token, change{Events: -1})
	s.stored(r)
	s.commit(r, s.claim(r).Token, change{Events: 1})
	s.stored(r)
}

func otherTokenIsStale(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	token := s.claim(r).Token
	before := s.observe(r)
	for _, wrong := range []string{"guess", token + "x", token[:len(token)-1]} {
		_, err := s.tryCommit(r, wrong, r.next(e.now, change{Status: done}))
		e.want(err, ports.ErrStale, "committing under another token")
	}
	s.unchanged(before, r, "a commit under another token")
	s.commit(r, token, change{})
}

func unclaimedRunIsStale(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	before := s.observe(r)
	_, err := s.tryCommit(r, "guess", r.next(e.now, change{}))
	e.want(err, ports.ErrStale, "a claimed commit on an unclaimed run")
	s.unchanged(before, r, "a claimed commit on an unclaimed run")
	token := s.claim(r).Token
	e.ok(s.release(r, token, false), "releasing")
	before = s.observe(r)
	_, err = s.tryCommit(r, token, r.next(e.now, change{}))
	e.want(err, ports.ErrStale, "a commit under a released token")
	s.unchanged(before, r, "a commit under a released token")
}

// at commits a transition with an expected sequence of the case's choice.
func (s *store) commitAt(r *subject, token string, expected int64, t record.Transition) error {
	_, err := s.CommitClaimed(s.env.Context(), ports.CommitClaimed{
		Scope: ports.System(), RunID: r.run.ID, Token: token, ExpectedSeq: expected, Transition: t, TTL: ttl, Now: s.env.now,
	})
	return err
}

func oldSequenceIsStale(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	token := s.claim(r).Token
	old := *r
	s.commit(r, token, change{Kind: record.ScheduleRetain, Events: 3})
	before := s.observe(r)
	for _, c := range []change{{Kind: record.ScheduleRetain}, {Status: done, Events: 5}, {Status: waiting, Events: -1}} {
		e.want(s.commitAt(r, token, old.run.CheckpointSeq, old.next(e.now, c)), ports.ErrStale, "committing on an older sequence")
	}
	s.unchanged(before, r, "a commit on an older sequence")
}

func futureSequenceIsStale(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	token := s.claim(r).Token
	before := s.observe(r)
	ahead := *r
	ahead.run.CheckpointSeq += 3
	e.want(s.commitAt(r, token, ahead.run.CheckpointSeq, ahead.next(e.now, change{})), ports.ErrStale, "committing on a future sequence")
	s.unchanged(before, r, "a commit on a future sequence")
}

func sequenceIsPlusOne(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	token := s.claim(r).Token
	before := s.observe(r)
	for _, by := range []int64{-2, -1, 1, 2} {
		t := r.next(e.now, change{})
		t.Run.CheckpointSeq += by
		e.want(s.commitAt(r, token, r.run.CheckpointSeq, t), ports.ErrInvalid, fmt.Sprintf("proposing the expected sequence + %d", 1+by))
		_, err := s.CommitUnclaimed(e.Context(), ports.CommitUnclaimed{
			Scope: r.scope(), RunID: "r", ExpectedSeq: r.run.CheckpointSeq, Transition: t, Now: e.now,
		})
		e.want(err, ports.ErrInvalid, fmt.Sprintf("signalling with the expected sequence + %d", 1+by))
	}
	s.unchanged(before, r, "a proposal that isn't the next sequence")
}

// eventsContinue proposes the right checkpoint sequence with events that leave a
// gap to, or overlap, what is stored.
func eventsContinue(e *env) {
	s := e.open()
	r := s.startWith(acme, "r", change{Events: 3})
	token := s.claim(r).Token
	before := s.observe(r)
	for _, shift := range []int64{-2, -1, 1, 5} {
		shifted := *r
		shifted.run.EventSeq += shift
		claimedErr := s.commitAt(r, token, r.run.CheckpointSeq, shifted.next(e.now, change{Kind: record.ScheduleRetain}))
		e.refused(claimedErr, fmt.Sprintf("committing events that start %+d off", shift))
		_, err := s.trySignal(r, shifted.next(e.now, change{Type: interruptResolved}))
		e.refused(err, fmt.Sprintf("signalling with events that start %+d off", shift))
	}
	s.unchanged(before, r, "a transition whose events don't continue")
}

// refused wants any error that says that nothing was applied.
func (e *env) refused(err error, what string) {
	e.Helper()
	switch ports.CodeOf(err) {
	case ports.CodeInvalid, ports.CodeStale, ports.CodeConflict:
	default:
		e.Errorf("%s: got %v, want a refusal (invalid, stale or conflict)", what, err)
	}
}

func emptyTokenIsInvalid(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	for _, state := range []string{"unclaimed", "claimed"} {
		if state == "claimed" {
			s.claim(r)
		}
		before := s.observe(r)
		_, err := s.tryCommit(r, "", r.next(e.now, change{}))
		e.want(err, ports.ErrInvalid, "committing with an empty token on a run that is "+state)
		_, err = s.refresh(r, "", ttl)
		e.want(err, ports.ErrInvalid, "refreshing with an empty token on a run that is "+state)
		e.want(s.release(r, "", false), ports.ErrInvalid, "releasing with an empty token on a run that is "+state)
		_, err = s.abandon(r, "", ports.AbandonClaim{NonPoisoning: true})
		e.want(err, ports.ErrInvalid, "abandoning with an empty token on a run that is "+state)
		s.unchanged(before, r, "an operation with an empty token")
	}
}

func commitShapeBeforeLookup(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	token := s.claim(r).Token
	before := s.observe(r)
	bad := append([]spoiled{
		{"run_initialized again", func(t *record.Transition) { t.Run.CheckpointType = runInitialized }},
		{"an unknown checkpoint type", func(t *record.Transition) { t.Run.CheckpointType = "paused" }},
	}, badRecords...)
	unknown := &subject{owner: acme, run: r.run}
	unknown.run.ID = "unknown"
	for _, b := range bad {
		for _, target := range []*subject{r, unknown} {
			for _, fence := range []string{token, "stale"} {
				t := target.next(e.now, change{})
				b.spoil(&t)
				e.want(s.commitAt(target, fence, target.run.CheckpointSeq, t), ports.ErrInvalid, "committing "+b.what+" to "+target.run.ID)
			}
			t := target.next(e.now, change{})
			b.spoil(&t)
			_, err := s.trySignal(target, t)
			e.want(err, ports.ErrInvalid, "signalling "+b.what+" to "+target.run.ID)
		}
	}
	s.unchanged(before, r, "a transition of the wrong shape")
}

func commitUnknownRun(e *env) {
	s := e.open()
	ghost := &subject{owner: acme}
	ghost.apply(begin("ghost", s.graph(acme), e.now, change{}))
	for _, op := range []struct {
		name string
		errs map[string]error
	}{{"read", s.reads(e.Context(), ports.System(), "ghost")}, {"write", s.writes(e.Context(), ports.System(), ghost, "token")}} {
		for name, err := range op.errs {
			e.want(err, ports.ErrNotFound, name+" of an unknown run")
		}
	}
}

func terminalRunIsStale(e *env) {
	s := e.open()
	for _, status := range []string{done, failed, cancelled} {
		r := s.start(acme, status)
		token := s.claim(r).Token
		s.commit(r, token, change{Status: status})
		before := s.observe(r)
		_, err := s.tryCommit(r, token, r.next(e.now, change{}))
		e.want(err, ports.ErrStale, "a claimed commit on a "+status+" run")
		_, err = s.refresh(r, token, ttl)
		e.want(err, ports.ErrStale, "a refresh on a "+status+" run")
		e.want(s.release(r, token, true), ports.ErrStale, "a release on a "+status+" run")
		_, err = s.abandon(r, token, ports.AbandonClaim{NonPoisoning: true})
		e.want(err, ports.ErrStale, "an abandon on a "+status+" run")
		s.unchanged(before, r, "a claim-fenced operation on a "+status+" run")
	}
}

func repeatedRequestAppliesOnce(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	token := s.claim(r).Token
	before := *r
	t := r.next(e.now, change{Kind: record.ScheduleRetain})
	_, err := s.tryCommit(r, token, t)
	e.ok(err, "committing")
	landed := s.observe(r)
	e.want(s.commitAt(&before, token, before.run.CheckpointSeq, t), ports.ErrStale, "the same commit again")
	s.unchanged(landed, r, "the same commit again")
	got, err := s.FetchRun(e.Context(), ports.FetchRun{Scope: ports.System(), RunID: "r", Now: e.now})
	e.ok(err, "fetching")
	e.same(token, got.Token, "the token that proves that the commit landed")
	e.same(before.run.CheckpointSeq+1, got.Run.CheckpointSeq, "the sequence that proves it")
}

func updatedAtMovesOnlyByCommits(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	record := r.run
	unmoved := func(after string) {
		e.Helper()
		e.same(record, s.info(r).Run, "the record after "+after)
		e.advance(time.Second)
	}
	lease := s.claim(r)
	unmoved("a claim")
	_, err := s.refresh(r, lease.Token, ttl)
	e.ok(err, "refreshing")
	unmoved("a refresh")
	e.ok(s.release(r, lease.Token, false), "releasing")
	unmoved("a release")
	_, err = s.abandon(r, s.claim(r).Token, ports.AbandonClaim{RetryAt: e.now, MaxAbandons: 1})
	e.ok(err, "abandoning to poison")
	unmoved("poison")
	_, err = s.RecoverRun(e.Context(), ports.RecoverRun{Scope: r.scope(), RunID: "r", Now: e.now})
	e.ok(err, "recovering")
	unmoved("a recovery")
}

// manyStepsKeepOneHistory walks at random, by the seed of the case.
func manyStepsKeepOneHistory(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	token := ""
	for range 60 {
		e.advance(time.Duration(e.rand.IntN(1000)) * time.Microsecond)
		events := e.rand.IntN(4) - 1
		if e.rand.IntN(4) == 0 {
			s.signal(r, change{Type: interruptResolved, Events: events})
			token = ""
			continue
		}
		if token == "" {
			token = s.claim(r).Token
		}
		c := change{Kind: record.ScheduleRetain, Events: events, Pad: e.rand.IntN(3000)}
		if e.rand.IntN(3) == 0 {
			c.Kind = record.ScheduleImmediate
		}
		s.commit(r, token, c)
		if c.Kind == record.ScheduleImmediate {
			token = ""
		}
	}
	s.stored(r)
}
