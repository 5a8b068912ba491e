package repotest

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/engine"
)

// exporter carries a run's events into another system. Its cursor moves only
// after that system has accepted a page.
type exporter struct {
	e        *engine.Engine
	cursor   int64
	received map[string]int // downstream, by run and sequence
	missed   bool           // events went before they were read
}

// pass carries one page. A crash comes after the acceptance and before the cursor
// is stored: the worst moment.
func (x *exporter) pass(t *testing.T, crash bool) (more bool) {
	t.Helper()
	page, err := x.e.ListEvents(t.Context(), engine.ListEvents{RunID: "r", AfterSeq: x.cursor, Limit: 3})
	if err != nil {
		t.Fatal(err)
	}
	first := page.Oldest // of what can still be read; 0 when all is gone
	if first == 0 {
		first = page.LatestSeq + 1
	}
	x.missed = x.missed || first > x.cursor+1
	for _, e := range page.Events {
		x.received[fmt.Sprintf("r/%d", e.Seq)]++
	}
	if !crash {
		x.cursor = page.NextAfterSeq
	}
	return page.HasMore || crash
}

// Events are exported at least once: a page comes again after a crash, and run and
// sequence tell it apart. Only retention can take an event from a consumer, who
// sees it.
func TestEngineEventsAreExported(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, handlers{"note": note})
		e := w.run(w.engine(engine.Config{Retention: &engine.Retention{Events: time.Hour}}))
		w.start(e.Engine, w.save(e.Engine, chain(t, 3, "note", graph.NodePolicies{})), "r")
		r := w.await(e.Engine, "r", time.Minute)

		x := &exporter{e: e.Engine, received: map[string]int{}}
		for n := 0; x.pass(t, n%2 == 0); n++ {
		}
		repeated := 0
		for seq := int64(1); seq <= r.EventSeq; seq++ {
			switch times := x.received[fmt.Sprintf("r/%d", seq)]; {
			case times == 0:
				t.Errorf("event %d never arrived", seq)
			case times > 1:
				repeated++
			}
		}
		if len(x.received) != int(r.EventSeq) || repeated == 0 || x.missed {
			t.Errorf("%d of %d events, %d of them repeatedly, missed: %v", len(x.received), r.EventSeq, repeated, x.missed)
		}

		late := &exporter{e: e.Engine, received: map[string]int{}}
		<-time.After(2 * time.Hour) // past the retention of events
		for late.pass(t, false) {
		}
		if !late.missed || len(late.received) != 0 {
			t.Errorf("a consumer slower than the retention: missed %v, received %d", late.missed, len(late.received))
		}
	})
}
