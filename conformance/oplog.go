package conformance

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// A failure shows the latest calls, each on a line that a screen holds.
const (
	logLength   = 40
	callWidth   = 160
	answerWidth = 72 // what a long request leaves to its answer
)

// opLog records what a case called, with what, and what came back. Values are
// kept as they are and written out only when a case fails.
type opLog struct {
	mu      sync.Mutex
	entries []*opEntry
	dropped int
}

// opEntry is one call. It is open until its answer is recorded.
type opEntry struct {
	handle, op string
	request    any
	answer     any
	err        error
	done       bool
	started    time.Time
}

func (l *opLog) begin(handle, op string, request any) *opEntry {
	entry := &opEntry{handle: handle, op: op, request: request, started: time.Now()}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.entries) == 2*logLength {
		l.dropped += logLength
		l.entries = append(l.entries[:0], l.entries[logLength:]...)
	}
	l.entries = append(l.entries, entry)
	return entry
}

func (l *opLog) end(entry *opEntry, answer any, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	entry.answer, entry.err, entry.done = answer, err, true
}

// reset forgets every call.
func (l *opLog) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries, l.dropped = nil, 0
}

// inFlight names the calls without an answer, the oldest first.
func (l *opLog) inFlight() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var open []string
	for _, e := range l.entries {
		if !e.done {
			open = append(open, fmt.Sprintf("%s for %s", e.op, time.Since(e.started).Round(time.Millisecond)))
		}
	}
	return open
}

// lines writes the latest calls out, oldest first.
func (l *opLog) lines() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := max(0, len(l.entries)-logLength)
	var out []string
	if skipped := l.dropped + first; skipped > 0 {
		out = append(out, fmt.Sprintf("(%d earlier calls are left out)", skipped))
	}
	for i, e := range l.entries[first:] {
		out = append(out, fmt.Sprintf("#%d %s", l.dropped+first+i+1, e))
	}
	return out
}

// String is the call on one line: handle.Op request → answer. When it is too long
// the request is cut first, for the answer is what a reader looks for.
func (e *opEntry) String() string {
	call := e.op
	if e.handle != "" {
		call = e.handle + "." + e.op
	}
	if e.request != nil {
		call += " " + show(e.request)
	}
	answer := " → " + e.outcome()
	left := callWidth - len([]rune(answer))
	call = ellipsis(call, max(left, callWidth-answerWidth))
	return call + ellipsis(answer, callWidth-len([]rune(call)))
}

func (e *opEntry) outcome() string {
	switch {
	case !e.done:
		return "(no answer)"
	case e.err != nil:
		return "error: " + strings.ReplaceAll(e.err.Error(), "\n", "; ")
	case e.answer != nil:
		return show(e.answer)
	}
	return "ok"
}
