package conformance

import "context"

// T is what a case needs of its test: *testing.T has it, and so has the type
// that Check runs cases with. Errorf, Logf and Cleanup may be called from any
// goroutine, the others only from the case's own.
type T interface {
	Context() context.Context
	Helper()
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Skipf(format string, args ...any)
	Cleanup(f func())
	Failed() bool
}

// Testing is T with subtests. *testing.T is a Testing[*testing.T], so Run takes
// it although this package doesn't import testing (which would register its
// flags in every program that links the suite).
type Testing[S any] interface {
	T
	Parallel()
	Run(name string, f func(S)) bool
}

// breaker is a T that tells a broken harness from a failed case.
type breaker interface {
	Broken(format string, args ...any)
}

// broken ends the case because the harness, not the backend, failed.
func broken(t T, format string, args ...any) {
	t.Helper()
	if b, ok := t.(breaker); ok {
		b.Broken(format, args...)
	}
	t.Fatalf("the harness broke: "+format, args...)
}
