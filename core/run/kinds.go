package run

// CheckpointType names what a transition was.
type CheckpointType string

// The checkpoint types.
const (
	CheckpointInitialized        CheckpointType = "run_initialized"
	CheckpointStep               CheckpointType = "step_committed"
	CheckpointRetry              CheckpointType = "retry_scheduled"
	CheckpointInterruptRequested CheckpointType = "interrupt_requested"
	CheckpointInterruptResolved  CheckpointType = "interrupt_resolved"
	CheckpointCompleted          CheckpointType = "run_completed"
	CheckpointFailed             CheckpointType = "run_failed"
	CheckpointCancelled          CheckpointType = "run_cancelled"
)

// CheckpointTypes returns every checkpoint type.
func CheckpointTypes() []CheckpointType {
	return []CheckpointType{
		CheckpointInitialized, CheckpointStep, CheckpointRetry, CheckpointInterruptRequested,
		CheckpointInterruptResolved, CheckpointCompleted, CheckpointFailed, CheckpointCancelled,
	}
}

// EventType names a committed fact.
type EventType string

// The event types.
const (
	EventInitialized        EventType = "run_initialized"
	EventCompleted          EventType = "run_completed"
	EventFailed             EventType = "run_failed"
	EventCancelled          EventType = "run_cancelled"
	EventCheckpoint         EventType = "checkpoint_committed"
	EventNodeCompleted      EventType = "node_completed"
	EventNodeFailed         EventType = "node_failed"
	EventChannelUpdated     EventType = "channel_updated"
	EventEdgeTriggered      EventType = "edge_triggered"
	EventInterruptRequested EventType = "interrupt_requested"
	EventInterruptResolved  EventType = "interrupt_resolved"
)

// EventTypes returns every event type.
func EventTypes() []EventType {
	return []EventType{
		EventInitialized, EventCompleted, EventFailed, EventCancelled, EventCheckpoint,
		EventNodeCompleted, EventNodeFailed, EventChannelUpdated, EventEdgeTriggered,
		EventInterruptRequested, EventInterruptResolved,
	}
}

// FailureCode is the stable cause of a failed run.
type FailureCode string

// The failure codes.
const (
	FailureNode          FailureCode = "node_failed"             // a node's last attempt failed
	FailureInvalidUpdate FailureCode = "invalid_update"          // a node returned what it may not
	FailureReducer       FailureCode = "reducer_failed"          // a reducer couldn't apply the writes
	FailureState         FailureCode = "invalid_state"           // a reduced value breaks its field's schema
	FailureGuard         FailureCode = "guard_evaluation_failed" // a guard names what the graph lacks
	FailureSupersteps    FailureCode = "max_supersteps_exceeded" // the graph's or the host's bound
	FailurePolicy        FailureCode = "invalid_policy"          // a policy that can't be applied; the compiler refuses it first, so no run of this version has it
	FailureOutput        FailureCode = "output_missing"          // a required output has no value
	FailureOutputInvalid FailureCode = "output_invalid"          // an output breaks its schema
	FailureTooLarge      FailureCode = "run_too_large"           // the run outgrew its limit
)

// FailureCodes returns every failure code.
func FailureCodes() []FailureCode {
	return []FailureCode{
		FailureNode, FailureInvalidUpdate, FailureReducer, FailureState, FailureGuard,
		FailureSupersteps, FailurePolicy, FailureOutput, FailureOutputInvalid, FailureTooLarge,
	}
}
