// Package crash proves that a run survives the death of its workers at any
// point: a test kills the worker process again and again, with SIGKILL, at
// random moments of its work, and the run must still complete with every
// committed step once.
//
// The worker is the test binary, started again with a role in its environment.
// It tells each commit by a line on its standard output, so that the parent can
// aim: between commits, during one, or before the first.
package crash
