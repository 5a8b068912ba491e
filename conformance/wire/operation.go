package wire

import (
	"context"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// operation is a request that every backend answers, and that a transaction
// answers too.
type operation struct {
	name   string
	writes bool
	run    func(ctx context.Context, b ports.Backend, params map[string]any) (map[string]any, error)
}

// operations are the methods of ports.Backend, by name.
var operations = func() map[string]operation {
	byName := map[string]operation{}
	for _, o := range []operation{
		role("save_graph", true, ports.Backend.SaveGraph),
		role("fetch_graph", false, ports.Backend.FetchGraph),
		role("latest_graph", false, ports.Backend.LatestGraph),
		role("list_graphs", false, ports.Backend.ListGraphs),
		role("insert_run", true, ports.Backend.InsertRun),
		role("commit_claimed", true, ports.Backend.CommitClaimed),
		role("commit_unclaimed", true, ports.Backend.CommitUnclaimed),
		role("fetch_run", false, ports.Backend.FetchRun),
		role("inspect_run", false, ports.Backend.InspectRun),
		role("list_runs", false, ports.Backend.ListRuns),
		role("recover_run", true, ports.Backend.RecoverRun),
		role("claim_runs", true, ports.Backend.ClaimRuns),
		role("refresh_claim", true, ports.Backend.RefreshClaim),
		role("release_claim", true, ports.Backend.ReleaseClaim),
		role("abandon_claim", true, ports.Backend.AbandonClaim),
		role("list_events", false, ports.Backend.ListEvents),
		role("fetch_event", false, ports.Backend.FetchEvent),
		role("latest_event", false, ports.Backend.LatestEvent),
		role("prune", true, prune),
	} {
		byName[o.name] = o
	}
	return byName
}()

// The requests of one connection, which no transaction answers.
const (
	opHello     = "hello"
	opBegin     = "begin"
	opCommit    = "commit"
	opRollback  = "rollback"
	opSubscribe = "subscribe"
	opCorrupt   = "corrupt"
	opRawWrite  = "raw_write"
	opClose     = "close"
)

// begun answers begin.
type begun struct {
	Tx string
}

// empty answers what has nothing to say, and asks what needs no parameters.
type empty struct{}

// Target names what the hook Corrupt damages: the graph version Ref of Owner
// when Ref is set, else the event Seq of RunID, or its run document when Seq
// is 0.
type Target struct {
	Owner record.Owner
	Ref   graph.Ref
	RunID string
	Seq   int64
}

// Raw is a write behind the backend's back that gives a healthy, due, running
// row a shape which RUN-11 forbids. Shapes are listed in docs/wire-protocol.md.
type Raw struct {
	RunID string
	Shape string
}

// wrote answers a raw write: whether the store refused the row, and how.
type wrote struct {
	Refused bool
	Message string
}

func role[Q, A any](name string, writes bool, method func(ports.Backend, context.Context, Q) (A, error)) operation {
	return operation{name: name, writes: writes, run: func(ctx context.Context, b ports.Backend, params map[string]any) (map[string]any, error) {
		var request Q
		if err := decode(params, "params", &request); err != nil {
			return nil, err
		}
		answer, err := method(b, ctx, request)
		if err != nil {
			return nil, err
		}
		return encode(answer, "result")
	}}
}

// prune is a method of an optional interface, which a transaction doesn't have.
func prune(b ports.Backend, ctx context.Context, req ports.Prune) (ports.Pruned, error) {
	p, ok := ports.As[ports.Pruner](b)
	if !ok {
		return ports.Pruned{}, ports.Unsupported("Prune", "the backend doesn't prune")
	}
	return p.Prune(ctx, req)
}
