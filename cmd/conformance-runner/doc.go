// Command conformance-runner certifies storage backends by the conformance
// suite. Alone it certifies the embedded backends; with --exec a program in any
// language that speaks the wire protocol (docs/wire-protocol.md):
//
//	conformance-runner                        # memory and sqlite
//	conformance-runner --backend sqlite --run '^commit/' --seed 7
//	conformance-runner --backend sqlite --require core,+tx,+durable
//	conformance-runner --exec ./agent --json report.json -- arguments
//	conformance-runner verify report.json --exec ./agent -- arguments
//	conformance-runner list
//
// It exits 0 if every backend conforms, 1 if one doesn't or isn't granted a level
// that --require names, 2 if the suite could not run or ran no case. The report goes to standard output; progress goes to
// standard error, and only when that is a terminal. JSON, JUnit, Markdown and a
// badge go to the files that flags name.
//
// Processes on an embedded store, which crash cases kill and freeze, are this
// program again, as "serve".
//
// It holds no rule of its own: what a backend must do is in the suite, and this
// program only opens the backends. docs/certification.md tells how to read what
// comes out.
package main
