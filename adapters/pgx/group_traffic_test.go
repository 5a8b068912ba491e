package postgres

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// tasks have runs of their own. Only a set that is to be ruined has requests that
// fail the statement in which they travel.
func (k traffic[Q, A]) tasks(t *testing.T, r *rand.Rand, n int, ruin bool) []task[Q] {
	tasks := make([]task[Q], n)
	for i := range tasks {
		fault := max(0, r.IntN(3*k.faults)-2*k.faults+1)
		switch {
		case i == 0:
			fault = 1 + r.IntN(k.faults)
		case ruin && i%20 == 10:
			fault = ruinous
		}
		tasks[i] = k.random(r, fmt.Sprint("r", r.IntN(100)*100+i), fault)
		if err := any(tasks[i].req).(interface{ Check() error }).Check(); err != nil {
			t.Fatal(err) // it wouldn't come to the group
		}
	}
	return tasks
}

const ruinous = -1

var ages = []time.Time{epoch, epoch.AddDate(-11, 0, 0)} // after and before any server's clock

func one[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

func someTime(r *rand.Rand) time.Time { return epoch.Add(within(r, 4*time.Hour) - 2*time.Hour) }

// randomCommit commits to a claimed run; a fault makes it one that applies to
// nothing.
func randomCommit(r *rand.Rand, id string, fault int) task[*ports.CommitClaimed] {
	own := owner(one(r, "", "t"))
	start := first(id, version("g", `{"id":"g"}`).Ref)
	start.Schedule.Kind = record.ScheduleRetain
	k := task[*ports.CommitClaimed]{stored: []ports.InsertRun{{
		Owner: own, Transition: start, Claim: ports.ClaimGrant{Token: benchToken, TTL: time.Hour}, Now: one(r, ages...),
	}}}
	last := start.Run
	switch fault {
	case 1:
		last.CheckpointSeq++
	case 2:
		last.ID = "unknown-" + id
	case 3:
		last.Graph.Hash = version("g", `{"id":"other"}`).Ref.Hash
	case 4:
		last.StartedAt = last.StartedAt.Add(time.Microsecond)
	case 5:
		last.EventSeq++
	}
	tr := scheduled(r, last, one(r, record.ScheduleRetain, record.ScheduleImmediate, record.ScheduleAt, record.ScheduleExternal, record.ScheduleTerminal))
	req := commit(ports.Lease{Run: last, Token: benchToken}, tr)
	req.Scope, req.TTL = one(r, ports.System(), ports.ScopeOf(own)), time.Microsecond+within(r, 3*time.Hour)
	req.Now = one(r, time.Time{}, someTime(r))
	switch fault {
	case 6:
		req.Token = "another"
	case 7:
		req.Scope = one(r, ports.Tenant("nobody"), ports.ScopeOf(owner(map[string]string{"": "t"}[own.Tenant])))
	case ruinous:
		req.Transition = withEvents(tr, 3)
		k.taken = 2 + r.Int64N(3)
	}
	req = req.Normal()
	k.req = &req
	return k
}

// randomInsert inserts a run; a fault makes it one that nobody stores.
func randomInsert(r *rand.Rand, id string, fault int) task[*ports.InsertRun] {
	own := owner(one(r, "", "t"))
	tr := first(id, version("g", `{"id":"g"}`).Ref)
	kind := one(r, record.ScheduleRetain, record.ScheduleImmediate, record.ScheduleAt, record.ScheduleExternal, record.ScheduleTerminal)
	req := ports.InsertRun{Owner: own, Now: one(r, time.Time{}, someTime(r))}
	var k task[*ports.InsertRun]
	switch fault {
	case 1:
		k.stored = []ports.InsertRun{{Owner: owner(one(r, "", "t")), Transition: tr, Now: epoch}}
	case 2:
		tr.Run.Graph.Hash = version("g", `{"id":"other"}`).Ref.Hash
	case 3:
		req.Owner = owner("nobody")
	}
	if kind == record.ScheduleRetain {
		req.Claim = ports.ClaimGrant{Token: "t" + id, TTL: time.Microsecond + within(r, 3*time.Hour)}
	}
	// The run before the first one has the sequences of none.
	none := tr.Run
	none.CheckpointSeq, none.EventSeq, none.Step = 0, 0, -1
	req.Transition = scheduled(r, none, kind)
	req.Transition.Run.CheckpointType = "run_initialized"
	req = req.Normal()
	k.req = &req
	return k
}

// scheduled is a transition after r, with none to many events.
func scheduled(r *rand.Rand, last record.Run, kind record.ScheduleKind) record.Transition {
	tr := next(last, kind)
	switch kind {
	case record.ScheduleTerminal:
		tr = ended(last)
		tr.Run.Step = last.Step + 1
	case record.ScheduleExternal:
		tr.Run.Status, tr.Run.OpenInterrupts = "waiting", r.Int64N(3)
	case record.ScheduleAt:
		tr.Schedule.At = someTime(r)
	}
	tr.Run.Document = state(1+r.IntN(3000), r.Int64N(100))
	tr.Run.Checksum = record.Sum(tr.Run.Document)
	return withEvents(tr, one(r, 0, 1, 2, 3, 40))
}

func withEvents(tr record.Transition, n int) record.Transition {
	base, e := ports.BaseEventSeq(tr), record.Event{RunID: tr.Run.ID, Type: "a", Step: tr.Run.Step, Encoding: record.EncodingJSON}
	tr.Events, tr.Run.EventSeq = nil, base+int64(n)
	for i := range n {
		e.Seq, e.Time = base+int64(i)+1, epoch.Add(time.Duration(i)*time.Second)
		e.Payload = fmt.Appendf(nil, `{"run":%q,"n":%d}`, tr.Run.ID, i)
		e.Checksum = record.Sum(e.Payload)
		tr.Events = append(tr.Events, e)
	}
	return tr
}
