package graph_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/docket-go/docket/core/graph"
)

// The delays are part of what a run's history means: they never change.
func TestDelayGolden(t *testing.T) {
	t.Parallel()
	var out []byte
	policies := []graph.Retry{
		{MaxAttempts: 5, BackoffMS: 200},
		{MaxAttempts: 5, BackoffMS: 200, Jitter: 0.5},
		{MaxAttempts: 5, BackoffMS: 200, Backoff: graph.Exponential, Jitter: 1},
		{MaxAttempts: 5, BackoffMS: 1, Backoff: graph.Exponential},
		{MaxAttempts: 5, BackoffMS: 1000, Backoff: graph.Exponential, MaxBackoffMS: 30000, Jitter: 0.1},
	}
	for _, r := range policies {
		for _, attempt := range []int64{1, 2, 3, 10, 64, math.MaxInt64} {
			key := fmt.Sprintf("run-1:3:review:%d", attempt)
			out = fmt.Appendf(out, "%+v attempt %d: %d\n", r, attempt, r.Delay(attempt, key))
		}
	}
	golden(t, "delays.txt", out)
}

func TestDelayProperties(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	attempts := []int64{1, 2, 3, 5, 10, 30, 31, 52, 53, 62, 63, 64, 65, 1000, 100000, math.MaxInt64}
	bases := []int64{0, 1, 2, 3, 1000, 86400000, math.MaxInt64 / 1000000, math.MaxInt64/1000000 + 1, math.MaxInt64}
	for _, base := range bases {
		for _, backoff := range []graph.Backoff{"", graph.Constant, graph.Exponential} {
			for _, limit := range []int64{0, 1, 5000, math.MaxInt64} {
				checkDelay(t, rng, graph.Retry{BackoffMS: base, Backoff: backoff, MaxBackoffMS: limit}, attempts)
			}
		}
	}
}

func checkDelay(t *testing.T, rng *rand.Rand, r graph.Retry, attempts []int64) {
	t.Helper()
	last := time.Duration(0)
	for _, attempt := range attempts {
		plain := r.Delay(attempt, "key")
		if plain < last || r.BackoffMS > 0 && plain <= 0 {
			t.Errorf("%+v attempt %d: %v after %v", r, attempt, plain, last)
		}
		if limit := r.MaxBackoffMS; limit > 0 && limit < math.MaxInt64/1000000 && plain > time.Duration(limit)*time.Millisecond {
			t.Errorf("%+v attempt %d: %v is over the cap", r, attempt, plain)
		}
		last = plain
		jittered := r
		jittered.Jitter = rng.Float64()
		got := jittered.Delay(attempt, fmt.Sprint(rng.Uint64()))
		least := time.Duration(float64(plain) * (1 - jittered.Jitter) * (1 - 1e-9))
		if got < 0 || got > plain || got < least-time.Microsecond {
			t.Errorf("%+v attempt %d: %v of %v", jittered, attempt, got, plain)
		}
		if got%time.Microsecond != 0 {
			t.Errorf("%+v attempt %d: %d ns isn't whole microseconds", jittered, attempt, got)
		}
	}
}

func TestDelayOfNonsense(t *testing.T) {
	t.Parallel()
	for _, r := range []graph.Retry{
		{BackoffMS: -1}, {BackoffMS: math.MinInt64, Backoff: graph.Exponential},
		{BackoffMS: 5, Jitter: math.NaN()}, {BackoffMS: 5, Jitter: math.Inf(1)}, {BackoffMS: 5, Jitter: -3}, {BackoffMS: 5, MaxBackoffMS: -1},
	} {
		for _, attempt := range []int64{math.MinInt64, -1, 0, 1} {
			if got := r.Delay(attempt, ""); got < 0 || got > 5*time.Millisecond {
				t.Errorf("%+v attempt %d: %v", r, attempt, got)
			}
		}
	}
}

func TestDelaySpreads(t *testing.T) {
	t.Parallel()
	r := graph.Retry{BackoffMS: 1000, Jitter: 1}
	var low, high int
	for i := range 1000 {
		switch d := r.Delay(1, fmt.Sprint(i)); {
		case d < 250*time.Millisecond:
			low++
		case d > 750*time.Millisecond:
			high++
		}
	}
	if low < 180 || high < 180 {
		t.Errorf("of 1000 delays %d are short and %d long", low, high)
	}
}
