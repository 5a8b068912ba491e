// Package sqlite keeps docket's graphs, runs and events in one SQLite file
// through a pure Go driver: the embedded default, for one machine.
//
//	b, err := sqlite.Open(ctx, sqlite.Config{Path: "docket.db"})
//	if err != nil {
//		return err
//	}
//	defer b.Close()
//
// # What holds
//
//   - The file is in WAL mode; foreign keys and a busy timeout are set on every
//     connection. Any number of processes on one machine may open the file.
//   - Each operation that writes is one BEGIN IMMEDIATE transaction on the one
//     writer connection. Operations that wait for it at the same time share a
//     transaction and its one disk flush; each keeps its own savepoint, fence
//     and answer.
//   - A statement inside a transaction is never interrupted: a context that
//     ends is seen before a transaction begins, and between operations. So a
//     cancelled call either did nothing, and says so, or has its answer.
//   - With SynchronousFull, the default, what was acknowledged survives SIGKILL
//     and power loss. Other levels: see Synchronous.
//   - Tables are STRICT and carry the row shapes of RUN-11 as CHECK constraints.
//
// # What it does not do
//
// It has no admission, no network file systems (WAL needs shared memory), and
// no in-memory database: ":memory:" is one database per connection. One
// transaction runs at a time (TX-6): while one is open, other writes wait up to
// Config.BusyTimeout, then answer ports.ErrUnavailable.
package sqlite
