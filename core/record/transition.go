package record

import "time"

// ScheduleKind says what a transition leaves behind: the claim, or which wake.
type ScheduleKind string

// The schedules. Each but ScheduleRetain releases the claim.
const (
	ScheduleRetain    ScheduleKind = "retain"    // keep the claim, move its end forward
	ScheduleImmediate ScheduleKind = "immediate" // due at the store's time
	ScheduleExternal  ScheduleKind = "external"  // no wake: a signal continues the run
	ScheduleAt        ScheduleKind = "at"        // due at Schedule.At
	ScheduleTerminal  ScheduleKind = "terminal"  // no wake, for good
)

// Schedule is the wake that a transition stores.
type Schedule struct {
	Kind ScheduleKind
	At   time.Time // only for ScheduleAt
}

// Transition is what one Moment stores, all or nothing: the run it proposes,
// the events it appends and the schedule it leaves.
type Transition struct {
	Run      Run
	Events   []Event
	Schedule Schedule
}

// Clone returns a copy that shares no bytes with t.
func (t Transition) Clone() Transition {
	t.Run = t.Run.Clone()
	events := make([]Event, len(t.Events))
	for i, e := range t.Events {
		events[i] = e.Clone()
	}
	t.Events = events
	return t
}
