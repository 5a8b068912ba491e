package conformance

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// logLength is how many of the latest calls a failure shows.
const logLength = 60

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
		out = append(out, fmt.Sprintf("(%d earlier calls)", skipped))
	}
	for i, e := range l.entries[first:] {
		out = append(out, fmt.Sprintf("#%d %s", l.dropped+first+i+1, e))
	}
	return out
}

// String is the call on one line: handle.Op request → answer.
func (e *opEntry) String() string {
	var b strings.Builder
	if e.handle != "" {
		b.WriteString(e.handle + ".")
	}
	b.WriteString(e.op)
	if e.request != nil {
		b.WriteString(" " + show(e.request))
	}
	switch {
	case !e.done:
		b.WriteString(" → (no answer)")
	case e.err != nil:
		b.WriteString(" → error: " + e.err.Error())
	case e.answer != nil:
		b.WriteString(" → " + show(e.answer))
	default:
		b.WriteString(" → ok")
	}
	return b.String()
}
