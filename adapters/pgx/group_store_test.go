package postgres

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/docket-go/docket/ports"
)

// task is a request and what it finds stored.
type task[Q any] struct {
	req    Q
	stored []ports.InsertRun
	taken  int64 // the number of an event that a raw write stored, 0: none
}

// traffic is commits or inserts, in the forms in which they reach the store.
type traffic[Q any, A ports.Committed | ports.Inserted] struct {
	group  func(*Backend) *group[Q, A]
	call   func(context.Context, *Backend, Q) (A, error)
	random func(r *rand.Rand, id string, fault int) task[Q]
	faults int
}

var commits = traffic[*ports.CommitClaimed, ports.Committed]{
	group: func(b *Backend) *group[*ports.CommitClaimed, ports.Committed] { return b.commits },
	call: func(ctx context.Context, b *Backend, q *ports.CommitClaimed) (ports.Committed, error) {
		return b.CommitClaimed(ctx, *q)
	},
	random: randomCommit, faults: 7,
}

var inserts = traffic[*ports.InsertRun, ports.Inserted]{
	group: func(b *Backend) *group[*ports.InsertRun, ports.Inserted] { return b.inserts },
	call: func(ctx context.Context, b *Backend, q *ports.InsertRun) (ports.Inserted, error) {
		return b.InsertRun(ctx, *q)
	},
	random: randomInsert, faults: 3,
}

type outcome struct {
	answer ports.Committed
	err    error
}

// TestGroupStoresWhatEachStoresAlone: whether requests go one by one, or many in a
// statement, or come all at once, the answers and the stores are the same.
func TestGroupStoresWhatEachStoresAlone(t *testing.T) {
	t.Parallel()
	t.Run("commits", func(t *testing.T) { t.Parallel(); alike(t, commits) })
	t.Run("inserts", func(t *testing.T) { t.Parallel(); alike(t, inserts) })
}

func alike[Q any, A ports.Committed | ports.Inserted](t *testing.T, kind traffic[Q, A]) {
	random := seeded(t)
	for set := range 4 {
		tasks := kind.tasks(t, random, 20+random.IntN(41), set%2 == 1)
		alone, direct, busy := prepared(t, tasks), prepared(t, tasks), prepared(t, tasks)
		reqs := requests(tasks)
		want := kind.oneByOne(t, alone, reqs)
		same(t, "in rides", direct, alone, kind.inRides(t, random, direct, reqs, want), want)
		got, rode := kind.atOnce(t, busy, reqs, fewest+random.IntN(len(reqs)-fewest), func() {})
		same(t, "at once", busy, alone, got, want)
		kinds := map[ports.Code]int{}
		for _, code := range codes(want) {
			kinds[code]++
		}
		t.Logf("set %d: %d of %d requests rode; %v", set, rode, len(reqs), kinds)
		if rode < fewest || kinds[""] == 0 || len(kinds) < 2 {
			t.Errorf("set %d proves nothing", set)
		}
	}
}
