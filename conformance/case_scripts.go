package conformance

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/docket-go/docket/conformance/model"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

var scriptCases = []Case{
	{
		ID: "scripts/answers-are-the-models", Clauses: on("RUN-2 RUN-4 RUN-5 RUN-6 RUN-9 RUN-10 RUN-12 CLM-1 CLM-3 CLM-6 CLM-7 CLM-8 CLM-9 EVT-1"),
		Requires: []Need{NeedFIFO},
		Rule:     "On seeded random scripts every answer, and everything observable after it, is what the sequential specification allows.",
		run:      answersAreTheModels,
	},
}

// scriptStep is one step of a random script. It names no token and no sequence:
// those follow from the state when it runs, so a script still means something
// after steps were taken out of it.
type scriptStep struct {
	verb string
	run  int
	n    int // the verb's choice
}

func (s scriptStep) String() string { return fmt.Sprintf("%s run %d (%d)", s.verb, s.run, s.n) }

var scriptVerbs = []string{
	"start", "claim", "claim", "commit", "commit", "stale commit", "signal", "refresh", "release", "abandon", "recover", "wait", "wait", "list",
}

const (
	scriptCount  = 4
	scriptLength = 120
	scriptRuns   = 5
	shrinkBudget = 60 // replays
)

func answersAreTheModels(e *env) {
	for range scriptCount {
		script := make([]scriptStep, scriptLength)
		for i := range script {
			script[i] = scriptStep{scriptVerbs[e.rand.IntN(len(scriptVerbs))], e.rand.IntN(scriptRuns), e.rand.IntN(1 << 20)}
		}
		at, wrong := e.play(script)
		if wrong == nil {
			continue
		}
		script, wrong = e.shrink(script[:at+1], wrong)
		var steps strings.Builder
		for i, s := range script {
			fmt.Fprintf(&steps, "\n%3d %s", i, s)
		}
		e.Fatalf("after the last of %d steps (shrunk, seed %d): %v\nscript:%s", len(script), e.seed, wrong, steps.String())
	}
}

// shrink takes steps out while the script still goes wrong, within a budget of
// replays, and leaves the log of the last wrong one.
func (e *env) shrink(script []scriptStep, wrong error) ([]scriptStep, error) {
	budget := shrinkBudget
	for size := len(script) / 2; size > 0; size /= 2 {
		for from := 0; from+size < len(script) && budget > 0; {
			shorter := slices.Concat(script[:from], script[from+size:])
			budget--
			if at, err := e.play(shorter); err != nil {
				script, wrong = shorter[:at+1], err
				continue
			}
			from += size
		}
	}
	e.play(script)
	return script, wrong
}

// play runs a script on a fresh store and a fresh model and tells the first step
// after which they differ.
func (e *env) play(script []scriptStep) (at int, wrong error) {
	e.log.reset()
	e.now = epoch
	p := player{s: e.open(), m: model.New(), e: e}
	defer p.s.raw.Close() // the clean-up closes again
	v := version("flow", 1)
	p.s.save(acme, v)
	if _, err := p.m.SaveGraph(ports.SaveGraph{Owner: acme, Version: v, Now: e.now}); err != nil {
		return 0, fmt.Errorf("the model refuses a graph: %w", err)
	}
	for i, step := range script {
		err := p.step(step)
		if err == nil {
			err = p.observe(step.id())
		}
		if err != nil {
			return i, fmt.Errorf("%s: %w", step, err)
		}
	}
	return 0, nil
}

// player drives a backend and the model side by side.
type player struct {
	s *store
	m *model.State
	e *env
}

func (s scriptStep) id() string { return fmt.Sprintf("run %d", s.run) }

func (p *player) step(step scriptStep) error {
	switch step.verb {
	case "wait":
		waits := []time.Duration{time.Microsecond, time.Second, ttl / 2, ttl, ttl + time.Microsecond}
		p.e.advance(waits[step.n%len(waits)])
		return nil
	case "start":
		return p.start(step)
	case "claim":
		return p.claim(step)
	case "list":
		req := ports.ListRuns{Scope: ports.System(), Limit: 1 + step.n%4, Records: step.n%2 == 0, Poisoned: step.n%5 == 0, Now: p.e.now}
		want, wantErr := p.m.ListRuns(req)
		got, gotErr := p.s.ListRuns(p.e.Context(), req)
		return agree(want, wantErr, got, gotErr)
	}
	known, err := p.m.FetchRun(ports.FetchRun{Scope: ports.System(), RunID: step.id(), Now: p.e.now})
	if err != nil {
		return nil // not started: nothing to try
	}
	r := &subject{owner: known.Owner, run: known.Run}
	token := known.Token
	if token == "" || step.n%7 == 0 {
		token = "another token"
	}
	switch step.verb {
	case "commit", "stale commit", "signal":
		return p.transition(step, r, token)
	}
	return p.deliver(step, r, token)
}

func (p *player) start(step scriptStep) error {
	c := change{Events: step.n%4 - 1}
	if step.n%3 == 0 {
		c.Kind, c.At = record.ScheduleAt, p.e.now.Add(ttl)
	}
	req := ports.InsertRun{Owner: acme, Transition: begin(step.id(), version("flow", 1).Ref, p.e.now, c), Now: p.e.now}
	want, wantErr := p.m.InsertRun(req)
	got, gotErr := p.s.InsertRun(p.e.Context(), req)
	return agree(want, wantErr, got, gotErr)
}

func (p *player) claim(step scriptStep) error {
	req := ports.ClaimRuns{
		Scope: ports.System(), Limit: 1 + step.n%3, TTL: ttl, MaxAttempts: 2, Now: p.e.now,
		Prefer: []ports.ClaimClass{"", ports.ClassReady, ports.ClassExpired}[step.n%3],
	}
	got, err := p.s.ClaimRuns(p.e.Context(), req)
	if err != nil {
		return err
	}
	return p.m.FollowClaim(req, got)
}

func (p *player) transition(step scriptStep, r *subject, token string) error {
	changes := []change{{}, {Kind: record.ScheduleRetain}, {Kind: record.ScheduleAt, At: p.e.now.Add(ttl)}, {Status: waiting}, {Status: failed}, {Events: 3}}
	c := changes[step.n%len(changes)]
	expected := r.run.CheckpointSeq
	if step.verb == "stale commit" {
		r.run.CheckpointSeq--
		expected--
	}
	if step.verb == "signal" {
		c = []change{{Type: interruptResolved}, {Type: interruptResolved}, {Type: interruptResolved}, {Status: cancelled}}[step.n%4]
		req := ports.CommitUnclaimed{Scope: r.scope(), RunID: r.run.ID, ExpectedSeq: expected, Transition: r.next(p.e.now, c), Now: p.e.now}
		want, wantErr := p.m.CommitUnclaimed(req)
		got, gotErr := p.s.CommitUnclaimed(p.e.Context(), req)
		return agree(want, wantErr, got, gotErr)
	}
	req := ports.CommitClaimed{
		Scope: ports.System(), RunID: r.run.ID, Token: token, ExpectedSeq: expected, Transition: r.next(p.e.now, c), TTL: ttl, Now: p.e.now,
	}
	want, wantErr := p.m.CommitClaimed(req)
	got, gotErr := p.s.CommitClaimed(p.e.Context(), req)
	return agree(want, wantErr, got, gotErr)
}

// deliver does what a holder or an operator may do without a transition.
func (p *player) deliver(step scriptStep, r *subject, token string) error {
	ctx, scope, id, now := p.e.Context(), ports.System(), r.run.ID, p.e.now
	switch step.verb {
	case "refresh":
		req := ports.RefreshClaim{Scope: scope, RunID: id, Token: token, TTL: []time.Duration{time.Second, ttl, 2 * ttl}[step.n%3], Now: now}
		want, wantErr := p.m.RefreshClaim(req)
		got, gotErr := p.s.RefreshClaim(ctx, req)
		return agree(want, wantErr, got, gotErr)
	case "release":
		req := ports.ReleaseClaim{Scope: scope, RunID: id, Token: token, ReturnAttempt: step.n%2 == 0, Now: now}
		want, wantErr := p.m.ReleaseClaim(req)
		got, gotErr := p.s.ReleaseClaim(ctx, req)
		return agree(want, wantErr, got, gotErr)
	case "abandon":
		req := ports.AbandonClaim{
			Scope: scope, RunID: id, Token: token, ExpectedSeq: r.run.CheckpointSeq - int64(step.n%5/4),
			BackoffBase: time.Second, BackoffCap: ttl, MaxAbandons: 3, NonPoisoning: step.n%3 == 0, Now: now,
		}
		if req.ExpectedSeq < 1 {
			req.ExpectedSeq = 1
		}
		want, wantErr := p.m.AbandonClaim(req)
		got, gotErr := p.s.AbandonClaim(ctx, req)
		return agree(want, wantErr, got, gotErr)
	}
	req := ports.RecoverRun{Scope: r.scope(), RunID: id, Now: now}
	want, wantErr := p.m.RecoverRun(req)
	got, gotErr := p.s.RecoverRun(ctx, req)
	return agree(want, wantErr, got, gotErr)
}

// observe compares everything that can be read of one run.
func (p *player) observe(id string) error {
	ctx := p.e.Context()
	inspect := ports.InspectRun{Scope: ports.System(), RunID: id, Now: p.e.now}
	want, wantErr := p.m.InspectRun(inspect)
	got, gotErr := p.s.InspectRun(ctx, inspect)
	if err := agree(want, wantErr, got, gotErr); err != nil || wantErr != nil {
		return err
	}
	fetch := ports.FetchRun(inspect)
	wantRun, wantErr := p.m.FetchRun(fetch)
	gotRun, gotErr := p.s.FetchRun(ctx, fetch)
	if err := agree(wantRun, wantErr, gotRun, gotErr); err != nil {
		return err
	}
	list := ports.ListEvents{Scope: ports.System(), RunID: id, Limit: 1000}
	wantPage, wantErr := p.m.ListEvents(list)
	gotPage, gotErr := p.s.ListEvents(ctx, list)
	return agree(wantPage, wantErr, gotPage, gotErr)
}

// agree compares two answers: the codes of their errors, or all of them.
func agree[A any](want A, wantErr error, got A, gotErr error) error {
	if ports.CodeOf(wantErr) != ports.CodeOf(gotErr) || (wantErr == nil) != (gotErr == nil) {
		return fmt.Errorf("the model answers %v, the backend %v", wantErr, gotErr)
	}
	if wantErr != nil {
		return nil
	}
	if diff := difference(want, got, sameEmptiness); diff != "" {
		return fmt.Errorf("the answer differs (model → backend):\n%s", diff)
	}
	return nil
}

// sameEmptiness makes no difference between a nil and an empty list.
var sameEmptiness = cmp.FilterValues(
	func(a, b any) bool { return isEmptyList(a) && isEmptyList(b) },
	cmp.Comparer(func(_, _ any) bool { return true }),
)

func isEmptyList(v any) bool {
	switch list := v.(type) {
	case []byte:
		return len(list) == 0
	case []record.Event:
		return len(list) == 0
	case []ports.RunSummary:
		return len(list) == 0
	}
	return false
}
