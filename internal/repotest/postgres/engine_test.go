package postgres

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	postgres "github.com/docket-go/docket/adapters/pgx"
	"github.com/docket-go/docket/adapters/pgx/pgxtest"
	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/core/schema"
	"github.com/docket-go/docket/engine"
)

// TestLife takes a run through a retry, a question that a client in another
// process answers, and to its end, in a schema whose name must be quoted.
func TestLife(t *testing.T) {
	t.Parallel()
	source, store := pgxtest.Database(t), postgres.Config{Schema: `Docket "1"`}
	nodes := map[string]node.HandlerFunc{
		"flaky": func(ctx context.Context, in node.Input) (node.Result, error) {
			if a, _ := node.Info(ctx); a.Attempt == 1 {
				return node.Result{}, errors.New("down")
			}
			return note(ctx, in)
		},
		"ask": func(ctx context.Context, in node.Input) (node.Result, error) {
			if in.State.Has("answer") {
				return note(ctx, in)
			}
			return node.Ask(node.Interrupt{ID: "q", Field: "answer", Schema: schema.Enum("yes", "no")}), nil
		},
		"end": note,
	}
	client := newProcess(t, source, store, nodes, engine.Config{})
	newProcess(t, source, store, nodes, engine.Config{}).work()

	client.start(chain(t, "flaky", "ask", "end"), "r")
	r := client.await("r")
	if r.Status != run.Waiting || len(r.Interrupts) != 1 {
		t.Fatalf("%s with %d questions", r.Status, len(r.Interrupts))
	}
	answer := func(v string) error {
		_, err := client.ResolveInterrupt(t.Context(), engine.ResolveInterrupt{RunID: "r", InterruptID: "q", Value: v})
		return err
	}
	if err := answer("perhaps"); engine.CodeOf(err) != engine.CodeInvalidInput {
		t.Errorf("a wrong answer: %v", err)
	}
	if err := answer("yes"); err != nil {
		t.Fatal(err)
	}
	r = client.await("r")
	if got := fmt.Sprintf("%v %v", r.Output["log"], r.Output["answer"]); r.Status != run.Done || got != "[flaky ask end] yes" {
		t.Errorf("%s with %s; failure %+v", r.Status, got, r.Failure)
	}
	if got := fmt.Sprint(client.completions(r)); got != "map[ask:1 end:1 flaky:1]" {
		t.Errorf("completions %s", got)
	}
}

// TestCancel cancels a run under its worker, from another process: the node is
// told, and what it returns is not committed.
func TestCancel(t *testing.T) {
	t.Parallel()
	source := pgxtest.Database(t)
	began, told := make(chan struct{}), make(chan error, 1)
	nodes := map[string]node.HandlerFunc{"long": func(ctx context.Context, in node.Input) (node.Result, error) {
		close(began)
		<-ctx.Done()
		told <- context.Cause(ctx)
		return note(ctx, in)
	}}
	client := newProcess(t, source, postgres.Config{}, nodes, engine.Config{})
	newProcess(t, source, postgres.Config{}, nodes, engine.Config{ClaimTTL: 3 * time.Second}).work()
	client.start(chain(t, "long"), "r")
	<-began
	r, err := client.CancelRun(t.Context(), engine.CancelRun{RunID: "r"})
	if err != nil || r.Status != run.Cancelled {
		t.Fatalf("CancelRun: %s, %v", r.Status, err)
	}
	if cause := <-told; cause == nil {
		t.Error("the node's context has no cause")
	}
	after := client.await("r")
	if after.CheckpointSeq != r.CheckpointSeq || len(client.completions(after)) != 0 {
		t.Errorf("a cancelled run went on to checkpoint %d from %d", after.CheckpointSeq, r.CheckpointSeq)
	}
}

// TestWakes compares the ways in which a worker that looks for work every ten
// seconds hears of a run that another process starts.
func TestWakes(t *testing.T) {
	t.Parallel()
	nodes := map[string]node.HandlerFunc{"note": note}
	open := func(t *testing.T, store postgres.Config, poll time.Duration) (client, worker *process) {
		source := pgxtest.Database(t)
		client = newProcess(t, source, store, nodes, engine.Config{})
		worker = newProcess(t, source, store, nodes, engine.Config{Poll: poll})
		worker.work()
		client.start(chain(t, "note"), "first") // a wake's subscription is followed by a look
		client.await("first")
		return client, worker
	}
	t.Run("listening", func(t *testing.T) {
		t.Parallel()
		const poll = 10 * time.Second
		client, worker := open(t, postgres.Config{}, poll)
		// A run may be found by the first look, before the worker listens.
		asked := time.Now()
		for n := worker.listeners(); n != 1; n = worker.listeners() {
			if n > 1 || time.Since(asked) > poll {
				t.Fatalf("%d connections listen, want the worker's", n)
			}
		}
		for i := range 3 { // a look by chance finds one in ten, not all
			began := time.Now()
			id := fmt.Sprint("run ", i)
			client.start(chain(t, "note"), id)
			client.await(id)
			if took := time.Since(began); took > poll/3 {
				t.Errorf("it took %v: the wake wasn't heard", took)
			}
		}
	})
	t.Run("polling", func(t *testing.T) {
		t.Parallel()
		client, worker := open(t, postgres.Config{PollOnly: true}, 200*time.Millisecond)
		if n := worker.listeners(); n != 0 {
			t.Errorf("%d connections listen", n)
		}
		client.start(chain(t, "note"), "r")
		if r := client.await("r"); r.Status != run.Done {
			t.Errorf("%s; failure %+v", r.Status, r.Failure)
		}
	})
}

// listeners counts the sessions of the database that listen.
func (p *process) listeners() (n int) {
	p.t.Helper()
	err := p.pool.QueryRow(p.t.Context(), `SELECT count(*) FROM pg_stat_activity
		WHERE datname = current_database() AND application_name LIKE 'docket\_wake\_%'`).Scan(&n)
	if err != nil {
		p.t.Fatal(err)
	}
	return n
}
