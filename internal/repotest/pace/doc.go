// Package pace measures whole runs, driven by the engine on PostgreSQL, beside
// the same transitions written by hand.
//
//	DOCKET_TEST_DATABASE_URL=postgres://… go test -bench . -benchtime 2000x ./internal/repotest/pace
//
// # What holds
//
//   - Both sides write to tables of the same form, through pools of the same
//     size, on one server, in turns: absolute figures don't travel, the ratio
//     x/raw does. 1 is as fast as by hand, 0.5 takes twice as long.
//   - By hand means: insert, claim, a commit for each superstep, the last of which
//     ends the run. Each is one prepared statement, with as many bytes of state
//     and as many events as the engine's run had.
//
// It measures and judges nothing. Name a server that flushes to the disk: the
// throw-away one doesn't, so the processor's part weighs more there.
package pace
