package wire

import "sync"

// queue holds frames until the agent reads them: a caller whose context ends
// need not wait for a full pipe, and knows whether its frame was sent.
type queue struct {
	mu     sync.Mutex
	more   *sync.Cond
	frames []*queued
	closed bool
}

// queued is a frame that waits; without bytes it was withdrawn.
type queued struct {
	frame []byte
	taken bool
}

func newQueue() *queue {
	q := &queue{}
	q.more = sync.NewCond(&q.mu)
	return q
}

func (q *queue) add(frame []byte) *queued {
	q.mu.Lock()
	defer q.mu.Unlock()
	entry := &queued{frame: frame}
	q.frames = append(q.frames, entry)
	q.more.Signal()
	return entry
}

// withdraw takes back a frame of which nothing was sent, and reports whether it
// could.
func (q *queue) withdraw(entry *queued) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if entry.taken {
		return false
	}
	entry.frame = nil
	return true
}

// next waits for a frame to send; false when the queue was closed.
func (q *queue) next() ([]byte, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		for len(q.frames) > 0 && !q.closed {
			entry := q.frames[0]
			q.frames = q.frames[1:]
			if entry.frame != nil {
				entry.taken = true
				return entry.frame, true
			}
		}
		if q.closed {
			return nil, false
		}
		q.more.Wait()
	}
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.more.Broadcast()
}
