// Package lifecycle turns what the machine decided into what a store keeps, and
// back: a Moment into a record.Transition, a stored run into a run document.
//
//	transition, err := lifecycle.Transition(moment, claimed)
//
// Both directions are pure and total. The loops that read, decide and commit are
// the engine's.
package lifecycle
