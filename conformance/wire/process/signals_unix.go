//go:build unix

package process

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup makes the process lead a group, so that signals reach what it starts
// (a script that starts the real agent), and a terminal's interrupt doesn't.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func killGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGKILL) }

func freezeGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGSTOP) }

func thawGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGCONT) }

const canFreeze = true
