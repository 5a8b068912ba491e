package ports

import "context"

// Capabilities declares which optional interfaces a backend has. Declared but
// absent, or present but undeclared, is non-conformant.
type Capabilities struct {
	Transactor bool // Transactor: several operations commit together (TX)
	WakeSource bool // WakeSource: due wakes are told at once (WAK)
	Pruner     bool // Pruner: retention (PRN)
	Admission  bool // AdmissionAdmin: tenant-fair admission (ADM)
}

// Transactor begins transactions (TX-1).
type Transactor interface {
	// Begin starts a transaction. A backend may run one at a time: Begin, and the
	// writes of others, then wait until it ends or their context does, which is
	// ErrUnavailable (TX-6). The caller guarantees to end the transaction by
	// Commit, Rollback or Close, and best uses InTx, which does. The transaction
	// outlives ctx.
	Begin(ctx context.Context) (Tx, error)
}

// Tx is a transaction: a Backend whose graph, run and event operations commit
// or vanish together (TX-1). Inside, they see each other's work; outside,
// nothing is visible before Commit (TX-2). Its claim operations answer
// ErrUnsupported; it has no optional interfaces, and Capabilities says so.
//
// After an answer the transaction stays usable. Any fault makes it roll-back
// only, also when the caller swallowed it (TX-3). Use after the end, Commit and
// Rollback included, answers ErrClosed (TX-4). Close rolls back a transaction
// that hasn't ended.
type Tx interface {
	Backend

	// Commit makes everything visible at once and ends the transaction, whatever
	// it returns. It answers the first fault's kind, and stores nothing, when the
	// transaction is roll-back only. Wakes that are due notify afterwards (WAK-1).
	Commit(ctx context.Context) error

	// Rollback ends the transaction; nothing of it was ever visible, and no wake
	// happens (TX-7).
	Rollback(ctx context.Context) error
}

// WakeSource tells that some run may be due. Losing it costs only latency:
// whoever polls needs none (WAK-4).
type WakeSource interface {
	// Wakes subscribes until ctx ends or the backend closes, and then closes the
	// channel. Inserts, commits and recoveries that leave a wake due now send one
	// after they are visible (WAK-1); releases, abandons and future wakes are
	// silent (WAK-3). One wake comes after every subscription, and after each one
	// that the source renews by itself, for what was missed (WAK-2). A slow reader
	// gets one wake for many (WAK-5).
	Wakes(ctx context.Context) (<-chan struct{}, error)
}

// Unwrapper is a backend around another one. As looks through it.
type Unwrapper interface {
	// Unwrap returns the backend inside.
	Unwrap() Backend
}

// Opaque marks a wrapper that hides the optional interfaces of what it wraps:
// As stops there.
type Opaque interface {
	// Opaque does nothing; having it is the mark.
	Opaque()
}
