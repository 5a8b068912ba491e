package sqlite

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// The tests run this test binary again, as another process, in one of these
// roles.
const (
	roleVariable = "DOCKET_SQLITE_TEST_ROLE"
	pathVariable = "DOCKET_SQLITE_TEST_PATH"
	runVariable  = "DOCKET_SQLITE_TEST_RUN"
	timesWanted  = 500
)

func playRole(role string) int {
	ctx := context.Background()
	b, err := Open(ctx, Config{Path: os.Getenv(pathVariable)})
	if err == nil {
		switch role {
		case "count":
			err = countUp(ctx, b, os.Getenv(runVariable), timesWanted)
		case "commit":
			err = commitForEver(ctx, b, os.Getenv(runVariable))
		default:
			err = fmt.Errorf("no role %q", role)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// countUp commits n signals by read, decide, compare-and-set. Every error but a
// lost race is a failure.
func countUp(ctx context.Context, b *Backend, runID string, n int) error {
	for done := 0; done < n; {
		fetched, err := b.FetchRun(ctx, ports.FetchRun{Scope: ports.System(), RunID: runID})
		if err != nil {
			return err
		}
		_, err = b.CommitUnclaimed(ctx, ports.CommitUnclaimed{
			Scope: ports.System(), RunID: runID, ExpectedSeq: fetched.Run.CheckpointSeq,
			Transition: next(fetched.Run, record.ScheduleImmediate),
		})
		switch {
		case err == nil:
			done++
		case !errors.Is(err, ports.ErrStale):
			return err
		}
	}
	return nil
}

// commitForEver acknowledges every committed sequence on its standard output.
func commitForEver(ctx context.Context, b *Backend, runID string) error {
	fetched, err := b.FetchRun(ctx, ports.FetchRun{Scope: ports.System(), RunID: runID})
	for r := fetched.Run; err == nil; {
		t := next(r, record.ScheduleImmediate)
		_, err = b.CommitUnclaimed(ctx, ports.CommitUnclaimed{
			Scope: ports.System(), RunID: runID, ExpectedSeq: r.CheckpointSeq, Transition: t,
		})
		if r = t.Run; err == nil {
			fmt.Println(r.CheckpointSeq)
		}
	}
	return err
}

func child(t *testing.T, role, path, runID string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), roleVariable+"="+role, pathVariable+"="+path, runVariable+"="+runID)
	cmd.Stderr = os.Stderr
	return cmd
}

// Two processes write one file: no lock conflict surfaces, nothing is lost (B23,
// LIF-2). One of their runs is shared, so that they also race on one fence.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "docket.db")
	b := openAt(t, path)
	ref := publish(t, b, record.Owner{})
	insert(t, b, "shared", ref)
	one, two := child(t, "count", path, "shared"), child(t, "count", path, "shared")
	for _, cmd := range []*exec.Cmd{one, two} {
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(one.Wait(), two.Wait()); err != nil {
		t.Fatal(err)
	}
	info := inspect(t, b, "shared")
	if want := int64(1 + 2*timesWanted); info.Run.CheckpointSeq != want || info.Run.EventSeq != want {
		t.Errorf("sequence %d, event sequence %d; want %d", info.Run.CheckpointSeq, info.Run.EventSeq, want)
	}
	wantEvents(t, b, "shared", 1+2*timesWanted)
}

// What was acknowledged before SIGKILL is there afterwards, whole (LIF-1).
func TestKilledWhileCommitting(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "docket.db")
	b := openAt(t, path)
	insert(t, b, "r", publish(t, b, record.Owner{}))
	for round := range 4 {
		acknowledged := killAfter(t, child(t, "commit", path, "r"), 20+7*round)
		info := inspect(t, openAt(t, path), "r")
		if seq := info.Run.CheckpointSeq; seq < acknowledged || seq > acknowledged+1 {
			t.Errorf("round %d: sequence %d is stored, %d was acknowledged", round, seq, acknowledged)
		}
		if err := info.Run.Verify(); err != nil {
			t.Error(err)
		}
		wantEvents(t, b, "r", int(info.Run.EventSeq))
	}
}

// killAfter kills the process when it has acknowledged n lines, and returns the
// last of all that it acknowledged.
func killAfter(t *testing.T, cmd *exec.Cmd, n int) int64 {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var last int64
	lines := bufio.NewReader(out)
	for i := 0; ; i++ {
		line, err := lines.ReadString('\n')
		if err != nil { // a torn line is no acknowledgement
			if !errors.Is(err, io.EOF) && !errors.Is(err, os.ErrClosed) {
				t.Fatal(err)
			}
			break
		}
		if last, err = strconv.ParseInt(line[:len(line)-1], 10, 64); err != nil {
			t.Fatal(err)
		}
		if i == n {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait() // killed
	return last
}

// wantEvents pages through a run's events and wants 1..n without a gap.
func wantEvents(t *testing.T, b ports.Events, runID string, n int) {
	t.Helper()
	var after int64
	for {
		page, err := b.ListEvents(t.Context(), ports.ListEvents{Scope: ports.System(), RunID: runID, AfterSeq: after, Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range page.Events {
			if after++; e.Seq != after {
				t.Fatalf("event %d follows %d", e.Seq, after-1)
			}
		}
		if !page.HasMore {
			break
		}
	}
	if after != int64(n) {
		t.Errorf("%d events, want %d", after, n)
	}
}

// A process that dies with a transaction open blocks nobody.
func TestKilledInTransaction(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "docket.db")
	b := openAt(t, path)
	ref := publish(t, b, record.Owner{})
	other := openAt(t, path)
	tx, err := other.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.InsertRun(t.Context(), ports.InsertRun{Transition: first("lost", ref), Now: epoch}); err != nil {
		t.Fatal(err)
	}
	other.writer.discard() // what the end of a process does to its connection
	start := time.Now()
	insert(t, b, "kept", ref)
	if waited := time.Since(start); waited > 5*time.Second {
		t.Errorf("waited %v for a transaction that is gone", waited)
	}
	if _, err := b.FetchRun(t.Context(), ports.FetchRun{Scope: ports.System(), RunID: "lost"}); !errors.Is(err, ports.ErrNotFound) {
		t.Errorf("the open transaction's run: %v, want ErrNotFound", err)
	}
}
