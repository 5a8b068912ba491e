package inline_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/docket-go/docket/core/compiler"
	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/inline"
	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/core/runtime"
	"github.com/docket-go/docket/core/value"
)

var update = flag.Bool("update", false, "rewrite the golden transcripts")

// scenario is a graph, what its nodes do, and what happens to a run of it.
type scenario struct {
	name  string
	story string // one sentence: what must be true
	graph []graph.Edit
	nodes func() map[string]behaviour // fresh for every run
	input map[string]any
	limit runtime.Limits
	play  func(d *driver) // nil: drive until idle
}

// behaviour is a node's work on its nth call in this process, from 1.
type behaviour func(call int, in node.Input, a node.Activation) (node.Result, error)

type scripted struct {
	mu    sync.Mutex
	calls int
	do    behaviour
}

func (s *scripted) Call(ctx context.Context, in node.Input) (node.Result, error) {
	s.mu.Lock()
	s.calls++
	call := s.calls
	s.mu.Unlock()
	a, _ := node.Info(ctx)
	return s.do(call, in, a)
}

// compile publishes the scenario's graph with fresh nodes.
func (s scenario) compile(t *testing.T) *compiler.Graph {
	t.Helper()
	nodes := make(map[string]node.Node)
	for id, do := range s.nodes() {
		nodes[id] = struct {
			*scripted
			noConfig
		}{scripted: &scripted{do: do}}
	}
	reg, err := node.NewRegistry(nodes)
	if err != nil {
		t.Fatal(err)
	}
	edits := append([]graph.Edit{}, s.graph...)
	doc, err := graph.New(s.name, edits...)
	if err != nil {
		t.Fatal(err)
	}
	pub, _, err := compiler.Publish(doc, reg)
	if err != nil {
		t.Fatal(err)
	}
	g, err := compiler.Load(pub.Ref, pub.Document, reg)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// driver plays a scenario. With reload it keeps nothing between two moments but
// the run's bytes.
type driver struct {
	t      *testing.T
	g      *compiler.Graph
	r      *inline.Runner
	cfg    inline.Config
	reload bool
	log    transcript
}

func newDriver(t *testing.T, s scenario, reload bool) *driver {
	d := &driver{t: t, g: s.compile(t), reload: reload}
	d.cfg = inline.Config{RunID: "r1", Limits: s.limit, Observe: d.log.checkpoint}
	r, err := inline.Start(d.g, s.input, d.cfg)
	if err != nil {
		t.Fatal(err)
	}
	d.r = r
	return d
}

// drive steps until the run is idle.
func (d *driver) drive() {
	d.t.Helper()
	for d.step() {
	}
}

func (d *driver) step() bool {
	d.t.Helper()
	d.maybeReload()
	_, err := d.r.Step(d.t.Context())
	if err != nil && !isIdle(err) {
		d.t.Fatal(err)
	}
	return err == nil
}

func (d *driver) resolve(id string, answer any) {
	d.t.Helper()
	d.maybeReload()
	if _, err := d.r.Resolve(id, answer); err != nil {
		d.log.line("! resolve %s: %v", id, err)
	}
}

func (d *driver) cancel() {
	d.maybeReload()
	if err := d.r.Cancel(); err != nil {
		d.log.line("! cancel: %v", err)
	}
}

// maybeReload sends the run through its bytes.
func (d *driver) maybeReload() {
	if !d.reload {
		return
	}
	data, err := run.Encode(d.r.Run())
	if err != nil {
		d.t.Fatal(err)
	}
	loaded, err := run.Decode(data)
	if err != nil {
		d.t.Fatalf("%v\n%s", err, data)
	}
	again, err := run.Encode(loaded)
	if err != nil || string(again) != string(data) {
		d.t.Fatalf("encoding changed over a save: %v\n%s\n%s", err, data, again)
	}
	if d.r, err = inline.Resume(d.g, loaded, d.cfg); err != nil {
		d.t.Fatal(err)
	}
}

func (d *driver) play(s scenario) *driver {
	if s.play == nil {
		d.drive()
	} else {
		s.play(d)
	}
	return d
}

// transcript is the readable account of a run.
type transcript struct{ b strings.Builder }

func (l *transcript) line(format string, args ...any) { fmt.Fprintf(&l.b, format+"\n", args...) }

func (l *transcript) checkpoint(c runtime.Checkpoint) {
	d := c.Disposition()
	at := ""
	if !d.At.IsZero() {
		at = " +" + d.At.Sub(inline.Epoch).String()
	}
	l.line("#%d %s  step %d  %s  +%v  → %s%s (%s)", c.Seq(), c.Type(), c.Step(), c.Status(), c.Time().Sub(inline.Epoch), d.Kind, at, d.Reason)
	r := c.Run()
	for _, e := range c.Events() {
		l.reread(e)
		if e.Type == run.EventCheckpoint {
			continue // said by the line above
		}
		payload, err := e.MarshalPayload()
		if err != nil {
			l.line("! %v", err)
		}
		l.line("    %d %s%s %s", e.Seq, e.Type, suffix(e.NodeID), payload)
	}
	if len(r.State()) > 0 {
		l.line("    state %s", canonical(r.State()))
	}
	if r.Active != nil {
		for _, id := range value.Keys(r.Active.Tasks) {
			task := r.Active.Tasks[id]
			l.line("    parked %s attempt %d at +%v", task.NodeID, task.Attempt, task.DueAt.Sub(inline.Epoch))
		}
		for _, id := range value.Keys(r.Active.Writes) {
			l.line("    held %s %s", r.Active.Writes[id].NodeID, canonical(r.Active.Writes[id].Update))
		}
	}
	for _, i := range r.OpenInterrupts() {
		l.line("    open %s asks for %s", i.ID, i.Field)
	}
	if r.Output != nil {
		l.line("    output %s", canonical(r.Output))
	}
	if r.Failure != nil {
		l.line("    failure %s%s: %s", r.Failure.Code, suffix(r.Failure.NodeID), r.Failure.Message)
	}
}

// reread sends an event through its bytes.
func (l *transcript) reread(e run.Event) {
	payload, err := e.EncodePayload()
	if err != nil {
		l.line("! %v", err)
	}
	back, err := run.DecodeEvent(record.Event{
		RunID: "r1", Seq: e.Seq, Type: string(e.Type), Step: e.Step, Time: e.Time,
		Encoding: record.EncodingJSON, Payload: payload, Checksum: record.Sum(payload),
	})
	if again, _ := back.EncodePayload(); err != nil || string(again) != string(payload) {
		l.line("! event %d changed over a save: %s, %v, was %s", e.Seq, again, err, payload)
	}
}

func suffix(nodeID string) string {
	if nodeID == "" {
		return ""
	}
	return " " + nodeID
}

func canonical(m map[string]any) string {
	if m == nil {
		return "{}"
	}
	data, err := value.Encode(m)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// header draws the graph's edges so that a transcript can be read alone.
func header(s scenario, g *compiler.Graph) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n\n", s.name, s.story)
	for i := range g.Edges {
		e := &g.Edges[i]
		when := ""
		if e.Guard != nil {
			when = "  when " + e.Guard.String()
		}
		fmt.Fprintf(&b, "  %s: %s → %s%s\n", e.ID, strings.Join(e.Sources, " + "), e.Target, when)
	}
	return b.String() + "\n"
}

// TestTranscripts plays every scenario and compares what was committed with its
// golden transcript. It also checks, for every scenario, that saving and loading
// the run between any two moments changes nothing.
func TestTranscripts(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range scenarios() {
		seen[s.name+".txt"] = true
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			whole := newDriver(t, s, false).play(s)
			got := header(s, whole.g) + whole.log.b.String()
			reloaded := newDriver(t, s, true).play(s)
			if again := header(s, reloaded.g) + reloaded.log.b.String(); again != got {
				t.Errorf("the run differs when it is saved and loaded between moments:\n%s\nwant\n%s", again, got)
			}
			compareGolden(t, filepath.Join("testdata", "transcripts", s.name+".txt"), got)
		})
	}
	files, err := os.ReadDir(filepath.Join("testdata", "transcripts"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !seen[f.Name()] {
			t.Errorf("%s belongs to no scenario", f.Name())
		}
	}
}

// TestDeterminism hands every superstep's outcomes over in random orders and asks
// for byte-identical moments.
func TestDeterminism(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 1))
	for _, s := range scenarios() {
		g := s.compile(t)
		m, err := runtime.Initialize(g, runtime.Start{RunID: "r1", Input: s.input, Now: inline.Epoch})
		if err != nil {
			t.Fatal(err)
		}
		now := inline.Epoch
		for range 40 {
			if m.Run.Status != run.Running {
				break
			}
			if m.Disposition.At.After(now) {
				now = m.Disposition.At
			}
			step, err := runtime.Plan(g, m.Run, s.limit, now)
			if err != nil {
				t.Fatal(err)
			}
			if step.Moment != nil {
				m = step.Moment
				continue
			}
			outcomes := make([]runtime.Outcome, len(step.Tasks))
			for i, task := range step.Tasks {
				outcomes[i] = attemptOf(task)
			}
			var want string
			for try := range 5 {
				rng.Shuffle(len(outcomes), func(i, j int) { outcomes[i], outcomes[j] = outcomes[j], outcomes[i] })
				next, err := runtime.Update(step, outcomes, now)
				if err != nil {
					t.Fatal(err)
				}
				got := momentBytes(t, next)
				if try > 0 && got != want {
					t.Fatalf("%s, seed %d: outcomes in another order give another moment:\n%s\nwant\n%s", s.name, seed, got, want)
				}
				want, m = got, next
			}
		}
	}
}

// attemptOf makes one attempt in this goroutine.
func attemptOf(task runtime.Task) (o runtime.Outcome) {
	defer func() {
		if v := recover(); v != nil {
			o = runtime.Failed(task.ID, runtime.ReasonPanic, fmt.Sprint(v), false)
		}
	}()
	result, err := task.Node.Call(node.WithActivation(context.Background(), task.Activation), task.Input)
	if err != nil {
		return runtime.Failed(task.ID, runtime.ReasonError, err.Error(), node.IsPermanent(err))
	}
	return runtime.Succeeded(task.ID, result)
}

func momentBytes(t *testing.T, m *runtime.Moment) string {
	t.Helper()
	doc, err := m.Document()
	if err != nil {
		t.Fatal(err)
	}
	out := string(doc) + "\n" + string(m.Type) + fmt.Sprint(m.Disposition)
	for _, e := range m.Events {
		payload, err := e.EncodePayload()
		if err != nil {
			t.Fatal(err)
		}
		out += fmt.Sprintf("\n%d %s %d %v %s", e.Seq, e.Type, e.Step, e.Time, payload)
	}
	return out
}

func compareGolden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (run with -update to write it)", err)
	}
	if string(want) != got {
		t.Errorf("%s differs (run with -update when the change is meant):\n%s\nwant\n%s", path, got, want)
	}
}
