package run

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

// TaskID identifies one activation of a node: run:step:node. It is injective:
// node ids hold no colon and steps are digits, so the run id is all that is before
// the last two colons.
func TaskID(runID string, step int64, nodeID string) string {
	return runID + ":" + strconv.FormatInt(step, 10) + ":" + nodeID
}

// IdempotencyKey identifies one attempt of an activation: run:step:node:attempt.
// A repeat of the attempt after a crash has the same key on every worker.
func IdempotencyKey(runID string, step int64, nodeID string, attempt int64) string {
	return TaskID(runID, step, nodeID) + ":" + strconv.FormatInt(attempt, 10)
}

// Identity returns the TaskID and the IdempotencyKey of one attempt.
func Identity(runID string, step int64, nodeID string, attempt int64) (taskID, key string) {
	b := make([]byte, 0, len(runID)+len(nodeID)+24)
	b = append(append(b, runID...), ':')
	b = append(strconv.AppendInt(b, step, 10), ':')
	b = append(b, nodeID...)
	task := len(b)
	key = string(strconv.AppendInt(append(b, ':'), attempt, 10))
	return key[:task], key
}

// InterruptID names a node's nth interrupt of a superstep, from 1, when the node
// doesn't name it: step:node:ordinal.
func InterruptID(step int64, nodeID string, ordinal int) string {
	return strconv.FormatInt(step, 10) + ":" + nodeID + ":" + strconv.Itoa(ordinal)
}

// ParseTaskID takes a task id apart; ok is false when it isn't one.
func ParseTaskID(id string) (runID string, step int64, nodeID string, ok bool) {
	last := strings.LastIndexByte(id, ':')
	if last < 0 {
		return "", 0, "", false
	}
	mid := strings.LastIndexByte(id[:last], ':')
	if mid < 0 {
		return "", 0, "", false
	}
	step, err := strconv.ParseInt(id[mid+1:last], 10, 64)
	if err != nil || TaskID(id[:mid], step, id[last+1:]) != id {
		return "", 0, "", false
	}
	return id[:mid], step, id[last+1:], true
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
