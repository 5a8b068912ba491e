package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	sqlite "github.com/docket-go/docket/adapters/sqlite-experimental"
	"github.com/docket-go/docket/conformance"
	"github.com/docket-go/docket/conformance/wire/process"
	"github.com/docket-go/docket/ports"
)

const databaseSuffix = ".db"

// files remembers which database file a backend works on.
type files struct {
	dir string

	mu     sync.Mutex
	opened int
	paths  map[ports.Backend]string
	peers  *process.Fleet // nil until a peer is asked for
}

// sqliteHarness keeps one database file a store in a directory of its own.
func sqliteHarness(context.Context, flags) (conformance.Harness, func() error, error) {
	dir, err := os.MkdirTemp("", "docket-conformance-")
	if err != nil {
		return conformance.Harness{}, nil, err
	}
	f := &files{dir: dir, paths: map[ports.Backend]string{}}
	h := conformance.Harness{
		Name:     "sqlite",
		Open:     func(ctx context.Context) (ports.Backend, error) { return f.open(ctx, f.fresh()) },
		Reopen:   func(ctx context.Context, b ports.Backend) (ports.Backend, error) { return f.open(ctx, f.path(b)) },
		Crash:    f.crash,
		Corrupt:  f.corrupt,
		RawWrite: f.rawWrite,
		Spawn:    f.spawn,
	}
	return h, f.close, nil
}

func (f *files) close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var err error
	if f.peers != nil {
		err = f.peers.Close()
	}
	return errors.Join(err, os.RemoveAll(f.dir))
}

// spawn starts this program once more, as a process that serves the file of b.
func (f *files) spawn(ctx context.Context, b ports.Backend) (conformance.Peer, error) {
	fleet, err := f.fleet(ctx)
	if err != nil {
		return conformance.Peer{}, err
	}
	name := strings.TrimSuffix(filepath.Base(f.path(b)), databaseSuffix)
	return fleet.SpawnOn(ctx, name, f.dir)
}

func (f *files) fleet(ctx context.Context) (*process.Fleet, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.peers == nil {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		if f.peers, err = process.New(ctx, process.Config{Path: self, Args: []string{"serve", "sqlite"}}); err != nil {
			return nil, err
		}
	}
	return f.peers, nil
}

func (f *files) fresh() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.opened++
	return filepath.Join(f.dir, fmt.Sprint(f.opened)+databaseSuffix)
}

func (f *files) path(b ports.Backend) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.paths[b]
}

func (f *files) open(ctx context.Context, path string) (ports.Backend, error) {
	b, err := sqlite.Open(ctx, sqlite.Config{Path: path, WakePoll: 5 * time.Millisecond})
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.paths[b] = path
	return b, nil
}

// crash leaves what a killed process would: the database and its log as they
// are at this moment, without the shared memory that dies with the last process.
// The suite goes on with that copy.
func (f *files) crash(_ context.Context, b ports.Backend) error {
	from, to := f.path(b), f.fresh()
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(from + suffix)
		if errors.Is(err, fs.ErrNotExist) && suffix != "" {
			continue
		}
		if err != nil {
			return err
		}
		if err := os.WriteFile(to+suffix, data, 0o600); err != nil {
			return err
		}
	}
	f.mu.Lock()
	f.paths[b] = to
	f.mu.Unlock()
	return b.Close()
}
