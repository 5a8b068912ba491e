// Command agent serves the SQLite backend over the wire protocol, so that it is
// certified from outside its process, as a backend in another language would be:
//
//	go build -o /tmp/agent ./examples/agent
//	go run ./cmd/conformance-runner --exec /tmp/agent
//
// Its main is all that a backend written in Go needs. The file damage.go is the
// part for the cases about damaged storage, which an agent may leave out: then
// the level +durable is not certified. The protocol is docs/wire-protocol.md;
// examples/agent-python speaks it without any library.
package main
