package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/docket-go/docket/ports"
)

// prepared is a fresh store that has what the tasks find.
func prepared[Q any](t *testing.T, tasks []task[Q]) *Backend {
	t.Helper()
	b := openFresh(t)
	publish(t, b, owner(""))
	publish(t, b, owner("t"))
	for _, k := range tasks {
		for _, req := range k.stored {
			if _, err := b.InsertRun(t.Context(), req); err != nil {
				t.Fatal(err)
			}
			if k.taken == 0 {
				continue
			}
			err := execRaw(t.Context(), b, `INSERT INTO docket.docket_events (run, seq, type, step, at, recorded_at, encoding, checksum, payload)
				SELECT id, $2, 'raw', 0, started_at, started_at, 'json', checksum, '' FROM docket.docket_runs WHERE run_id = $1`,
				req.Transition.Run.ID, k.taken)
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return b
}

func (k traffic[Q, A]) oneByOne(t *testing.T, b *Backend, reqs []Q) (out []outcome) {
	for _, req := range reqs {
		answer, err := k.group(b).single(t.Context(), req)
		out = append(out, outcome{ports.Committed(answer), err})
	}
	return out
}

// inRides cuts the requests into rides as they come, and does as travel does. Only
// who has no answer alone has none there, and only a conflict fails all.
func (k traffic[Q, A]) inRides(t *testing.T, r *rand.Rand, b *Backend, reqs []Q, alone []outcome) []outcome {
	g, out := k.group(b), make([]outcome, len(reqs))
	for from := 0; from < len(reqs); {
		to := min(len(reqs), from+1+r.IntN(20))
		answers, err := g.together(t.Context(), reqs[from:to])
		if fails := slices.Contains(codes(alone[from:to]), ports.CodeConflict); fails != (err != nil) || fails && !errors.Is(err, ports.ErrConflict) {
			t.Fatalf("the ride of requests %d to %d has %v", from, to-1, err)
		}
		for i := from; i < to; i++ {
			if err != nil || answers[i-from] == nil {
				if err == nil && alone[i].err == nil {
					t.Errorf("request %d had no answer in its ride", i)
				}
				out[i] = k.oneByOne(t, b, reqs[i:i+1])[0]
			} else {
				out[i].answer = ports.Committed(*answers[i-from])
			}
		}
		from = to
	}
	return out
}

// atOnce has everybody call as the callers of a backend do, and lets nobody go
// before so many wait, who then leave together. It reports how many rode.
func (k traffic[Q, A]) atOnce(t *testing.T, b *Backend, reqs []Q, wait int, departed func()) (out []outcome, rode int) {
	t.Helper()
	g, send := k.group(b), k.group(b).together
	out = make([]outcome, len(reqs))
	var mu sync.Mutex
	g.together = func(ctx context.Context, reqs []Q) ([]*A, error) {
		mu.Lock()
		rode += len(reqs)
		mu.Unlock()
		return send(ctx, reqs)
	}
	g.mu.Lock()
	g.rides, g.singles = 2, alone // as if nobody could go
	g.mu.Unlock()
	var calls sync.WaitGroup
	for i, req := range reqs {
		calls.Go(func() {
			answer, err := k.call(t.Context(), b, req)
			out[i] = outcome{ports.Committed(answer), err}
		})
	}
	for waiting := 0; waiting < wait && pause(t.Context(), time.Millisecond); {
		g.mu.Lock()
		if waiting = len(g.waiting); waiting >= wait {
			g.rides = 0
			g.depart()
		}
		g.mu.Unlock()
	}
	for range alone {
		g.arrived(&g.singles)
	}
	departed()
	calls.Wait()
	g.together = send
	return out, rode
}

func same(t *testing.T, how string, b, alone *Backend, got, want []outcome) {
	t.Helper()
	for i := range want {
		g, w := got[i].answer, want[i].answer
		theirs := g.ClaimEnd.Equal(w.ClaimEnd) || g.ClaimEnd.Sub(g.Now) == w.ClaimEnd.Sub(w.Now)
		if ports.CodeOf(got[i].err) != ports.CodeOf(want[i].err) || masked(g.Now) != masked(w.Now) || !theirs {
			t.Errorf("%s, request %d: %+v; alone %+v", how, i, got[i], want[i])
		}
	}
	rows, wanted := contents(t, b), contents(t, alone)
	for i := range max(len(rows), len(wanted)) {
		if i >= len(rows) || i >= len(wanted) || rows[i] != wanted[i] {
			t.Fatalf("%s, row %d:\n%q\nalone:\n%q", how, i, rows[min(i, len(rows)):min(i+1, len(rows))], wanted[min(i, len(wanted)):min(i+1, len(wanted))])
		}
	}
}

// masked stands for a time of the server's clock, which no two stores share.
func masked(at time.Time) string {
	if age := time.Since(at).Abs(); age < 24*time.Hour {
		return "the server's"
	}
	return at.UTC().String()
}

var timeInJSON = regexp.MustCompile(`"\d{4}-\d\d-\d\dT[^"]*"`)

// contents are the rows of a store in one order, without the numbers that the
// server gives.
func contents(t *testing.T, b *Backend) []string {
	t.Helper()
	rows, err := b.pool.Query(t.Context(), b.place.sql(`
		SELECT r.run_id || ' ' || (to_jsonb(r) - 'id')::text AS row FROM docket.docket_runs r
		UNION ALL SELECT r.run_id || ' ' || (to_jsonb(e) - 'run')::text FROM docket.docket_events e JOIN docket.docket_runs r ON r.id = e.run
		ORDER BY row`))
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range lines {
		lines[i] = timeInJSON.ReplaceAllStringFunc(line, func(text string) string {
			at, err := time.Parse(`"`+time.RFC3339Nano+`"`, text)
			if err != nil {
				t.Fatal(err)
			}
			return masked(at)
		})
	}
	slices.Sort(lines)
	return lines
}

// healthy are commits that all apply, each to its run.
func healthy(r *rand.Rand, n int) []task[*ports.CommitClaimed] {
	tasks := make([]task[*ports.CommitClaimed], n)
	for i := range tasks {
		tasks[i] = randomCommit(r, fmt.Sprint("r", i), 0)
	}
	return tasks
}

func requests[Q any](tasks []task[Q]) []Q { return column(tasks, func(k task[Q]) Q { return k.req }) }

func codes(out []outcome) []ports.Code {
	return column(out, func(o outcome) ports.Code { return ports.CodeOf(o.err) })
}
