package conformance

import (
	"context"
	"fmt"
	"time"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

var wakeCases = []Case{
	{
		ID: "wakes/one-after-subscribing", Clauses: on("WAK-2"), Level: LevelWakes, Requires: []Need{NeedWakeSource},
		Rule: "One wake, and no second, comes after every subscription, whatever was told before it.",
		run:  wakeAfterSubscribing,
	},
	{
		ID: "wakes/due-now-is-told", Clauses: on("WAK-1"), Level: LevelWakes, Requires: []Need{NeedWakeSource},
		Rule: "Insert, commit, signal and recovery that make a run due notify, and the run can be claimed by then.",
		run:  dueNowIsTold,
	},
	{
		ID: "wakes/of-one-operation-all-subscribers-hear", Clauses: on("WAK-1 WAK-5"), Level: LevelWakes, Requires: []Need{NeedWakeSource},
		Rule: "Every subscriber of the store is told.",
		run:  allSubscribersHear,
	},
	{
		ID: "wakes/later-and-returned-work-is-silent", Clauses: on("WAK-3"), Level: LevelWakes, Requires: []Need{NeedWakeSource},
		Rule: "Release, abandon, a retained claim, waiting, ending and a future wake don't notify.",
		run:  laterIsSilent,
	},
	{
		ID: "wakes/rolled-back-is-silent", Clauses: on("WAK-1 TX-7"), Level: LevelWakes, Requires: []Need{NeedWakeSource, NeedTransactor},
		Rule: "A transaction notifies after its commit, and not at all when it is rolled back.",
		run:  rolledBackIsSilent,
	},
	{
		ID: "wakes/a-burst-costs-one-poll", Clauses: on("WAK-5"), Level: LevelWakes, Requires: []Need{NeedWakeSource},
		Rule: "A subscriber that is slow gets one wake for many, never a queue of them, and never blocks a writer.",
		run:  burstCostsOnePoll,
	},
	{
		ID: "wakes/other-stores-are-silent", Clauses: on("WAK-5"), Level: LevelWakes, Requires: []Need{NeedWakeSource},
		Rule: "Wakes of another store are not told.",
		run:  otherStoresAreSilent,
	},
	{
		ID: "wakes/end-with-their-context", Clauses: on("WAK-4"), Level: LevelWakes, Requires: []Need{NeedWakeSource},
		Rule: "A subscription ends, closing its channel, with its context; what is due stays claimable without it.",
		run:  wakesEnd,
	},
	{
		ID: "wakes/of-another-handle", Clauses: on("WAK-1 LIF-2"), Level: LevelDurable, Requires: []Need{NeedWakeSource, NeedReopen},
		Rule: "A run made due through one handle wakes the subscribers of another.",
		run:  wakesOfAnotherHandle,
	},
}

// quiet is how long a channel that must stay silent is listened to. Wakes are
// about real time; this is the one place that waits for nothing to happen.
const quiet = 30 * time.Millisecond

// subscribe gives a subscription whose first, synthetic wake was taken.
func (s *store) subscribe(ctx context.Context) <-chan struct{} {
	e := s.env
	e.Helper()
	source, ok := ports.As[ports.WakeSource](s.raw)
	if !ok {
		e.Fatalf("the backend declares WakeSource and has none")
	}
	wakes, err := source.Wakes(ctx)
	e.ok(err, "subscribing to wakes")
	e.woken(wakes, "subscribing")
	return wakes
}

// woken waits for one wake.
func (e *env) woken(wakes <-chan struct{}, after string) {
	e.Helper()
	select {
	case _, open := <-wakes:
		if !open {
			e.Fatalf("the channel of wakes closed after %s", after)
		}
	case <-e.bounded(e.patience).Done():
		e.Fatalf("no wake came after %s", after)
	}
}

// comes reports whether a wake is there, or comes while it listens. A wake that
// is there counts also when the time is up, as on a loaded machine.
func comes(wakes <-chan struct{}) bool {
	timer := time.NewTimer(quiet)
	defer timer.Stop()
	select {
	case <-wakes:
		return true
	case <-timer.C:
	}
	select {
	case <-wakes:
		return true
	default:
		return false
	}
}

// silent wants no wake for a while.
func (e *env) silent(wakes <-chan struct{}, after string) {
	e.Helper()
	e.check(!comes(wakes), "a wake came after %s", after)
}

// settled takes what may still be under way from steps before.
func (e *env) settled(wakes <-chan struct{}) {
	for e.Context().Err() == nil && comes(wakes) {
	}
}

func wakeAfterSubscribing(e *env) {
	s := e.open()
	for i := range 3 {
		ctx, cancel := context.WithCancel(e.Context())
		e.silent(s.subscribe(ctx), "the one of the subscription")
		cancel()
		s.start(acme, fmt.Sprintf("r%d", i)) // told before the next subscription
	}
}

func dueNowIsTold(e *env) {
	s := e.open()
	s.graph(acme)
	wakes := s.subscribe(e.Context())
	r := s.start(acme, "r")
	e.woken(wakes, "an insert")
	lease := s.claim(r)
	s.commit(r, lease.Token, change{Kind: record.ScheduleImmediate})
	e.woken(wakes, "an immediate commit")
	s.commit(r, s.claim(r).Token, change{Kind: record.ScheduleAt, At: e.now.Add(-time.Second)})
	e.woken(wakes, "a commit with a wake in the past")
	s.commit(r, s.claim(r).Token, change{Status: waiting})
	e.settled(wakes)
	s.signal(r, change{Type: interruptResolved})
	e.woken(wakes, "a signal")
	_, err := s.abandon(r, s.claim(r).Token, ports.AbandonClaim{RetryAt: e.now, MaxAbandons: 1})
	e.ok(err, "abandoning to poison")
	e.settled(wakes)
	s.recovered(r)
	e.woken(wakes, "a recovery")
	s.claim(r)
}

func allSubscribersHear(e *env) {
	s := e.open()
	var all []<-chan struct{}
	for range 4 {
		all = append(all, s.subscribe(e.Context()))
	}
	s.start(acme, "r")
	for i, wakes := range all {
		e.woken(wakes, fmt.Sprintf("an insert, at subscriber %d", i))
	}
}

func laterIsSilent(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	wakes := s.subscribe(e.Context())
	e.settled(wakes)
	token := s.claim(r).Token
	s.commit(r, token, change{Kind: record.ScheduleRetain})
	e.silent(wakes, "a claim and a retained claim")
	e.ok(s.release(r, token, true), "releasing")
	e.silent(wakes, "a release")
	_, err := s.abandon(r, s.claim(r).Token, ports.AbandonClaim{RetryAt: e.now, MaxAbandons: 9})
	e.ok(err, "abandoning")
	e.silent(wakes, "an abandon")
	s.commit(r, s.claim(r).Token, change{Kind: record.ScheduleAt, At: e.now.Add(time.Hour)})
	s.startWith(acme, "future", change{Kind: record.ScheduleAt, At: e.now.Add(time.Hour)})
	e.silent(wakes, "future wakes")
	s.signal(r, change{Status: cancelled})
	e.silent(wakes, "a cancel")
}

func rolledBackIsSilent(e *env) {
	s := e.open()
	s.graph(acme)
	wakes := s.subscribe(e.Context())
	e.settled(wakes)
	tx := s.beginTx()
	tx.start(acme, "r")
	e.silent(wakes, "an insert in a transaction that is still open")
	e.ok(tx.end(false), "rolling back")
	e.silent(wakes, "a roll-back")
	tx = s.beginTx()
	r := tx.start(acme, "r")
	e.ok(tx.end(true), "committing")
	e.woken(wakes, "the commit of a transaction")
	s.claim(r)
}

func burstCostsOnePoll(e *env) {
	s := e.open()
	wakes := s.subscribe(e.Context())
	s.startMany(100)
	heard := 0
	for heard <= 100 && comes(wakes) {
		heard++
	}
	e.check(heard >= 1 && heard <= 5, "100 inserts that nobody listened to left %d wakes, want one or so", heard)
}

func otherStoresAreSilent(e *env) {
	mine, other := e.open(), e.open()
	wakes := mine.subscribe(e.Context())
	e.settled(wakes)
	other.start(acme, "r")
	e.silent(wakes, "an insert into another store")
}

func wakesEnd(e *env) {
	s := e.open()
	ctx, cancel := context.WithCancel(e.Context())
	wakes := s.subscribe(ctx)
	cancel()
	for deadline := e.bounded(e.patience); ; {
		select {
		case _, open := <-wakes:
			if open {
				continue
			}
			s.claim(s.start(acme, "r"))
			return
		case <-deadline.Done():
			e.Fatalf("the channel of wakes didn't close after its context ended")
		}
	}
}

func wakesOfAnotherHandle(e *env) {
	a := e.open()
	a.graph(acme)
	b := e.reopen(a, "b")
	wakes := b.subscribe(e.Context())
	e.settled(wakes)
	r := a.start(acme, "r")
	e.woken(wakes, "an insert through another handle")
	b.claim(r)
}
