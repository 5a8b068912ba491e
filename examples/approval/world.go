package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/docket-go/docket/core/node"
)

// world is what lies outside of the run and remembers every call, committed or
// not: a journal that processes append to. It also holds the doom of a worker
// that is to die in the middle of a superstep.
type world struct {
	journal string // file; empty: nothing is noted

	stuck      func()        // set in the doomed worker only: tells that the moment has come
	factsReady chan struct{} // closed when the facts are collected, though not committed
	once       sync.Once
}

func newWorld(journal string, stuck func()) *world {
	return &world{journal: journal, stuck: stuck, factsReady: make(chan struct{})}
}

// call is one line of the journal.
type call struct {
	Process int    `json:"process"`
	Node    string `json:"node"`
	Step    int64  `json:"step"`
	Attempt int64  `json:"attempt"`
	Key     string `json:"key"`
}

// noted wraps a node's work so that the journal knows of each call.
func (w *world) noted(work node.HandlerFunc) node.HandlerFunc {
	return func(ctx context.Context, in node.Input) (node.Result, error) {
		if err := w.note(ctx); err != nil {
			return node.Result{}, err
		}
		return work(ctx, in)
	}
}

// note appends the call that ctx belongs to. One write a line: lines of several
// processes never mix.
func (w *world) note(ctx context.Context) error {
	self, ok := node.Info(ctx)
	if !ok || w.journal == "" {
		return nil
	}
	line, err := json.Marshal(call{os.Getpid(), self.NodeID, self.Step, self.Attempt, self.IdempotencyKey})
	if err != nil {
		return err
	}
	f, err := os.OpenFile(w.journal, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

// factsCollected tells the doomed worker's other node that this one's work is
// done.
func (w *world) factsCollected() {
	w.once.Do(func() { close(w.factsReady) })
}

// meetDoom holds the doomed worker's node: once its sibling's work is done it
// tells so and never returns by itself. In other workers it does nothing.
func (w *world) meetDoom(ctx context.Context) error {
	if w.stuck == nil {
		return nil
	}
	select {
	case <-w.factsReady:
		w.stuck()
	case <-ctx.Done():
	}
	<-ctx.Done()
	return context.Cause(ctx)
}

// calls reads the journal.
func calls(journal string) ([]call, error) {
	f, err := os.Open(journal)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []call
	for lines := bufio.NewScanner(f); ; {
		if !lines.Scan() {
			return all, lines.Err()
		}
		var c call
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			return nil, fmt.Errorf("journal line %d: %w", len(all)+1, err)
		}
		all = append(all, c)
	}
}
