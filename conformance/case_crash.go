package conformance

import (
	"context"
	"errors"
	"time"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// crashCases run a script in peers, processes that are killed or frozen at a
// moment of each transition; the case's own handle takes over. They cite LIF and
// RUN-13: what they show of fences, cases without processes show too.
var crashCases = []Case{
	{
		ID: "durable/crash-killed-before-send", Clauses: on("LIF-1 LIF-2"), Level: LevelDurable, Requires: []Need{NeedSpawn},
		Rule: "A process that is killed before it sends a transition leaves the run as it was, and another takes over.",
		run:  killedAt(beforeSend),
	},
	{
		ID: "durable/crash-killed-after-send", Clauses: on("LIF-1 LIF-2 RUN-13"), Level: LevelDurable, Requires: []Need{NeedSpawn},
		Rule: "A transition whose process is killed under way is stored whole or not at all, and another takes over from there.",
		run:  killedAt(afterSend),
	},
	{
		ID: "durable/crash-killed-after-reply", Clauses: on("LIF-1 LIF-2"), Level: LevelDurable, Requires: []Need{NeedSpawn},
		Rule: "A transition that was acknowledged is there after its process is killed.",
		run:  killedAt(afterReply),
	},
	{
		ID: "durable/crash-frozen-before-send", Clauses: on("LIF-2 RUN-13"), Level: LevelDurable, Requires: []Need{NeedSpawn},
		Rule: "A process that freezes before its transition loses to the one that took over, and is told when it thaws.",
		run:  frozenAt(beforeSend),
	},
	{
		ID: "durable/crash-frozen-after-send", Clauses: on("LIF-2 RUN-13"), Level: LevelDurable, Requires: []Need{NeedSpawn},
		Rule: "Of a transition that freezes under way and the one of who took over exactly one is stored, and both processes are told which.",
		run:  frozenAt(afterSend),
	},
	{
		ID: "durable/crash-frozen-after-reply", Clauses: on("LIF-2"), Level: LevelDurable, Requires: []Need{NeedSpawn},
		Rule: "A process that froze after its transition finds its token and its sequence stale when another went on.",
		run:  frozenAfterReply,
	},
	{
		ID: "durable/crash-in-a-transaction", Clauses: on("LIF-1"), Level: LevelDurable, Requires: []Need{NeedSpawn, NeedTransactor},
		Rule: "The transaction of a process that is killed vanishes, and keeps nobody waiting.",
		run:  killedInTransaction,
	},
	{
		ID: "durable/crash-while-claiming", Clauses: on("LIF-1 LIF-2"), Level: LevelDurable, Requires: []Need{NeedSpawn},
		Rule: "However claimers are killed, every run is leased again once its claim has expired, and no token comes twice.",
		run:  killedWhileClaiming,
	},
}

// moment is when a process is hit.
type moment int

const (
	beforeSend moment = iota
	afterSend         // at once to some milliseconds later
	afterReply
)

// crashStep is one transition of the script.
type crashStep struct {
	name   string
	by     string // insert, claim or signal
	change change
}

var crashScript = []crashStep{
	{"the insert", "insert", change{}},
	{"a retained commit", "claim", change{Kind: record.ScheduleRetain, Events: 3}},
	{"a big retained commit", "claim", change{Kind: record.ScheduleRetain, Pad: 100_000, Events: 50}},
	{"an interrupt", "claim", change{Status: waiting}},
	{"its resolution", "signal", change{Type: interruptResolved}},
	{"the end", "claim", change{Status: done, Pad: 5000}},
}

// peer is a handle in a process of its own.
type peer struct {
	*store
	process Peer
}

func (e *env) spawn(s *store, name string) *peer {
	e.Helper()
	p, err := e.h.Spawn(e.Context(), s.raw)
	if err != nil {
		broken(e.T, "Spawn: %v", err)
	}
	return &peer{store: e.handle(p.Backend, name), process: p}
}

func (p *peer) do(what string, hook func() error) {
	p.env.Helper()
	if err := hook(); err != nil {
		broken(p.env.T, "%s a peer: %v", what, err)
	}
}

func (p *peer) kill() {
	p.env.Helper()
	p.crashed = true
	p.do("killing", p.process.Kill)
}

// attempt is a transition that is about to be sent.
type attempt struct {
	transition record.Transition
	token      string
	send       func(context.Context) error // from any goroutine
}

// attempt prepares the step on this handle: of a claimed one, it has the claim.
func (s *store) attempt(ctx context.Context, r *subject, step crashStep) (attempt, error) {
	e := s.env
	e.advance(ttl + time.Microsecond) // whatever claim the last process left has expired
	now := e.now
	switch step.by {
	case "insert":
		t := begin("r", version("flow", 1).Ref, now, step.change)
		return attempt{transition: t, send: func(ctx context.Context) error {
			_, err := s.InsertRun(ctx, ports.InsertRun{Owner: r.owner, Transition: t, Now: now})
			return err
		}}, nil
	case "signal":
		t, expected := r.next(now, step.change), r.run.CheckpointSeq
		return attempt{transition: t, send: func(ctx context.Context) error {
			_, err := s.CommitUnclaimed(ctx, ports.CommitUnclaimed{
				Scope: ports.System(), RunID: "r", ExpectedSeq: expected, Transition: t, Now: now,
			})
			return err
		}}, nil
	}
	got, err := s.ClaimRuns(ctx, ports.ClaimRuns{Scope: ports.System(), Limit: 1, TTL: ttl, MaxAttempts: manyAttempts, Now: now})
	if err != nil {
		return attempt{}, err
	}
	if len(got.Leases) != 1 || got.Leases[0].Run.CheckpointSeq != r.run.CheckpointSeq {
		return attempt{}, ports.Stale("ClaimRuns") // somebody went further
	}
	t, token, expected := r.next(now, step.change), got.Leases[0].Token, r.run.CheckpointSeq
	return attempt{transition: t, token: token, send: func(ctx context.Context) error {
		_, err := s.CommitClaimed(ctx, ports.CommitClaimed{
			Scope: ports.System(), RunID: "r", Token: token, ExpectedSeq: expected, Transition: t, TTL: ttl, Now: now,
		})
		return err
	}}, nil
}

func (s *store) prepared(r *subject, step crashStep) attempt {
	s.env.Helper()
	a, err := s.attempt(s.env.Context(), r, step)
	s.env.ok(err, "claiming for "+step.name)
	return a
}

// sent sends in the background.
func (a attempt) sent(ctx context.Context) <-chan error {
	answer := make(chan error, 1)
	go func() { answer <- a.send(ctx) }()
	return answer
}

// landed reports whether the stored record is the attempt's.
func (s *store) landed(a attempt) bool {
	s.env.Helper()
	yes, err := s.hasLanded(s.env.Context(), a)
	s.env.ok(err, "reading after a crash")
	return yes
}

func (s *store) hasLanded(ctx context.Context, a attempt) (bool, error) {
	got, err := s.FetchRun(ctx, ports.FetchRun{Scope: ports.System(), RunID: "r", Now: s.env.now})
	if errors.Is(err, ports.ErrNotFound) {
		return false, nil
	}
	return err == nil && difference(a.transition.Run, got.Run) == "", err
}

// someTime waits as long as a request may take to get somewhere.
func (e *env) someTime() { pause(e.Context(), time.Duration(e.rand.IntN(3000))*time.Microsecond) }

func killedAt(at moment) func(*env) {
	return func(e *env) {
		s := e.open()
		s.graph(acme)
		r := &subject{owner: acme}
		for _, step := range crashScript {
			p := e.spawn(s, "peer")
			a := p.prepared(r, step)
			err := p.killedWith(a, at)
			s.takenOver(r, step, a, at, err)
			s.stored(r)
		}
	}
}

// killedWith kills the peer at the moment and returns what the call answered.
func (p *peer) killedWith(a attempt, at moment) error {
	e := p.env
	e.Helper()
	switch at {
	case beforeSend:
		p.kill()
		return ports.ErrUnavailable
	case afterSend:
		answer := a.sent(e.Context())
		e.someTime()
		p.kill()
		return <-answer
	}
	err := a.send(e.Context())
	e.ok(err, "a transition of a peer that is still alive")
	p.kill()
	return err
}

// takenOver judges what the killed process left and completes the step.
func (s *store) takenOver(r *subject, step crashStep, a attempt, at moment, err error) {
	e := s.env
	e.Helper()
	landed := s.landed(a)
	switch {
	case at == beforeSend && landed:
		e.Fatalf("%s is stored and was never sent", step.name)
	case err == nil && !landed:
		e.Fatalf("%s was acknowledged, and is gone after the kill", step.name)
	case err != nil && !errors.Is(err, ports.ErrUncertain) && !errors.Is(err, ports.ErrUnavailable):
		e.Errorf("%s, in flight when its process was killed, answered %v: want ErrUncertain", step.name, err)
	case errors.Is(err, ports.ErrUnavailable) && landed:
		e.Errorf("%s is stored and answered %v, which says that it isn't", step.name, err)
	}
	if landed {
		r.apply(a.transition)
		return
	}
	mine, err := s.attempt(e.Context(), r, step)
	if err == nil {
		err = mine.send(e.Context())
	}
	if err != nil && s.landed(a) { // it was still on its way into a store that lives apart
		r.apply(a.transition)
		return
	}
	e.ok(err, "taking over with "+step.name)
	r.apply(mine.transition)
}

func killedInTransaction(e *env) {
	s := e.open()
	kept := s.start(acme, "kept")
	p := e.spawn(s, "peer")
	tx := p.beginTx()
	tx.start(acme, "lost")
	inside := *kept
	tx.signal(&inside, change{Status: cancelled})
	p.kill()
	ctx := e.bounded(10 * time.Second)
	t := begin("next", version("flow", 1).Ref, e.now, change{})
	_, err := s.InsertRun(ctx, ports.InsertRun{Owner: acme, Transition: t, Now: e.now})
	e.ok(err, "writing after a process died in its transaction")
	s.gone("lost")
	s.stored(kept)
	e.same([]string{"kept", "next"}, leased(s.claims(10)), "leased after a process died in its transaction")
}

func killedWhileClaiming(e *env) {
	const runs, kills = 40, 5
	s := e.open()
	rs := s.startMany(runs)
	tokens := map[string]bool{}
	for range kills {
		p := e.spawn(s, "peer")
		got := make(chan []ports.Lease, 1)
		now := e.now
		go func() {
			var all []ports.Lease
			for {
				some, err := p.ClaimRuns(e.Context(), ports.ClaimRuns{Scope: ports.System(), Limit: 2, TTL: ttl, MaxAttempts: manyAttempts, Now: now})
				all = append(all, some.Leases...)
				if err != nil || len(some.Leases) == 0 {
					got <- all
					return
				}
			}
		}()
		e.someTime()
		p.kill()
		for _, l := range <-got {
			e.check(!tokens[l.Token], "a token came twice")
			tokens[l.Token] = true
			e.same(l.Token, s.tokenOf(l.Run.ID), "the stored token of a lease whose process is gone")
		}
		e.advance(ttl + time.Microsecond)
	}
	e.check(len(leased(s.claims(1000))) == runs, "not every run is leased after the claims of dead processes expired")
	for _, r := range rs {
		s.stored(r)
	}
}

// tokenOf reads the current token of a run.
func (s *store) tokenOf(id string) string {
	s.env.Helper()
	return s.token(&subject{run: record.Run{ID: id}})
}
