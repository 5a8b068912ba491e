package ports_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

func TestNormalTimes(t *testing.T) {
	t.Parallel()
	kathmandu := time.FixedZone("", 5*3600+45*60)
	odd := time.Date(2026, 12, 31, 23, 59, 59, 999_999_999, kathmandu)
	want := time.Date(2026, 12, 31, 18, 14, 59, 999_999_000, time.UTC)
	r := insert()
	r.Now, r.Transition.Run.StartedAt, r.Transition.Run.UpdatedAt, r.Transition.Run.FinishedAt = odd, odd, odd, odd
	r.Transition.Schedule.At = odd
	r.Transition.Events[1].Time = odd
	first := r.Transition.Events[0].Time
	n := r.Normal()
	for name, got := range map[string]time.Time{
		"now": n.Now, "started": n.Transition.Run.StartedAt, "updated": n.Transition.Run.UpdatedAt, "finished": n.Transition.Run.FinishedAt,
		"wake": n.Transition.Schedule.At, "event": n.Transition.Events[1].Time,
		"save": ports.SaveGraph{Now: odd}.Normal().Now, "abandon": ports.AbandonClaim{RetryAt: odd}.Normal().RetryAt,
		"cursor": ports.ListRuns{After: ports.RunCursor{StartedAt: odd}}.Normal().After.StartedAt,
		"graphs": ports.ListGraphs{After: ports.GraphCursor{PublishedAt: odd}}.Normal().After.PublishedAt,
		"claim":  ports.ClaimRuns{Now: odd}.Normal().Now, "prune": ports.Prune{Now: odd}.Normal().Now,
		"claimed": ports.CommitClaimed{Now: odd}.Normal().Now, "unclaimed": ports.CommitUnclaimed{Now: odd}.Normal().Now,
	} {
		if got != want { // the one form, not only the same instant
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if n.Transition.Events[0].Time != first || r.Transition.Events[1].Time != odd {
		t.Error("the caller's events changed, or one that was normal did")
	}
	if n := insert().Normal(); !n.Now.IsZero() || !n.Transition.Run.FinishedAt.IsZero() {
		t.Error("zero times stay zero")
	}
}

func TestNormalKeepsNormalEvents(t *testing.T) {
	t.Parallel()
	r := insert()
	if n := r.Normal(); &n.Transition.Events[0] != &r.Transition.Events[0] {
		t.Error("events whose times are normal were copied")
	}
}

func TestNormalLimits(t *testing.T) {
	t.Parallel()
	if got := (ports.ListRuns{}).Normal().Limit; got != 100 {
		t.Errorf("runs: %d", got)
	}
	if got := (ports.ListGraphs{Limit: 7}).Normal().Limit; got != 7 {
		t.Errorf("graphs: %d", got)
	}
	if got := (ports.ListEvents{}).Normal().Limit; got != 250 {
		t.Errorf("events: %d", got)
	}
	if got := (ports.ClaimRuns{}).Normal().Prefer; got != ports.ClassReady {
		t.Errorf("preference: %q", got)
	}
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	for n, want := range []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 16 * time.Minute, 32 * time.Minute, time.Hour, time.Hour} {
		if got := ports.Backoff(30*time.Second, time.Hour, int64(n)); got != want {
			t.Errorf("abandon %d: %v, want %v", n, got, want)
		}
	}
	if got := ports.Backoff(0, time.Hour, 5); got != 0 {
		t.Errorf("no base: %v", got)
	}
	if got := ports.Backoff(1, math.MaxInt64, math.MaxInt64); got != math.MaxInt64 {
		t.Errorf("no overflow: %v", got)
	}
	const seed = 11
	random := rand.New(rand.NewPCG(seed, 0))
	for range 5000 {
		base := time.Duration(1 + random.Int64N(int64(24*time.Hour)))
		limit := base + time.Duration(random.Int64N(math.MaxInt64-int64(base)))
		n := random.Int64N(100_000)
		a, b := ports.Backoff(base, limit, n), ports.Backoff(base, limit, n+1)
		if a < base || b < a || b > limit {
			t.Fatalf("seed %d: base %v, limit %v: %v after %d, %v next", seed, base, limit, a, n, b)
		}
	}
}

func TestCheckRow(t *testing.T) {
	t.Parallel()
	row := func(status string, change func(*ports.RunInfo)) ports.RunInfo {
		info := ports.RunInfo{Run: record.Run{ID: "r", Status: status}}
		if change != nil {
			change(&info)
		}
		return info
	}
	claim := func(i *ports.RunInfo) { i.ClaimedAt, i.ClaimEnd = at, at }
	wake := func(i *ports.RunInfo) { i.WakeAt = at }
	poison := func(i *ports.RunInfo) { i.Poison = ports.Poison{At: at, Reason: ports.PoisonAttempts} }
	finish := func(i *ports.RunInfo) { i.Run.FinishedAt = at }
	both := func(a, b func(*ports.RunInfo)) func(*ports.RunInfo) {
		return func(i *ports.RunInfo) { a(i); b(i) }
	}
	for name, tt := range map[string]struct {
		info  ports.RunInfo
		token string
		legal bool
	}{
		"due":                     {row("running", wake), "", true},
		"claimed":                 {row("running", claim), "t", true},
		"poisoned":                {row("running", poison), "", true},
		"waiting":                 {row("waiting", nil), "", true},
		"done":                    {row("done", finish), "", true},
		"created":                 {row("created", wake), "", false},
		"running, nothing due":    {row("running", nil), "", false},
		"wake and claim":          {row("running", both(wake, claim)), "t", false},
		"a claim without a token": {row("running", claim), "", false},
		"a token without a claim": {row("running", wake), "t", false},
		"a claim without an end":  {row("running", func(i *ports.RunInfo) { i.ClaimedAt = at }), "t", false},
		"half a poison":           {row("running", func(i *ports.RunInfo) { i.Poison.At = at }), "", false},
		"a reason alone":          {row("running", func(i *ports.RunInfo) { i.Poison.Reason = "x" }), "", false},
		"poisoned and due":        {row("running", both(poison, wake)), "", false},
		"poisoned and claimed":    {row("running", both(poison, claim)), "t", false},
		"finished but running":    {row("running", both(wake, finish)), "", false},
		"done, not finished":      {row("done", nil), "", false},
		"done and due":            {row("done", both(finish, wake)), "", false},
		"waiting and claimed":     {row("waiting", claim), "t", false},
		"waiting and poisoned":    {row("waiting", poison), "", false},
	} {
		err := ports.CheckRow(tt.info, tt.token)
		if (err == nil) != tt.legal || err != nil && ports.CodeOf(err) != ports.CodeCorrupt {
			t.Errorf("%s: %v", name, err)
		}
	}
}
