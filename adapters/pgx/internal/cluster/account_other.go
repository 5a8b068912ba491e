//go:build !unix

package cluster

import (
	"os"
	"os/exec"
)

// account is the process's own user: there is no other to become here.
type account struct{}

func unprivileged() (*account, error) { return nil, nil }

func (*account) own(string) error { return nil }

func (*account) become(*exec.Cmd) {}

func crash(p *os.Process) error { return p.Kill() }
