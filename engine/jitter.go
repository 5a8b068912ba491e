package engine

import (
	crand "crypto/rand"
	"encoding/binary"
	"math/rand/v2"
	"sync"
	"time"
)

// jitter spreads waits, so that a fleet that met the same outage doesn't come
// back in step. Each engine has its own source.
type jitter struct {
	mu  sync.Mutex
	rnd *rand.Rand
}

func newJitter() *jitter {
	var seed [16]byte
	_, _ = crand.Read(seed[:]) // never fails; it ends the process instead
	return seededJitter(binary.LittleEndian.Uint64(seed[:8]), binary.LittleEndian.Uint64(seed[8:]))
}

func seededJitter(a, b uint64) *jitter {
	return &jitter{rnd: rand.New(rand.NewPCG(a, b))}
}

// around returns d scaled by a factor between 0.75 and 1.25.
func (j *jitter) around(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.75 + j.fraction()/2))
}

// below returns a wait between half of d and d.
func (j *jitter) below(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.5 + j.fraction()/2))
}

func (j *jitter) fraction() float64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.rnd.Float64()
}

// backoff doubles a wait from base up to limit; it can't overflow.
type backoff struct {
	base, limit time.Duration
	next        time.Duration
}

func (b *backoff) reset() { b.next = 0 }

func (b *backoff) step() time.Duration {
	switch {
	case b.next == 0:
		b.next = min(b.base, b.limit)
	case b.next > b.limit/2:
		b.next = b.limit
	default:
		b.next *= 2
	}
	return b.next
}
