package history

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"github.com/docket-go/docket/conformance/model"
)

// Call is one call of a history. Its zero value is not usable: a Recorder makes
// calls.
type Call struct {
	Worker   int
	Text     string // request and answer, for people
	Invoked  int64  // on the recorder's own clock
	Returned int64  // math.MaxInt64: nobody knows when it ended
	Maybe    bool   // it may have had no effect: its answer was ErrUncertain

	// Step applies the call to a state, and reports whether the specification
	// gives the answer that was given.
	Step func(*model.State) bool
}

// Recorder numbers beginnings and ends of calls, from any goroutine. Its zero
// value is ready.
type Recorder struct {
	mu    sync.Mutex
	clock int64
	calls []Call
}

// Open is a call that began.
type Open struct {
	recorder *Recorder
	call     Call
}

func (r *Recorder) tick() int64 {
	r.clock++
	return r.clock
}

// Begin records that a worker's call begins.
func (r *Recorder) Begin(worker int) *Open {
	r.mu.Lock()
	defer r.mu.Unlock()
	return &Open{recorder: r, call: Call{Worker: worker, Invoked: r.tick()}}
}

// End records that the call was answered.
func (o *Open) End(text string, step func(*model.State) bool) {
	o.record(text, step, false)
}

// Lost records that nobody knows whether the call was or will be applied.
func (o *Open) Lost(text string, step func(*model.State) bool) {
	o.record(text, step, true)
}

func (o *Open) record(text string, step func(*model.State) bool, lost bool) {
	r := o.recorder
	r.mu.Lock()
	defer r.mu.Unlock()
	o.call.Text, o.call.Step, o.call.Maybe = text, step, lost
	o.call.Returned = r.tick()
	if lost {
		o.call.Returned = math.MaxInt64
	}
	r.calls = append(r.calls, o.call)
}

// Calls returns the calls that ended, in the order of their beginnings.
func (r *Recorder) Calls() []Call {
	r.mu.Lock()
	defer r.mu.Unlock()
	calls := slices.Clone(r.calls)
	slices.SortFunc(calls, func(a, b Call) int { return cmp.Compare(a.Invoked, b.Invoked) })
	return calls
}
