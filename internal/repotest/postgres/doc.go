// Package postgres tests the engine over adapters/pgx, on a real server and in
// real time: what only both together can show. The engine's behaviour by itself
// is tested one directory up, on virtual time.
//
// The server is one that pgxtest finds; without any the tests skip, or fail where
// PostgreSQL is required.
package postgres
