//go:build unix

package process_test

import (
	"errors"
	"os"
	"syscall"
)

// lock takes the lock of a file if it is free.
func lock(f *os.File) (bool, error) {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}
