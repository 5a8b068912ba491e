//go:build !unix

package process

import (
	"errors"
	"os"
	"os/exec"
)

func ownGroup(*exec.Cmd) {}

func killGroup(p *os.Process) error { return p.Kill() }

func freezeGroup(*os.Process) error { return errors.ErrUnsupported }

func thawGroup(*os.Process) error { return errors.ErrUnsupported }

const canFreeze = false
