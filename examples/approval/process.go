package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
)

// The lines by which a worker tells the story where it is.
const (
	lineReady = "ready" // it looks for due runs
	lineStuck = "stuck" // it is in the middle of a superstep, one sibling done, nothing committed
)

// process is a running child.
type process struct {
	cmd   *exec.Cmd
	stdin io.Closer
	lines *bufio.Scanner
}

// shared lets several children complain into one writer.
type shared struct {
	mu sync.Mutex
	w  io.Writer
}

// Write writes p whole.
func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(p)
}

// start runs this program again in a role. The child's complaints go to stderr.
func start(ctx context.Context, r role, stderr io.Writer) (*process, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, exe)
	cmd.Env = append(os.Environ(), roleVariable+"="+string(text))
	cmd.Stderr = stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &process{cmd: cmd, stdin: stdin, lines: bufio.NewScanner(stdout)}, nil
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// await reads the child's lines until the wanted one.
func (p *process) await(line string) error {
	for p.lines.Scan() {
		if p.lines.Text() == line {
			return nil
		}
	}
	_ = p.cmd.Process.Kill()
	return fmt.Errorf("process %d ended before it said %q: %v", p.pid(), line, p.cmd.Wait())
}

// kill ends the child as a power cut would: SIGKILL, no last word.
func (p *process) kill() error {
	if err := p.cmd.Process.Kill(); err != nil {
		return err
	}
	err := p.cmd.Wait()
	if p.cmd.ProcessState.Success() {
		return fmt.Errorf("process %d ended well instead of being killed", p.pid())
	}
	if _, exited := err.(*exec.ExitError); !exited {
		return err
	}
	return nil
}

// stop asks the child to end and waits until it has.
func (p *process) stop() error {
	if err := p.stdin.Close(); err != nil {
		return err
	}
	return p.wait()
}

// end makes sure that the child is gone, whatever the story came to.
func (p *process) end() {
	if p.cmd.ProcessState == nil {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
	}
}

// wait waits for the child to end well by itself.
func (p *process) wait() error {
	for p.lines.Scan() {
		continue // Wait may only be called once the pipe is read to its end
	}
	if err := p.cmd.Wait(); err != nil {
		return fmt.Errorf("process %d: %w", p.pid(), err)
	}
	return nil
}
