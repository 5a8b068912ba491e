package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/docket-go/docket/conformance/wire"
)

// agent is one process of the program.
type agent struct {
	name   string
	cmd    *exec.Cmd
	conn   wire.Conn
	client *wire.Client
	words  *tail
	store  store

	exited chan struct{}
	status error // set before exited is closed
}

// dialTime bounds the handshake: starting a process and opening a store.
const dialTime = 20 * time.Second

// start starts the program and shakes hands over its standard input and output.
func start(ctx context.Context, cfg Config, hello wire.Hello) (*agent, error) {
	a := &agent{name: cfg.Path, cmd: exec.Command(cfg.Path, cfg.Args...), words: &tail{}, exited: make(chan struct{})}
	a.cmd.Env = append(os.Environ(), cfg.Env...)
	a.cmd.Stderr = a.words
	a.cmd.WaitDelay = time.Second // a grandchild that keeps standard error open
	ownGroup(a.cmd)
	in, err := a.cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("agent %s: %w", a.name, err)
	}
	// Not StdoutPipe: Wait would close it with answers still to be read.
	out, childsOut, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("agent %s: %w", a.name, err)
	}
	a.cmd.Stdout = childsOut
	err = a.cmd.Start()
	childsOut.Close()
	if err != nil {
		out.Close()
		return nil, fmt.Errorf("agent %s can't be started: %w", a.name, err)
	}
	go func() {
		a.status = a.cmd.Wait()
		close(a.exited)
	}()
	a.conn = wire.Conn{In: in, Out: out, Kill: func() { _ = a.kill() }, Explain: a.explain}
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	if a.client, err = wire.Dial(ctx, a.conn, hello, cfg.Wait); err != nil {
		_ = a.kill()
		<-a.exited
		return nil, a.explain(fmt.Errorf("agent %s: the handshake failed: %w", a.name, err))
	}
	return a, nil
}

// kill ends the process and whatever it started.
func (a *agent) kill() error {
	select {
	case <-a.exited:
		return nil
	default:
	}
	return killGroup(a.cmd.Process)
}

// end waits for a process whose input ended, and kills it when it stays.
func (a *agent) end(patience time.Duration) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-a.exited:
		return
	case <-timer.C:
	}
	_ = a.kill()
	<-a.exited
}

// explained is an error that already tells what is known.
type explained struct{ error }

func (e explained) Unwrap() error { return e.error }

// explain adds how the process ended and what it said last.
func (a *agent) explain(err error) error {
	if already := (explained{}); errors.As(err, &already) {
		return err
	}
	text := ""
	timer := time.NewTimer(200 * time.Millisecond) // its output ends just before it does
	defer timer.Stop()
	select {
	case <-a.exited:
		text = "; it ended by itself"
		if a.status != nil {
			text = "; " + a.status.Error()
		}
	case <-timer.C:
		text = "; it is alive"
	}
	if words := a.words.String(); words != "" {
		text += "; its standard error ends with:\n" + words
	}
	return explained{fmt.Errorf("%w%s", err, text)}
}

// tail keeps the last of what is written to it.
type tail struct {
	mu   sync.Mutex
	data []byte
	cut  bool
}

const tailSize = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, p...)
	if extra := len(t.data) - tailSize; extra > 0 {
		t.data, t.cut = append(t.data[:0], t.data[extra:]...), true
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.TrimSpace(strings.ToValidUTF8(string(t.data), "?"))
	if t.cut {
		text = "…" + text
	}
	return text
}
