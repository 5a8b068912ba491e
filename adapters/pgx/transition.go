package postgres

import (
	"time"

	"github.com/docket-go/docket/core/record"
)

// eventColumns is a transition's events, column by column, as unnest takes
// them. Their sequence needs no column: they continue the run's without a gap.
type eventColumns struct {
	types     []string
	steps     []int64
	times     []time.Time
	encodings []string
	checksums [][]byte
	payloads  [][]byte
}

// insertEvents appends events to the row that the CTE named "changed" returned, and
// to none when it changed none. A row under a fresh number is the primary key's
// refusal: ErrConflict, which takes the whole transition with it (EVT-2). The
// parameters are the first six.
const insertEvents = `
	INSERT INTO docket.docket_events (run, seq, type, step, at, recorded_at, encoding, checksum, payload)
	SELECT changed.id, changed.base + e.n, e.type, e.step, e.at, changed.now, e.encoding, e.checksum, e.payload
	FROM changed, unnest($1::text[], $2::bigint[], $3::timestamptz[], $4::text[], $5::bytea[], $6::bytea[])
		WITH ORDINALITY AS e (type, step, at, encoding, checksum, payload, n)`

// args starts the parameters of a statement that contains insertEvents.
func (c *eventColumns) args(events []record.Event, more ...any) []any {
	n := len(events)
	c.types, c.encodings = make([]string, n), make([]string, n)
	c.steps, c.times = make([]int64, n), make([]time.Time, n)
	c.checksums, c.payloads = make([][]byte, n), make([][]byte, n)
	for i := range events {
		e := &events[i]
		c.types[i], c.steps[i], c.times[i], c.encodings[i] = e.Type, e.Step, e.Time, string(e.Encoding)
		c.checksums[i], c.payloads[i] = e.Checksum[:], blob(e.Payload)
	}
	args := make([]any, 0, 6+len(more))
	args = append(args, c.types, c.steps, c.times, c.encodings, c.checksums, c.payloads)
	return append(args, more...)
}

// insertEventsOf appends events to the rows that the CTE named "changed" returned
// for several runs, as insertEvents does for one. The parameters are the first
// eight: the sequences and the numbers of the requests come last, counted from 1.
// Sub-selects keep the arrays' lengths from the planner, so that the server keeps
// one plan for all of them.
const insertEventsOf = `
	INSERT INTO docket.docket_events (run, seq, type, step, at, recorded_at, encoding, checksum, payload)
	SELECT changed.id, e.seq, e.type, e.step, e.at, changed.now, e.encoding, e.checksum, e.payload
	FROM changed JOIN unnest((SELECT $1::text[]), (SELECT $2::bigint[]), (SELECT $3::timestamptz[]), (SELECT $4::text[]),
			(SELECT $5::bytea[]), (SELECT $6::bytea[]), (SELECT $7::bigint[]), (SELECT $8::bigint[]))
		AS e (type, step, at, encoding, checksum, payload, seq, n) ON e.n = changed.n`

// argsOf starts the parameters of a statement that contains insertEventsOf.
func (c *eventColumns) argsOf(transitions []*record.Transition, more ...any) []any {
	var events []record.Event
	var seqs, numbers []int64
	for i, t := range transitions {
		events = append(events, t.Events...)
		for j := range t.Events {
			seqs, numbers = append(seqs, t.Events[j].Seq), append(numbers, int64(i+1))
		}
	}
	return c.args(events, append([]any{seqs, numbers}, more...)...)
}

// sizeOf is about how many bytes a transition is on its way.
func sizeOf(t *record.Transition) int {
	n := len(t.Run.Document)
	for i := range t.Events {
		n += len(t.Events[i].Payload)
	}
	return n
}
