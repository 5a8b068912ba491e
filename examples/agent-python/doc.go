// Package agentpython certifies a backend that is written in Python: agent.py
// beside this file speaks the wire protocol of docs/wire-protocol.md with
// nothing but Python's standard library, and earns the level core:
//
//	go run ./cmd/conformance-runner --exec python3 -- examples/agent-python/agent.py
//
// The package has a test and no code. It shows that the suite asks a program
// for nothing that only Go could answer; it is no backend to be used.
package agentpython
