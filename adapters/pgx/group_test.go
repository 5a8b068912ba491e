package postgres

import (
	"context"
	"flag"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

var (
	groupWorlds = flag.Int("docket.group.worlds", 120, "worlds of the group's model")
	groupSeed   = flag.Uint64("docket.group.seed", 0, "the first world's seed; 0 takes one at random")
)

// TestGroupKeepsItsRules drives random worlds: whoever calls, leaves or fails, and
// however long it takes, each caller has the outcome of what was sent for it.
func TestGroupKeepsItsRules(t *testing.T) {
	t.Parallel()
	seen, seed := map[string]int{}, *groupSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	for range *groupWorlds {
		synctest.Test(t, func(t *testing.T) { newWorld(t, seed, seen).live() })
		if t.Failed() {
			t.Fatalf("-docket.group.seed=%d -docket.group.worlds=1", seed)
		}
		seed++
	}
	for _, kind := range []string{"single", "ride", "second ride", "full ride", "short ride", "too large", "withdrawn", "ended",
		"answered", "answered late", "left", "given up", "lost", "sent back"} {
		if seen[kind] == 0 && *groupWorlds >= 100 {
			t.Errorf("no world had this: %s", kind)
		}
	}
	t.Log(seen)
}

// TestGroupWithoutLoad: as many callers as there are lanes never wait, nor meet,
// also with one key and the largest requests.
func TestGroupWithoutLoad(t *testing.T) {
	t.Parallel()
	random := seeded(t)
	for callers := 1; callers <= alone; callers++ {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, random.Uint64(), map[string]int{})
			var calls sync.WaitGroup
			for c := range callers {
				calls.Go(func() {
					for n := range 50 {
						a := &ask{n: 1 + n, key: "same", size: mostBytes, start: w.moment(w.now() + time.Duration(c))}
						w.call(a)
						if a.ride != nil || a.sent != a.start {
							t.Errorf("seed %d: of %d callers one waited, or wasn't alone", w.seed, callers)
						}
					}
				})
			}
			calls.Wait()
			w.rest()
		})
	}
}

// TestGroupTurnBeatsTheEnd: a caller whose turn and end have both come takes the
// turn, and so gives its lane back.
func TestGroupTurnBeatsTheEnd(t *testing.T) {
	t.Parallel()
	answer := func(context.Context, []int) ([]*int, error) { return []*int{new(1), new(2), new(3)}, nil }
	for range 50 { // a select chooses at random
		for _, waiting := range []int{1, fewest} {
			synctest.Test(t, func(t *testing.T) {
				g := &group[int, int]{grace: 1, key: strconv.Itoa, size: func(int) int { return 1 }, together: answer, singles: alone, rides: 2}
				ctx, cancel := context.WithCancel(t.Context())
				var members []*member[int, int]
				for n := range waiting {
					members = append(members, g.enter(ctx, n))
				}
				g.rides = 1
				g.arrived(&g.singles)
				if g.arrived(&g.rides); waiting == 1 && g.singles != alone {
					t.Fatal("the turn didn't come")
				}
				synctest.Wait()
				cancel()
				for n, m := range members {
					if turn, err := g.wait(m); err != nil || turn.single != (waiting == 1) || turn.answer != nil && *turn.answer != n+1 {
						t.Errorf("member %d of %d: %+v, %v", n, waiting, turn, err)
					}
				}
			})
		}
	}
}
