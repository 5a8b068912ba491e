// Package postgres keeps docket's graphs, runs and events in a PostgreSQL
// database, through the driver pgx: the backend for production.
//
//	pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL"))
//	if err != nil {
//		return err
//	}
//	if err := postgres.Migrate(ctx, pool, ""); err != nil {
//		return err
//	}
//	backend, err := postgres.New(ctx, pool, postgres.Config{})
//
// # What holds
//
//   - The pool is the host's: the backend opens no connection beside it but the
//     one that listens for wakes, and closes none of it.
//   - A transition is one prepared statement, in one round trip and one
//     transaction; under load it is a part of one for many (ADR 0009). Nothing holds a connection or a lock between two calls.
//   - Every statement names its schema and its isolation: the database's locale,
//     time zone, search_path, default isolation and time-outs change nothing.
//   - Claims never wait for each other (SKIP LOCKED) and never lock a run that
//     they don't take. A notification is sent only for a wake that is due.
//   - A commit that keeps its claim changes no indexed column.
//   - A statement whose context ends gets Config.CancelGrace to end by itself,
//     so nearly every cancelled call is exact and costs no connection.
//
// # What it does not do
//
// It needs PostgreSQL 14 or newer and a database in UTF8. It has no admission.
// It never migrates by itself: New refuses tables that aren't those of its
// version. Behind a transaction pooler, set the pool's DefaultQueryExecMode to
// pgx.QueryExecModeExec, and Config.Listen or Config.PollOnly. The guide for
// operators is docs/postgres.md.
package postgres
