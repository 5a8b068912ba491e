package conformance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/docket-go/docket/conformance/history"
)

var historyCases = []Case{
	{
		ID: "races/linearizable-commits-and-signals", Clauses: on("RUN-2 RUN-6 RUN-7 EVT-1"),
		Rule: "Concurrent commits, signals and reads of one run are answered as in some order of them, one after another.",
		run:  func(e *env) { linearizable(e, CommitsAndSignals) },
	},
	{
		ID: "races/linearizable-claims", Clauses: on("CLM-2 CLM-5 CLM-6 CLM-10"),
		Rule: "Concurrent claims, refreshes, releases and abandons are answered as in some order of them, one after another.",
		run:  func(e *env) { linearizable(e, ClaimsAndReleases) },
	},
	{
		ID: "races/linearizable-everything", Clauses: on("RUN-6 RUN-7 CLM-5 CLM-10 EVT-4 EVT-6"),
		Rule: "Concurrent claims, commits, signals, recoveries and pages are answered as in some order of them, one after another.",
		run:  func(e *env) { linearizable(e, Everything) },
	},
}

// histories is how many a case records, each on a store of its own.
const histories = 8

func linearizable(e *env, w Workload) {
	for range histories {
		w.Seed = e.rand.Uint64()
		initial, calls, err := History(e.Context(), e.open().logged, w)
		e.ok(err, "recording a history")
		verdict := history.Check(initial, calls)
		switch {
		case verdict.Undecided:
			broken(e.T, "the search for an order of %d calls took more steps than it may", len(calls))
		case !verdict.Linearizable:
			e.Fatalf("no order explains these %d calls:%s", len(calls), tellHistory(calls, verdict))
		}
	}
}

// tellHistory writes a wrong history out: each call with its beginning and end,
// and which of them the longest explanation has.
func tellHistory(calls []history.Call, v history.Verdict) string {
	var b strings.Builder
	for i, c := range calls {
		place := "unexplained"
		if at := slices.Index(v.Longest, i); at >= 0 {
			place = fmt.Sprintf("order %d", at+1)
		}
		fmt.Fprintf(&b, "\n  worker %d [%d–%d] %s: %s", c.Worker, c.Invoked, c.Returned, place, c.Text)
	}
	return b.String()
}
