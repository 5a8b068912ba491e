package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/docket-go/docket/ports"
)

// Store is what an agent opens: see Hello.
type Store struct {
	Name      string
	Directory string
	Fresh     bool
}

// Agent is a backend that is certified from outside its process.
type Agent struct {
	Name    string // of the backend, for reports
	Version string // shown beside the name

	// Open opens the store: a new, empty one when it is Fresh, else the one that
	// another process opened under this name and directory, which may be at work
	// on it or have died. Serve closes the backend.
	Open func(ctx context.Context, s Store) (ports.Backend, error)

	// Volatile says that a store ends with its process, so that no other process
	// can open it: the level +durable can't be certified.
	Volatile bool

	// Corrupt flips bits of one stored document or payload behind the backend's
	// back and leaves its checksum alone. Nil: cases about damage aren't run.
	Corrupt func(ctx context.Context, b ports.Backend, t Target) error

	// RawWrite writes one forbidden row behind the backend's back and returns the
	// store's refusal, nil if the row was taken. Nil: not run.
	RawWrite func(ctx context.Context, b ports.Backend, raw Raw) error
}

// Serve answers the requests that come from in until it ends, ctx ends, or the
// protocol is broken, which is the only error besides those of in and out. In
// the end it rolls back what is open and closes the backend.
//
// When ctx ends, a read from in may still be under way; a program ends with it.
func Serve(ctx context.Context, in io.Reader, out io.Writer, agent Agent) error {
	ctx, stop := context.WithCancel(ctx)
	s := &session{
		agent: agent, out: out, ctx: ctx,
		calls: map[string]context.CancelFunc{}, txs: map[string]ports.Tx{},
	}
	err := s.loop(frames(ctx, in))
	stop()
	s.running.Wait()
	return errors.Join(err, s.end())
}

// received is one step of reading.
type received struct {
	data []byte
	err  error
}

// frames reads in the background, one frame ahead.
func frames(ctx context.Context, in io.Reader) <-chan received {
	c := make(chan received)
	go func() {
		for {
			data, err := readFrame(in)
			select {
			case c <- received{data, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return c
}

// session is one connection.
type session struct {
	agent   Agent
	ctx     context.Context
	backend ports.Backend // set by hello, before any goroutine of a call
	running sync.WaitGroup

	writing sync.Mutex
	out     io.Writer
	broken  error // of out

	mu     sync.Mutex
	calls  map[string]context.CancelFunc // requests without an answer, and subscriptions
	txs    map[string]ports.Tx           // also ended ones: their backend answers for them (TX-4)
	lastTx int
}

func (s *session) loop(frames <-chan received) error {
	for {
		select {
		case <-s.ctx.Done():
			return nil
		case r := <-frames:
			if errors.Is(r.err, io.EOF) {
				return nil
			}
			if r.err != nil {
				return r.err
			}
			if err := s.receive(r.data); err != nil {
				return err
			}
		}
	}
}

// receive starts what a message asks for. Cancels are handled here, in order, so
// that none overtakes its request.
func (s *session) receive(data []byte) error {
	m, err := parse(data)
	switch {
	case err != nil:
		return err
	case m.cancel != "":
		s.cancel(m.cancel)
		return nil
	case !m.isRequest():
		return malformed("", "an agent gets requests and cancels only")
	case m.op == opHello:
		return s.hello(m)
	case s.backend == nil:
		return malformed("op", "%q comes before hello", m.op)
	}
	ctx, done, err := s.begin(m.id)
	if err != nil {
		return err
	}
	s.running.Go(func() {
		defer done()
		s.serve(ctx, m)
	})
	return nil
}

// hello opens the store; it is handled in order and once.
func (s *session) hello(m message) error {
	if s.backend != nil {
		return malformed("op", "a second hello")
	}
	var h Hello
	if err := decode(m.params, "params", &h); err != nil {
		return err
	}
	w := Welcome{Protocol: Protocol, Contract: Contract, Name: s.agent.Name, Version: s.agent.Version, Volatile: s.agent.Volatile}
	if w.matches(h) == nil {
		b, err := s.agent.Open(s.ctx, Store{Name: h.Store, Directory: h.Directory, Fresh: h.Fresh})
		if err != nil {
			s.send(message{id: m.id, fault: faultOf(fmt.Errorf("opening store %q: %w", h.Store, err))})
			return nil
		}
		s.backend = b
		w.Capabilities = b.Capabilities()
		w.Hooks = Hooks{Corrupt: s.agent.Corrupt != nil, RawWrite: s.agent.RawWrite != nil}
	}
	result, err := encode(w, "result")
	if err != nil {
		return err
	}
	return s.send(message{id: m.id, result: result}) // versions that don't fit: the runner tells
}

// begin makes the context of a call that a cancel can end.
func (s *session) begin(id string) (context.Context, func(), error) {
	ctx, cancel := context.WithCancel(s.ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, taken := s.calls[id]; taken {
		cancel()
		return nil, nil, malformed("id", "%q is in use", id)
	}
	s.calls[id] = cancel
	return ctx, func() {
		cancel()
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.calls, id)
	}, nil
}

// cancel ends a call, or a subscription. One that has ended is no mistake: its
// answer and the cancel crossed.
func (s *session) cancel(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel, ok := s.calls[id]; ok {
		cancel()
	}
}

// send writes one message. After the first failure nothing is written: half a
// frame can't be followed by another.
func (s *session) send(m message) error {
	frame, err := m.frame()
	if err != nil {
		if frame, err = (message{id: m.id, fault: faultOf(err)}).frame(); err != nil {
			return err
		}
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.broken == nil {
		_, s.broken = s.out.Write(frame)
	}
	return s.broken
}

// end rolls back the transactions that are open and closes the backend.
func (s *session) end() error {
	if s.backend == nil {
		return nil
	}
	ctx := context.WithoutCancel(s.ctx)
	for _, tx := range s.txs {
		_ = tx.Rollback(ctx) // an ended one answers ErrClosed
	}
	if err := s.backend.Close(); err != nil && !errors.Is(err, ports.ErrClosed) {
		return fmt.Errorf("wire: closing the backend: %w", err)
	}
	return nil
}
