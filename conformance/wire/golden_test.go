package wire

import (
	"bytes"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docket-go/docket/conformance"
	"github.com/docket-go/docket/conformance/model"
	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is out of date (run the test with -update); it would be:\n%s", file, got)
	}
}

// The field lists that docs/wire-protocol.md quotes are those of the code.
func TestFieldLists(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	named := &objects{seen: map[reflect.Type]bool{}}
	methods := reflect.TypeFor[ports.Backend]()
	for i := range methods.NumMethod() {
		m := methods.Method(i)
		if m.Type.NumIn() == 2 && m.Type.NumOut() == 2 {
			named.operation(&b, snakeCase(m.Name), m.Type.In(1), m.Type.Out(0))
		}
	}
	prune := reflect.TypeFor[ports.Pruner]().Method(0).Type
	named.operation(&b, "prune", prune.In(1), prune.Out(0))
	golden(t, "operations.txt", b.String())

	b.Reset()
	named.operation(&b, opHello, reflect.TypeFor[Hello](), reflect.TypeFor[Welcome]())
	named.operation(&b, opBegin, reflect.TypeFor[empty](), reflect.TypeFor[begun]())
	for _, op := range []string{opCommit, opRollback, opSubscribe, opClose} {
		named.operation(&b, op, reflect.TypeFor[empty](), reflect.TypeFor[empty]())
	}
	named.operation(&b, opCorrupt, reflect.TypeFor[Target](), reflect.TypeFor[empty]())
	named.operation(&b, opRawWrite, reflect.TypeFor[Raw](), reflect.TypeFor[wrote]())
	golden(t, "session.txt", b.String())

	b.Reset()
	for i := 0; i < len(named.order); i++ { // grows while objects are found in objects
		fmt.Fprintf(&b, "%s\n", indented("  ", nameOf(named.order[i])+":", named.fields(named.order[i])))
	}
	golden(t, "objects.txt", b.String())
}

// The shapes of raw_write are those that the suite asks for.
func TestShapes(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, shape := range conformance.Shapes() {
		fmt.Fprintln(&b, shape)
	}
	golden(t, "shapes.txt", b.String())
}

// objects collects the types that fields refer to by name.
type objects struct {
	seen  map[reflect.Type]bool
	order []reflect.Type
}

func (o *objects) operation(b *strings.Builder, name string, request, answer reflect.Type) {
	mark := ""
	if operations[name].writes {
		mark = " (writes)"
	}
	fmt.Fprintf(b, "%s%s\n%s\n%s\n", name, mark,
		indented("  ", "params:", o.fields(request)), indented("  ", "result:", o.fields(answer)))
}

func (o *objects) fields(t reflect.Type) []string {
	if t.NumField() == 0 {
		return []string{"none"}
	}
	var out []string
	for i, name := range fieldNames(t) {
		comma := ","
		if i == t.NumField()-1 {
			comma = ""
		}
		out = append(out, name+" "+o.kind(t.Field(i).Type)+comma)
	}
	return out
}

func (o *objects) kind(t reflect.Type) string {
	switch t {
	case timeType:
		return "time"
	case durationType:
		return "duration"
	case bytesType, checksumType:
		return "bytes"
	}
	switch t.Kind() {
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "bool"
	case reflect.Int, reflect.Int64:
		return "int"
	case reflect.Slice:
		return "[" + o.kind(t.Elem()) + "]"
	}
	if !o.seen[t] {
		o.seen[t] = true
		o.order = append(o.order, t)
	}
	return nameOf(t)
}

// nameOf tells apart the two versions: the stored one and its metadata.
func nameOf(t reflect.Type) string {
	if t == reflect.TypeFor[ports.GraphVersion]() {
		return "VersionInfo"
	}
	return t.Name()
}

// indented joins parts and breaks lines at 100 columns.
func indented(by, first string, parts []string) string {
	var b strings.Builder
	b.WriteString(by + first)
	column := b.Len()
	for _, p := range parts {
		if column+1+len(p) > 100 {
			b.WriteString("\n" + by + by)
			column = 2*len(by) - 1
		} else {
			b.WriteByte(' ')
		}
		b.WriteString(p)
		column += 1 + len(p)
	}
	return b.String()
}

// script writes down the messages of a connection, one a line.
type script struct {
	mu    sync.Mutex
	lines []string
}

// tap passes bytes on and notes the frames in them.
type tap struct {
	script *script
	mark   string
	to     io.WriteCloser
	buf    bytes.Buffer
}

func (w *tap) Write(p []byte) (int, error) {
	w.script.mu.Lock()
	w.buf.Write(p)
	for w.buf.Len() >= headerSize {
		size := int(binary.BigEndian.Uint32(w.buf.Bytes()))
		if w.buf.Len() < headerSize+size {
			break
		}
		w.buf.Next(headerSize)
		w.script.lines = append(w.script.lines, w.mark+string(w.buf.Next(size)))
	}
	w.script.mu.Unlock()
	return w.to.Write(p)
}

func (w *tap) Close() error { return w.to.Close() }

// bare declares a part of what the model has: the transcript stays what it is
// when the model grows.
type bare struct{ ports.Backend }

func (bare) Capabilities() ports.Capabilities { return ports.Capabilities{Transactor: true} }

// The transcript that docs/wire-protocol.md quotes is a real one.
func TestTranscript(t *testing.T) {
	t.Parallel()
	requests, in := io.Pipe()
	out, answers := io.Pipe()
	var s script
	served := make(chan error, 1)
	go func() {
		served <- Serve(context.WithoutCancel(t.Context()), requests, &tap{script: &s, mark: "< ", to: answers}, Agent{
			Name: "model", Version: "1", Volatile: true,
			Open: func(context.Context, Store) (ports.Backend, error) { return bare{model.NewBackend()}, nil },
		})
	}()
	c, err := Dial(t.Context(), Conn{In: &tap{script: &s, mark: "> ", to: in}, Out: out, Kill: func() { in.Close() }},
		Hello{Suite: "0.1.0", Store: "c1f2e3d4_1", Directory: "/tmp/c1f2e3d4_1", Fresh: true}, Config{})
	if err != nil {
		t.Fatal(err)
	}
	play(t, c.Backend())
	c.Drop(ports.Closed(""))
	if err := <-served; err != nil {
		t.Error(err)
	}
	golden(t, "transcript.txt", strings.Join(s.lines, "\n")+"\n")
}

func play(t *testing.T, b ports.Backend) {
	t.Helper()
	ctx, now := t.Context(), time.Date(2031, 5, 6, 7, 8, 9, 123457000, time.UTC)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	doc := []byte(`{"id":"flow"}`)
	v := record.GraphVersion{Ref: graph.Ref{ID: "flow", Hash: record.Sum(doc).String()}, Encoding: record.EncodingJSON, Document: doc}
	_, err := b.SaveGraph(ctx, ports.SaveGraph{Owner: record.Owner{Tenant: "acme"}, Version: v, Now: now})
	must(err)
	run := record.Run{
		ID: "r", Graph: v.Ref, Status: "running", CheckpointSeq: 1, CheckpointType: "run_initialized",
		StartedAt: now, UpdatedAt: now, Encoding: record.EncodingJSON, Document: []byte("{}"), Checksum: record.Sum([]byte("{}")),
	}
	_, err = b.InsertRun(ctx, ports.InsertRun{Owner: record.Owner{Tenant: "acme"}, Now: now, Transition: record.Transition{
		Run: run, Schedule: record.Schedule{Kind: record.ScheduleImmediate},
	}})
	must(err)
	_, err = b.ClaimRuns(ctx, ports.ClaimRuns{Scope: ports.System(), Limit: 1, TTL: time.Minute, MaxAttempts: 5, Now: now})
	must(err)
	if _, err = b.ReleaseClaim(ctx, ports.ReleaseClaim{Scope: ports.System(), RunID: "r", Token: "guess", Now: now}); err == nil {
		t.Fatal("a guess released a claim")
	}
	if _, err = b.ReleaseClaim(ctx, ports.ReleaseClaim{Scope: ports.System(), RunID: "r", Now: now}); err == nil {
		t.Fatal("a release without a token")
	}
	must(b.Close())
}
