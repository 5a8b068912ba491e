package engine

import (
	"math/rand/v2"
	"testing"
	"time"
)

// Waits stay positive, never shrink before jitter and never pass their limit,
// whatever base and however many failures.
func TestBackoffNeverOverflows(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd, j := rand.New(rand.NewPCG(seed, 0)), seededJitter(seed, 1)
	for range 200 {
		b := backoff{base: time.Duration(1 + rnd.Int64N(int64(24*time.Hour))), limit: time.Duration(1 + rnd.Int64N(int64(365*24*time.Hour)))}
		last := time.Duration(0)
		for range 1000 {
			d := b.step()
			if d <= 0 || d < last || d > b.limit {
				t.Fatalf("base %s limit %s: %s after %s", b.base, b.limit, d, last)
			}
			last = d
			if low := j.below(d); low < d/2 || low > d {
				t.Fatalf("%s jittered below: %s", d, low)
			}
			if near := j.around(d); near < d/4*3-time.Nanosecond || near > d/4*5+4*time.Nanosecond {
				t.Fatalf("%s jittered around: %s", d, near)
			}
		}
		if last != b.limit {
			t.Fatalf("base %s: stays at %s below its limit %s", b.base, last, b.limit)
		}
		b.reset()
		if d := b.step(); d != min(b.base, b.limit) {
			t.Fatalf("after a reset: %s, want %s", d, b.base)
		}
	}
}

func TestJitterSpreads(t *testing.T) {
	t.Parallel()
	seen := map[time.Duration]bool{}
	for range 10 {
		seen[newJitter().around(time.Hour)] = true
	}
	if len(seen) < 9 {
		t.Errorf("ten engines wait %d different times", len(seen))
	}
}
