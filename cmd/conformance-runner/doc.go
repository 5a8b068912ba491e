// Command conformance-runner certifies storage backends by the conformance
// suite. Alone it certifies the embedded backends:
//
//	conformance-runner                        # memory and sqlite
//	conformance-runner --backend sqlite --run '^commit/' --seed 7
//	conformance-runner --json report.json
//	conformance-runner list
//
// It exits 0 if every backend conforms, 1 if one doesn't, 2 if the suite could
// not run or ran no case. The report goes to standard output; progress goes to
// standard error, and only when that is a terminal.
//
// It holds no rule of its own: what a backend must do is in the suite, and this
// program only opens the backends.
package main
