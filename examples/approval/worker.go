package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	sqlite "github.com/docket-go/docket/adapters/sqlite-experimental"
	"github.com/docket-go/docket/engine"
)

// roleVariable holds what the story starts a process for.
const roleVariable = "DOCKET_APPROVAL_ROLE"

// claimTTL is how long a dead worker holds a run here; see doc.go.
const claimTTL = 2 * time.Second

// role is what a child process is: a worker, or the one that answers.
type role struct {
	Name      string          `json:"name"` // worker, answer
	Store     string          `json:"store"`
	Journal   string          `json:"journal"`
	Doomed    bool            `json:"doomed,omitempty"` // a worker that gets stuck in the middle of a superstep
	RunID     string          `json:"run_id,omitempty"`
	Interrupt string          `json:"interrupt,omitempty"`
	Answer    json.RawMessage `json:"answer,omitempty"`
}

// roleFromEnvironment returns this process's role, if it was given one.
func roleFromEnvironment() (r role, given bool, err error) {
	text, given := os.LookupEnv(roleVariable)
	if !given {
		return r, false, nil
	}
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return r, true, fmt.Errorf("%s: %w", roleVariable, err)
	}
	return r, true, nil
}

// play does what the role is for.
func (r role) play(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) error {
	// The parent holds the other end of stdin. When it closes it, or dies, this
	// process stops too: no worker is left behind.
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		defer stop()
		_, _ = io.Copy(io.Discard, stdin)
	}()
	switch r.Name {
	case "worker":
		return r.work(ctx, stdout, stderr)
	case "answer":
		return r.answer(ctx)
	}
	return fmt.Errorf("%s: unknown role %q", roleVariable, r.Name)
}

// work drives due runs until the parent has enough.
func (r role) work(ctx context.Context, stdout, stderr io.Writer) error {
	w := newWorld(r.Journal, nil)
	if r.Doomed {
		w.stuck = func() { fmt.Fprintln(stdout, lineStuck) }
	}
	logger := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	return withEngine(ctx, r.Store, w, engine.Config{ClaimTTL: claimTTL, Logger: logger}, func(e *engine.Engine) error {
		fmt.Fprintln(stdout, lineReady)
		return e.Run(ctx)
	})
}

// withEngine opens the store, makes an engine over it, and closes the store
// again.
func withEngine(ctx context.Context, store string, w *world, cfg engine.Config, do func(*engine.Engine) error) error {
	registry, err := implementations(w)
	if err != nil {
		return err
	}
	backend, err := sqlite.Open(ctx, sqlite.Config{Path: store})
	if err != nil {
		return err
	}
	e, err := engine.New(backend, registry, cfg)
	if err == nil {
		err = do(e)
	}
	if closing := backend.Close(); err == nil {
		err = closing
	}
	return err
}
