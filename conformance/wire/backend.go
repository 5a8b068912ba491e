package wire

import (
	"context"

	"github.com/docket-go/docket/ports"
)

// Backend returns the client as a backend with exactly the optional interfaces
// that the agent declared; ports.As[*Client] finds the client again.
func (c *Client) Backend() ports.Backend {
	var b ports.Backend = &handle{roles: roles{client: c}}
	if c.welcome.Capabilities.Transactor {
		b = &transactor{Backend: b, client: c}
	}
	if c.welcome.Capabilities.WakeSource {
		b = &wakeSource{Backend: b, client: c}
	}
	if c.welcome.Capabilities.Pruner {
		b = &pruner{Backend: b, client: c}
	}
	return b
}

// Of returns the client behind a backend that Backend made.
func Of(b ports.Backend) (*Client, bool) {
	h, ok := ports.As[*handle](b)
	if !ok {
		return nil, false
	}
	return h.client, true
}

// handle is the required part of a backend.
type handle struct {
	roles
}

func (h *handle) Capabilities() ports.Capabilities { return h.client.welcome.Capabilities }

func (h *handle) Close() error { return h.client.Close() }

type transactor struct {
	ports.Backend
	client *Client
}

func (t *transactor) Unwrap() ports.Backend { return t.Backend }

// Begin asks the agent for a transaction. One that came when nobody waited any
// more is rolled back.
func (t *transactor) Begin(ctx context.Context) (ports.Tx, error) {
	var got begun
	err := t.client.ask(ctx, request{name: "Begin", op: opBegin, params: empty{}, late: t.unwanted}, &got)
	if err != nil {
		return nil, err
	}
	return &transaction{roles{client: t.client, tx: got.Tx}}, nil
}

func (t *transactor) unwanted(m message) {
	var got begun
	if m.result != nil && decode(m.result, "result", &got) == nil {
		tx := transaction{roles{client: t.client, tx: got.Tx}}
		_ = tx.Rollback(context.Background())
	}
}

// transaction is a handle of the agent's.
type transaction struct {
	roles
}

func (t *transaction) Capabilities() ports.Capabilities { return ports.Capabilities{} }

func (t *transaction) Commit(ctx context.Context) error {
	return t.client.ask(ctx, request{name: "Commit", op: opCommit, tx: t.tx, writes: true, params: empty{}}, &empty{})
}

func (t *transaction) Rollback(ctx context.Context) error {
	return t.client.ask(ctx, request{name: "Rollback", op: opRollback, tx: t.tx, params: empty{}}, &empty{})
}

// Close rolls back a transaction that hasn't ended.
func (t *transaction) Close() error {
	err := t.Rollback(context.Background())
	if ports.CodeOf(err) == ports.CodeClosed {
		return nil
	}
	return err
}

type wakeSource struct {
	ports.Backend
	client *Client
}

func (w *wakeSource) Unwrap() ports.Backend { return w.Backend }

// Wakes subscribes. The channel is there before the request is sent: a wake may
// follow its answer at once.
func (w *wakeSource) Wakes(ctx context.Context) (<-chan struct{}, error) {
	c := w.client
	wakes := make(chan struct{}, 1)
	c.mu.Lock()
	id := c.newID()
	c.wakes[id] = wakes
	c.mu.Unlock()
	if err := c.ask(ctx, request{name: "Wakes", op: opSubscribe, params: empty{}, id: id}, &empty{}); err != nil {
		c.unsubscribe(id)
		return nil, err
	}
	context.AfterFunc(ctx, func() {
		if c.unsubscribe(id) {
			c.cancel(id)
		}
	})
	return wakes, nil
}

// unsubscribe closes the channel, unless the connection did.
func (c *Client) unsubscribe(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	wakes, ok := c.wakes[id]
	if ok {
		delete(c.wakes, id)
		close(wakes)
	}
	return ok
}

type pruner struct {
	ports.Backend
	client *Client
}

func (p *pruner) Unwrap() ports.Backend { return p.Backend }

func (p *pruner) Prune(ctx context.Context, req ports.Prune) (ports.Pruned, error) {
	return asked[ports.Pruned](ctx, roles{client: p.client}, "Prune", req)
}

// Corrupt asks the agent to damage its storage.
func (c *Client) Corrupt(ctx context.Context, t Target) error {
	return c.ask(ctx, request{name: "Corrupt", op: opCorrupt, writes: true, params: t}, &empty{})
}

// RawWrite asks the agent to write a forbidden row, and tells whether the store
// refused it.
func (c *Client) RawWrite(ctx context.Context, raw Raw) (refused bool, why string, err error) {
	var got wrote
	err = c.ask(ctx, request{name: "RawWrite", op: opRawWrite, writes: true, params: raw}, &got)
	return got.Refused, got.Message, err
}
