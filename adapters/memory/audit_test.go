package memory

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// audit proves that every order and count in the state is what a recount from
// the rows gives, and that every row has a legal shape (RUN-11).
func (s *state) audit() error {
	if len(s.all) != len(s.slots) {
		return fmt.Errorf("%d runs, %d of them in order", len(s.slots), len(s.all))
	}
	started := func(a, b *slot) int { return compareStarted(a.row, b.row.run.StartedAt, b.row.run.ID) }
	if !slices.IsSortedFunc(s.all, started) {
		return errors.New("all runs: not in order")
	}
	owned := 0
	for owner, slots := range s.owned {
		if owned += len(slots); len(slots) == 0 || !slices.IsSortedFunc(slots, started) {
			return fmt.Errorf("the runs of %v: none, or not in order", owner)
		}
	}
	if owned != len(s.all) {
		return fmt.Errorf("%d runs have an owner, of %d", owned, len(s.all))
	}
	refs := map[*version]int{}
	queued := 0
	for id, at := range s.slots {
		r := at.row
		if r.run.ID != id {
			return fmt.Errorf("run %q is kept as %q", r.run.ID, id)
		}
		if err := ports.CheckRow(r.info(epoch), r.token); err != nil {
			return err
		}
		if err := auditSlot(s, at); err != nil {
			return fmt.Errorf("run %q: %w", id, err)
		}
		if at.queue != nil {
			queued++
		}
		refs[s.versions[versionKey{r.owner, r.run.Graph}]]++
	}
	if n := len(s.ready.slots) + len(s.claimed.slots); n != queued {
		return fmt.Errorf("%d slots queued, %d in queues", queued, n)
	}
	return auditVersions(s, refs)
}

func auditSlot(s *state, at *slot) error {
	var queue *queue
	eligible := int64(0)
	switch {
	case !at.row.wakeAt.IsZero():
		queue, eligible = &s.ready, at.row.wakeAt.UnixMicro()
	case at.row.token != "":
		queue, eligible = &s.claimed, at.row.claimEnd.UnixMicro()
	}
	if at.queue != queue {
		return errors.New("in the wrong queue")
	}
	if queue == nil {
		return nil
	}
	if queue.slots[at.place] != at || at.eligible != eligible {
		return errors.New("its place or time in the queue is wrong")
	}
	if parent := (at.place - 1) / 2; at.place > 0 && queue.before(at.place, parent) {
		return errors.New("before its parent in the queue")
	}
	return nil
}

func auditVersions(s *state, refs map[*version]int) error {
	listed := 0
	for key, line := range s.lines {
		if listed += len(line); len(line) == 0 || !slices.IsSortedFunc(line, func(a, b *version) int {
			return comparePublished(a, b.PublishedAt, b.Ref.Hash)
		}) {
			return fmt.Errorf("the versions of %v: none, or not in order", key)
		}
	}
	if listed != len(s.versions) {
		return fmt.Errorf("%d versions, %d of them in order", len(s.versions), listed)
	}
	for key, v := range s.versions {
		if v.runs != refs[v] {
			return fmt.Errorf("version %v counts %d runs, there are %d", key, v.runs, refs[v])
		}
	}
	return nil
}

// walk does random work. Every answer is legal: the audit judges.
type walk struct {
	*rand.Rand
	b      *Backend
	now    time.Time
	tokens map[string]string
}

func (w *walk) step(ctx context.Context) string {
	w.now = w.now.Add(time.Duration(w.IntN(30)) * time.Second)
	switch n := w.IntN(20); {
	case n < 5:
		return w.mutate(ctx, w.b)
	case n < 7:
		return w.transaction(ctx)
	case n < 11:
		got, err := w.b.ClaimRuns(ctx, ports.ClaimRuns{
			Scope: ports.System(), Limit: 1 + w.IntN(4), TTL: time.Minute, MaxAttempts: 2, Now: w.now,
			Prefer: []ports.ClaimClass{ports.ClassReady, ports.ClassExpired}[w.IntN(2)],
		})
		for _, lease := range got.Leases {
			w.tokens[lease.Run.ID] = lease.Token
		}
		return fmt.Sprint("claim: ", len(got.Leases), len(got.Poisoned), err)
	case n < 13:
		id := w.id()
		_, err := w.b.RefreshClaim(ctx, ports.RefreshClaim{Scope: ports.System(), RunID: id, Token: w.token(id), TTL: time.Minute, Now: w.now})
		return fmt.Sprint("refresh ", id, err)
	case n < 15:
		id := w.id()
		_, err := w.b.ReleaseClaim(ctx, ports.ReleaseClaim{Scope: ports.System(), RunID: id, Token: w.token(id), ReturnAttempt: w.IntN(2) == 0, Now: w.now})
		return fmt.Sprint("release ", id, err)
	case n < 17:
		id := w.id()
		got, _ := w.b.InspectRun(ctx, ports.InspectRun{Scope: ports.System(), RunID: id})
		_, err := w.b.AbandonClaim(ctx, ports.AbandonClaim{
			Scope: ports.System(), RunID: id, Token: w.token(id), ExpectedSeq: max(got.Run.CheckpointSeq, 1),
			BackoffBase: time.Second, BackoffCap: time.Hour, MaxAbandons: 2, Now: w.now,
		})
		return fmt.Sprint("abandon ", id, err)
	case n < 19:
		id := w.id()
		_, err := w.b.RecoverRun(ctx, ports.RecoverRun{Scope: ports.System(), RunID: id, Now: w.now})
		return fmt.Sprint("recover ", id, err)
	default:
		return w.prune(ctx)
	}
}

// prune also proves that a dry run tells what the same call does (PRN-7).
func (w *walk) prune(ctx context.Context) string {
	req := ports.Prune{
		Policy: ports.Retention{Events: 3 * time.Minute, Runs: 5 * time.Minute, Graphs: 5 * time.Minute},
		Batch:  1 + w.IntN(20), DryRun: true, Now: w.now,
	}
	told, _ := w.b.Prune(ctx, req)
	req.DryRun = false
	done, err := w.b.Prune(ctx, req)
	if told != done || err != nil {
		panic(fmt.Sprint("the dry run told ", told, ", it was ", done, err))
	}
	return fmt.Sprint("prune ", done)
}

func (w *walk) mutate(ctx context.Context, b ports.Backend) string {
	owner := []record.Owner{nobody, acme}[w.IntN(2)]
	v := version1(w.IntN(30))
	if w.IntN(2) == 0 {
		_, err := b.SaveGraph(ctx, ports.SaveGraph{Owner: owner, Version: v, Now: w.now})
		return fmt.Sprint("save ", err)
	}
	id := w.id()
	found, err := b.FetchRun(ctx, ports.FetchRun{Scope: ports.System(), RunID: id})
	if err != nil {
		tr := first(id, v.Ref, w.now)
		if w.IntN(3) == 0 {
			tr.Schedule = record.Schedule{Kind: record.ScheduleAt, At: w.now.Add(time.Minute)}
		}
		_, err := b.InsertRun(ctx, ports.InsertRun{Owner: owner, Transition: tr, Now: w.now})
		return fmt.Sprint("insert ", id, err)
	}
	kind := []record.ScheduleKind{record.ScheduleRetain, record.ScheduleImmediate, record.ScheduleExternal, record.ScheduleTerminal}[w.IntN(4)]
	status, typ := "running", "step_committed"
	switch kind {
	case record.ScheduleExternal:
		status = "waiting"
	case record.ScheduleTerminal:
		status, typ = "done", "run_completed"
	}
	tr := next(found.Run, status, typ, kind)
	if w.IntN(2) == 0 || kind == record.ScheduleRetain {
		_, err = b.CommitClaimed(ctx, ports.CommitClaimed{
			Scope: ports.System(), RunID: id, Token: w.token(id), ExpectedSeq: found.Run.CheckpointSeq, Transition: tr, TTL: time.Minute, Now: w.now,
		})
	} else {
		_, err = b.CommitUnclaimed(ctx, ports.CommitUnclaimed{
			Scope: ports.System(), RunID: id, ExpectedSeq: found.Run.CheckpointSeq, Transition: tr, Now: w.now,
		})
	}
	return fmt.Sprint("commit ", id, kind, err)
}

func (w *walk) transaction(ctx context.Context) string {
	log := "transaction:"
	keep := w.IntN(2) == 0
	err := ports.InTx(ctx, w.b, func(tx ports.Backend) error {
		for range 1 + w.IntN(4) {
			log += " " + w.mutate(ctx, tx)
		}
		if !keep {
			return errors.New("no")
		}
		return nil
	})
	return fmt.Sprint(log, err)
}

func (w *walk) id() string { return fmt.Sprint("run ", w.IntN(12)) }

func (w *walk) token(id string) string {
	if token := w.tokens[id]; token != "" && w.IntN(8) > 0 {
		return token
	}
	return "another"
}

// TestRandomWork does what the suite can't: it looks at the orders inside.
func TestRandomWork(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		w := &walk{Rand: rand.New(rand.NewPCG(seed, 7)), b: open(t), now: epoch, tokens: map[string]string{}}
		var log []string
		for range 400 {
			log = append(log, w.step(t.Context()))
			if err := w.b.state.audit(); err != nil {
				t.Fatalf("seed %d, after %d steps: %v\n%q", seed, len(log), err, log[max(0, len(log)-8):])
			}
		}
	}
}

// TestAuditCanFail proves that the audit sees what it is for.
func TestAuditCanFail(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*state){
		"a count":        func(s *state) { s.versions[versionKey{nobody, version1(1).Ref}].runs++ },
		"an order":       func(s *state) { slices.Reverse(s.all) },
		"a queue's time": func(s *state) { s.slots["a"].eligible++ },
		"a wrong queue":  func(s *state) { s.ready.remove(s.slots["a"]) },
		"a row's shape":  func(s *state) { s.slots["a"].row.token = "t" },
		"a lost version": func(s *state) { clear(s.lines) },
		"a lost run":     func(s *state) { delete(s.slots, "a") },
	} {
		b := open(t)
		insert(t, b, nobody, "a", epoch)
		insert(t, b, nobody, "b", epoch)
		if err := b.state.audit(); err != nil {
			t.Fatal(err)
		}
		if spoil(b.state); b.state.audit() == nil {
			t.Errorf("%s: not seen", name)
		}
	}
}
