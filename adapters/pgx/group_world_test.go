package postgres

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docket-go/docket/ports"
)

const worldGrace = 5 * time.Millisecond

var errLeft, errLost = errors.New("the caller left"), errors.New("the connection is lost")

// world is a group whose statements take their time and are never sent, and what
// was seen of it.
type world struct {
	*testing.T
	seed  uint64
	seen  map[string]int
	g     *group[*ask, int]
	began time.Time
	ties  bool // things happen at one moment, so their order is unknown

	mu      sync.Mutex
	random  *rand.Rand
	used    map[time.Duration]bool
	waiting []*ask // called, and nothing was sent
	lanes   int
	rides   int
	last    *trip

	callers, keys                          int
	span, slow                             time.Duration
	leaving, large, huge, failing, nothing int // one in so many; 0: none
}

// ask is a caller's request and what became of it. Its own answer is n, that of a
// ride -n.
type ask struct {
	n, size       int
	key           string
	start, cancel time.Duration // cancel 0: stays
	singles       int
	sent          time.Duration
	answer        int // of its single
	err           error
	ride          *trip
	done          bool
}

// trip is a ride as the statement for many sees it.
type trip struct {
	at, end time.Duration // end 0: on its way
	members []*ask
	oldest  *ask // of those who waited
	err     error
	none    map[*ask]bool
}

func newWorld(t *testing.T, seed uint64, seen map[string]int) *world {
	w := &world{T: t, seed: seed, seen: seen, began: time.Now(), used: map[time.Duration]bool{}}
	r := rand.New(rand.NewPCG(seed, 0))
	w.random, w.ties = r, r.IntN(4) == 0
	pick := func(of ...int) int { return of[r.IntN(len(of))] }
	w.callers = 1 + r.IntN(pick(6, 60, 60, 500))
	w.keys = 1 + r.IntN(pick(3, 2*w.callers, 100*w.callers))
	w.span, w.slow = time.Duration(1+r.IntN(20_000))*time.Microsecond, time.Duration(1+r.IntN(30_000))*time.Microsecond
	w.leaving, w.large, w.huge = pick(0, 1, 2, 8), pick(0, 2, 8), pick(0, 4, 30)
	w.failing, w.nothing = pick(0, 2, 4), pick(0, 2, 8)
	switch seed % 10 { // what chance alone would make too seldom
	case 0: // full rides
		w.callers, w.keys, w.span, w.slow, w.leaving, w.large, w.huge = 400, 1<<30, time.Millisecond, 50*time.Millisecond, 0, 0, 0
	case 1: // rides that all leave
		w.callers, w.slow, w.leaving = 60, 100*time.Millisecond, 1
	}
	w.g = &group[*ask, int]{
		op: "Ask", grace: worldGrace, single: w.single, together: w.together,
		key: func(a *ask) string { return a.key }, size: func(a *ask) int { return a.size },
	}
	return w
}

func (w *world) now() time.Duration { return time.Since(w.began) }

func (w *world) one(in int) bool { return in > 0 && w.random.IntN(in) == 0 }

func (w *world) wrong(format string, args ...any) {
	w.Helper()
	w.Errorf("seed %d at %v: "+format, append([]any{w.seed, w.now()}, args...)...)
}

// moment is a time near the given one at which nothing else happens, nor a grace
// later, so that what happened before what is certain; or one shared by many.
func (w *world) moment(near time.Duration) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	const shared = 500 * time.Microsecond
	if w.ties {
		return near.Truncate(shared) + shared
	}
	near++
	for w.used[near] || w.used[near+worldGrace] {
		near++
	}
	w.used[near], w.used[near+worldGrace] = true, true
	return near
}

func (w *world) later(upTo time.Duration) time.Duration {
	w.mu.Lock()
	near := w.now() + within(w.random, upTo)
	w.mu.Unlock()
	return w.moment(near)
}

func (w *world) newAsk(n int) *ask {
	a := &ask{n: n, key: strconv.Itoa(w.random.IntN(w.keys)), size: w.random.IntN(2) * w.random.IntN(2000), start: w.later(w.span)}
	switch {
	case w.one(w.huge):
		a.size = mostBytes + w.random.IntN(3)
	case w.one(w.large):
		a.size = mostBytes / (1 + w.random.IntN(6))
	}
	if w.one(w.leaving) {
		a.cancel = w.later(w.span + w.slow)
	}
	return a
}

// live lets everybody call, and looks at the group now and then.
func (w *world) live() {
	var calls sync.WaitGroup
	for n := range w.callers {
		a := w.newAsk(n + 1)
		calls.Go(func() { w.call(a) })
	}
	for range 20 {
		at := w.later(w.span + 2*w.slow)
		calls.Go(func() {
			time.Sleep(at - w.now())
			if !w.ties {
				w.look()
			}
		})
	}
	calls.Wait()
	w.rest()
}

func (w *world) call(a *ask) {
	ctx, cancel := context.WithCancelCause(w.Context())
	defer cancel(nil)
	time.Sleep(a.start - w.now())
	if a.cancel > a.start {
		defer time.AfterFunc(a.cancel-a.start, func() { cancel(errLeft) }).Stop()
	} else if a.cancel > 0 {
		a.cancel = a.start
		cancel(errLeft)
	}
	w.mu.Lock()
	atOnce := len(w.waiting) == 0 && w.rides == 0 && w.lanes < alone && ctx.Err() == nil
	w.waiting = append(w.waiting, a)
	w.mu.Unlock()
	answer, err := w.g.do(ctx, a)
	w.mu.Lock()
	defer w.mu.Unlock()
	if atOnce && !w.ties && (a.ride != nil || a.sent != a.start) {
		w.wrong("%d waited although a lane was free", a.n)
	}
	w.judge(a, answer, err)
	a.done = true
}

// single is a statement for one. It holds a lane unless a ride sent it back.
func (w *world) single(ctx context.Context, a *ask) (int, error) {
	w.mu.Lock()
	lane := a.ride == nil
	a.singles, a.sent, a.answer, a.err = a.singles+1, w.now(), a.n, nil
	if w.one(w.failing) {
		a.answer, a.err = 0, ports.Stale("Ask")
	}
	if lane {
		w.leaves(a)
		if w.lanes++; w.lanes > alone || w.rides > 0 && !w.ties {
			w.wrong("%d singles beside %d rides", w.lanes, w.rides)
		}
	}
	w.mu.Unlock()
	if ctx.Err() != nil { // as the backend's query sees it
		a.answer, a.err = 0, notApplied(ctx, "Ask")
	} else {
		time.Sleep(w.later(w.slow) - w.now())
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if lane {
		w.lanes--
	}
	return a.answer, a.err
}

// together is a statement for many. It ends when it is given up.
func (w *world) together(ctx context.Context, reqs []*ask) ([]*int, error) {
	r := w.departs(reqs)
	pause(ctx, w.later(w.slow)-w.now())
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rides--
	r.end = w.now()
	if !w.ties && slices.Contains(w.waiting, r.oldest) {
		w.wrong("%d waited longest and was left behind", r.oldest.n)
	}
	gone := func(a *ask, by time.Duration) bool { return a.cancel > 0 && a.cancel+worldGrace <= by }
	switch up := ctx.Err() != nil; {
	case up && slices.ContainsFunc(reqs, func(a *ask) bool { return !gone(a, r.end) }):
		w.wrong("a ride was given up although somebody waited for it")
	case !up && !slices.ContainsFunc(reqs, func(a *ask) bool { return !gone(a, r.end-1) }):
		w.wrong("a ride went on although all had left")
	case up:
		w.seen["given up"]++
		r.err = ports.Uncertain("Ask", errLost)
	case w.one(w.failing):
		r.err = [...]error{ports.Unavailable("Ask", errLost), ports.Conflict("Ask", ""), ports.Uncertain("Ask", errLost)}[w.random.IntN(3)]
	}
	answers := make([]*int, len(reqs))
	for i, a := range reqs {
		if r.none[a] = w.one(w.nothing); !r.none[a] {
			answers[i] = new(-a.n)
		}
	}
	return answers, r.err
}

// departs checks who leaves together, and beside whom.
func (w *world) departs(reqs []*ask) *trip {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := &trip{at: w.now(), members: reqs, oldest: w.waiting[0], none: map[*ask]bool{}}
	w.leaves(reqs...)
	bytes, keys := 0, map[string]bool{}
	for i, a := range reqs {
		if i > 0 && reqs[i-1].key >= a.key {
			w.wrong("key %s before %s", reqs[i-1].key, a.key)
		}
		if a.done || a.ride != nil || a.singles > 0 {
			w.wrong("%d was sent again, or after it left", a.n)
		}
		bytes, keys[a.key], a.ride = bytes+a.size, true, r
	}
	beside := w.waiting
	if w.rides++; w.last != nil && w.last.at == r.at { // left with this one, and may be before it or after it
		beside = slices.Concat(beside, w.last.members)
	}
	if w.rides > 2 || len(reqs) > most || len(reqs) > 1 && bytes > mostBytes {
		w.wrong("%d rides, the last with %d members and %d bytes", w.rides, len(reqs), bytes)
	}
	apart := 0
	for _, a := range beside {
		if keys[a.key] || bytes+a.size > mostBytes {
			apart++
		}
	}
	crowded := len(w.waiting) + max(len(reqs), len(beside)-len(w.waiting))
	if !w.ties && (len(reqs)+apart < fewest && w.lanes+len(reqs)+apart <= alone || w.rides == 2 && crowded < crowd) {
		w.wrong("ride %d with %d members, %d kept apart, of %d", w.rides, len(reqs), apart, crowded)
	}
	w.last = r
	for kind, is := range map[string]bool{"ride": true, "second ride": w.rides == 2, "full ride": len(reqs) == most,
		"short ride": len(reqs) < fewest, "too large": bytes > mostBytes} {
		if is {
			w.seen[kind]++
		}
	}
	return r
}

func (w *world) leaves(asks ...*ask) {
	w.waiting = slices.DeleteFunc(w.waiting, func(a *ask) bool { return slices.Contains(asks, a) })
}

// judge compares a caller's outcome with what was sent for it.
func (w *world) judge(a *ask, answer int, err error) {
	r, now, kind, right := a.ride, w.now(), "", false
	its := errors.Is(err, context.Canceled) && errors.Is(err, errLeft)
	switch {
	case a.cancel == a.start: // it had ended before it called
		w.leaves(a)
		kind, right = "ended", its && errors.Is(err, ports.ErrUnavailable) && a.singles == 0 && r == nil
	case a.singles > 0 && r == nil:
		kind, right = "single", a.singles == 1 && answer == a.answer && err == a.err
	case a.singles > 0:
		kind, right = "sent back", a.singles == 1 && answer == a.answer && err == a.err && a.sent == r.end &&
			(r.none[a] || r.err != nil) && !errors.Is(r.err, ports.ErrUncertain)
	case r == nil:
		w.leaves(a)
		kind, right = "withdrawn", its && errors.Is(err, ports.ErrUnavailable) && now == a.cancel
	case errors.Is(err, errLost):
		kind, right = "lost", errors.Is(err, ports.ErrUncertain) && errors.Is(r.err, ports.ErrUncertain) && now == r.end &&
			(its || a.cancel == 0 || a.cancel >= now)
	case err == nil:
		kind, right = "answered", answer == -a.n && r.err == nil && !r.none[a] && now == r.end
		if a.cancel > 0 && a.cancel < now {
			kind = "answered late"
		}
	default:
		kind, right = "left", its && errors.Is(err, ports.ErrUncertain) && now == a.cancel+worldGrace &&
			(r.end == 0 || r.end == now) // now: given up by this one
	}
	if w.seen[kind]++; !right {
		w.wrong("%d is %q with %d, %v; it was %+v in ride %+v", a.n, kind, answer, err, *a, r)
	}
}

// look finds everybody counted, and nobody waiting who may go.
func (w *world) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.g.mu.Lock()
	defer w.g.mu.Unlock()
	n := len(w.waiting)
	if w.g.singles != w.lanes || w.g.rides != w.rides || len(w.g.waiting) != n {
		w.wrong("%d singles, %d rides, %d waiting; counted %d, %d, %d", w.lanes, w.rides, n, w.g.singles, w.g.rides, len(w.g.waiting))
	}
	if w.rides == 0 && n > 0 || w.rides == 1 && n >= crowd {
		w.wrong("%d wait beside %d singles and %d rides", n, w.lanes, w.rides)
	}
}

// rest finds nothing left.
func (w *world) rest() {
	synctest.Wait()
	if w.look(); w.lanes+w.rides+len(w.waiting) > 0 {
		w.wrong("%d singles, %d rides and %d waiting are left", w.lanes, w.rides, len(w.waiting))
	}
}
