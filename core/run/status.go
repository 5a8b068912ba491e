package run

// Status is where a run is in its life.
type Status string

// The statuses. Created exists only before initialisation and can't be stored.
const (
	Created   Status = "created"
	Running   Status = "running"   // work is due, executing, or parked until a time
	Waiting   Status = "waiting"   // nothing can proceed until an interrupt is answered
	Done      Status = "done"      // completed, with output
	Failed    Status = "failed"    // ended by a Failure
	Cancelled Status = "cancelled" // ended by a request
)

// Statuses returns the durable statuses in the order of a run's life.
func Statuses() []Status { return []Status{Running, Waiting, Done, Failed, Cancelled} }

// Durable reports whether a run with this status can be stored.
func (s Status) Durable() bool { return s == Running || s == Waiting || s.Terminal() }

// Terminal reports whether the status absorbs: no transition leaves it.
func (s Status) Terminal() bool { return s == Done || s == Failed || s == Cancelled }

// CanTransition reports whether one transition may lead from one status to
// another.
func CanTransition(from, to Status) bool {
	switch from {
	case Created:
		return to == Running
	case Running:
		return to.Durable()
	case Waiting:
		return to == Running || to == Cancelled
	default:
		return false
	}
}
