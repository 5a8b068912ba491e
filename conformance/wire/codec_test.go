package wire

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/docket-go/docket/conformance/model"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/core/value"
	"github.com/docket-go/docket/ports"
)

// everything lists the requests and answers of the port, and the protocol's own.
func everything() []any {
	return []any{
		ports.SaveGraph{}, ports.SavedGraph{}, ports.FetchGraph{}, ports.FetchedGraph{}, ports.LatestGraph{}, ports.GraphVersion{},
		ports.ListGraphs{}, ports.GraphPage{}, ports.InsertRun{}, ports.Inserted{}, ports.CommitClaimed{}, ports.CommitUnclaimed{},
		ports.Committed{}, ports.FetchRun{}, ports.FetchedRun{}, ports.InspectRun{}, ports.RunInfo{}, ports.ListRuns{}, ports.RunPage{},
		ports.RecoverRun{}, ports.Recovered{}, ports.ClaimRuns{}, ports.Claimed{}, ports.RefreshClaim{}, ports.Refreshed{},
		ports.ReleaseClaim{}, ports.Released{}, ports.AbandonClaim{}, ports.Abandoned{}, ports.ListEvents{}, ports.EventPage{},
		ports.FetchEvent{}, ports.FetchedEvent{}, ports.LatestEvent{}, ports.FoundEvent{}, ports.Prune{}, ports.Pruned{},
		Hello{}, Welcome{}, begun{}, Target{}, Raw{}, wrote{}, fault{},
	}
}

// Whatever a request or an answer holds comes out as it went in, through the
// bytes too.
func TestEverythingSurvives(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for _, v := range everything() {
		for range 30 {
			want := reflect.New(reflect.TypeOf(v)).Elem()
			fill(random, want)
			object, err := encode(want.Interface(), "params")
			if err != nil {
				t.Fatalf("%T: %v", v, err)
			}
			data, err := value.Encode(object)
			if err != nil {
				t.Fatal(err)
			}
			if object, err = value.DecodeObject(data); err != nil {
				t.Fatal(err)
			}
			got := reflect.New(reflect.TypeOf(v))
			if err := decode(object, "params", got.Interface()); err != nil {
				t.Fatalf("%T: %s: %v", v, data, err)
			}
			if diff := cmp.Diff(want.Interface(), got.Elem().Interface()); diff != "" {
				t.Fatalf("%T (-want +got):\n%s", v, diff)
			}
		}
	}
}

// fill gives a value random content of the kind that travels.
func fill(random *rand.Rand, v reflect.Value) {
	switch v.Type() {
	case timeType:
		if random.IntN(3) > 0 {
			v.Set(reflect.ValueOf(time.UnixMicro(random.Int64N(1<<60) - 1<<59).UTC()))
		}
		return
	case bytesType:
		if random.IntN(3) > 0 {
			data := make([]byte, 1+random.IntN(40))
			for i := range data {
				data[i] = byte(random.Uint32())
			}
			v.SetBytes(data)
		}
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString([]string{"", "run-1", "é \x00\"\\<&>\u2028😀", "a b"}[random.IntN(4)])
	case reflect.Bool:
		v.SetBool(random.IntN(2) == 0)
	case reflect.Int, reflect.Int64:
		v.SetInt([]int64{0, 1, -1, math.MaxInt64, math.MinInt64, 1<<53 + 1}[random.IntN(6)])
	case reflect.Uint8:
		v.SetUint(uint64(random.IntN(256)))
	case reflect.Array:
		for i := range v.Len() {
			fill(random, v.Index(i))
		}
	case reflect.Slice:
		if n := random.IntN(4); n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				fill(random, v.Index(i))
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(random, v.Field(i))
		}
	default:
		panic("the port has a " + v.Type().String())
	}
}

func TestFieldNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"RunID": "run_id", "ID": "id", "TTL": "ttl", "NextAfterSeq": "next_after_seq", "CheckpointSeq": "checkpoint_seq",
		"GraphHash": "graph_hash", "At": "at", "SaveGraph": "save_graph", "DryRun": "dry_run",
	} {
		if got := snakeCase(name); got != want {
			t.Errorf("%s becomes %s, want %s", name, got, want)
		}
	}
}

// A message that is wrong anywhere is refused with the place.
func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		into any
		text string
		says string
	}{
		{&ports.FetchRun{}, `{"runid":"r"}`, `params: there is no field "runid"; it has scope, run_id, now`},
		{&ports.FetchRun{}, `{"run_id":7}`, "params.run_id: want text, got a number"},
		{&ports.FetchRun{}, `{"scope":"system"}`, "params.scope: want an object, got a string"},
		{&ports.FetchRun{}, `{"now":12}`, "params.now: want a decimal number in a string, got a number"},
		{&ports.FetchRun{}, `{"now":"1e3"}`, `params.now: "1e3" is not a decimal number`},
		{&ports.FetchRun{}, `{"now":"+1"}`, `"+1" is not a decimal number`},
		{&ports.FetchRun{}, `{"now":"007"}`, `"007" is not a decimal number`},
		{&ports.FetchRun{}, `{"now":"9223372036854775808"}`, "is not a decimal number of 64 bits"},
		{&ports.ListRuns{}, `{"statuses":["done",1]}`, "params.statuses[1]: want text, got a number"},
		{&ports.ListRuns{}, `{"statuses":null}`, "params.statuses: want a list, got null"},
		{&ports.ListRuns{}, `{"poisoned":"yes"}`, "params.poisoned: want true or false, got a string"},
		{&ports.InsertRun{}, `{"transition":{"run":{"document":"*"}}}`, "params.transition.run.document: not base64"},
		{&ports.InsertRun{}, `{"transition":{"run":{"checksum":"AAAA"}}}`, "checksum: 3 bytes, where a checksum has 32"},
		{&ports.InsertRun{}, `{"transition":{"events":[{"seq":"1"},{"seq":true}]}}`, "params.transition.events[1].seq: want a decimal"},
	} {
		object, err := value.DecodeObject([]byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		if err := decode(object, "params", c.into); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want it to say %q", c.text, err, c.says)
		}
	}
}

// What no agent could store doesn't travel.
func TestEncodeRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		request any
		says    string
	}{
		{ports.FetchRun{RunID: "\xff"}, "params.run_id: text must be valid UTF-8"},
		{ports.FetchRun{Now: time.Unix(math.MaxInt64/2, 0)}, "params.now: a time so far from 1970"},
		{ports.ListRuns{Statuses: []string{"ok", "\xc0"}}, "params.statuses[1]: text must be valid UTF-8"},
	} {
		if _, err := encode(c.request, "params"); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v, want it to say %q", c.request, err, c.says)
		}
	}
}

// Times travel as whole microseconds, rounded down (VAL-3).
func TestTimesTravelAsMicroseconds(t *testing.T) {
	t.Parallel()
	for at, want := range map[time.Time]string{
		time.Unix(0, 0): "0", time.Unix(0, 1999): "1", time.Unix(0, -1): "-1", time.Date(2031, 5, 6, 7, 8, 9, 123457999, time.FixedZone("", 3600)): "1935814089123457",
	} {
		if got, err := encodeTime(at, ""); err != nil || got != want {
			t.Errorf("%v travels as %v (%v), want %s", at, got, err, want)
		}
	}
}

// fuzzOperation runs a decoded request on the model: bad parameters are errors,
// never a panic.
func fuzzOperation(t *testing.T, o operation, m message) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if _, err := o.run(ctx, model.NewBackend(), m.params); err != nil && faultOf(err)["code"] == nil {
		t.Fatalf("%s: %v has no code", o.name, err)
	}
}

// The operations are the methods of the port, all of them.
func TestOperationsAreThePort(t *testing.T) {
	t.Parallel()
	methods := reflect.TypeFor[ports.Backend]()
	for i := range methods.NumMethod() {
		switch name := methods.Method(i).Name; name {
		case "Capabilities", "Close": // of the handshake and of the connection
		default:
			if _, ok := operations[snakeCase(name)]; !ok {
				t.Errorf("%s can't be asked for", name)
			}
		}
	}
	if want := methods.NumMethod() - 2 + 1; len(operations) != want { // and prune
		t.Errorf("%d operations, want %d", len(operations), want)
	}
}

func BenchmarkMessage(b *testing.B) {
	request := ports.CommitClaimed{RunID: "r", Token: "t", ExpectedSeq: 7, Transition: record.Transition{
		Run: record.Run{ID: "r", Document: make([]byte, 4096)}, Events: make([]record.Event, 10),
	}}
	for b.Loop() {
		object, err := encode(request, "params")
		if err != nil {
			b.Fatal(err)
		}
		frame, err := message{id: "1", op: "commit_claimed", params: object}.frame()
		if err != nil {
			b.Fatal(err)
		}
		if _, err := parse(frame[headerSize:]); err != nil {
			b.Fatal(err)
		}
	}
}
