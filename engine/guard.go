package engine

import (
	"fmt"
	"runtime/debug"
)

// panicError keeps a panic's value apart from the stack, which goes to the log
// only.
func panicError(who string, p any) error {
	return &panicked{who: who, value: text(p), stack: debug.Stack()}
}

type panicked struct {
	who, value string
	stack      []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("%s panicked: %s", p.who, p.value) }

// text survives a value whose own method panics.
func text(v any) (s string) {
	defer func() {
		if recover() != nil {
			s = fmt.Sprintf("%T", v)
		}
	}()
	return fmt.Sprint(v)
}

// guard calls f and returns its panic as an error.
func guard(who string, f func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicError(who, p)
		}
	}()
	f()
	return nil
}
