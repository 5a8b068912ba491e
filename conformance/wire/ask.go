package wire

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/docket-go/docket/ports"
)

// request is a call as the client's methods describe it.
type request struct {
	name   string // the method, for errors
	op     string
	tx     string
	writes bool
	params any
	id     string        // given by who needs it before; else a new one
	late   func(message) // told of an answer that came too late
}

// ask sends a request and waits for its answer: until the caller's context ends
// and the agent had its grace to answer the cancel, until the connection breaks,
// or until patience ends.
func (c *Client) ask(ctx context.Context, r request, answer any) error {
	if err := ports.Ended(ctx, r.name); err != nil {
		return err
	}
	params, err := encode(r.params, "")
	if err != nil {
		return c.unsendable(r, err)
	}
	waits, err := c.register(&r)
	if err != nil {
		return err
	}
	frame, err := message{id: r.id, op: r.op, tx: r.tx, params: params}.frame()
	if err != nil {
		c.leave(r, false)
		return c.unsendable(r, err)
	}
	entry := c.queue.add(frame)
	return c.await(ctx, r, waits, entry, answer)
}

// unsendable answers a request that can't travel: text that isn't UTF-8, or a
// time that no store could hold, which is invalid wherever it is checked.
func (c *Client) unsendable(r request, err error) error {
	var m *Malformed
	if errors.As(err, &m) && m.Path != "" {
		return ports.Invalid(r.name, m.Path[1:], m.Message)
	}
	return ports.Unavailable(r.name, err)
}

func (c *Client) await(ctx context.Context, r request, waits *call, entry *queued, answer any) error {
	patience := time.NewTimer(c.cfg.Patience)
	defer patience.Stop()
	select {
	case m := <-waits.answer:
		return c.decoded(r, m, nil, answer)
	case <-c.broken:
		return c.brokenCall(r, waits, !c.queue.withdraw(entry), answer)
	case <-patience.C:
		return c.hung(r, fmt.Errorf("the agent didn't answer %s for %s", r.op, c.cfg.Patience))
	case <-ctx.Done():
	}
	if c.queue.withdraw(entry) {
		c.leave(r, false)
		return ports.Unavailable(r.name, ctx.Err())
	}
	c.cancel(r.id)
	grace := time.NewTimer(c.cfg.Grace)
	defer grace.Stop()
	select {
	case m := <-waits.answer:
		return c.decoded(r, m, ctx.Err(), answer)
	case <-c.broken:
		return c.brokenCall(r, waits, true, answer)
	case <-grace.C:
		c.leave(r, true)
		return lost(r.name, true, r.writes, fmt.Errorf("the agent didn't answer within %s of the cancel: %w", c.cfg.Grace, ctx.Err()))
	}
}

// register gives the request its id and a place to answer to.
func (c *Client) register(r *request) (*call, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.broken:
		return nil, c.gone(*r, false)
	default:
	}
	if r.id == "" {
		r.id = c.newID()
	}
	waits := &call{answer: make(chan message, 1), late: r.late}
	c.waiting[r.id] = waits
	return waits, nil
}

func (c *Client) newID() string {
	c.lastID++
	return strconv.FormatUint(c.lastID, 10)
}

// leave stops waiting. When the request was sent, its answer may still come.
func (c *Client) leave(r request, sent bool) {
	c.mu.Lock()
	waits := c.waiting[r.id]
	delete(c.waiting, r.id)
	if sent && waits != nil {
		c.left[r.id] = waits.late
	}
	c.mu.Unlock()
}

func (c *Client) cancel(id string) {
	frame, err := message{cancel: id}.frame()
	if err == nil { // an id always travels
		c.queue.add(frame)
	}
}

// brokenCall answers a call whose connection broke. The answer may have come
// just before.
func (c *Client) brokenCall(r request, waits *call, sent bool, answer any) error {
	select {
	case m := <-waits.answer:
		return c.decoded(r, m, nil, answer)
	default:
	}
	return c.gone(r, sent)
}

// gone is the error of a call on a connection that broke.
func (c *Client) gone(r request, sent bool) error {
	if errors.Is(c.cause, ports.ErrClosed) {
		return ports.Closed(r.name)
	}
	return lost(r.name, sent, r.writes, c.cause)
}

// hung ends an agent that is alive and doesn't answer.
func (c *Client) hung(r request, err error) error {
	err = c.explain(err)
	c.fail(err)
	c.conn.Kill()
	return lost(r.name, true, r.writes, err)
}

// decoded reads an answer. Cause is the end of the caller's context, if it has.
func (c *Client) decoded(r request, m message, cause error, answer any) error {
	if m.fault != nil {
		return errorOf(r.name, m.fault, cause)
	}
	if err := decode(m.result, "result", answer); err != nil {
		return fmt.Errorf("the answer to %s: %w", r.op, err)
	}
	return nil
}
