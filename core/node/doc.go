// Package node holds what application developers implement: the work of a
// graph's nodes, and the registry that names the implementations a host has.
//
// The smallest node is a function:
//
//	hello := node.HandlerFunc(func(ctx context.Context, in node.Input) (node.Result, error) {
//		name, err := in.State.String("name")
//		if err != nil {
//			return node.Result{}, err
//		}
//		return node.Write("greeting", "Hello, "+name), nil
//	})
//
// A node reads the committed state of its superstep, never a sibling's writes,
// and returns an update, a reset, interrupts, or an error: writes and
// interrupts exclude each other. Everything read is a copy and everything
// returned is copied, so nothing a node keeps can change the run.
//
// An attempt may run zero, one or many times: external effects need the
// idempotency key that Info returns. An error is retried under the node's retry
// policy unless it is Permanent.
//
// This package does not run nodes; packages inline and executor do.
package node
