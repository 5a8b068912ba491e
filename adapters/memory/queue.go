package memory

import "strings"

// queue is a heap of slots by (eligible time, run id): the order in which one
// class of runs is claimed (CLM-4). A slot is in at most one queue, and knows
// its place there, so that a commit can take it out without a search.
type queue struct {
	slots []*slot
}

// head returns the first slot, nil when the queue is empty.
func (q *queue) head() *slot {
	if len(q.slots) == 0 {
		return nil
	}
	return q.slots[0]
}

func (q *queue) add(s *slot) {
	s.queue, s.place = q, len(q.slots)
	q.slots = append(q.slots, s)
	q.up(s.place)
}

func (q *queue) remove(s *slot) {
	place, last := s.place, len(q.slots)-1
	q.swap(place, last)
	q.slots[last] = nil
	q.slots = q.slots[:last]
	if place < last {
		q.settle(q.slots[place])
	}
	s.queue = nil
}

// settle restores the order after the slot's eligible time has changed.
func (q *queue) settle(s *slot) {
	q.up(s.place)
	q.down(s.place)
}

func (q *queue) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !q.before(i, parent) {
			return
		}
		q.swap(i, parent)
		i = parent
	}
}

func (q *queue) down(i int) {
	for {
		first := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(q.slots); child++ {
			if q.before(child, first) {
				first = child
			}
		}
		if first == i {
			return
		}
		q.swap(i, first)
		i = first
	}
}

func (q *queue) before(i, j int) bool {
	a, b := q.slots[i], q.slots[j]
	if a.eligible != b.eligible {
		return a.eligible < b.eligible
	}
	return strings.Compare(a.row.run.ID, b.row.run.ID) < 0
}

func (q *queue) swap(i, j int) {
	q.slots[i], q.slots[j] = q.slots[j], q.slots[i]
	q.slots[i].place, q.slots[j].place = i, j
}
