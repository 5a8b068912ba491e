// Package simulation runs whole fleets of workers on one store in virtual time,
// breaks everything that may break, and proves from the store's own history that
// nothing promised was broken with it.
//
//	synctest.Test(t, func(t *testing.T) {
//		report := simulation.Simulate(t.Context(), simulation.Config{Seed: 7, Runs: 25})
//		for _, v := range report.Violations { … }
//	})
//
// A seed decides the graphs, what every node attempt comes to, and which call of
// which worker meets which fault: lost requests and lost answers, requests that
// arrive much later, processes that die before or after a commit or stand still
// past their lease, skewed and jumping clocks, lost and repeated wakes, workers
// without an implementation, graceful restarts, and answers and cancellations at
// any moment. After a while the faults stop; then every run has to end.
//
// What is judged is never what an engine says about itself:
//
//   - The referee (type ledger) stands at the store, compares each of its answers
//     with the contract's model, and writes down every committed transition.
//   - The replay calculates each transition again, by the pure machine and the
//     node's known outcome, and wants the same bytes: documents, events, wakes.
//   - The acknowledgements that clients and observers got must be in that history.
//
// The seed fixes all choices, not the order in which the Go scheduler runs what
// happens at one instant of virtual time: a seed that failed may have to be
// repeated. The tests with broken stores prove that each check can fail.
package simulation
