package wire_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/conformance/wire"
	"github.com/docket-go/docket/core/value"
	"github.com/docket-go/docket/ports"
)

func fetch(id string) ports.FetchRun { return ports.FetchRun{Scope: ports.System(), RunID: id} }

func recoverRun(id string) ports.RecoverRun {
	return ports.RecoverRun{Scope: ports.System(), RunID: id}
}

// Answers may come in any order: a call that waits holds up none after it.
func TestCallsOvertakeEachOther(t *testing.T) {
	t.Parallel()
	h := newHold()
	b := dial(t, modelAgent(h), wire.Config{}).Backend()
	first := make(chan error, 1)
	go func() {
		_, err := b.FetchRun(t.Context(), fetch("r"))
		first <- err
	}()
	<-h.entered
	if _, err := b.InspectRun(t.Context(), ports.InspectRun{Scope: ports.System(), RunID: "r"}); !errors.Is(err, ports.ErrNotFound) {
		t.Errorf("a call after one that waits: %v", err)
	}
	close(h.leave)
	if err := <-first; !errors.Is(err, ports.ErrNotFound) {
		t.Errorf("the call that waited: %v", err)
	}
}

// The end of a context travels: the backend sees it, and its answer comes back
// as the context's own error (LIF-3).
func TestCancelTravels(t *testing.T) {
	t.Parallel()
	h := newHold()
	b := dial(t, modelAgent(h), wire.Config{}).Backend()
	for _, c := range []struct {
		call func(context.Context) error
		want error
	}{
		{func(ctx context.Context) error { _, err := b.FetchRun(ctx, fetch("r")); return err }, ports.ErrUnavailable},
		{func(ctx context.Context) error { _, err := b.RecoverRun(ctx, recoverRun("r")); return err }, ports.ErrUncertain},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		answer := make(chan error, 1)
		go func() { answer <- c.call(ctx) }()
		<-h.entered
		cancel()
		if err := <-answer; !errors.Is(err, c.want) || !errors.Is(err, context.Canceled) {
			t.Errorf("%v, want %v that is the context's", err, c.want)
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.ended) != 2 {
		t.Errorf("the backend saw %d contexts end, want 2", len(h.ended))
	}
}

// deaf ignores contexts.
type deaf struct{ *hold }

func (d deaf) RecoverRun(context.Context, ports.RecoverRun) (ports.Recovered, error) {
	d.entered <- "RecoverRun"
	<-d.leave
	return ports.Recovered{}, nil
}

// An agent that doesn't answer a cancel costs its grace, and nothing else: the
// connection goes on, and the answer that comes too late does no harm.
func TestDeafAgentCostsItsGrace(t *testing.T) {
	t.Parallel()
	d := deaf{newHold()}
	c := dial(t, modelAgent(d), wire.Config{Grace: 20 * time.Millisecond})
	ctx, cancel := context.WithCancel(t.Context())
	answer := make(chan error, 1)
	go func() {
		_, err := c.Backend().RecoverRun(ctx, recoverRun("r"))
		answer <- err
	}()
	<-d.entered
	cancel()
	err := <-answer
	if !errors.Is(err, ports.ErrUncertain) || !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "didn't answer within 20ms") {
		t.Errorf("%v", err)
	}
	close(d.leave)
	if _, err := c.Backend().InspectRun(t.Context(), ports.InspectRun{Scope: ports.System(), RunID: "r"}); !errors.Is(err, ports.ErrNotFound) {
		t.Errorf("after an answer that came too late: %v", err)
	}
}

// An agent that hangs is ended and told; every call in flight is answered.
func TestHangingAgentIsEnded(t *testing.T) {
	t.Parallel()
	d := deaf{newHold()}
	t.Cleanup(func() { close(d.leave) })
	l := serve(context.WithoutCancel(t.Context()), modelAgent(d))
	c, err := wire.Dial(t.Context(), l.conn, wire.Hello{Store: "s"}, wire.Config{Patience: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = c.Backend().RecoverRun(t.Context(), recoverRun("r")); !errors.Is(err, ports.ErrUncertain) || !strings.Contains(err.Error(), "didn't answer recover_run for 50ms") {
		t.Errorf("a write of a hanging agent: %v", err)
	}
	if _, err = c.Backend().FetchRun(t.Context(), fetch("r")); !errors.Is(err, ports.ErrUnavailable) {
		t.Errorf("a call after it was ended: %v", err)
	}
}

// An agent that dies leaves no call without an answer: writes in flight are
// uncertain, reads and whatever comes later unavailable.
func TestDyingAgentIsTold(t *testing.T) {
	t.Parallel()
	h := newHold()
	t.Cleanup(func() { close(h.leave) })
	l := serve(context.WithoutCancel(t.Context()), modelAgent(h))
	c, err := wire.Dial(t.Context(), l.conn, wire.Hello{Store: "s"}, wire.Config{})
	if err != nil {
		t.Fatal(err)
	}
	b := c.Backend()
	read, write := make(chan error, 1), make(chan error, 1)
	go func() { _, err := b.FetchRun(t.Context(), fetch("r")); read <- err }()
	go func() { _, err := b.RecoverRun(t.Context(), recoverRun("r")); write <- err }()
	<-h.entered
	<-h.entered
	l.conn.Kill()
	for name, is := range map[string]struct{ got, want error }{
		"a read in flight": {<-read, ports.ErrUnavailable}, "a write in flight": {<-write, ports.ErrUncertain},
	} {
		if !errors.Is(is.got, is.want) {
			t.Errorf("%s: %v, want %v", name, is.got, is.want)
		}
	}
	if _, err := b.RecoverRun(t.Context(), recoverRun("r")); !errors.Is(err, ports.ErrUnavailable) {
		t.Errorf("a write after the death: %v, want ErrUnavailable: nothing was sent", err)
	}
}

// impostor is an agent of which only the frames are written down. It answers the
// request number n by what says(n, id), which may be anything.
func impostor(t *testing.T, says func(n int, id string) string) wire.Conn {
	t.Helper()
	requests, in := io.Pipe()
	out, answers := io.Pipe()
	go func() {
		for n := 1; ; n++ {
			var header [4]byte
			if _, err := io.ReadFull(requests, header[:]); err != nil {
				return
			}
			body := make([]byte, binary.BigEndian.Uint32(header[:]))
			if _, err := io.ReadFull(requests, body); err != nil {
				return
			}
			object, err := value.DecodeObject(body)
			if err != nil {
				t.Errorf("the client sent %q: %v", body, err)
			}
			id, _ := object["id"].(string)
			if _, err := io.WriteString(answers, says(n, id)); err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { answers.Close(); requests.Close() })
	return wire.Conn{In: in, Out: out, Kill: func() { answers.Close(); requests.Close() }}
}

func frame(body string) string {
	return string(binary.BigEndian.AppendUint32(nil, uint32(len(body)))) + body
}

const goodWelcome = `{"protocol":"1","contract":"0.1","capabilities":{}}`

func TestHandshakeRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, result, says string }{
		{"another protocol", `"result":{"protocol":"2","contract":"0.1"}`, "the runner speaks protocol 1, the agent 2"},
		{"another contract", `"result":{"protocol":"1","contract":"7.0"}`, "the runner speaks contract 0.1, the agent 7.0"},
		{"no version", `"result":{}`, "the runner speaks protocol 1, the agent 0"},
		{"a refusal", `"error":{"code":"other","message":"the disk is full"}`, "the disk is full"},
		{"a capability that isn't known", `"result":{"protocol":"1","contract":"0.1","capabilities":{"flies":true}}`, `result.capabilities: there is no field "flies"`},
	} {
		conn := impostor(t, func(_ int, id string) string { return frame(`{"id":"` + id + `",` + c.result + `}`) })
		if _, err := wire.Dial(t.Context(), conn, wire.Hello{Store: "s"}, wire.Config{}); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want it to say %q", c.name, err, c.says)
		}
	}
}

// What an agent gets wrong after the handshake is told with the place; nothing
// hangs, nothing passes.
func TestWrongAnswersAreTold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, answer, says string }{
		{"a field that isn't there", `{"id":"2","result":{"nowhere":"1"}}`, `the answer to inspect_run: wire: malformed message: result: there is no field "nowhere"`},
		{"a wrong form", `{"id":"2","result":{"run":{"checkpoint_seq":7}}}`, "result.run.checkpoint_seq: want a decimal number in a string, got a number"},
		{"an unknown code", `{"id":"2","error":{"code":"oops"}}`, `error.code: "oops" is not a code of the contract`},
		{"an error without a code", `{"id":"2","error":{}}`, `error.code: "" is not a code`},
		{"an error outside the contract", `{"id":"2","error":{"code":"other","message":"boom"}}`, "outside the contract: boom"},
		{"an answer to nobody", `{"id":"99","result":{}}`, `id: "99" waits for no answer`},
		{"a wake for nobody", `{"wake":"99"}`, `wake: "99" is no subscription`},
		{"a request", `{"id":"2","op":"hello"}`, "the agent sends answers and wakes only"},
		{"no JSON", `nope`, "malformed message"},
	} {
		conn := impostor(t, func(n int, id string) string {
			if n == 1 {
				return frame(`{"id":"` + id + `","result":` + goodWelcome + `}`)
			}
			return frame(c.answer)
		})
		client, err := wire.Dial(t.Context(), conn, wire.Hello{Store: "s"}, wire.Config{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.Backend().InspectRun(t.Context(), ports.InspectRun{Scope: ports.System(), RunID: "r"})
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want it to say %q", c.name, err, c.says)
		}
		if ports.IsAnswer(err) {
			t.Errorf("%s passes for an answer of the contract: %v", c.name, err)
		}
	}
}

// A request that can't travel is refused here, and nothing is sent.
func TestUnsendableIsInvalid(t *testing.T) {
	t.Parallel()
	b := dial(t, modelAgent(newModel()), wire.Config{}).Backend()
	_, err := b.FetchRun(t.Context(), fetch("a\xff"))
	if !errors.Is(err, ports.ErrInvalid) || !strings.Contains(err.Error(), "run_id") {
		t.Errorf("%v, want ErrInvalid that names run_id", err)
	}
}

// Every error of the set arrives as itself, with its detail, path and text.
func TestErrorsTravel(t *testing.T) {
	t.Parallel()
	for _, code := range ports.Codes() {
		thrown := &ports.Error{Code: code, Detail: ports.DetailTooLarge, Op: "FetchRun", Path: "Run.Document", Message: "why", Err: errors.New("the driver's")}
		b := dial(t, modelAgent(thrower{newModel(), thrown}), wire.Config{}).Backend()
		_, err := b.FetchRun(t.Context(), fetch("r"))
		var got *ports.Error
		if !errors.Is(err, code.Err()) || !errors.As(err, &got) {
			t.Errorf("%s arrives as %v", code, err)
			continue
		}
		if got.Code != code || got.Detail != thrown.Detail || got.Path != thrown.Path || err.Error() != thrown.Error() {
			t.Errorf("%q became %q (%+v)", thrown, err, got)
		}
	}
}

type thrower struct {
	ports.Backend
	err error
}

func (b thrower) FetchRun(context.Context, ports.FetchRun) (ports.FetchedRun, error) {
	if b.err == nil {
		panic("the backend lost its mind")
	}
	return ports.FetchedRun{}, b.err
}

// A panic costs its call and nothing else.
func TestPanicIsTold(t *testing.T) {
	t.Parallel()
	b := dial(t, modelAgent(thrower{newModel(), nil}), wire.Config{}).Backend()
	if _, err := b.FetchRun(t.Context(), fetch("r")); err == nil || !strings.Contains(err.Error(), "panicked in fetch_run: the backend lost its mind") {
		t.Errorf("%v", err)
	}
	if _, err := b.InspectRun(t.Context(), ports.InspectRun{Scope: ports.System(), RunID: "r"}); !errors.Is(err, ports.ErrNotFound) {
		t.Errorf("after a panic: %v", err)
	}
}
