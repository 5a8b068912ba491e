package conformance

import (
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/ports"
)

var txCases = []Case{
	{
		ID: "tx/commits-together", Clauses: on("TX-1"), Level: LevelTx, Requires: []Need{NeedTransactor},
		Rule: "Graph, run and event operations of one transaction are there together after its commit, and visible inside before.",
		run:  txCommitsTogether,
	},
	{
		ID: "tx/vanishes-together", Clauses: on("TX-1 RUN-1"), Level: LevelTx, Requires: []Need{NeedTransactor},
		Rule: "After a roll-back none of the transaction's writes is there, and its ids are free.",
		run:  txVanishesTogether,
	},
	{
		ID: "tx/rolls-back-a-commit", Clauses: on("TX-1 RUN-4 EVT-2"), Level: LevelTx, Requires: []Need{NeedTransactor},
		Rule: "Rolling back a claimed commit and a signal leaves run, claim, wake and events as they were.",
		run:  txRollsBackACommit,
	},
	{
		ID: "tx/claims-are-unsupported", Clauses: on("TX-1"), Level: LevelTx, Requires: []Need{NeedTransactor},
		Rule: "Claim operations inside a transaction are ErrUnsupported, and leave it usable.",
		run:  txClaimsUnsupported,
	},
	{
		ID: "tx/invisible-outside", Clauses: on("TX-2"), Level: LevelTx, Requires: []Need{NeedTransactor},
		Rule: "Uncommitted work is invisible outside: a read there waits for the end or sees what was before.",
		run:  txInvisibleOutside,
	},
	{
		ID: "tx/usable-after-an-answer", Clauses: on("TX-3"), Level: LevelTx, Requires: []Need{NeedTransactor},
		Rule: "After an answer (invalid, not found, inactive, exists, stale) the transaction goes on and commits.",
		run:  txUsableAfterAnswers,
	},
	{
		ID: "tx/a-fault-makes-it-roll-back-only", Clauses: on("TX-3 GRF-1"), Level: LevelTx, Requires: []Need{NeedTransactor},
		Rule: "After a fault, also a swallowed one, commit fails and stores nothing.",
		run:  txFaultRollsBack,
	},
	{
		ID: "tx/use-after-end", Clauses: on("TX-4"), Level: LevelTx, Requires: []Need{NeedTransactor},
		Rule: "Every use of a transaction after its commit or roll-back is an error and writes nothing.",
		run:  txUseAfterEnd,
	},
	{
		ID: "tx/in-tx-commits-or-rolls-back", Clauses: on("TX-5"), Level: LevelTx, Requires: []Need{NeedTransactor},
		Rule: "InTx commits on nil and rolls back on an error, a panic and Goexit, which propagate.",
		run:  inTxEnds,
	},
	{
		ID: "tx/in-tx-joins", Clauses: on("TX-5"), Level: LevelTx, Requires: []Need{NeedTransactor},
		Rule: "InTx inside a transaction joins it: nothing is stored until the outer one commits.",
		run:  inTxJoins,
	},
	{
		ID: "tx/one-at-a-time-waits", Clauses: on("TX-6"), Level: LevelTx, Requires: []Need{NeedTransactor},
		Rule: "While a transaction is open another Begin works, or waits until its context ends and is ErrUnavailable; nothing committed is erased.",
		run:  txOneAtATime,
	},
	{
		ID: "tx/a-rolled-back-wake-never-happens", Clauses: on("TX-7 TX-1"), Level: LevelTx, Requires: []Need{NeedTransactor},
		Rule: "A run whose insert or wake was rolled back is never leased.",
		run:  txRolledBackWake,
	},
}

// begin opens a transaction that is rolled back with the case if it still is
// open then.
func (s *store) beginTx() *store {
	e := s.env
	e.Helper()
	t, ok := ports.As[ports.Transactor](s.raw)
	if !ok {
		e.Fatalf("the backend declares Transactor and has none")
	}
	tx, err := s.begin(e.Context(), t)
	e.ok(err, "beginning a transaction")
	e.Cleanup(func() { _ = tx.tx.Rollback(context.WithoutCancel(e.Context())) })
	return &store{logged: &tx.logged, env: e, raw: tx.tx}
}

func (s *store) end(commit bool) error {
	tx := &loggedTx{logged: *s.logged, tx: s.raw.(ports.Tx)}
	if commit {
		return tx.Commit(s.env.Context())
	}
	return tx.Rollback(s.env.Context())
}

func (s *store) gone(id string) {
	s.env.Helper()
	for op, err := range s.reads(s.env.Context(), ports.System(), id) {
		s.env.want(err, ports.ErrNotFound, op+" of what was rolled back")
	}
}

func txCommitsTogether(e *env) {
	s := e.open()
	tx := s.beginTx()
	r := tx.start(acme, "r")
	tx.signal(r, change{Type: interruptResolved, Events: 3})
	got, err := tx.FetchRun(e.Context(), ports.FetchRun{Scope: r.scope(), RunID: "r", Now: e.now})
	e.ok(err, "reading inside")
	e.same(r.run, got.Run, "the record inside")
	e.ok(tx.end(true), "committing the transaction")
	s.stored(r)
	e.same(1, len(s.versions(acme, "flow", 0)), "versions after the commit")
	s.claim(r)
}

func txVanishesTogether(e *env) {
	s := e.open()
	tx := s.beginTx()
	r := tx.start(acme, "r")
	tx.signal(r, change{Type: interruptResolved})
	e.ok(tx.end(false), "rolling back")
	s.gone("r")
	e.same(0, len(s.versions(acme, "flow", 0)), "versions after the roll-back")
	e.same([]string{}, leased(s.claims(10)), "leased after the roll-back")
	s.stored(s.start(acme, "r"))
}

func txRollsBackACommit(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	token := s.claim(r).Token
	before := s.observe(r)
	inside := *r
	tx := s.beginTx()
	tx.commit(&inside, token, change{Kind: "retain", Events: 3})
	tx.signal(&inside, change{Status: cancelled})
	e.ok(tx.end(false), "rolling back")
	s.unchanged(before, r, "a transaction that was rolled back")
	s.commit(r, token, change{Status: done})
	s.stored(r)
}

func txClaimsUnsupported(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	token := s.claim(r).Token
	tx := s.beginTx()
	_, err := tx.ClaimRuns(e.Context(), ports.ClaimRuns{Scope: ports.System(), Limit: 1, TTL: ttl, MaxAttempts: 1, Now: e.now})
	e.want(err, ports.ErrUnsupported, "claiming inside")
	_, err = tx.refresh(r, token, ttl)
	e.want(err, ports.ErrUnsupported, "refreshing inside")
	e.want(tx.release(r, token, true), ports.ErrUnsupported, "releasing inside")
	_, err = tx.abandon(r, token, ports.AbandonClaim{RetryAt: e.now, NonPoisoning: true})
	e.want(err, ports.ErrUnsupported, "abandoning inside")
	tx.commit(r, token, change{Status: done})
	e.ok(tx.end(true), "committing after unsupported operations")
	s.stored(r)
}

// outside reads the run under a bound: a store with one writer may make readers
// wait, which is as good as not seeing.
func (s *store) outside(id string) (ports.FetchedRun, error) {
	return s.FetchRun(s.env.bounded(200*time.Millisecond), ports.FetchRun{Scope: ports.System(), RunID: id, Now: s.env.now})
}

func txInvisibleOutside(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	before := r.run
	tx := s.beginTx()
	inside := *r
	tx.signal(&inside, change{Type: interruptResolved})
	tx.start(acme, "new")
	got, err := s.outside("r")
	if err != nil {
		e.want(err, ports.ErrUnavailable, "reading outside")
	} else {
		e.same(before, got.Run, "the record outside")
	}
	if _, err = s.outside("new"); ports.CodeOf(err) != ports.CodeUnavailable {
		e.want(err, ports.ErrNotFound, "reading outside what was inserted inside")
	}
	e.ok(tx.end(true), "committing")
	s.stored(&inside)
}

func txUsableAfterAnswers(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	ended := s.start(acme, "ended")
	s.signal(ended, change{Status: cancelled})
	tx := s.beginTx()
	_, err := tx.FetchRun(e.Context(), ports.FetchRun{Scope: ports.System(), RunID: "nobody", Now: e.now})
	e.want(err, ports.ErrNotFound, "fetching an unknown run inside")
	e.want(tx.insert(&subject{owner: acme}, begin("r", r.run.Graph, e.now, change{})), ports.ErrExists, "inserting a taken id inside")
	e.want(tx.insert(&subject{owner: acme}, begin("x", version("flow", 9).Ref, e.now, change{})), ports.ErrNotFound, "inserting on an unknown graph inside")
	_, err = tx.tryCommit(r, "guess", r.next(e.now, change{}))
	e.want(err, ports.ErrStale, "a stale commit inside")
	_, err = tx.trySignal(ended, ended.next(e.now, change{Status: cancelled}))
	e.want(err, ports.ErrInactive, "a signal to a terminal run inside")
	_, err = tx.trySignal(r, r.next(e.now, change{Status: "created"}))
	e.want(err, ports.ErrInvalid, "an invalid signal inside")
	tx.signal(r, change{Type: interruptResolved})
	e.ok(tx.end(true), "committing after answers")
	s.stored(r)
	s.gone("x")
}

func txFaultRollsBack(e *env) {
	s := e.open()
	s.graph(acme)
	tx := s.beginTx()
	tx.start(acme, "r")
	forged := version("flow", 1)
	forged.Document = []byte(`{"forged":true}`)
	_, err := tx.SaveGraph(e.Context(), ports.SaveGraph{Owner: acme, Version: forged, Now: e.now})
	e.want(err, ports.ErrConflict, "saving other bytes inside") // and swallowed
	if err := tx.end(true); err == nil {
		e.Errorf("a transaction committed after a fault")
	}
	s.gone("r")
	s.stored(s.start(acme, "r"))
}

func txUseAfterEnd(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	for _, commit := range []bool{true, false} {
		tx := s.beginTx()
		e.ok(tx.end(commit), "ending")
		before := s.observe(r)
		for op, err := range tx.reads(e.Context(), ports.System(), "r") {
			e.check(err != nil, "%s after the end of a transaction succeeded", op)
		}
		for op, err := range tx.writes(e.Context(), ports.System(), r, "token") {
			e.check(err != nil, "%s after the end of a transaction succeeded", op)
		}
		e.check(tx.end(true) != nil, "committing an ended transaction succeeded")
		s.unchanged(before, r, "an ended transaction")
	}
}

func inTxEnds(e *env) {
	s := e.open()
	ref := s.graph(acme)
	insert := func(id string) func(ports.Backend) error {
		return func(tx ports.Backend) error {
			_, err := tx.InsertRun(e.Context(), ports.InsertRun{Owner: acme, Transition: begin(id, ref, e.now, change{}), Now: e.now})
			return err
		}
	}
	e.ok(ports.InTx(e.Context(), s.raw, insert("nil")), "InTx of a function that returns nil")
	refusal := errors.New("the function refuses")
	err := ports.InTx(e.Context(), s.raw, func(tx ports.Backend) error {
		return errors.Join(refusal, insert("error")(tx))
	})
	e.check(errors.Is(err, refusal), "InTx of a function that returns an error: %v", err)
	func() {
		defer func() { e.check(recover() != nil, "a panic didn't leave InTx") }()
		_ = ports.InTx(e.Context(), s.raw, func(tx ports.Backend) error {
			_ = insert("panic")(tx)
			panic("the function panics")
		})
	}()
	left := make(chan bool)
	go func() {
		returned := false
		defer func() { left <- returned }()
		_ = ports.InTx(e.Context(), s.raw, func(tx ports.Backend) error {
			_ = insert("goexit")(tx)
			runtime.Goexit()
			return nil
		})
		returned = true
	}()
	e.check(!<-left, "Goexit didn't leave InTx")
	e.same([]string{"nil"}, s.runIDs(ports.ListRuns{Scope: ports.System()}), "runs after InTx ended in four ways")
}

func inTxJoins(e *env) {
	s := e.open()
	ref := s.graph(acme)
	insert := func(tx ports.Backend, id string) error {
		_, err := tx.InsertRun(e.Context(), ports.InsertRun{Owner: acme, Transition: begin(id, ref, e.now, change{}), Now: e.now})
		return err
	}
	tx := s.beginTx()
	e.ok(ports.InTx(e.Context(), tx.raw, func(inner ports.Backend) error { return insert(inner, "inner") }), "InTx inside a transaction")
	e.ok(tx.end(false), "rolling the outer one back")
	s.gone("inner")
	e.ok(ports.InTx(e.Context(), s.raw, func(outer ports.Backend) error {
		if err := insert(outer, "outer"); err != nil {
			return err
		}
		return ports.InTx(e.Context(), outer, func(inner ports.Backend) error { return insert(inner, "inner") })
	}), "InTx inside InTx")
	e.same([]string{"outer", "inner"}, s.runIDs(ports.ListRuns{Scope: ports.System()}), "runs after the outer commit")
}

func txOneAtATime(e *env) {
	s := e.open()
	kept := s.start(acme, "kept")
	tx := s.beginTx()
	tx.signal(kept, change{Type: interruptResolved})
	beside := s.besideTx(kept.run.Graph)
	e.ok(tx.end(true), "committing the first")
	for _, r := range append(beside, kept) {
		s.stored(r)
	}
	third := s.beginTx()
	third.signal(kept, change{Type: interruptResolved})
	e.ok(third.end(true), "committing the one after")
	s.stored(kept)
}

// besideTx writes while a transaction is open, in another one and in none, and
// returns the runs that the store took: those may not be erased.
func (s *store) besideTx(ref graph.Ref) []*subject {
	e := s.env
	var taken []*subject
	insert := func(b ports.Backend, id string) error {
		t := begin(id, ref, e.now, change{})
		_, err := b.InsertRun(e.bounded(100*time.Millisecond), ports.InsertRun{Owner: acme, Transition: t, Now: e.now})
		if err != nil {
			e.wantAny(err, "an insert beside a transaction", ports.ErrUnavailable, ports.ErrUncertain)
			return err
		}
		r := &subject{owner: acme}
		r.apply(t)
		taken = append(taken, r)
		return nil
	}
	_ = insert(s, "in none")
	t, _ := ports.As[ports.Transactor](s.raw)
	second, err := s.begin(e.bounded(100*time.Millisecond), t)
	if err != nil {
		e.want(err, ports.ErrUnavailable, "a second Begin")
		return taken
	}
	if err := insert(second, "in another"); err != nil {
		e.ok(second.Rollback(e.Context()), "rolling the second back")
		return taken
	}
	e.ok(second.Commit(e.Context()), "committing the second")
	return taken
}

func txRolledBackWake(e *env) {
	s := e.open()
	r := s.start(acme, "waits")
	s.commit(r, s.claim(r).Token, change{Status: waiting})
	tx := s.beginTx()
	inside := *r
	tx.signal(&inside, change{Type: interruptResolved})
	tx.start(acme, "new")
	e.ok(tx.end(false), "rolling back")
	e.advance(time.Hour)
	e.same([]string{}, leased(s.claims(10)), "leased after the roll-back")
}
