package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/docket-go/docket/ports"
)

// Conn is the connection to one agent.
type Conn struct {
	In  io.WriteCloser // the agent's input
	Out io.Reader      // the agent's output; closed at its end if it is an io.Closer

	// Kill ends an agent that doesn't answer. Out must end with it.
	Kill func()

	// Explain adds to an error of the connection what is known about the agent,
	// such as its exit status and its last words. Nil adds nothing.
	Explain func(error) error
}

// Config bounds how long a client waits. The zero Config is useful.
type Config struct {
	Patience time.Duration // for any answer; 0 means 30 s
	Grace    time.Duration // for the answer to a call whose context ended; 0 means 5 s

	// Linger is how long the agent lives on after Close, so that it, not the
	// client, answers calls of a closed handle (LIF-5); 0 means 250 ms.
	Linger time.Duration
}

func (c Config) withDefaults() Config {
	c.Patience = cmp.Or(c.Patience, 30*time.Second)
	c.Grace = cmp.Or(c.Grace, 5*time.Second)
	c.Linger = cmp.Or(c.Linger, 250*time.Millisecond)
	return c
}

// Client is one handle on a store that an agent serves. Backend gives it the
// interfaces of ports.
type Client struct {
	conn    Conn
	cfg     Config
	welcome Welcome
	queue   *queue

	mu      sync.Mutex
	lastID  uint64
	waiting map[string]*call         // asked, not answered
	left    map[string]func(message) // asked, answered too late for the caller
	wakes   map[string]chan struct{} // subscriptions
	closed  bool

	broken chan struct{} // closed when the connection is of no more use
	cause  error         // why; set before broken is closed
}

// call is a request that waits for its answer.
type call struct {
	answer chan message // of one
	late   func(message)
}

// Dial shakes hands over conn. When it fails, it ends the connection.
func Dial(ctx context.Context, conn Conn, hello Hello, cfg Config) (*Client, error) {
	c := &Client{
		conn: conn, cfg: cfg.withDefaults(), queue: newQueue(),
		waiting: map[string]*call{}, left: map[string]func(message){}, wakes: map[string]chan struct{}{},
		broken: make(chan struct{}),
	}
	go c.write()
	go c.read()
	hello.Protocol, hello.Contract = Protocol, Contract
	err := c.ask(ctx, request{name: "Hello", op: opHello, params: hello}, &c.welcome)
	if err == nil {
		err = c.welcome.matches(hello)
	}
	if err != nil {
		if known := (*ports.Error)(nil); errors.As(err, &known) && known.Err != nil {
			err = known.Err // what is wrong with the agent: no operation of a store failed yet
		}
		c.fail(err)
		conn.Kill()
		return nil, err
	}
	return c, nil
}

// Welcome returns what the agent said of itself.
func (c *Client) Welcome() Welcome { return c.welcome }

// Close asks the agent to close its backend. The connection ends a moment
// later; until then the agent answers what comes after Close (LIF-5).
func (c *Client) Close() error {
	c.mu.Lock()
	again := c.closed
	c.closed = true
	c.mu.Unlock()
	if again {
		return nil
	}
	err := c.ask(context.Background(), request{name: "Close", op: opClose, params: empty{}}, &empty{})
	time.AfterFunc(c.cfg.Linger, c.hangUp)
	return err
}

// hangUp ends the agent's input. Calls are answered here from now on.
func (c *Client) hangUp() { c.fail(ports.Closed("")) }

// Drop ends the connection at once, as the death of the agent would.
func (c *Client) Drop(why error) { c.fail(why) }

// write sends what is queued, in order.
func (c *Client) write() {
	for {
		frame, ok := c.queue.next()
		if !ok {
			return
		}
		if _, err := c.conn.In.Write(frame); err != nil {
			c.fail(c.explain(fmt.Errorf("writing to the agent: %w", err)))
			return
		}
	}
}

// read passes on what arrives until the connection breaks.
func (c *Client) read() {
	if out, ok := c.conn.Out.(io.Closer); ok {
		defer out.Close()
	}
	for {
		data, err := readFrame(c.conn.Out)
		if err == nil {
			var m message
			if m, err = parse(data); err == nil {
				err = c.receive(m)
			}
		}
		if err == nil {
			continue
		}
		if errors.Is(err, io.EOF) {
			err = errors.New("the agent ended its output")
		}
		c.fail(c.explain(err))
		return
	}
}

func (c *Client) receive(m message) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m.wake != "" {
		if wakes, ok := c.wakes[m.wake]; ok {
			select {
			case wakes <- struct{}{}:
			default: // one is waiting already (WAK-5)
			}
			return nil
		}
		if !c.wasAsked(m.wake) {
			return malformed("wake", "%q is no subscription", m.wake)
		}
		return nil // it ended, and this one was on the way
	}
	if !m.isAnswer() {
		return malformed("", "the agent sends answers and wakes only")
	}
	if waits, ok := c.waiting[m.id]; ok {
		delete(c.waiting, m.id)
		waits.answer <- m
		return nil
	}
	late, ok := c.left[m.id]
	if !ok {
		return malformed("id", "%q waits for no answer", m.id)
	}
	delete(c.left, m.id)
	if late != nil {
		go late(m)
	}
	return nil
}

// wasAsked reports whether the id was given to a request.
func (c *Client) wasAsked(id string) bool {
	n, err := strconv.ParseUint(id, 10, 64)
	return err == nil && n > 0 && n <= c.lastID
}

func (c *Client) explain(err error) error {
	if c.conn.Explain == nil {
		return err
	}
	return c.conn.Explain(err)
}

// fail breaks the connection, once: what waits is told, and subscriptions end.
func (c *Client) fail(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.broken:
		return
	default:
	}
	c.cause = cause
	close(c.broken)
	for id, wakes := range c.wakes { // order-free: each is closed
		delete(c.wakes, id)
		close(wakes)
	}
	c.queue.close()
	go c.conn.In.Close() // a write that hangs in a full pipe must not hold the lock
}
