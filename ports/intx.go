package ports

import "context"

// InTx runs fn in a transaction of b: it commits when fn returns nil, and rolls
// back when fn returns an error, panics or ends its goroutine, which propagate
// (TX-5). The roll-back happens also when ctx has ended.
//
//	err := ports.InTx(ctx, backend, func(tx ports.Backend) error {
//		if _, err := tx.SaveGraph(ctx, save); err != nil {
//			return err
//		}
//		_, err := tx.InsertRun(ctx, insert)
//		return err
//	})
//
// When b is a transaction already, fn joins it: the outer caller commits, and
// a failing fn rolls the whole transaction back, so that an outer caller that
// swallows the error can't commit half of what fn wrote. A fault inside fn
// makes the commit fail, also when fn swallowed it (TX-3).
//
// Fn uses the backend that it is given: b itself may wait for this transaction
// to end (TX-6). InTx answers ErrUnsupported when b is no Transactor.
func InTx(ctx context.Context, b Backend, fn func(tx Backend) error) error {
	if outer, ok := As[Tx](b); ok {
		return within(ctx, outer, func() error { return fn(b) })
	}
	transactor, ok := As[Transactor](b)
	if !ok {
		return Unsupported("InTx", "the backend has no transactions")
	}
	tx, err := transactor.Begin(ctx)
	if err != nil {
		return err
	}
	if err := within(ctx, tx, func() error { return fn(tx) }); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// within runs fn and rolls tx back unless fn returned nil. It recovers nothing:
// a panic or runtime.Goexit passes through the deferred call.
func within(ctx context.Context, tx Tx, fn func() error) error {
	succeeded := false
	defer func() {
		if !succeeded {
			// The error of fn is the one to tell. A roll-back that fails leaves a
			// transaction that can't commit either.
			_ = tx.Rollback(context.WithoutCancel(ctx))
		}
	}()
	if err := fn(); err != nil {
		return err
	}
	succeeded = true
	return nil
}
