package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"github.com/docket-go/docket/conformance/history"
	"github.com/docket-go/docket/conformance/model"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// Workload is what the concurrent workers of a history do.
type Workload struct {
	Verbs   []string // drawn by the seed; one may be there several times
	Runs    int
	Workers int
	Calls   int // of each worker
	Seed    uint64
}

// The workloads of the cases races/linearizable-*.
var (
	CommitsAndSignals = Workload{Verbs: []string{"look", "claim", "commit", "commit", "retain", "retain", "signal"}, Runs: 1, Workers: 4, Calls: 6}
	ClaimsAndReleases = Workload{Verbs: []string{"claim", "claim", "refresh", "release", "abandon", "look"}, Runs: 2, Workers: 4, Calls: 6}
	Everything        = Workload{
		Verbs: []string{"claim", "claim", "commit", "retain", "signal", "refresh", "release", "abandon", "recover", "look", "page"},
		Runs:  2, Workers: 4, Calls: 7,
	}
)

// History has concurrent workers call b, which is empty, and returns the state
// that they began with and every call. The workers draw from the seed; who is
// first is the scheduler's.
func History(ctx context.Context, b ports.Backend, w Workload) (*model.State, []history.Call, error) {
	initial, err := prepare(ctx, b, w)
	if err != nil {
		return nil, nil, err
	}
	var recorder history.Recorder
	start := make(chan struct{})
	group, ctx := errgroup.WithContext(ctx)
	for n := range w.Workers {
		worker := &worker{
			b: b, recorder: &recorder, number: n, workload: w, known: map[string]*subject{}, tokens: map[string]string{},
			rand: rand.New(rand.NewPCG(w.Seed, uint64(n))),
		}
		group.Go(func() error {
			<-start
			return worker.work(ctx)
		})
	}
	close(start)
	err = group.Wait()
	return initial, recorder.Calls(), err
}

// prepare starts the runs, in the store and in the model.
func prepare(ctx context.Context, b ports.Backend, w Workload) (*model.State, error) {
	initial := model.New()
	save := ports.SaveGraph{Owner: acme, Version: version("flow", 1), Now: epoch}
	if _, err := b.SaveGraph(ctx, save); err != nil {
		return nil, fmt.Errorf("saving a graph: %w", err)
	}
	if _, err := initial.SaveGraph(save); err != nil {
		return nil, fmt.Errorf("the model refuses a graph: %w", err)
	}
	for n := range w.Runs {
		insert := ports.InsertRun{Owner: acme, Transition: begin(runName(n), save.Version.Ref, epoch, change{}), Now: epoch}
		if _, err := b.InsertRun(ctx, insert); err != nil {
			return nil, fmt.Errorf("inserting a run: %w", err)
		}
		if _, err := initial.InsertRun(insert); err != nil {
			return nil, fmt.Errorf("the model refuses a run: %w", err)
		}
	}
	return initial, nil
}

func runName(n int) string { return fmt.Sprintf("run %d", n) }

// worker is one caller. It knows of the runs what it was told last.
type worker struct {
	b        ports.Backend
	recorder *history.Recorder
	number   int
	workload Workload
	rand     *rand.Rand
	known    map[string]*subject
	tokens   map[string]string
}

func (w *worker) work(ctx context.Context) error {
	for range w.workload.Calls {
		verb := w.workload.Verbs[w.rand.IntN(len(w.workload.Verbs))]
		id := runName(w.rand.IntN(w.workload.Runs))
		if err := w.do(ctx, verb, id); err != nil {
			return fmt.Errorf("worker %d, %s %s: %w", w.number, verb, id, err)
		}
	}
	return nil
}

// do makes one call, after a look when it knows nothing of the run yet. The
// errors that a store may answer are part of the history.
func (w *worker) do(ctx context.Context, verb, id string) error {
	// Every call brings its Now, from two times that are a claim apart: some
	// claims find others expired.
	now := epoch.Add(time.Duration(w.rand.IntN(2)) * 2 * ttl)
	if w.known[id] == nil && verb != "claim" {
		if err := w.look(ctx, id, now); err != nil || verb == "look" {
			return err
		}
	}
	switch verb {
	case "look":
		return w.look(ctx, id, now)
	case "claim":
		return w.claim(ctx, now)
	case "commit", "retain", "signal":
		return w.advance(ctx, verb, id, now)
	}
	return w.deliver(ctx, verb, id, now)
}

func (w *worker) look(ctx context.Context, id string, now time.Time) error {
	req := ports.FetchRun{Scope: ports.System(), RunID: id, Now: now}
	got, err := recorded(ctx, w, "FetchRun", req, w.b.FetchRun, (*model.State).FetchRun)
	if err == nil {
		w.known[id], w.tokens[id] = &subject{owner: got.Owner, run: got.Run}, got.Token
	}
	return unexpected(err)
}

func (w *worker) claim(ctx context.Context, now time.Time) error {
	req := ports.ClaimRuns{Scope: ports.System(), Limit: 1 + w.rand.IntN(2), TTL: ttl, MaxAttempts: 3, Now: now}
	open := w.recorder.Begin(w.number)
	got, err := w.b.ClaimRuns(ctx, req)
	if err != nil {
		return err // nothing else is recorded of it: only a broken store refuses a claim
	}
	open.End(said("ClaimRuns", req, got, err), func(s *model.State) bool { return s.FollowSome(req, got) == nil })
	for _, l := range got.Leases {
		w.known[l.Run.ID], w.tokens[l.Run.ID] = &subject{owner: l.Owner, run: l.Run}, l.Token
	}
	return nil
}

func (w *worker) advance(ctx context.Context, verb, id string, now time.Time) error {
	r := w.known[id]
	// What is appended differs, so that two winners can't look like one.
	c := change{Events: 1 + w.rand.IntN(3), Pad: w.number + 1}
	var err error
	var t record.Transition
	if verb == "signal" {
		c.Type = interruptResolved
		t = r.next(now, c)
		req := ports.CommitUnclaimed{Scope: r.scope(), RunID: id, ExpectedSeq: r.run.CheckpointSeq, Transition: t, Now: now}
		_, err = recorded(ctx, w, "CommitUnclaimed", req, w.b.CommitUnclaimed, (*model.State).CommitUnclaimed)
	} else {
		if verb == "retain" {
			c.Kind = record.ScheduleRetain
		}
		t = r.next(now, c)
		req := ports.CommitClaimed{
			Scope: ports.System(), RunID: id, Token: w.token(id), ExpectedSeq: r.run.CheckpointSeq, Transition: t, TTL: ttl, Now: now,
		}
		_, err = recorded(ctx, w, "CommitClaimed", req, w.b.CommitClaimed, (*model.State).CommitClaimed)
	}
	if err == nil {
		r.apply(t)
	} else {
		delete(w.known, id)
	}
	return unexpected(err)
}

// token is what the worker holds the run by, or thinks it does.
func (w *worker) token(id string) string { return cmp.Or(w.tokens[id], "none") }

func (w *worker) deliver(ctx context.Context, verb, id string, now time.Time) error {
	scope, token := ports.System(), w.token(id)
	var err error
	switch verb {
	case "refresh":
		req := ports.RefreshClaim{Scope: scope, RunID: id, Token: token, TTL: ttl, Now: now}
		_, err = recorded(ctx, w, "RefreshClaim", req, w.b.RefreshClaim, (*model.State).RefreshClaim)
	case "release":
		req := ports.ReleaseClaim{Scope: scope, RunID: id, Token: token, ReturnAttempt: w.rand.IntN(2) == 0, Now: now}
		_, err = recorded(ctx, w, "ReleaseClaim", req, w.b.ReleaseClaim, (*model.State).ReleaseClaim)
	case "abandon":
		req := ports.AbandonClaim{
			Scope: scope, RunID: id, Token: token, ExpectedSeq: w.known[id].run.CheckpointSeq, RetryAt: now, MaxAbandons: 3, Now: now,
		}
		_, err = recorded(ctx, w, "AbandonClaim", req, w.b.AbandonClaim, (*model.State).AbandonClaim)
	case "recover":
		req := ports.RecoverRun{Scope: scope, RunID: id, Now: now}
		_, err = recorded(ctx, w, "RecoverRun", req, w.b.RecoverRun, (*model.State).RecoverRun)
	case "page":
		req := ports.ListEvents{Scope: scope, RunID: id, Limit: 1 + w.rand.IntN(5)}
		_, err = recorded(ctx, w, "ListEvents", req, w.b.ListEvents, (*model.State).ListEvents)
	default:
		return fmt.Errorf("conformance: no such verb: %q", verb)
	}
	if err != nil {
		delete(w.known, id)
	}
	return unexpected(err)
}

// recorded makes one call and records it with what the specification does. What
// was not applied is no part of a history; what may have been may be.
func recorded[Q, A any](
	ctx context.Context, w *worker, op string, req Q, f func(context.Context, Q) (A, error), spec func(*model.State, Q) (A, error),
) (A, error) {
	open := w.recorder.Begin(w.number)
	got, err := f(ctx, req)
	switch {
	case errors.Is(err, ports.ErrUncertain):
		open.Lost(said(op, req, got, err), func(s *model.State) bool {
			_, _ = spec(s, req) // refused: then it had no effect
			return true
		})
	case !errors.Is(err, ports.ErrUnavailable):
		open.End(said(op, req, got, err), func(s *model.State) bool {
			want, wantErr := spec(s, req)
			return sameAnswer(want, wantErr, got, err)
		})
	}
	return got, err
}

func sameAnswer[A any](want A, wantErr error, got A, gotErr error) bool {
	if wantErr != nil || gotErr != nil {
		return wantErr != nil && gotErr != nil && ports.CodeOf(wantErr) == ports.CodeOf(gotErr)
	}
	return reflect.DeepEqual(want, got) || gocmp.Equal(want, got, sameEmptiness)
}

// unexpected lets through what a store may answer to a caller that others
// outran, or that couldn't be served.
func unexpected(err error) error {
	if err == nil || ports.IsAnswer(err) || errors.Is(err, ports.ErrUncertain) || errors.Is(err, ports.ErrUnavailable) {
		return nil
	}
	return err
}

func said(op string, req, answer any, err error) string {
	e := opEntry{op: op, request: req, answer: answer, err: err, done: true}
	return e.String()
}
