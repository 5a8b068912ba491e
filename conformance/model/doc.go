// Package model is the contract of package ports written as a program: one
// state, and for each operation what it answers and how the state changes. It is
// sequential, keeps everything in plain maps and searches them from end to end;
// whoever wants to know what a clause means reads it here.
//
//	s := model.New()
//	_, err := s.SaveGraph(ports.SaveGraph{…, Now: now})
//
// A State is a pure function of the operations applied to it: it has no clock,
// so every request that judges time carries its Now, and no randomness but for
// the tokens, which come from outside. Where the contract leaves a choice (which
// of two classes a claim serves first, what a token is), FollowClaim accepts
// every legal answer of another backend and goes on from that one.
//
// Backend puts a State behind ports.Backend, with transactions, wakes, retention
// and several handles: the suite runs against it like against any other. Script
// cases compare every answer of a backend with the State, and package history
// what concurrent callers were answered. The suite's own tests put other
// Operations in the State's place, one rule switched off each.
//
// It is not a store: nothing is indexed, and nothing survives the process.
package model
