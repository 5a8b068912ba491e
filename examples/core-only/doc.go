// Command core-only is a whole application on the core module alone: no engine,
// no store, no dependency but core, which has none.
//
// It decides expense claims. The program authors the graph in Go, shows what
// the compiler says about a flawed variant, draws the graph, runs one claim in
// its own goroutine (an attempt fails and is retried, a person is asked), and
// prints every checkpoint, the drawing with the run's marks on it, and the
// output.
//
//	GOWORK=off go run .
//
// Nothing waits: the runner's time is virtual. The exit status is 1 if anything
// isn't as it must be.
package main
