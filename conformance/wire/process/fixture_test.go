package process_test

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/docket-go/docket/conformance/model"
	"github.com/docket-go/docket/conformance/wire"
	"github.com/docket-go/docket/conformance/wire/process"
	"github.com/docket-go/docket/ports"
)

// roleVariable makes this test binary an agent, good or bad.
const roleVariable = "DOCKET_PROCESS_TEST_ROLE"

func TestMain(m *testing.M) {
	role, isAgent := os.LookupEnv(roleVariable)
	if !isAgent {
		os.Exit(m.Run())
	}
	if err := roles[role](); err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(3)
	}
}

var roles = map[string]func() error{
	"journal": func() error { return serve(openJournal) },
	// forgetful acknowledges commits that it doesn't write.
	"forgetful": func() error {
		return serve(func(path string) (ports.Backend, error) {
			j, err := openJournal(path)
			if err == nil {
				j.(*journal).forgetful = true
			}
			return j, err
		})
	},
	"volatile": func() error {
		return wire.Serve(context.Background(), os.Stdin, os.Stdout, wire.Agent{
			Volatile: true, Open: func(context.Context, wire.Store) (ports.Backend, error) { return model.NewBackend(), nil },
		})
	},
	"refuses": func() error {
		return serve(func(string) (ports.Backend, error) { return nil, errors.New("the disk is full") })
	},
	"dies":   func() error { return errors.New("no configuration") },
	"prints": func() error { fmt.Println("listening on port 80"); _, err := io.Copy(io.Discard, os.Stdin); return err },
	"hangs":  func() error { _, err := io.Copy(io.Discard, os.Stdin); return err },
	"stays":  func() error { <-time.After(time.Hour); return nil },
	"dies-at-work": func() error {
		return serve(func(string) (ports.Backend, error) { return doomed{model.NewBackend()}, nil })
	},
}

// doomed ends its process in the middle of a call.
type doomed struct{ ports.Backend }

func (doomed) SaveGraph(context.Context, ports.SaveGraph) (ports.SavedGraph, error) {
	fmt.Fprintln(os.Stderr, "out of memory")
	os.Exit(7)
	panic("unreachable")
}

func serve(open func(path string) (ports.Backend, error)) error {
	return wire.Serve(context.Background(), os.Stdin, os.Stdout, wire.Agent{
		Name: "journal", Version: "9",
		Open: func(_ context.Context, s wire.Store) (ports.Backend, error) {
			return open(filepath.Join(s.Directory, s.Name))
		},
	})
}

// fleet starts this binary in a role.
func fleet(t *testing.T, role string, wait wire.Config) (*process.Fleet, error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f, err := process.New(t.Context(), process.Config{Path: self, Env: []string{roleVariable + "=" + role}, Wait: wait})
	if err == nil {
		t.Cleanup(func() {
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return f, err
}

// journal is the model made durable, in the plainest way: every write that
// changed something appends its request to a file, and whoever opens the file
// makes them all again. One process works on it at a time: it replays what
// others appended before each call, under a lock file.
type journal struct {
	ports.Backend
	path      string
	forgetful bool

	mu   sync.Mutex
	read int64
}

// entry is a request that was applied.
type entry struct {
	Insert    *ports.InsertRun
	Save      *ports.SaveGraph
	Claimed   *ports.CommitClaimed
	Unclaimed *ports.CommitUnclaimed
	Claim     *ports.ClaimRuns
}

func openJournal(path string) (ports.Backend, error) {
	return &journal{Backend: model.NewBackend(), path: path}, nil
}

func (j *journal) Capabilities() ports.Capabilities { return ports.Capabilities{} }

// apply makes one entry; tokens of the model count up, so replaying gives the
// same ones.
func (j *journal) apply(ctx context.Context, e entry) (answer any, err error) {
	switch {
	case e.Insert != nil:
		return j.Backend.InsertRun(ctx, *e.Insert)
	case e.Save != nil:
		return j.Backend.SaveGraph(ctx, *e.Save)
	case e.Claimed != nil:
		return j.Backend.CommitClaimed(ctx, *e.Claimed)
	case e.Unclaimed != nil:
		return j.Backend.CommitUnclaimed(ctx, *e.Unclaimed)
	}
	return j.Backend.ClaimRuns(ctx, *e.Claim)
}

// locked runs f while no other process is in the journal. The lock is the
// kernel's and dies with its holder.
func (j *journal) locked(ctx context.Context, f func(file *os.File) error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	file, err := os.OpenFile(j.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := lockWithin(ctx, file); err != nil {
		return err
	}
	return f(file)
}

// lockWithin polls for the lock: a call must be able to give up (LIF-3).
func lockWithin(ctx context.Context, file *os.File) error {
	for {
		if locked, err := lock(file); locked || err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return ports.Unavailable("lock", err)
		}
		<-time.After(time.Millisecond)
	}
}

// catchUp replays what was appended since; half an entry at the end is of a
// process that died, and is cut off.
func (j *journal) catchUp(ctx context.Context, file *os.File) error {
	data, err := io.ReadAll(io.NewSectionReader(file, j.read, 1<<40))
	if err != nil {
		return err
	}
	for len(data) >= 4 {
		size := int(data[0])<<24 | int(data[1])<<16 | int(data[2])<<8 | int(data[3])
		if len(data) < 4+size {
			break
		}
		var e entry
		if err := gob.NewDecoder(bytes.NewReader(data[4 : 4+size])).Decode(&e); err != nil {
			return err
		}
		if _, err := j.apply(ctx, e); err != nil {
			return fmt.Errorf("replaying: %w", err)
		}
		j.read += int64(4 + size)
		data = data[4+size:]
	}
	return file.Truncate(j.read)
}

// write applies an entry and appends it.
func write[A any](ctx context.Context, j *journal, e entry) (A, error) {
	var answer A
	err := j.locked(ctx, func(file *os.File) error {
		ctx := context.WithoutCancel(ctx) // locked: it is applied now
		if err := j.catchUp(ctx, file); err != nil {
			return err
		}
		got, err := j.apply(ctx, e)
		if err != nil {
			return err
		}
		answer = got.(A)
		var body bytes.Buffer
		if err := gob.NewEncoder(&body).Encode(e); err != nil {
			return err
		}
		n := body.Len()
		record := append([]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}, body.Bytes()...)
		if j.forgetful && e.Claimed != nil {
			return nil // acknowledged, and in no file
		}
		at := j.read
		j.read += int64(len(record))
		_, err = file.WriteAt(record, at)
		return err
	})
	return answer, err
}

func (j *journal) caughtUp(ctx context.Context) error {
	return j.locked(ctx, func(file *os.File) error { return j.catchUp(context.WithoutCancel(ctx), file) })
}

func (j *journal) InsertRun(ctx context.Context, req ports.InsertRun) (ports.Inserted, error) {
	return write[ports.Inserted](ctx, j, entry{Insert: &req})
}

func (j *journal) SaveGraph(ctx context.Context, req ports.SaveGraph) (ports.SavedGraph, error) {
	return write[ports.SavedGraph](ctx, j, entry{Save: &req})
}

func (j *journal) CommitClaimed(ctx context.Context, req ports.CommitClaimed) (ports.Committed, error) {
	return write[ports.Committed](ctx, j, entry{Claimed: &req})
}

func (j *journal) CommitUnclaimed(ctx context.Context, req ports.CommitUnclaimed) (ports.Committed, error) {
	return write[ports.Committed](ctx, j, entry{Unclaimed: &req})
}

func (j *journal) ClaimRuns(ctx context.Context, req ports.ClaimRuns) (ports.Claimed, error) {
	return write[ports.Claimed](ctx, j, entry{Claim: &req})
}

func (j *journal) FetchRun(ctx context.Context, req ports.FetchRun) (ports.FetchedRun, error) {
	if err := j.caughtUp(ctx); err != nil {
		return ports.FetchedRun{}, err
	}
	return j.Backend.FetchRun(ctx, req)
}

func (j *journal) InspectRun(ctx context.Context, req ports.InspectRun) (ports.RunInfo, error) {
	if err := j.caughtUp(ctx); err != nil {
		return ports.RunInfo{}, err
	}
	return j.Backend.InspectRun(ctx, req)
}

func (j *journal) ListEvents(ctx context.Context, req ports.ListEvents) (ports.EventPage, error) {
	if err := j.caughtUp(ctx); err != nil {
		return ports.EventPage{}, err
	}
	return j.Backend.ListEvents(ctx, req)
}

func (j *journal) RefreshClaim(ctx context.Context, req ports.RefreshClaim) (ports.Refreshed, error) {
	if err := j.caughtUp(ctx); err != nil {
		return ports.Refreshed{}, err
	}
	return j.Backend.RefreshClaim(ctx, req)
}

func (j *journal) ReleaseClaim(ctx context.Context, req ports.ReleaseClaim) (ports.Released, error) {
	if err := j.caughtUp(ctx); err != nil {
		return ports.Released{}, err
	}
	return j.Backend.ReleaseClaim(ctx, req)
}

func (j *journal) AbandonClaim(ctx context.Context, req ports.AbandonClaim) (ports.Abandoned, error) {
	if err := j.caughtUp(ctx); err != nil {
		return ports.Abandoned{}, err
	}
	return j.Backend.AbandonClaim(ctx, req)
}
