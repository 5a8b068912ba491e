package simulation

import (
	"hash/fnv"
	"math/rand/v2"
	"strconv"
	"time"
)

// chance is a place in the tree of a simulation's decisions. What is decided at a
// place depends on the place alone, never on how many decisions came before.
type chance uint64

// at returns a place below.
func (c chance) at(name string, numbers ...int) chance {
	h := fnv.New64a()
	text := strconv.AppendUint(nil, uint64(c), 16)
	text = append(append(text, '/'), name...)
	for _, n := range numbers {
		text = strconv.AppendInt(append(text, ':'), int64(n), 10)
	}
	_, _ = h.Write(text) // never fails
	return chance(h.Sum64())
}

// rand returns the place's own source.
func (c chance) rand() *rand.Rand { return rand.New(rand.NewPCG(uint64(c), 0x9e3779b97f4a7c15)) }

// below returns a number of [0, n).
func (c chance) below(n int) int { return c.rand().IntN(n) }

// oneIn is true once in n places.
func (c chance) oneIn(n int) bool { return n > 0 && c.below(n) == 0 }

// between returns a duration of [lo, hi), in whole microseconds.
func (c chance) between(lo, hi time.Duration) time.Duration {
	return lo + time.Duration(c.rand().Int64N(int64(hi-lo))).Truncate(time.Microsecond)
}
