package wire_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/docket-go/docket/conformance"
	"github.com/docket-go/docket/conformance/wire"
	"github.com/docket-go/docket/ports"
)

// behindPipes is a harness whose stores are served over pipes.
func behindPipes(open func() ports.Backend) conformance.Harness {
	return conformance.Harness{
		Name: "behind pipes",
		Open: func(ctx context.Context) (ports.Backend, error) {
			l := serve(context.WithoutCancel(ctx), modelAgent(open()))
			c, err := wire.Dial(ctx, l.conn, wire.Hello{Store: "s1", Fresh: true}, wire.Config{})
			if err != nil {
				return nil, err
			}
			return c.Backend(), nil
		},
	}
}

// The whole suite passes through the wire: nothing that it looks at is lost or
// changed on the way.
func TestSuiteThroughTheWire(t *testing.T) {
	t.Parallel()
	conformance.Run(t, behindPipes(newModel))
}

// tokenBlind commits under whatever token the run has.
type tokenBlind struct{ ports.Backend }

func (l tokenBlind) CommitClaimed(ctx context.Context, req ports.CommitClaimed) (ports.Committed, error) {
	run, err := l.Backend.FetchRun(ctx, ports.FetchRun{Scope: req.Scope, RunID: req.RunID, Now: req.Now})
	if err == nil && run.Token != "" && req.Token != "" {
		req.Token = run.Token
	}
	return l.Backend.CommitClaimed(ctx, req)
}

// talkative tells in its refusals what it found, with the right code (SCP-3).
type talkative struct{ ports.Backend }

func (l talkative) FetchRun(ctx context.Context, req ports.FetchRun) (ports.FetchedRun, error) {
	got, err := l.Backend.FetchRun(ctx, req)
	if !errors.Is(err, ports.ErrNotFound) {
		return got, err
	}
	if _, hidden := l.Backend.FetchRun(ctx, ports.FetchRun{Scope: ports.System(), RunID: req.RunID, Now: req.Now}); hidden == nil {
		return got, leak{err}
	}
	return got, err
}

type leak struct{ error }

func (l leak) Error() string { return l.error.Error() + ": it is another tenant's" }
func (l leak) Unwrap() error { return l.error }

// The suite is able to fail through the wire.
func TestLiesAreSeenThroughTheWire(t *testing.T) {
	t.Parallel()
	for _, lie := range []struct {
		name string
		tell func(ports.Backend) ports.Backend
		red  string
	}{
		{"the token is ignored", func(b ports.Backend) ports.Backend { return tokenBlind{b} }, "RUN-2"},
		{"a refusal tells who has the run", func(b ports.Backend) ports.Backend { return talkative{b} }, "SCP-3"},
	} {
		t.Run(lie.name, func(t *testing.T) {
			t.Parallel()
			report, err := conformance.Check(t.Context(), behindPipes(func() ports.Backend { return lie.tell(newModel()) }), conformance.Options{Select: regexp.MustCompile("^(commit|fence|scope)/")})
			if err != nil {
				t.Fatal(err)
			}
			if report.ExitCode() != conformance.ExitNonConformant {
				t.Fatalf("exit code %d", report.ExitCode())
			}
			var red []string
			for _, r := range report.Results {
				if r.Outcome == conformance.Fail {
					red = append(red, r.Clauses...)
				}
			}
			if !strings.Contains(strings.Join(red, " ")+" ", lie.red+" ") {
				t.Errorf("red are %v, want %s among them", red, lie.red)
			}
		})
	}
}
