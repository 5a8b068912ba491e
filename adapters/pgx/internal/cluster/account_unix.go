//go:build unix

package cluster

import (
	"errors"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// account is the user that the server runs as; nil is the process's own.
type account struct {
	uid, gid uint32
}

// unprivileged picks an account when the process is root, which PostgreSQL
// refuses.
func unprivileged() (*account, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, errUID := strconv.ParseUint(u.Uid, 10, 32)
		gid, errGID := strconv.ParseUint(u.Gid, 10, 32)
		if errUID == nil && errGID == nil {
			return &account{uid: uint32(uid), gid: uint32(gid)}, nil
		}
	}
	return nil, errors.New("cluster: PostgreSQL doesn't run as root, and there is no user postgres or nobody to run it as")
}

// own gives a path to the account.
func (a *account) own(path string) error {
	if a == nil {
		return nil
	}
	return os.Chown(path, int(a.uid), int(a.gid))
}

// become makes a command run as the account, in a process group of its own: an
// interrupt at the terminal is for the tests, which then stop the server.
func (a *account) become(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if a != nil {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: a.uid, Gid: a.gid}
	}
}

// crash is the postmaster's signal for the shutdown mode immediate.
func crash(p *os.Process) error { return p.Signal(syscall.SIGQUIT) }
