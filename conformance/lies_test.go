package conformance_test

import (
	"context"
	"errors"
	"regexp"
	"testing"

	"github.com/docket-go/docket/conformance"
	"github.com/docket-go/docket/conformance/model"
	"github.com/docket-go/docket/ports"
)

// liar is the model with one operation that breaks its contract.
type liar struct {
	*model.Backend
	commit  func(context.Context, *model.Backend, ports.CommitClaimed) (ports.Committed, error)
	claim   func(ports.ClaimRuns) ports.ClaimRuns
	release func(ports.ReleaseClaim) ports.ReleaseClaim
	fetch   func(ports.FetchRun) ports.FetchRun
	events  func(ports.EventPage) ports.EventPage
	runs    func(ports.RunPage) ports.RunPage
}

func (l liar) CommitClaimed(ctx context.Context, req ports.CommitClaimed) (ports.Committed, error) {
	if l.commit == nil {
		return l.Backend.CommitClaimed(ctx, req)
	}
	return l.commit(ctx, l.Backend, req)
}

func (l liar) ClaimRuns(ctx context.Context, req ports.ClaimRuns) (ports.Claimed, error) {
	if l.claim != nil {
		req = l.claim(req)
	}
	return l.Backend.ClaimRuns(ctx, req)
}

func (l liar) ReleaseClaim(ctx context.Context, req ports.ReleaseClaim) (ports.Released, error) {
	if l.release != nil {
		req = l.release(req)
	}
	return l.Backend.ReleaseClaim(ctx, req)
}

func (l liar) FetchRun(ctx context.Context, req ports.FetchRun) (ports.FetchedRun, error) {
	if l.fetch != nil {
		req = l.fetch(req)
	}
	return l.Backend.FetchRun(ctx, req)
}

func (l liar) ListEvents(ctx context.Context, req ports.ListEvents) (ports.EventPage, error) {
	page, err := l.Backend.ListEvents(ctx, req)
	if l.events != nil && err == nil {
		page = l.events(page)
	}
	return page, err
}

func (l liar) ListRuns(ctx context.Context, req ports.ListRuns) (ports.RunPage, error) {
	page, err := l.Backend.ListRuns(ctx, req)
	if l.runs != nil && err == nil {
		page = l.runs(page)
	}
	return page, err
}

// ignoringTheToken commits under whatever token the run has.
func ignoringTheToken(ctx context.Context, b *model.Backend, req ports.CommitClaimed) (ports.Committed, error) {
	if run, err := b.FetchRun(ctx, ports.FetchRun{Scope: req.Scope, RunID: req.RunID, Now: req.Now}); err == nil && run.Token != "" && req.Token != "" {
		req.Token = run.Token
	}
	return b.CommitClaimed(ctx, req)
}

// writingWhenStale gives the right error and writes all the same.
func writingWhenStale(ctx context.Context, b *model.Backend, req ports.CommitClaimed) (ports.Committed, error) {
	got, err := b.CommitClaimed(ctx, req)
	if errors.Is(err, ports.ErrStale) {
		_, _ = b.CommitUnclaimed(ctx, ports.CommitUnclaimed{
			Scope: req.Scope, RunID: req.RunID, ExpectedSeq: req.ExpectedSeq, Transition: req.Transition, Now: req.Now,
		})
	}
	return got, err
}

// TestLiarsFail shows for each lie a case that goes red, so that a suite which
// stops asking is noticed. With scripted it is seen by the random scripts too.
func TestLiarsFail(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lie      liar
		kills    string
		scripted bool
	}{
		"token ignored":           {liar{commit: ignoringTheToken}, "commit/other-token-is-stale", true},
		"stale commit that wrote": {liar{commit: writingWhenStale}, "fence/stale-token-changes-nothing", true},
		"one attempt too many": {liar{claim: func(r ports.ClaimRuns) ports.ClaimRuns {
			r.MaxAttempts = max(r.MaxAttempts+1, 1)
			return r
		}}, "claims/exactly-n-attempts-launch", true},
		"limit and one": {liar{claim: func(r ports.ClaimRuns) ports.ClaimRuns {
			if r.Limit > 0 && r.Limit < ports.MaxPage {
				r.Limit++
			}
			return r
		}}, "claims/limit-is-never-exceeded", true},
		"attempt never returned": {liar{release: func(r ports.ReleaseClaim) ports.ReleaseClaim {
			r.ReturnAttempt = false
			return r
		}}, "release/returns-the-attempt", true},
		"tenant leak": {liar{fetch: func(r ports.FetchRun) ports.FetchRun {
			if r.Scope.Kind != "" {
				r.Scope = ports.System()
			}
			return r
		}}, "scope/strangers-learn-nothing", false},
		"bounds forgotten": {liar{events: func(p ports.EventPage) ports.EventPage {
			p.Oldest = 0
			return p
		}}, "events/pages-ascend", true},
		"live pages out of order": {liar{runs: func(p ports.RunPage) ports.RunPage {
			for i, j := 0, len(p.Items)-1; i < j; i, j = i+1, j-1 {
				p.Items[i], p.Items[j] = p.Items[j], p.Items[i]
			}
			return p
		}}, "list/newest-first-by-time-and-id", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := []string{c.kills}
			if c.scripted {
				want = append(want, "scripts/answers-are-the-models")
			}
			for _, id := range want {
				report, err := conformance.Check(t.Context(), conformance.Harness{
					Name: name,
					Open: func(context.Context) (ports.Backend, error) {
						l := c.lie
						l.Backend = model.NewBackend()
						return l, nil
					},
				}, conformance.Options{Select: regexp.MustCompile("^" + id + "$"), Parallel: 1})
				if err != nil {
					t.Fatal(err)
				}
				if report.ExitCode() != conformance.ExitNonConformant {
					t.Errorf("%s: %s", id, report.Sentence())
				}
			}
		})
	}
}
