package conformance

import (
	"context"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/docket-go/docket/ports"
)

// Options selects and tunes a run of the suite. The zero Options runs every
// case with seed 1.
type Options struct {
	Select   *regexp.Regexp // case IDs; nil: all
	Except   *regexp.Regexp // case IDs that aren't run although selected; nil: none
	Seed     uint64         // 0 means 1: a plain run is reproducible
	Deadline time.Duration  // of one case; 0 means a minute
	Patience time.Duration  // with what must come soon, such as a wake; 0 means 10 s
	Parallel int            // cases at once; 0 means GOMAXPROCS
	Require  []Level        // levels that must be granted, or the report's exit code says no; nil: none

	// Progress is told each result as it comes, from one goroutine at a time.
	Progress func(done, total int, r Result)
}

// plan is a run of the suite that is ready to start.
type plan struct {
	h        Harness
	caps     ports.Capabilities
	cases    []Case // selected
	all      []Case
	seed     uint64
	deadline time.Duration
	patience time.Duration
}

// Check runs the suite against h. The error says that it could not be started;
// what the cases showed is in the Report.
func Check(ctx context.Context, h Harness, o Options) (Report, error) {
	return check(ctx, h, Cases(), o)
}

func check(ctx context.Context, h Harness, cases []Case, o Options) (Report, error) {
	p, err := newPlan(ctx, h, cases, o)
	if err != nil {
		return Report{}, err
	}
	started := time.Now()
	results := p.runAll(ctx, o)
	report := Report{
		Suite: Version, Digest: digest(p.all), Backend: h.Name, Capabilities: p.caps, Seed: p.seed,
		Started: started.UTC(), Elapsed: time.Since(started), Environment: here(), Waivers: h.Waive, Required: o.Require, Results: results,
	}
	if o.Select != nil {
		report.Selected = o.Select.String()
	}
	judged := append(results[:len(results):len(results)], p.unselected()...)
	report.Levels, report.Questions = judgeLevels(judged), judgeQuestions(judged)
	return report, nil
}

func newPlan(ctx context.Context, h Harness, cases []Case, o Options) (*plan, error) {
	if err := h.check(cases); err != nil {
		return nil, err
	}
	for i, l := range o.Require {
		if !slices.Contains(Levels(), l) {
			return nil, fmt.Errorf("conformance: Options.Require[%d]: %q is no level", i, l)
		}
	}
	p := &plan{h: h, all: cases, seed: max(o.Seed, 1), deadline: o.Deadline, patience: o.Patience}
	if p.deadline == 0 {
		p.deadline = time.Minute
	}
	for _, c := range cases {
		if o.selects(c) {
			p.cases = append(p.cases, c)
		}
	}
	b, err := h.Open(ctx)
	if err != nil {
		return nil, fmt.Errorf("conformance: opening %s to read its capabilities: %w", h.Name, err)
	}
	p.caps = b.Capabilities()
	if err := b.Close(); err != nil {
		return nil, fmt.Errorf("conformance: closing %s after reading its capabilities: %w", h.Name, err)
	}
	return p, nil
}

func (o Options) selects(c Case) bool {
	return (o.Select == nil || o.Select.MatchString(c.ID)) && (o.Except == nil || !o.Except.MatchString(c.ID))
}

// unselected gives the cases that weren't selected as skips, so that no level is
// granted by a part of its cases.
func (p *plan) unselected() []Result {
	selected := map[string]bool{}
	for _, c := range p.cases {
		selected[c.ID] = true
	}
	var out []Result
	for _, c := range p.all {
		if !selected[c.ID] {
			out = append(out, p.blank(c, Skip, "not selected"))
		}
	}
	return out
}

func (p *plan) runAll(ctx context.Context, o Options) []Result {
	workers := o.Parallel
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	results := make([]Result, len(p.cases))
	next := make(chan int)
	var told sync.Mutex
	finished := 0
	var wg sync.WaitGroup
	for range min(workers, len(p.cases)) {
		wg.Go(func() {
			for i := range next {
				results[i] = p.run(ctx, p.cases[i])
				told.Lock()
				finished++
				if o.Progress != nil {
					o.Progress(finished, len(p.cases), results[i])
				}
				told.Unlock()
			}
		})
	}
	for i := range p.cases {
		next <- i
	}
	close(next)
	wg.Wait()
	return results
}

func (p *plan) blank(c Case, o Outcome, reason string) Result {
	return Result{ID: c.ID, Level: c.level(), Clauses: c.Clauses, Requires: c.Requires, Rule: c.Rule, Outcome: o, Reason: reason}
}

// run runs one case in its own goroutine and waits for it, but no longer than
// its deadline and a moment for the clean-ups.
func (p *plan) run(ctx context.Context, c Case) Result {
	if need, hook := c.missing(p.h, p.caps); need != "" {
		r := p.blank(c, Skip, "needs "+string(need))
		r.Undeclared = !hook
		return r
	}
	started := time.Now()
	ctx, cancel := context.WithTimeout(ctx, p.deadline)
	defer cancel()
	t := newTrial(ctx)
	e := newEnv(t, p.h, c, p.seed)
	if p.patience > 0 {
		e.patience = p.patience
	}
	t.start(func() { c.run(e) })
	hung := !t.wait(ctx, min(p.deadline, longestGrace))
	r := p.result(c, t, e.log, hung)
	r.Elapsed = time.Since(started)
	return r
}

// longestGrace is how long a case may take to notice that its context has ended,
// before its goroutine is left behind.
const longestGrace = 3 * time.Second

// wait reports whether the case and its clean-ups ended.
func (t *trial) wait(ctx context.Context, grace time.Duration) bool {
	select {
	case <-t.done:
		return true
	case <-ctx.Done():
	}
	select {
	case <-t.done:
		return true
	case <-time.After(grace):
		return false
	}
}

// result judges a finished, or hung, case.
func (p *plan) result(c Case, t *trial, log *opLog, hung bool) Result {
	r := p.blank(c, Pass, "")
	t.mu.Lock()
	failures, broke, skip, notes := t.failures, t.broke, t.skip, t.notes
	t.mu.Unlock()
	if hung {
		if calls := log.inFlight(); len(calls) > 0 {
			failures = append(failures[:len(failures):len(failures)], fmt.Sprintf("the backend didn't return after the case's context had ended: %v", calls))
		} else {
			broke = append(broke[:len(broke):len(broke)], "the case didn't end by its deadline, and no call was in flight")
		}
	}
	reason, waived := p.h.Waive[c.ID]
	switch {
	case len(failures) > 0 && waived:
		r.Outcome, r.Reason, r.Failures = Waived, reason, failures
	case len(failures) > 0:
		r.Outcome, r.Failures = Fail, append(failures[:len(failures):len(failures)], broke...)
	case len(broke) > 0:
		r.Outcome, r.Failures = Broke, broke
	case skip != "":
		r.Outcome, r.Reason = Skip, skip
	case waived:
		r.Outcome, r.Failures = Fail, []string{"it is waived (" + reason + ") and passes: remove the waiver"}
	}
	if r.Outcome == Fail || r.Outcome == Broke {
		r.Log = append(notes, log.lines()...)
	}
	return r
}
