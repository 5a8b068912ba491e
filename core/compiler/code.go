package compiler

import (
	"github.com/docket-go/docket/core/guard"
	"github.com/docket-go/docket/core/reducer"
)

// Codes of diagnostics. A record that no document can hold also gets the codes
// of package graph.
const (
	CodeUnsupportedSchemaVersion   = "unsupported_schema_version"
	CodeInvalidDocument            = "invalid_document" // the whole can't be encoded
	CodeDuplicateStateID           = "duplicate_state_id"
	CodeInvalidField               = "invalid_field"
	CodeInvalidSchema              = "invalid_schema"
	CodeInvalidDefault             = "invalid_default"
	CodeUnknownOutputSource        = "unknown_output_source"
	CodeIncompatibleOutputSchema   = "incompatible_output_schema"
	CodeMissingImplementation      = "missing_implementation"
	CodeUnsupportedImplementation  = "unsupported_implementation" // its Writes or Reads panics
	CodeUnregisteredImplementation = "unregistered_implementation"
	CodeInvalidConfigSchema        = "invalid_config_schema"
	CodeInvalidNodeConfig          = "invalid_node_config"
	CodeInvalidPolicy              = "invalid_policy"
	CodeReservedOnError            = "reserved_on_error"
	CodeInvalidStartEndpoint       = "invalid_start_endpoint"
	CodeInvalidFinishEndpoint      = "invalid_finish_endpoint"
	CodeUnknownEdgeSource          = "unknown_edge_source"
	CodeUnknownEdgeTarget          = "unknown_edge_target"
	CodeDuplicateEdgeSource        = "duplicate_edge_source"
	CodeNoStartEdge                = "no_start_edge"
	CodeUnknownBranchEdge          = "unknown_branch_edge"
	CodeDuplicateBranchEdge        = "duplicate_branch_edge"
	CodeUnguardedBranchEdge        = "unguarded_branch_edge"
	CodeMismatchedBranchEdge       = "mismatched_branch_edge"
	CodeUnknownGuardField          = guard.CodeUnknownField
)

// Codes of warnings: the graph runs, though perhaps not as its author expects.
const (
	CodeAmbiguousListWrite = reducer.CodeAmbiguous
	CodeUnreachableNode    = "unreachable_node"
	CodeOrphanedField      = "orphaned_field"
	CodeDeadEndNode        = "dead_end_node"
	CodeNoTerminalEdge     = "no_terminal_edge"
	CodeUnguardedCycle     = "unguarded_cycle"
	CodeMixedJoin          = "mixed_join"
	CodeParallelWriters    = "parallel_writers"
	CodeUnknownWrittenName = "unknown_written_field"
)
