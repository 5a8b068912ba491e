package ports_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"

	"github.com/docket-go/docket/ports"
)

// plain is a backend of which only the identity matters.
type plain struct{ ports.Backend }

// transactor counts what its transaction was told.
type transactor struct {
	plain
	told   *[]string
	commit error
}

func (b transactor) Begin(context.Context) (ports.Tx, error) {
	*b.told = append(*b.told, "begin")
	return tx{told: b.told, commit: b.commit}, nil
}

type tx struct {
	plain
	told   *[]string
	commit error
}

func (t tx) Commit(context.Context) error {
	*t.told = append(*t.told, "commit")
	return t.commit
}

func (t tx) Rollback(ctx context.Context) error {
	*t.told = append(*t.told, "rollback")
	return ctx.Err()
}

// wrapper adds nothing; sealed hides what is inside.
type wrapper struct {
	plain
	inner ports.Backend
}

func (w wrapper) Unwrap() ports.Backend { return w.inner }

type sealed struct{ wrapper }

func (sealed) Opaque() {}

func TestAs(t *testing.T) {
	t.Parallel()
	inner := transactor{told: new([]string)}
	outer := transactor{told: new([]string)}
	for name, tt := range map[string]struct {
		backend ports.Backend
		want    *[]string
	}{
		"itself":                            {inner, inner.told},
		"through two wrappers":              {wrapper{inner: wrapper{inner: inner}}, inner.told},
		"outermost first":                   {transactingWrapper{outer, inner}, outer.told},
		"none":                              {plain{}, nil},
		"nil":                               {nil, nil},
		"a wrapper of none":                 {wrapper{inner: plain{}}, nil},
		"a wrapper of nil":                  {wrapper{}, nil},
		"an opaque wrapper stops":           {sealed{wrapper{inner: inner}}, nil},
		"an opaque one under a plain one":   {wrapper{inner: sealed{wrapper{inner: inner}}}, nil},
		"what an opaque one has is its own": {opaqueTransactor{outer, inner}, outer.told},
	} {
		got, ok := ports.As[ports.Transactor](tt.backend)
		if ok != (tt.want != nil) {
			t.Errorf("%s: found %v", name, ok)
			continue
		}
		if ok {
			if _, err := got.Begin(t.Context()); err != nil || len(*tt.want) != 1 {
				t.Errorf("%s: not the one that was expected", name)
			}
			*tt.want = nil
		}
	}
}

type transactingWrapper struct {
	transactor
	inner ports.Backend
}

func (w transactingWrapper) Unwrap() ports.Backend { return w.inner }

type opaqueTransactor struct {
	transactor
	inner ports.Backend
}

func (w opaqueTransactor) Unwrap() ports.Backend { return w.inner }
func (opaqueTransactor) Opaque()                 {}

func TestInTx(t *testing.T) {
	t.Parallel()
	failure := errors.New("failure")
	nested := func(ctx context.Context, inner func(ports.Backend) error, then error, swallow bool) func(ports.Backend) error {
		return func(b ports.Backend) error {
			if err := ports.InTx(ctx, wrapper{inner: b}, inner); err != nil && !swallow {
				return err
			}
			return then
		}
	}
	succeed := func(ports.Backend) error { return nil }
	fail := func(ports.Backend) error { return failure }
	for name, tt := range map[string]struct {
		fn     func(ports.Backend) error
		commit error
		want   error
		told   []string
	}{
		"nil commits":                   {fn: succeed, told: []string{"begin", "commit"}},
		"an error rolls back":           {fn: fail, want: failure, told: []string{"begin", "rollback"}},
		"a failed commit is told":       {fn: succeed, commit: ports.ErrConflict, want: ports.ErrConflict, told: []string{"begin", "commit"}},
		"a nested one joins":            {fn: nested(t.Context(), succeed, nil, false), told: []string{"begin", "commit"}},
		"a nested error ends the whole": {fn: nested(t.Context(), fail, nil, false), want: failure, told: []string{"begin", "rollback", "rollback"}},
		"a swallowed nested error rolls back before the commit is tried": {
			fn: nested(t.Context(), fail, nil, true), commit: ports.ErrClosed, want: ports.ErrClosed,
			told: []string{"begin", "rollback", "commit"},
		},
	} {
		b := transactor{told: new([]string), commit: tt.commit}
		if err := ports.InTx(t.Context(), b, tt.fn); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", name, err)
		}
		if !slices.Equal(*b.told, tt.told) {
			t.Errorf("%s: the transaction was told %v, want %v", name, *b.told, tt.told)
		}
	}
	if err := ports.InTx(t.Context(), plain{}, succeed); !errors.Is(err, ports.ErrUnsupported) {
		t.Errorf("a backend without transactions: %v", err)
	}
}

func TestInTxRollsBackWhateverHappens(t *testing.T) {
	t.Parallel()
	want := []string{"begin", "rollback"}

	b := transactor{told: new([]string)}
	recovered := func() (r any) {
		defer func() { r = recover() }()
		_ = ports.InTx(t.Context(), b, func(ports.Backend) error { panic("boom") })
		return nil
	}()
	if recovered != "boom" || !slices.Equal(*b.told, want) {
		t.Errorf("a panic: recovered %v, told %v", recovered, *b.told)
	}

	b = transactor{told: new([]string)}
	returned, done := false, make(chan struct{})
	go func() {
		defer close(done)
		_ = ports.InTx(t.Context(), b, func(ports.Backend) error { runtime.Goexit(); return nil })
		returned = true
	}()
	<-done
	if returned || !slices.Equal(*b.told, want) {
		t.Errorf("Goexit: returned %v, told %v", returned, *b.told)
	}

	// The roll-back's context lives on, or the transaction would stay open.
	b = transactor{told: new([]string)}
	ctx, cancel := context.WithCancel(t.Context())
	err := ports.InTx(ctx, rollbackWitness{b, t}, func(ports.Backend) error { cancel(); return ctx.Err() })
	if !errors.Is(err, context.Canceled) || !slices.Equal(*b.told, want) {
		t.Errorf("an ended context: %v, told %v", err, *b.told)
	}
}

// rollbackWitness fails when a roll-back comes with an ended context.
type rollbackWitness struct {
	transactor
	t *testing.T
}

func (b rollbackWitness) Begin(ctx context.Context) (ports.Tx, error) {
	inner, err := b.transactor.Begin(ctx)
	return witnessedTx{inner, b.t}, err
}

type witnessedTx struct {
	ports.Tx
	t *testing.T
}

func (w witnessedTx) Rollback(ctx context.Context) error {
	if ctx.Err() != nil {
		w.t.Error("the roll-back came with an ended context")
	}
	return w.Tx.Rollback(ctx)
}
