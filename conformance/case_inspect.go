package conformance

import (
	"cmp"
	"errors"
	"strings"
	"time"

	"github.com/docket-go/docket/ports"
)

var inspectCases = []Case{
	{
		ID: "inspect/shows-delivery", Clauses: on("RUN-10"),
		Rule: "Inspect adds wake, claimed_at, claim end, attempts, abandons and poison to the record.",
		run:  inspectShowsDelivery,
	},
	{
		ID: "inspect/never-shows-the-token", Clauses: on("RUN-10 RUN-13"),
		Rule: "Inspect never tells the token; a fetch tells it under the system scope only.",
		run:  inspectHidesTheToken,
	},
	{
		ID: "inspect/a-healthy-running-row-has-wake-or-claim", Clauses: on("RUN-11"),
		Rule: "Through every operation a row keeps its shape: exactly one of wake and claim while healthy and running, neither when poisoned, nothing otherwise.",
		run:  rowKeepsItsShape,
	},
}

var shapeCases = []Case{
	{
		ID: "shape/raw-writes-are-refused", Clauses: on("RUN-11"), Level: LevelDurable, Requires: []Need{NeedRawWrite},
		Rule: "A store that can enforce the row shape refuses a raw write that breaks it.",
		run:  rawWritesAreRefused,
	},
}

func inspectShowsDelivery(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	s.delivers(r, delivery{WakeAt: e.now}, "of a new run")
	e.advance(time.Second)
	lease := s.claim(r)
	claimed := delivery{ClaimedAt: e.now, ClaimEnd: e.now.Add(ttl), Attempts: 1}
	s.delivers(r, claimed, "of a claimed run")
	e.advance(time.Second)
	_, err := s.refresh(r, lease.Token, ttl)
	e.ok(err, "refreshing")
	claimed.ClaimEnd = e.now.Add(ttl)
	s.delivers(r, claimed, "of a refreshed run")
	_, err = s.abandon(r, lease.Token, ports.AbandonClaim{RetryAt: e.now.Add(time.Minute), MaxAbandons: 2})
	e.ok(err, "abandoning")
	s.delivers(r, delivery{WakeAt: e.now.Add(time.Minute), Abandons: 1}, "of an abandoned run")
	e.advance(time.Minute)
	_, err = s.abandon(r, s.claim(r).Token, ports.AbandonClaim{RetryAt: e.now, MaxAbandons: 2})
	e.ok(err, "abandoning again")
	s.delivers(r, delivery{Abandons: 2, Poison: ports.Poison{At: e.now, Reason: ports.PoisonAbandons}}, "of a run poisoned by abandons")
}

func inspectHidesTheToken(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	token := s.claim(r).Token
	e.same(token, s.token(r), "the token told to System")
	got, err := s.FetchRun(e.Context(), ports.FetchRun{Scope: r.scope(), RunID: "r", Now: e.now})
	e.ok(err, "fetching as the owner")
	e.same("", got.Token, "the token told to the owner")
	e.check(!strings.Contains(show(s.info(r)), token), "inspect tells the token")
}

// rowKeepsItsShape drives runs at random through every operation and looks at
// every row after each.
func rowKeepsItsShape(e *env) {
	s := e.open()
	rs := s.startMany(4)
	tokens := map[*subject]string{}
	for range 120 {
		r := rs[e.rand.IntN(len(rs))]
		s.randomStep(r, tokens)
		e.advance(time.Duration(e.rand.IntN(40)) * time.Second)
		i := s.info(r)
		if wrong := misshapen(i); wrong != "" {
			e.Fatalf("run %q is %s: %s", r.run.ID, wrong, show(i))
		}
	}
}

// randomStep does one operation that may be refused; refusals are answers.
func (s *store) randomStep(r *subject, tokens map[*subject]string) {
	e := s.env
	switch e.rand.IntN(8) {
	case 0, 1, 2:
		got, err := s.ClaimRuns(e.Context(), ports.ClaimRuns{Scope: ports.System(), Limit: 4, TTL: ttl, MaxAttempts: 2, Now: e.now})
		e.ok(err, "claiming")
		for _, l := range got.Leases {
			if l.Run.ID == r.run.ID {
				tokens[r] = l.Token
			}
		}
	case 3:
		c := []change{{Kind: "retain"}, {}, {Kind: "at", At: e.now.Add(time.Minute)}, {Status: waiting}}[e.rand.IntN(4)]
		_, _ = s.tryCommit(r, cmp.Or(tokens[r], "none"), r.next(e.now, c))
	case 4:
		c := change{Type: interruptResolved}
		if r.run.Status == waiting && e.rand.IntN(2) == 0 {
			c.Status = waiting // one of several answers
		}
		_, _ = s.trySignal(r, r.next(e.now, c))
	case 5:
		_ = s.release(r, cmp.Or(tokens[r], "none"), e.rand.IntN(2) == 0)
	case 6:
		_, _ = s.abandon(r, cmp.Or(tokens[r], "none"), ports.AbandonClaim{RetryAt: e.now.Add(time.Second), MaxAbandons: 2})
	case 7:
		_, _ = s.RecoverRun(e.Context(), ports.RecoverRun{Scope: r.scope(), RunID: r.run.ID, Now: e.now})
	}
}

// misshapen says which rule of RUN-11 a row breaks.
func misshapen(i ports.RunInfo) string {
	wake, claim, poison := !i.WakeAt.IsZero(), !i.ClaimedAt.IsZero(), !i.Poison.At.IsZero()
	switch {
	case terminal(i.Run.Status) == i.Run.FinishedAt.IsZero():
		return "finished without being terminal, or the reverse"
	case claim == i.ClaimEnd.IsZero():
		return "claimed without an end, or the reverse"
	case poison == (i.Poison.Reason == ""):
		return "poisoned without a reason, or the reverse"
	case i.Run.Status != running && (wake || claim || poison):
		return "not running and has a wake, a claim or a poison"
	case poison && (wake || claim):
		return "poisoned and has a wake or a claim"
	case i.Run.Status == running && !poison && wake == claim:
		return "healthy and running without exactly one of wake and claim"
	}
	return ""
}

func rawWritesAreRefused(e *env) {
	s := e.open()
	for i, r := range s.startMany(len(Shapes())) {
		shape := Shapes()[i]
		before := s.observe(r)
		switch err := e.h.RawWrite(e.Context(), s.raw, r.run.ID, shape); {
		case errors.Is(err, ErrHook):
			broken(e.T, "RawWrite(%s): %v", shape, err)
		case err == nil:
			e.Errorf("the store took %s", shape)
			continue
		}
		s.unchanged(before, r, "a refused raw write of "+string(shape))
	}
}
