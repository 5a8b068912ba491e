package wire_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/conformance/wire"
	"github.com/docket-go/docket/ports"
)

const hello = `{"id":"1","op":"hello","params":{"protocol":"1","contract":"0.1","store":"s1","fresh":true}}`

// A broken protocol ends Serve with an error that names what broke it.
func TestServeRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, says string }{
		{"nothing", "", ""},
		{"only hello", frame(hello), ""},
		{"half a frame", frame(hello)[:20], "ends 16 bytes into a frame"},
		{"text", "GET / HTTP/1.1\r\n", `begins with the text "GET "`},
		{"no JSON", frame("x"), "malformed message"},
		{"an answer", frame(hello) + frame(`{"id":"2","result":{}}`), "requests and cancels only"},
		{"a request before hello", frame(`{"id":"1","op":"fetch_run"}`), `"fetch_run" comes before hello`},
		{"a second hello", frame(hello) + frame(strings.Replace(hello, `"1"`, `"2"`, 1)), "a second hello"},
		{"another protocol, and on", frame(strings.Replace(hello, `"protocol":"1"`, `"protocol":"9"`, 1)) + frame(`{"id":"2","op":"begin"}`), "before hello"},
	} {
		err := wire.Serve(t.Context(), strings.NewReader(c.in), io.Discard, modelAgent(newModel()))
		if (c.says == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
	}
}

// Two requests under one id would make the answers ambiguous.
func TestServeRefusesAnIDInUse(t *testing.T) {
	t.Parallel()
	h := newHold()
	in, out := io.Pipe()
	go func() {
		_, _ = io.WriteString(out, frame(hello)+frame(`{"id":"7","op":"fetch_run"}`))
		<-h.entered
		_, _ = io.WriteString(out, frame(`{"id":"7","op":"fetch_run"}`))
	}()
	if err := wire.Serve(t.Context(), in, io.Discard, modelAgent(h)); err == nil || !strings.Contains(err.Error(), `"7" is in use`) {
		t.Errorf("%v", err)
	}
}

// closing counts roll-backs and closes.
type closing struct {
	ports.Backend
	txs, rolledBack, closed int
}

func (c *closing) Capabilities() ports.Capabilities { return ports.Capabilities{Transactor: true} }

func (c *closing) Begin(context.Context) (ports.Tx, error) {
	c.txs++
	return closingTx{c.Backend, c}, nil
}

func (c *closing) Close() error { c.closed++; return nil }

type closingTx struct {
	ports.Backend
	of *closing
}

func (tx closingTx) Commit(context.Context) error   { return nil }
func (tx closingTx) Rollback(context.Context) error { tx.of.rolledBack++; return nil }

// At the end of its input an agent rolls back what is open and closes its store.
func TestEndOfInputRollsBack(t *testing.T) {
	t.Parallel()
	b := &closing{Backend: newModel()}
	l := serve(t.Context(), modelAgent(b))
	c, err := wire.Dial(t.Context(), l.conn, wire.Hello{Store: "s"}, wire.Config{})
	if err != nil {
		t.Fatal(err)
	}
	transactor, ok := ports.As[ports.Transactor](c.Backend())
	if !ok {
		t.Fatal("no transactor")
	}
	for range 2 {
		if _, err := transactor.Begin(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	c.Drop(errors.New("enough"))
	if err := <-l.served; err != nil {
		t.Error(err)
	}
	if b.txs != 2 || b.rolledBack != 2 || b.closed != 1 {
		t.Errorf("%d transactions, %d rolled back; closed %d times", b.txs, b.rolledBack, b.closed)
	}
}

// Serve ends with its context, also while input may still come.
func TestServeEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	in, _ := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- wire.Serve(ctx, in, io.Discard, modelAgent(newModel())) }()
	cancel()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("Serve goes on")
	}
}

// What isn't declared is neither there nor answered.
func TestUndeclaredIsAbsent(t *testing.T) {
	t.Parallel()
	plain := struct{ ports.Backend }{newModel()} // hides every optional interface
	agent := modelAgent(plain)
	c := dial(t, agent, wire.Config{})
	if _, ok := ports.As[ports.WakeSource](c.Backend()); ok && !c.Welcome().Capabilities.WakeSource {
		t.Error("a wake source that wasn't declared")
	}
	if _, ok := ports.As[ports.Pruner](c.Backend()); ok && !c.Welcome().Capabilities.Pruner {
		t.Error("a pruner that wasn't declared")
	}
	if c.Welcome().Hooks != (wire.Hooks{}) {
		t.Errorf("hooks %+v", c.Welcome().Hooks)
	}
	if err := c.Corrupt(t.Context(), wire.Target{RunID: "r"}); !errors.Is(err, ports.ErrUnsupported) {
		t.Errorf("a hook that isn't there: %v", err)
	}
}

// After Close the agent itself answers, for a moment; then the client does.
func TestAfterCloseTheAgentAnswers(t *testing.T) {
	t.Parallel()
	l := serve(context.WithoutCancel(t.Context()), modelAgent(newModel()))
	c, err := wire.Dial(t.Context(), l.conn, wire.Hello{Store: "s"}, wire.Config{Linger: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.Close(), c.Close()); err != nil {
		t.Fatal(err)
	}
	if err := <-l.served; err != nil { // the input ends by itself
		t.Error(err)
	}
	if _, err := c.Backend().FetchRun(t.Context(), fetch("r")); !errors.Is(err, ports.ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
}
