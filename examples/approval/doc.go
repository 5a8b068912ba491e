// Command approval writes an article, and shows what durable means while it
// does.
//
// Its graph (graph.json) researches a topic, fans out to two nodes, joins them
// in a draft, asks a person, and then publishes or loops back for another
// draft. Publishing fails at first and is retried.
//
//	go run ./examples/approval
//	go run ./examples/approval -interactive
//	go run ./examples/approval -store run.db
//
// The program starts the run on a SQLite file and then tells a story in
// processes: one worker is killed with SIGKILL in the middle of a superstep, a
// second one takes the run over, a third process answers the question, the run
// completes. It ends with the event log, the drawn graph, the run's output, and
// a list of what must be true; it exits with 1 when something isn't.
//
// The workers are this same program, started again with a role in its
// environment. Their claims last two seconds so that the take-over is seen at
// once. The default is a minute: it bounds only how long a dead worker's run
// waits, and a short one makes busy workers renew more often.
package main
