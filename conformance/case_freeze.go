package conformance

import (
	"errors"
	"time"

	"github.com/docket-go/docket/ports"
)

// takeOverTime is how long a take-over may wait for what a frozen process holds.
// A store whose lock is in that process can't be written until it thaws; then
// the take-over answers ErrUnavailable, and the case goes on with both awake.
const takeOverTime = 500 * time.Millisecond

func frozenAt(at moment) func(*env) {
	return func(e *env) {
		s := e.open()
		s.graph(acme)
		r := &subject{owner: acme}
		for _, step := range crashScript {
			p := e.spawn(s, "peer")
			theirs := p.prepared(r, step)
			answer := p.frozenWith(theirs, at)
			mine, mineErr := s.takeOver(r, step, theirs)
			p.do("thawing", p.process.Thaw)
			s.decided(r, step, race{theirs, mine, <-answer, mineErr})
			if theirs.token != "" && difference(theirs.transition.Run, r.run) != "" {
				before := s.observe(r)
				p.holderIsStale(r, theirs.token, "after its process thawed")
				s.unchanged(before, r, "a process that thawed")
			}
			e.ok(p.Close(), "closing a peer that thawed")
			s.stored(r)
		}
	}
}

// frozenWith freezes the peer at the moment; its call is under way afterwards.
func (p *peer) frozenWith(a attempt, at moment) <-chan error {
	e := p.env
	e.Helper()
	var answer <-chan error
	if at == afterSend {
		answer = a.sent(e.Context())
		e.someTime()
	}
	p.do("freezing", p.process.Freeze)
	e.Cleanup(func() { _ = p.process.Thaw() }) // a case that ends here leaves nobody frozen
	if at == beforeSend {
		answer = a.sent(e.Context())
	}
	return answer
}

// takeOver completes the step while its process is frozen, unless it had landed.
func (s *store) takeOver(r *subject, step crashStep, theirs attempt) (attempt, error) {
	s.env.Helper()
	ctx := s.env.bounded(takeOverTime)
	switch landed, err := s.hasLanded(ctx, theirs); {
	case err != nil:
		return attempt{}, err
	case landed:
		return attempt{}, ports.ErrStale
	}
	mine, err := s.attempt(ctx, r, step)
	if err == nil {
		err = mine.send(ctx)
	}
	return mine, err
}

// race is a step that two processes tried.
type race struct {
	theirs, mine      attempt
	theirErr, mineErr error
}

// decided wants exactly one of the two stored, and both told.
func (s *store) decided(r *subject, step crashStep, x race) {
	e := s.env
	e.Helper()
	taken := x.mine.send != nil
	switch {
	case s.landed(x.theirs):
		e.check(x.theirErr == nil || errors.Is(x.theirErr, ports.ErrUncertain), "%s of the process that froze is stored, and it was told %v", step.name, x.theirErr)
		e.check(x.mineErr != nil, "%s of the process that froze is stored, and so the one who took over was told", step.name)
		r.apply(x.theirs.transition)
	case taken && s.landed(x.mine):
		lost := errors.Is(x.theirErr, ports.ErrStale) || errors.Is(x.theirErr, ports.ErrExists) || errors.Is(x.theirErr, ports.ErrUnavailable)
		e.check(lost, "another took over from the process that froze with %s, and when it thawed it was told %v", step.name, x.theirErr)
		e.check(x.mineErr == nil || errors.Is(x.mineErr, ports.ErrUncertain), "%s of the one who took over is stored, and it was told %v", step.name, x.mineErr)
		r.apply(x.mine.transition)
	default:
		e.check(x.theirErr != nil && x.mineErr != nil, "%s was acknowledged (%v, %v) and is not stored", step.name, x.theirErr, x.mineErr)
		again, err := s.attempt(e.Context(), r, step)
		e.ok(err, "claiming after both failed with "+step.name)
		e.ok(again.send(e.Context()), step.name+" after both failed")
		r.apply(again.transition)
	}
}

// frozenAfterReply lets a process freeze with its step acknowledged, and another
// go on from there.
func frozenAfterReply(e *env) {
	s := e.open()
	s.graph(acme)
	r := &subject{owner: acme}
	for _, step := range crashScript {
		p := e.spawn(s, "peer")
		a := p.prepared(r, step)
		e.ok(a.send(e.Context()), step.name)
		r.apply(a.transition)
		p.do("freezing", p.process.Freeze)
		e.Cleanup(func() { _ = p.process.Thaw() })
		after := *r // as the process that froze knows it
		if !terminal(r.run.Status) {
			e.advance(ttl + time.Microsecond)
			s.signal(r, change{Type: interruptResolved})
		}
		before := s.observe(r)
		p.do("thawing", p.process.Thaw)
		token := a.token
		if token == "" {
			token = "none"
		}
		p.holderIsStale(r, token, "after its process thawed, with "+step.name+" acknowledged")
		if !terminal(after.run.Status) {
			_, err := p.trySignal(&after, after.next(e.now, change{Type: interruptResolved}))
			e.want(err, ports.ErrStale, "a signal computed before its process froze")
		}
		s.unchanged(before, r, "a process that thawed")
		e.ok(p.Close(), "closing a peer that thawed")
	}
	s.stored(r)
}
