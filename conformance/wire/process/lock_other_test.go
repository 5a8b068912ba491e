//go:build !unix

package process_test

import (
	"errors"
	"os"
)

func lock(*os.File) (bool, error) { return false, errors.ErrUnsupported }
