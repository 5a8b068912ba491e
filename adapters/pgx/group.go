package postgres

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/docket-go/docket/ports"
)

const (
	// alone is how many transitions may be on their way each by itself. So many
	// sessions can commit side by side before more of them only queue up inside
	// the server.
	alone = 4
	// fewest is how many must wait to travel together while one could go alone: for
	// two, the statement for many costs about as much as two statements.
	fewest = 3
	// crowd is how many must wait for a second ride to start beside the first.
	crowd = 32
	// most and mostBytes bound a ride, so that its statement stays short.
	most      = 128
	mostBytes = 1 << 20
)

// A group brings transitions of concurrent callers to the server in one
// statement (ADR 0009). A statement and its transaction cost the server more than
// the rows they change, so under load many transitions share one. There is no
// timer, and without load nothing changes: up to four transitions travel alone,
// at once. Who comes beside four, or while a ride is on its way, waits at most for
// that ride to come back, and leaves with all who wait; fewer than three go alone
// again when there is room for all of them.
//
// Each member keeps its own fence and gets its own answer. One whose fence moved,
// that breaks a rule of the tables, or that has to wait for a lock, changes
// nothing for its neighbours: a ride waits for nobody.
type group[Q, A any] struct {
	op    string
	grace time.Duration // as Config.CancelGrace
	// key names the run of a request. A ride has one request a run, in the order of
	// the ids, so that two rides can't lock each other out.
	key func(Q) string
	// size is about how many bytes a request has.
	size func(Q) int
	// single sends one request by itself.
	single func(context.Context, Q) (A, error)
	// together sends requests in one statement, which waits for no lock that others
	// may hold for long. The answer is nil for one that changed nothing; by itself
	// it will learn why.
	together func(context.Context, []Q) ([]*A, error)

	mu      sync.Mutex
	singles int // on their way
	rides   int // on their way
	waiting []*member[Q, A]
}

// member is one caller and its request.
type member[Q, A any] struct {
	ctx  context.Context
	req  Q
	turn chan turn[A] // gets one
	ride *ride[Q, A]  // nil until it left with one
}

// turn is how a member's wait ends: with an answer, with an error, or with the
// word to go by itself.
type turn[A any] struct {
	answer *A
	err    error
	single bool // counted among the singles
}

// ride is a statement on its way and its members. It is given up when all of
// them have left.
type ride[Q, A any] struct {
	members []*member[Q, A]
	ctx     context.Context
	giveUp  context.CancelFunc
	aboard  atomic.Int64
}

// do brings a request through, alone or with others.
func (g *group[Q, A]) do(ctx context.Context, req Q) (A, error) {
	var none A
	if ctx.Err() != nil {
		return none, notApplied(ctx, g.op)
	}
	t := turn[A]{single: true}
	if m := g.enter(ctx, req); m != nil {
		var err error
		if t, err = g.wait(m); err != nil {
			if ctx.Err() != nil {
				err = errors.Join(err, because(ctx, ctx.Err()))
			}
			return none, err
		}
	}
	switch {
	case t.answer != nil:
		return *t.answer, nil
	case t.single:
		defer g.arrived(&g.singles)
	}
	return g.single(ctx, req)
}

// enter puts a request into the queue. It returns nil for one that goes by itself
// at once.
func (g *group[Q, A]) enter(ctx context.Context, req Q) *member[Q, A] {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.waiting) == 0 && g.rides == 0 && g.singles < alone {
		g.singles++
		return nil
	}
	m := &member[Q, A]{ctx: ctx, req: req, turn: make(chan turn[A], 1)}
	g.waiting = append(g.waiting, m)
	g.depart()
	return m
}

// arrived notes that a single or a ride has come back.
func (g *group[Q, A]) arrived(what *int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	*what--
	g.depart()
}

// depart lets everybody go who may. g.mu is held.
func (g *group[Q, A]) depart() {
	for len(g.waiting) > 0 {
		switch {
		case g.rides == 0 && len(g.waiting) < fewest && g.singles+len(g.waiting) <= alone:
			g.singles++
			m := g.waiting[0]
			g.waiting = slices.Delete(g.waiting, 0, 1)
			m.turn <- turn[A]{single: true}
		case g.rides == 0, g.rides == 1 && len(g.waiting) >= crowd:
			g.rides++
			go g.travel(g.board())
		default:
			return
		}
	}
}

// board takes out who leaves together. g.mu is held.
func (g *group[Q, A]) board() *ride[Q, A] {
	r := &ride[Q, A]{}
	left, taken := mostBytes, make(map[string]bool, len(g.waiting))
	g.waiting = slices.DeleteFunc(g.waiting, func(m *member[Q, A]) bool {
		key := g.key(m.req)
		if n := len(r.members); n == most || n > 0 && left < g.size(m.req) || taken[key] {
			return false
		}
		taken[key] = true
		left -= g.size(m.req)
		m.ride = r
		r.members = append(r.members, m)
		return true
	})
	r.ctx, r.giveUp = context.WithCancel(context.WithoutCancel(r.members[0].ctx))
	r.aboard.Store(int64(len(r.members)))
	slices.SortFunc(r.members, func(a, b *member[Q, A]) int { return cmp.Compare(g.key(a.req), g.key(b.req)) })
	return r
}

// travel sends a ride and tells its members.
func (g *group[Q, A]) travel(r *ride[Q, A]) {
	defer g.arrived(&g.rides)
	defer r.giveUp()
	reqs := make([]Q, len(r.members))
	for i, m := range r.members {
		reqs[i] = m.req
	}
	answers, err := g.together(r.ctx, reqs)
	for i, m := range r.members {
		switch {
		case errors.Is(err, ports.ErrUncertain):
			m.turn <- turn[A]{err: err}
		case err != nil: // nothing was applied: whose fault it was shows when each goes by itself
			m.turn <- turn[A]{}
		default:
			m.turn <- turn[A]{answer: answers[i]}
		}
	}
}

// wait waits for the turn. When the caller's end comes first, a request in the
// queue is withdrawn; one on its way is waited for as long as a statement of its
// own would be (LIF-3).
func (g *group[Q, A]) wait(m *member[Q, A]) (turn[A], error) {
	select {
	case t := <-m.turn:
		return t, t.err
	case <-m.ctx.Done():
	}
	if g.withdraw(m) {
		return turn[A]{}, notApplied(m.ctx, g.op)
	}
	if m.ride == nil {
		return <-m.turn, nil // it may go by itself, and will see its end there
	}
	patience := time.NewTimer(g.grace)
	defer patience.Stop()
	select {
	case t := <-m.turn:
		return t, t.err
	case <-patience.C:
	}
	if m.ride.aboard.Add(-1) == 0 {
		m.ride.giveUp()
	}
	return turn[A]{}, ports.Uncertain(g.op, because(m.ctx, m.ctx.Err()))
}

func (g *group[Q, A]) withdraw(m *member[Q, A]) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.Index(g.waiting, m)
	if i < 0 {
		return false
	}
	g.waiting = slices.Delete(g.waiting, i, i+1)
	return true
}

// column is one parameter of a statement for many requests.
func column[Q, T any](reqs []Q, of func(Q) T) []T {
	values := make([]T, len(reqs))
	for i, req := range reqs {
		values[i] = of(req)
	}
	return values
}

// answered runs a statement for many and hands out its rows, one for each request
// that changed something: its number from 1, the store's time, the claim's end,
// and whether a wake is due.
func (b *Backend) answered(run func(scan func(pgx.Rows) error) error, answer func(i int64, now, end time.Time)) error {
	due := false
	err := run(func(rows pgx.Rows) error {
		var n int64
		var now, end pgtype.Timestamptz
		var told bool
		if err := rows.Scan(&n, &now, &end, &told); err != nil {
			return err
		}
		due = due || told
		answer(n-1, timeOf(now), timeOf(end))
		return nil
	})
	if err == nil && due {
		b.told()
	}
	return err
}
