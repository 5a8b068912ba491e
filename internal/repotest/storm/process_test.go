package storm

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// worker is a running child.
type worker struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdin  io.Closer
	stderr *bytes.Buffer
	read   chan struct{} // closed when its output has ended

	killAt atomic.Int64 // the commit after which it is killed; 0: never
	wait   atomic.Int64 // nanoseconds from that commit on
}

func startWorker(t *testing.T, store, journal string) *worker {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w := &worker{t: t, cmd: exec.CommandContext(t.Context(), exe), stderr: &bytes.Buffer{}, read: make(chan struct{})}
	w.cmd.Env = append(os.Environ(), storeVariable+"="+store, journalVariable+"="+journal)
	w.cmd.Stderr = w.stderr
	if w.stdin, err = w.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := w.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go w.watch(stdout)
	return w
}

// killAfter has the worker killed a while after it told its nth commit.
func (w *worker) killAfter(n int, wait time.Duration) {
	w.wait.Store(int64(wait))
	w.killAt.Store(int64(n))
}

// watch counts the commits that the worker tells.
func (w *worker) watch(stdout io.Reader) {
	defer close(w.read)
	commits, doomed := int64(0), false
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "commit") {
			commits++
		}
		if at := w.killAt.Load(); at > 0 && commits >= at && !doomed {
			doomed = true
			<-time.After(time.Duration(w.wait.Load()))
			_ = w.cmd.Process.Kill()
		}
	}
}

// end stops the worker, which may finish what it is doing, and reports whether it
// had been killed.
func (w *worker) end() (killed bool) {
	w.t.Helper()
	_ = w.stdin.Close() // a dead one has closed it
	<-w.read
	err := w.cmd.Wait()
	if w.t.Failed() && w.stderr.Len() > 0 {
		w.t.Logf("a worker said\n%s", w.stderr)
	}
	if err != nil && strings.Contains(err.Error(), "killed") {
		return true
	}
	if err != nil {
		w.t.Errorf("a worker: %v\n%s", err, w.stderr)
	}
	return false
}
