package wire

import (
	"context"
	"fmt"
	"runtime/debug"
	"strconv"

	"github.com/docket-go/docket/ports"
)

// serve runs one request to its answer. A panic of the backend is an error of
// this request alone.
func (s *session) serve(ctx context.Context, m message) {
	if m.op == opSubscribe {
		s.subscribe(ctx, m)
		return
	}
	result, err := s.contained(ctx, m)
	if err != nil {
		_ = s.send(message{id: m.id, fault: faultOf(err)})
		return
	}
	_ = s.send(message{id: m.id, result: result}) // a broken pipe ends the loop too
}

func (s *session) contained(ctx context.Context, m message) (result map[string]any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the backend panicked in %s: %v\n%s", m.op, p, debug.Stack())
		}
	}()
	return s.answer(ctx, m)
}

func (s *session) answer(ctx context.Context, m message) (map[string]any, error) {
	backend := s.backend
	if m.tx != "" {
		tx := s.tx(m.tx)
		if tx == nil {
			return nil, ports.Closed(m.op)
		}
		switch m.op {
		case opCommit:
			return map[string]any{}, tx.Commit(ctx)
		case opRollback:
			return map[string]any{}, tx.Rollback(ctx)
		}
		backend = tx
	}
	if o, ok := operations[m.op]; ok {
		return o.run(ctx, backend, m.params)
	}
	if m.tx == "" {
		switch m.op {
		case opBegin:
			return s.beginTx(ctx)
		case opClose:
			return map[string]any{}, backend.Close()
		case opCorrupt:
			return s.corrupt(ctx, m.params)
		case opRawWrite:
			return s.rawWrite(ctx, m.params)
		}
	}
	return nil, malformed("op", "there is no %q here", m.op)
}

func (s *session) tx(handle string) ports.Tx {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.txs[handle]
}

func (s *session) beginTx(ctx context.Context) (map[string]any, error) {
	t, ok := ports.As[ports.Transactor](s.backend)
	if !ok {
		return nil, ports.Unsupported("Begin", "the backend has no transactions")
	}
	tx, err := t.Begin(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastTx++
	handle := strconv.Itoa(s.lastTx)
	s.txs[handle] = tx
	return encode(begun{Tx: handle}, "result")
}

func (s *session) corrupt(ctx context.Context, params map[string]any) (map[string]any, error) {
	if s.agent.Corrupt == nil {
		return nil, ports.Unsupported("Corrupt", "the agent has no such hook")
	}
	var target Target
	if err := decode(params, "params", &target); err != nil {
		return nil, err
	}
	return map[string]any{}, s.agent.Corrupt(ctx, s.backend, target)
}

func (s *session) rawWrite(ctx context.Context, params map[string]any) (map[string]any, error) {
	if s.agent.RawWrite == nil {
		return nil, ports.Unsupported("RawWrite", "the agent has no such hook")
	}
	var raw Raw
	if err := decode(params, "params", &raw); err != nil {
		return nil, err
	}
	var told wrote
	if refusal := s.agent.RawWrite(ctx, s.backend, raw); refusal != nil {
		told = wrote{Refused: true, Message: refusal.Error()}
	}
	return encode(told, "result")
}

// subscribe passes wakes on until its request is cancelled. Its answer goes
// first.
func (s *session) subscribe(ctx context.Context, m message) {
	wakes, err := s.wakes(ctx)
	if err != nil {
		_ = s.send(message{id: m.id, fault: faultOf(err)})
		return
	}
	if s.send(message{id: m.id, result: map[string]any{}}) != nil {
		return
	}
	for range wakes { // closed when ctx ends or the backend closes
		if s.send(message{wake: m.id}) != nil {
			return
		}
	}
}

func (s *session) wakes(ctx context.Context) (<-chan struct{}, error) {
	source, ok := ports.As[ports.WakeSource](s.backend)
	if !ok {
		return nil, ports.Unsupported("Wakes", "the backend has no wakes")
	}
	return source.Wakes(ctx)
}
