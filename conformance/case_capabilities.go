package conformance

import "github.com/docket-go/docket/ports"

var capabilityCases = []Case{
	{
		ID: "capabilities/declared-is-present", Clauses: on("TX-1 WAK-1 PRN-1"),
		Rule: "An optional interface is there exactly when Capabilities declares it.",
		run:  declaredIsPresent,
	},
	{
		ID: "capabilities/a-new-store-is-empty", Clauses: on("RUN-9 CLM-2"),
		Rule: "A store that was just opened lists no run and leases nothing.",
		run:  newStoreIsEmpty,
	},
}

func declaredIsPresent(e *env) {
	s := e.open()
	caps := s.Capabilities()
	_, tx := ports.As[ports.Transactor](s.raw)
	_, wakes := ports.As[ports.WakeSource](s.raw)
	_, prunes := ports.As[ports.Pruner](s.raw)
	e.same(caps.Transactor, tx, "Transactor: declared against present")
	e.same(caps.WakeSource, wakes, "WakeSource: declared against present")
	e.same(caps.Pruner, prunes, "Pruner: declared against present")
}

func newStoreIsEmpty(e *env) {
	s := e.open()
	e.same([]string{}, s.runIDs(ports.ListRuns{Scope: ports.System()}), "runs of a new store")
	got := s.claims(1000)
	e.check(len(got.Leases)+len(got.Poisoned) == 0, "a new store leased %s", show(got))
}
