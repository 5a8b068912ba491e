package storm

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
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
}

// doom is when a worker is killed: a while after it began its nth call of a node,
// which doesn't return, so that a kill always finds an attempt at work. What the
// worker's other slots are at is left to chance. The zero doom is a long life.
type doom struct {
	call int
	wait time.Duration
}

func startWorker(t *testing.T, store, journal string, d doom) *worker {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w := &worker{t: t, cmd: exec.CommandContext(t.Context(), exe), stderr: &bytes.Buffer{}, read: make(chan struct{})}
	w.cmd.Env = append(os.Environ(), storeVariable+"="+store, journalVariable+"="+journal, hangVariable+"="+strconv.Itoa(d.call))
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
	go w.watch(stdout, d.wait)
	return w
}

// watch kills the worker a while after it says that it hangs.
func (w *worker) watch(stdout io.Reader, wait time.Duration) {
	defer close(w.read)
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if lines.Text() == hangs {
			<-time.After(wait)
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
