package runtime

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/core/schema"
)

// TestEstimatesAreUpperBounds is what the size check rests on: what an estimate
// clears is never measured. Texts are of the bytes that grow most when they are
// encoded, ids as long as they may be.
func TestEstimatesAreUpperBounds(t *testing.T) {
	seed := rand.Uint64()
	g := sizes{rand.New(rand.NewPCG(seed, 0))}
	for n := range 300 {
		r := g.run()
		document, err := run.Encode(r)
		if err != nil {
			t.Fatal(err)
		}
		if most := runAtMost(r); int64(len(document)) > most {
			t.Fatalf("seed %d, run %d: %d bytes, estimated at most %d\n%.2000s", seed, n, len(document), most, document)
		}
		for _, e := range g.events() {
			payload, err := e.EncodePayload()
			if err != nil {
				t.Fatal(err)
			}
			if most := payloadAtMost(e.Payload); int64(len(payload)) > most {
				t.Fatalf("seed %d: a %T has %d bytes, estimated at most %d\n%.2000s", seed, e.Payload, len(payload), most, payload)
			}
		}
	}
}

type sizes struct{ *rand.Rand }

func (g sizes) quote() string { return strings.Repeat(`"`, g.IntN(256)) } // an id that doubles
func (g sizes) name() string  { return strings.Repeat("n", 1+g.IntN(128)) }
func (g sizes) text() string  { return strings.Repeat("\x01", g.IntN(4000)) }
func (g sizes) time() time.Time {
	return time.Date(2026, 1, 1, 0, 0, 0, 999_999_000, time.UTC)
}

func (g sizes) value(depth int) any {
	switch g.IntN(7) {
	case 0:
		return nil
	case 1:
		return -1.2345678901234567e-300
	case 2:
		return int64(-1 << 63)
	case 3:
		return g.text()
	case 4:
		return false
	}
	if depth == 0 {
		return map[string]any{}
	}
	if g.IntN(2) == 0 {
		list := make([]any, g.IntN(5))
		for i := range list {
			list[i] = g.value(depth - 1)
		}
		return list
	}
	return g.object(depth - 1)
}

func (g sizes) object(depth int) map[string]any {
	m := map[string]any{}
	for range g.IntN(5) {
		m[strings.Repeat("\x02", g.IntN(40))] = g.value(depth)
	}
	return m
}

func (g sizes) names(prefix string) []string {
	var list []string
	for range g.IntN(8) * g.IntN(50) {
		list = append(list, prefix+g.name())
	}
	return list
}

func (g sizes) interrupt() run.Interrupt {
	return run.Interrupt{
		ID: g.quote(), NodeID: g.name(), Field: g.name(), Step: 1 << 62, Status: run.InterruptResolved,
		Schema: schema.Enum(g.text(), g.text()), Metadata: g.object(2), Answer: g.value(2),
		CreatedAt: g.time(), ResolvedAt: g.time(),
	}
}

func (g sizes) run() *run.Run {
	r := &run.Run{
		ID: g.quote(), Graph: graph.Ref{ID: g.name(), Hash: strings.Repeat("0", 64)}, Status: run.Cancelled, Step: 1 << 62,
		Input: g.object(3), Output: g.object(3), Metadata: g.object(3),
		Failure:  &run.Failure{Code: run.FailureGuard, Message: g.text(), NodeID: g.name(), Details: g.object(2)},
		Channels: map[string]run.Channel{}, Barriers: map[string][]string{}, Interrupts: map[string]run.Interrupt{},
		Changed: g.names(run.FieldPrefix), Pending: g.names(""), CheckpointSeq: 1 << 62, EventSeq: 1 << 62,
		StartedAt: g.time(), UpdatedAt: g.time(), FinishedAt: g.time(),
	}
	for i := range g.IntN(6) {
		r.Channels[fmt.Sprint(run.FieldPrefix, i, g.name())] = run.Channel{Value: g.value(3), Version: 1 << 62}
		r.Barriers[fmt.Sprint(run.EdgePrefix, i, g.name())] = g.names("")
		in := g.interrupt()
		r.Interrupts[in.ID] = in
	}
	if g.IntN(2) == 0 {
		return r
	}
	r.Active = &run.Superstep{
		Snapshot: g.object(3), Versions: map[string]int64{}, InputHash: strings.Repeat("0", 64),
		Tasks: map[string]run.Task{}, Writes: map[string]run.PendingWrite{},
	}
	for i := range g.IntN(6) {
		node := g.name()
		r.Active.Versions[node] = 1 << 62
		id, key := run.Identity(r.ID, 1<<62, node, 1<<62)
		failure := run.AttemptFailure{Attempt: 1 << 62, Reason: string(ReasonTooLarge), Message: g.text()}
		r.Active.Tasks[id] = run.Task{
			NodeID: node, Attempt: 1 << 62, IdempotencyKey: key, DueAt: g.time(), Failures: []run.AttemptFailure{failure, failure},
		}
		write := run.PendingWrite{NodeID: node, Attempt: 1 << 62, Update: g.object(3), Reset: g.names("")}
		if in := g.interrupt(); i%2 == 0 { // a held question has no answer yet
			in.Answer, in.Status = nil, run.InterruptOpen
			write.Interrupts = []run.Interrupt{in}
		}
		r.Active.Writes[id+"w"] = write
	}
	return r
}

func (g sizes) events() []run.Event {
	barriers := []run.Barrier{{Edge: run.EdgePrefix + g.name(), Reached: g.names("")}}
	id, key := run.Identity(g.quote(), 1<<62, g.name(), 1<<62)
	parked := run.ParkedTask{TaskID: id, NodeID: g.name(), NextAttempt: 1 << 62, IdempotencyKey: key, DueAt: g.time()}
	return []run.Event{
		{Payload: run.Initialized{Graph: graph.Ref{ID: g.name(), Hash: strings.Repeat("0", 64)}}},
		{Payload: run.Completed{Outputs: g.names(""), Unsatisfied: barriers}},
		{NodeID: g.name(), Payload: run.RunFailed{Code: run.FailureGuard, Message: g.text(), Unsatisfied: barriers}},
		{Payload: run.RunCancelled{}},
		{Payload: run.Checkpoint{
			Seq: 1 << 62, Type: run.CheckpointInterruptRequested, Step: 1 << 62, Status: run.Cancelled, Next: string(ParkImmediate),
			At: g.time(), Reason: ReasonInterruptResolved, Tasks: []run.ParkedTask{parked, parked, parked}, Finished: g.names(""),
		}},
		{NodeID: g.name(), Payload: run.NodeCompleted{TaskID: id, Attempt: 1 << 62}},
		{NodeID: g.name(), Payload: run.NodeFailed{
			TaskID: id, Attempt: 1 << 62, IdempotencyKey: key, Reason: string(ReasonTooLarge), Message: g.text(), RetryAt: g.time(),
		}},
		{Payload: run.ChannelUpdated{
			Channel: run.FieldPrefix + g.name(), Version: 1 << 62, Writers: g.names(""), InterruptID: g.quote(), Repeated: g.names(""),
		}},
		{Payload: run.EdgeTriggered{Edge: run.EdgePrefix + g.name(), Target: g.name()}},
		{NodeID: g.name(), Payload: run.InterruptAsked{InterruptID: g.quote(), Field: g.name()}},
		{NodeID: g.name(), Payload: run.InterruptAnswered{InterruptID: g.quote(), Field: g.name(), AnswerID: g.quote()}},
	}
}
