// Package portstest wraps a backend so that it fails on purpose: before it
// applied an operation, after it applied one, late, or slowly; it drops wakes
// and skews the clock that requests bring.
//
//	faulty := portstest.New(backend, portstest.Config{
//		Choose: func(op string, n int) portstest.Fault {
//			if op == "CommitClaimed" && n == 3 {
//				return portstest.Fault{Kind: portstest.After}
//			}
//			return portstest.Fault{}
//		},
//	})
//	engine.New(faulty.Backend(), …)
//
// The test decides every fault, by the operation's name and its number among
// the calls of that name (from 1), so a run with faults can be repeated. The
// package sleeps nowhere: a delay is a hook of the test.
//
// Faults hit the required operations and the delivery of wakes. Transactions
// and retention pass through to the backend inside (ports.As finds them by
// Unwrap), without faults.
package portstest
