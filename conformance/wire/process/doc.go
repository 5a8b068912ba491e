// Package process starts agents, programs that speak the protocol of package
// wire, and makes a conformance harness of them: every handle on a store is a
// process of its own.
//
//	fleet, err := process.New(ctx, process.Config{Path: "./agent"})
//	if err != nil {
//		return err
//	}
//	defer fleet.Close()
//	report, err := conformance.Check(ctx, fleet.Harness(), conformance.Options{})
//
// Opening a store starts a process; reopening it, or spawning a peer, starts
// another one on the same store; a crash is SIGKILL. Where the system has
// signals that stop a process, peers can be frozen and thawed.
//
// What an agent writes to its standard error is kept, the last of it, and shown
// with an error of the connection. Directories of stores are temporary and go
// with the fleet; what an agent stores elsewhere is the agent's to remove.
package process
