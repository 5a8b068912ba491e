package repotest

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/engine"
	"github.com/docket-go/docket/ports/portstest"
)

// Two people answer one question in the same microsecond, and the request of one
// of them gets lost on the way without anybody knowing: the events of both answers
// would be the same. Only the one whose answer is stored may hear that it is.
func TestEngineAnswersInOneMicrosecond(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		driven bool        // a worker takes the answer before the loser asks again
		want   engine.Code // of the loser
	}{
		"the answer is still there": {false, engine.CodeResolved},
		"the run has ended with it": {true, engine.CodeInactive},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, handlers{"ask": ask})
				e := w.engine(engine.Config{})
				k := w.run(e)
				w.start(e, w.save(e, question(t)), "r")
				w.await(e, "r", time.Minute)
				if !tt.driven {
					k.halt()
				}
				lossy := portstest.New(w.backend, portstest.Config{Choose: func(op string, n int) portstest.Fault {
					if op == "CommitUnclaimed" && n == 1 {
						return portstest.Fault{Kind: portstest.Late}
					}
					return portstest.Fault{}
				}})
				loser := w.engineOn(lossy.Backend(), w.registry, engine.Config{})
				lost := make(chan error)
				go func() {
					_, err := loser.ResolveInterrupt(t.Context(), engine.ResolveInterrupt{RunID: "r", InterruptID: "q", Value: "no"})
					lost <- err
				}()
				synctest.Wait() // its first request is lost, and no time has passed
				if _, err := e.ResolveInterrupt(t.Context(), engine.ResolveInterrupt{RunID: "r", InterruptID: "q", Value: "yes"}); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if err := <-lost; engine.CodeOf(err) != tt.want {
					t.Errorf("the loser hears %v, want %s", err, tt.want)
				}
				if got := w.fetch(e, "r"); got.State["answer"] != "yes" || (got.Status == run.Done) != tt.driven {
					t.Errorf("the run is %s with %v", got.Status, got.State)
				}
			})
		})
	}
}
