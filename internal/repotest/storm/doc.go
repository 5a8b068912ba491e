// Package storm proves that a fleet of processes on one store survives the death
// of some of them: four worker processes share a store, two are killed with
// SIGKILL in the middle of their work, and every run must still be done once,
// with exactly the state of an undisturbed one.
//
// The workers are the test binary, started again with a role in its environment.
// The store is a name with a scheme (sqlite:/path, postgres://…): a new SQLite
// file, and a database of a PostgreSQL server that pgxtest finds; -storm.store
// takes another one in the place of the file. -storm.runs says how many runs.
package storm
