package process

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/docket-go/docket/conformance"
	"github.com/docket-go/docket/conformance/wire"
	"github.com/docket-go/docket/ports"
)

// Config names the program. Its zero value but for Path is useful.
type Config struct {
	Path string
	Args []string
	Env  []string // added to this process's environment
	Name string   // in reports; empty: what the agent calls itself

	// Wait bounds how long calls wait.
	Wait wire.Config
}

// Fleet starts and ends the agents of one certification.
type Fleet struct {
	cfg     Config
	welcome wire.Welcome
	dir     string // of all stores
	prefix  string // of store names: two certifications may share one server

	mu     sync.Mutex
	opened int
	agents map[*wire.Client]*agent
}

// store is what agents open.
type store struct {
	name      string
	directory string
}

// New starts the program once, to learn what it calls itself and what it can.
// The error tells what a program that can't be certified did.
func New(ctx context.Context, cfg Config) (*Fleet, error) {
	dir, err := os.MkdirTemp("", "docket-certification-")
	if err != nil {
		return nil, err
	}
	var random [4]byte
	_, _ = rand.Read(random[:]) // never fails
	f := &Fleet{cfg: cfg, dir: dir, prefix: "c" + hex.EncodeToString(random[:]), agents: map[*wire.Client]*agent{}}
	b, err := f.Open(ctx)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	client, _ := wire.Of(b)
	f.welcome = client.Welcome()
	if err := b.Close(); err != nil {
		return nil, errors.Join(fmt.Errorf("agent %s: %w", cfg.Path, err), f.Close())
	}
	return f, nil
}

// Harness returns the hooks of the fleet. Those for damage are there if the agent
// says so, and those that need a second process unless its stores are volatile.
func (f *Fleet) Harness() conformance.Harness {
	h := conformance.Harness{Name: f.name(), Open: f.Open}
	if f.welcome.Hooks.Corrupt {
		h.Corrupt = f.corrupt
	}
	if f.welcome.Hooks.RawWrite {
		h.RawWrite = f.rawWrite
	}
	if f.welcome.Volatile {
		return h
	}
	h.Reopen, h.Crash = f.Reopen, f.Crash
	if canFreeze {
		h.Spawn = f.Spawn
	}
	return h
}

func (f *Fleet) name() string {
	switch w := f.welcome; {
	case f.cfg.Name != "":
		return f.cfg.Name
	case w.Name == "":
		return filepath.Base(f.cfg.Path)
	case w.Version == "":
		return w.Name
	default:
		return w.Name + " " + w.Version
	}
}

// Open starts an agent on a new store.
func (f *Fleet) Open(ctx context.Context) (ports.Backend, error) {
	f.mu.Lock()
	f.opened++
	name := fmt.Sprintf("%s_%d", f.prefix, f.opened)
	f.mu.Unlock()
	s := store{name: name, directory: filepath.Join(f.dir, name)}
	if err := os.Mkdir(s.directory, 0o700); err != nil {
		return nil, err
	}
	a, err := f.start(ctx, s, true)
	if err != nil {
		return nil, err
	}
	return a.client.Backend(), nil
}

// Reopen starts one more agent on the store of b.
func (f *Fleet) Reopen(ctx context.Context, b ports.Backend) (ports.Backend, error) {
	of, err := f.of(b)
	if err != nil {
		return nil, err
	}
	a, err := f.start(ctx, of.store, false)
	if err != nil {
		return nil, err
	}
	return a.client.Backend(), nil
}

// Spawn starts one more agent on the store of b, to be killed or frozen.
func (f *Fleet) Spawn(ctx context.Context, b ports.Backend) (conformance.Peer, error) {
	of, err := f.of(b)
	if err != nil {
		return conformance.Peer{}, err
	}
	return f.SpawnOn(ctx, of.store.name, of.store.directory)
}

// SpawnOn starts an agent on a store that somebody else opened.
func (f *Fleet) SpawnOn(ctx context.Context, name, directory string) (conformance.Peer, error) {
	a, err := f.start(ctx, store{name: name, directory: directory}, false)
	if err != nil {
		return conformance.Peer{}, err
	}
	return conformance.Peer{
		Backend: a.client.Backend(),
		Kill: func() error {
			err := a.kill()
			<-a.exited
			return err
		},
		Freeze: func() error { return freezeGroup(a.cmd.Process) },
		Thaw:   func() error { return thawGroup(a.cmd.Process) },
	}, nil
}

// Crash kills the agent of b.
func (f *Fleet) Crash(_ context.Context, b ports.Backend) error {
	a, err := f.of(b)
	if err != nil {
		return err
	}
	err = a.kill()
	<-a.exited
	return err
}

// Close ends every agent and removes their directories.
func (f *Fleet) Close() error {
	f.mu.Lock()
	agents := f.agents
	f.agents = map[*wire.Client]*agent{}
	f.mu.Unlock()
	for _, a := range agents { // order-free: each is ended
		a.client.Drop(ports.Closed(""))
		_ = thawGroup(a.cmd.Process)
	}
	for _, a := range agents { // order-free: each is waited for
		a.end(2 * time.Second)
	}
	return os.RemoveAll(f.dir)
}

func (f *Fleet) start(ctx context.Context, s store, fresh bool) (*agent, error) {
	a, err := start(ctx, f.cfg, wire.Hello{Suite: conformance.Version, Store: s.name, Directory: s.directory, Fresh: fresh})
	if err != nil {
		return nil, err
	}
	a.store = s
	f.mu.Lock()
	defer f.mu.Unlock()
	f.agents[a.client] = a
	return a, nil
}

func (f *Fleet) of(b ports.Backend) (*agent, error) {
	client, ok := wire.Of(b)
	if !ok {
		return nil, errors.New("process: not a backend of this fleet")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	a, ok := f.agents[client]
	if !ok {
		return nil, errors.New("process: not a backend of this fleet")
	}
	return a, nil
}

func (f *Fleet) corrupt(ctx context.Context, b ports.Backend, t conformance.Target) error {
	client, ok := wire.Of(b)
	if !ok {
		return errors.New("process: not a backend of this fleet")
	}
	return client.Corrupt(ctx, wire.Target(t))
}

func (f *Fleet) rawWrite(ctx context.Context, b ports.Backend, runID string, shape conformance.Shape) error {
	client, ok := wire.Of(b)
	if !ok {
		return errors.New("process: not a backend of this fleet")
	}
	refused, why, err := client.RawWrite(ctx, wire.Raw{RunID: runID, Shape: string(shape)})
	if err != nil {
		return errors.Join(conformance.ErrHook, err)
	}
	if refused {
		return errors.New(why)
	}
	return nil
}
