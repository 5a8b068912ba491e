package mutants

import (
	"context"
	"time"

	"github.com/docket-go/docket/conformance/model"
	"github.com/docket-go/docket/ports"
)

// transaction is the model's with some of its methods replaced; nil keeps the
// model's.
type transaction struct {
	*model.Tx
	store    *model.Backend
	ended    bool
	inserted func(id string)
	wrote    func()
	answered func(error)
	claim    func() (ports.Claimed, error)
	fetchRun func(context.Context, ports.FetchRun) (ports.FetchedRun, error)
	inspect  func(*ports.RunInfo)
	commit   func(context.Context, *model.Tx) error
	rollback func(context.Context, *model.Tx) error
}

// inTx makes each transaction of a mutant.
func inTx(f func(o *outer, t *transaction)) func(*model.Backend) ports.Backend {
	return wrapping(outer{begin: func(o *outer, tx *model.Tx) ports.Tx {
		t := &transaction{Tx: tx, store: o.Backend}
		f(o, t)
		return t
	}})
}

func (t *transaction) Commit(ctx context.Context) error {
	if t.commit == nil || t.ended {
		return t.Tx.Commit(ctx)
	}
	t.ended = true
	return t.commit(ctx, t.Tx)
}

func (t *transaction) Rollback(ctx context.Context) error {
	if t.rollback == nil || t.ended {
		return t.Tx.Rollback(ctx)
	}
	t.ended = true
	return t.rollback(ctx, t.Tx)
}

func (t *transaction) InsertRun(ctx context.Context, req ports.InsertRun) (ports.Inserted, error) {
	got, err := t.Tx.InsertRun(ctx, req)
	if err == nil && t.inserted != nil {
		t.inserted(req.Transition.Run.ID)
	}
	return got, t.told(err)
}

func (t *transaction) CommitUnclaimed(ctx context.Context, req ports.CommitUnclaimed) (ports.Committed, error) {
	got, err := t.Tx.CommitUnclaimed(ctx, req)
	return got, t.told(err)
}

func (t *transaction) CommitClaimed(ctx context.Context, req ports.CommitClaimed) (ports.Committed, error) {
	got, err := t.Tx.CommitClaimed(ctx, req)
	return got, t.told(err)
}

func (t *transaction) FetchRun(ctx context.Context, req ports.FetchRun) (ports.FetchedRun, error) {
	if t.fetchRun != nil {
		return t.fetchRun(ctx, req)
	}
	return t.Tx.FetchRun(ctx, req)
}

func (t *transaction) InspectRun(ctx context.Context, req ports.InspectRun) (ports.RunInfo, error) {
	info, err := t.Tx.InspectRun(ctx, req)
	if err == nil && t.inspect != nil {
		t.inspect(&info)
	}
	return info, err
}

func (t *transaction) ClaimRuns(ctx context.Context, req ports.ClaimRuns) (ports.Claimed, error) {
	if t.claim != nil {
		return t.claim()
	}
	return t.Tx.ClaimRuns(ctx, req)
}

func (t *transaction) told(err error) error {
	switch {
	case err == nil && t.wrote != nil:
		t.wrote()
	case err != nil && t.answered != nil:
		t.answered(err)
	}
	return err
}

// published ends a transaction so that its work stays.
func published(ctx context.Context, tx *model.Tx) error {
	tx.Publish()
	return tx.Rollback(ctx)
}

var txMutants = []Mutant{
	{Name: "roll-back-keeps", Clause: "TX-1", Off: "What a transaction did stays after its roll-back.",
		wrap: inTx(func(_ *outer, t *transaction) { t.rollback = published })},
	{Name: "commit-stores-nothing", Clause: "TX-1", Off: "A transaction's commit succeeds and stores nothing.",
		wrap: inTx(func(_ *outer, t *transaction) {
			t.commit = func(ctx context.Context, tx *model.Tx) error { return tx.Rollback(ctx) }
		})},
	{Name: "events-outside-the-transaction", Clause: "TX-1", Off: "The events of a transaction that is rolled back stay.",
		wrap: inTx(func(o *outer, t *transaction) {
			t.rollback = func(ctx context.Context, tx *model.Tx) error {
				events := map[string][]model.Event{}
				tx.Look(func(s *model.State) {
					for _, id := range s.RunIDs() {
						events[id] = row(s, id).Events
					}
				})
				o.Edit(func(s *model.State) {
					editAll(s, func(r *model.Row) { r.Events = events[r.Run.ID] })
				})
				return tx.Rollback(ctx)
			}
		})},
	{Name: "claims-inside", Clause: "TX-1", Off: "A claim inside a transaction succeeds, and finds nothing.",
		wrap: inTx(func(_ *outer, t *transaction) {
			t.claim = func() (ports.Claimed, error) { return ports.Claimed{}, nil }
		})},
	{Name: "transaction-start-clock", Clause: "TX-1", Off: "The store's time in a transaction is that of its beginning.",
		wrap: inTx(func(_ *outer, t *transaction) {
			var start time.Time
			t.inspect = func(i *ports.RunInfo) {
				if start.IsZero() {
					start = i.Now
				}
				i.Now = start
			}
		})},
	{Name: "dirty-reads", Clause: "TX-2", Off: "Others see what a transaction hasn't committed.",
		wrap: inTx(func(o *outer, t *transaction) {
			var before *model.State
			o.Edit(func(s *model.State) { before = s.Clone() })
			t.wrote = t.Publish
			t.rollback = func(ctx context.Context, tx *model.Tx) error {
				o.Edit(func(s *model.State) { *s = *before })
				return tx.Rollback(ctx)
			}
		})},
	{Name: "an-answer-spoils-the-transaction", Clause: "TX-3", Off: "A transaction can't commit after an answer such as ErrStale.",
		wrap: inTx(func(_ *outer, t *transaction) {
			var answer error
			t.answered = func(err error) { answer = err }
			t.commit = func(ctx context.Context, tx *model.Tx) error {
				if answer != nil {
					_ = tx.Rollback(ctx)
					return answer
				}
				return tx.Commit(ctx)
			}
		})},
	{Name: "a-swallowed-fault-commits", Clause: "TX-3", Off: "A transaction commits after a fault that its caller swallowed.",
		wrap: inTx(func(_ *outer, t *transaction) { t.commit = published })},
	{Name: "a-fault-is-told-and-half-is-stored", Clause: "TX-3", Off: "The commit after a fault fails, and stores what came before.",
		wrap: inTx(func(_ *outer, t *transaction) {
			t.commit = func(ctx context.Context, tx *model.Tx) error {
				tx.Publish()
				return tx.Commit(ctx)
			}
		})},
	{Name: "usable-after-the-end", Clause: "TX-4", Off: "A fetch in a transaction that ended reads the store.",
		wrap: inTx(func(o *outer, t *transaction) {
			t.fetchRun = func(ctx context.Context, req ports.FetchRun) (ports.FetchedRun, error) {
				got, err := t.Tx.FetchRun(ctx, req)
				if ports.CodeOf(err) == ports.CodeClosed {
					return o.Backend.FetchRun(ctx, req)
				}
				return got, err
			}
		})},
	{Name: "detached-roll-back-commits", Clause: "TX-5", Off: "A roll-back that can't be cancelled, as those of InTx, commits.",
		wrap: inTx(func(_ *outer, t *transaction) {
			t.rollback = func(ctx context.Context, tx *model.Tx) error {
				if ctx.Done() == nil {
					return published(ctx, tx)
				}
				return tx.Rollback(ctx)
			}
		})},
	{Name: "a-second-begin-is-a-conflict", Clause: "TX-6", Off: "A Begin that has waited in vain is ErrConflict.",
		wrap: func(b *model.Backend) ports.Backend { return &impatient{outer{Backend: b}} }},
	{Name: "a-commit-erases", Clause: "TX-6", Off: "A transaction works on a copy, and its commit erases what others committed meanwhile.",
		wrap: inTx(func(_ *outer, t *transaction) { t.Detach() })},
	{Name: "roll-back-is-told", Clause: "TX-7", Off: "A roll-back notifies.",
		wrap: inTx(func(o *outer, t *transaction) {
			t.rollback = func(ctx context.Context, tx *model.Tx) error {
				defer o.Ring()
				return tx.Rollback(ctx)
			}
		})},
	{Name: "rolled-back-wake-stays", Clause: "TX-7", Off: "A signal that was rolled back leaves its wake.",
		wrap: inTx(func(o *outer, t *transaction) {
			t.rollback = func(ctx context.Context, tx *model.Tx) error {
				woken := map[string]model.Row{}
				tx.Look(func(s *model.State) {
					for _, id := range s.RunIDs() {
						if r := row(s, id); !r.Wake.IsZero() {
							woken[id] = r
						}
					}
				})
				o.Edit(func(s *model.State) {
					editAll(s, func(r *model.Row) {
						if w, ok := woken[r.Run.ID]; ok && r.Run.Status == "waiting" {
							r.Run.Status, r.Wake = w.Run.Status, w.Wake
						}
					})
				})
				return tx.Rollback(ctx)
			}
		})},
}

// impatient refuses a second transaction in the wrong way.
type impatient struct{ outer }

func (i *impatient) Begin(ctx context.Context) (ports.Tx, error) {
	tx, err := i.Backend.Begin(ctx)
	if ports.CodeOf(err) == ports.CodeUnavailable {
		err = ports.Conflict("Begin", "another transaction is open")
	}
	return tx, err
}
