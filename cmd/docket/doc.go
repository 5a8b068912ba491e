// Command docket is the operator's view of a docket store, and a checker of
// graph documents.
//
//	docket graph check graph.json
//	docket graph draw graph.json --format dot
//	docket graph draw --store docket.db --run order-7
//	docket runs list --store docket.db --status waiting
//	docket runs inspect --store docket.db order-7
//	docket runs events --store docket.db order-7
//	docket signal --store docket.db order-7 3:review:1 '"approve"'
//	docket cancel --store docket.db order-7
//	docket recover --store docket.db order-7
//	docket migrate --store postgres://localhost/app --schema docket
//	docket migrate status --store postgres://localhost/app --schema docket
//	docket migrate sql --schema docket
//
// A store is a file of adapters/sqlite-experimental, or a schema of a PostgreSQL
// database (--store postgres://…, --schema); workers may be using it. A password
// is better in PGPASSWORD or ~/.pgpass than in the URL, which other users of the
// machine can see.
//
// Nothing here needs the implementations of nodes: a graph is checked, drawn
// and signalled by its structure. So the command drives no run, and publishes
// no graph: both need the host's own program.
//
// Each command sees the runs of one tenant (--tenant), or, without it, those
// that have none.
//
// Exit codes: 0 it is so, or it was done; 1 it isn't so (the graph has errors,
// no such run, the run has ended, the answer was refused); 2 the command was
// used wrongly; 3 the store couldn't be used.
package main
