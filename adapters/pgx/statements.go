package postgres

import "strings"

// statements are the texts of one schema. No value is ever part of one, so the
// driver prepares each once a connection.
type statements struct {
	place place

	saveGraph, compareGraph, fetchGraph           string
	insertRun, retain, release, signal, recover   string
	insertGroup, commitGroup                      string
	fetchRun, summary, visible                    string
	claimReady, claimExpired                      string
	refresh, giveBack, abandon                    string
	eventPage, oneEvent, latestEvent              string
	pruneTurn, pruneEvents, pruneRuns, pruneGraph string
	pruneWaiting                                  string
}

// statementsOf prepares the texts. Where a statement leaves a run due, $told
// sends the notification: in the final SELECT, because PostgreSQL doesn't
// execute a SELECT that nobody reads, and only when the wake is due, because
// transactions that notify queue up at their commit.
func statementsOf(p place, notify bool) *statements {
	told := "coalesce($due, false)"
	if notify {
		told = "CASE WHEN $due THEN pg_notify('" + p.channel() + "', '') IS NOT NULL ELSE false END"
	}
	text := func(sql string) string {
		for {
			before, rest, found := strings.Cut(sql, "$told(")
			if !found {
				return p.sql(sql)
			}
			due, after, _ := strings.Cut(rest, ")told")
			sql = before + strings.ReplaceAll(told, "$due", due) + after
		}
	}
	return &statements{
		place: p,

		saveGraph: text(saveGraph), compareGraph: text(compareGraph), fetchGraph: text(fetchGraph),
		insertRun: text(insertRun), retain: text(retainRun), release: text(releaseRun),
		insertGroup: text(insertGroup), commitGroup: text(commitGroup), signal: text(signalRun), recover: text(recoverRun),
		fetchRun: text(selectRun + oneVisibleRun), summary: text(selectSummary + oneVisibleRun), visible: text(visibleRun),
		claimReady: text(claimRuns(readyRuns, expiredRuns)), claimExpired: text(claimRuns(expiredRuns, readyRuns)),
		refresh: text(refreshClaim), giveBack: text(releaseClaim), abandon: text(abandonClaim),
		eventPage: text(selectPage), oneEvent: text(selectEvent), latestEvent: text(selectLatest),
		pruneTurn: text(pruneTurn), pruneEvents: text(pruneEvents), pruneRuns: text(pruneRuns), pruneGraph: text(pruneGraphs),
		pruneWaiting: text(pruneWaiting),
	}
}
