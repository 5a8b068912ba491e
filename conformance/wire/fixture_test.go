package wire_test

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"

	"github.com/docket-go/docket/conformance/model"
	"github.com/docket-go/docket/conformance/wire"
	"github.com/docket-go/docket/ports"
)

// link is an agent that is served in this process, over pipes.
type link struct {
	conn   wire.Conn
	served chan error
}

// serve serves the agent until its input ends.
func serve(ctx context.Context, agent wire.Agent) link {
	requests, in := io.Pipe()
	out, answers := io.Pipe()
	l := link{served: make(chan error, 1)}
	go func() {
		err := wire.Serve(ctx, requests, answers, agent)
		answers.Close()
		requests.Close()
		l.served <- err
	}()
	l.conn = wire.Conn{In: in, Out: out, Kill: func() { answers.CloseWithError(errors.New("killed")); requests.Close() }}
	return l
}

// modelAgent serves one store.
func modelAgent(b ports.Backend) wire.Agent {
	return wire.Agent{
		Name: "model", Version: "1",
		Open: func(context.Context, wire.Store) (ports.Backend, error) { return b, nil },
	}
}

// dial connects to a served agent; its end is waited for.
func dial(t *testing.T, agent wire.Agent, cfg wire.Config) *wire.Client {
	t.Helper()
	l := serve(context.WithoutCancel(t.Context()), agent)
	c, err := wire.Dial(t.Context(), l.conn, wire.Hello{Store: "s1", Fresh: true}, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Drop(errors.New("the test is over"))
		if err := <-l.served; err != nil && !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("Serve: %v", err)
		}
	})
	return c
}

func newModel() ports.Backend { return model.NewBackend() }

// hold is a backend whose operations wait until they are let go, and note how
// their contexts ended.
type hold struct {
	ports.Backend
	entered chan string
	leave   chan struct{}

	mu    sync.Mutex
	ended []error
}

func newHold() *hold {
	return &hold{Backend: newModel(), entered: make(chan string, 100), leave: make(chan struct{})}
}

func (h *hold) wait(ctx context.Context, op string) error {
	h.entered <- op
	select {
	case <-h.leave:
		return nil
	case <-ctx.Done():
		h.mu.Lock()
		defer h.mu.Unlock()
		h.ended = append(h.ended, context.Cause(ctx))
		return ctx.Err()
	}
}

func (h *hold) FetchRun(ctx context.Context, req ports.FetchRun) (ports.FetchedRun, error) {
	if err := h.wait(ctx, "FetchRun"); err != nil {
		return ports.FetchedRun{}, ports.Unavailable("FetchRun", err)
	}
	return h.Backend.FetchRun(ctx, req)
}

func (h *hold) RecoverRun(ctx context.Context, req ports.RecoverRun) (ports.Recovered, error) {
	if err := h.wait(ctx, "RecoverRun"); err != nil {
		return ports.Recovered{}, ports.Uncertain("RecoverRun", err)
	}
	return h.Backend.RecoverRun(ctx, req)
}
