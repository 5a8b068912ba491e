package ports

import "context"

// Backend is a store of graphs, runs and events. Each method is atomic by
// itself: it applies wholly or not at all, and what it acknowledged survives
// (LIF-1). Two processes on one store see one truth (LIF-2).
//
// Any method may also answer ErrInvalid for a request that fails its Check,
// ErrUnavailable, ErrUncertain (writes only), and ErrClosed after Close. The
// comments below name the errors that are particular to a method.
type Backend interface {
	Graphs
	Runs
	Claims
	Events
	// Capabilities tells which optional interfaces the backend has. The answer
	// never changes.
	Capabilities() Capabilities
	// Close releases what the backend holds, once; a second Close does nothing.
	// The caller no longer uses it: later calls answer ErrClosed (LIF-5).
	Close() error
}

// Graphs stores immutable graph versions, keyed by owner, graph id and hash.
// Owners have no access to each other's versions, also of equal refs (SCP-4).
type Graphs interface {
	// SaveGraph stores one version. The same bytes again succeed and change
	// nothing, also concurrently: the first publication time stays (GRF-1). The
	// publication time is the store's (GRF-3). The caller guarantees that the
	// document hashes to its ref; a backend doesn't prove it, readers do (GRF-2).
	// ErrConflict: the key holds other bytes, or the same under another encoding
	// label. The version is visible to every later operation. The document is
	// copied.
	SaveGraph(ctx context.Context, req SaveGraph) (SavedGraph, error)

	// FetchGraph returns the exact bytes of one version (GRF-2). ErrNotFound: the
	// owner has no such version. ErrCorrupt: the store knows that the bytes are
	// damaged; else it returns what it has, and the caller calls Verify. The
	// document is the caller's.
	FetchGraph(ctx context.Context, req FetchGraph) (FetchedGraph, error)

	// LatestGraph returns the metadata of the newest version of a graph id, by
	// (publication time, hash) (GRF-3). ErrNotFound: the owner has none.
	LatestGraph(ctx context.Context, req LatestGraph) (GraphVersion, error)

	// ListGraphs returns a page of a graph id's versions, newest first by
	// (publication time, hash), without reading documents (GRF-3, GRF-4). An
	// owner without versions gets an empty page.
	ListGraphs(ctx context.Context, req ListGraphs) (GraphPage, error)
}

// Runs stores runs with their events and wakes.
type Runs interface {
	// InsertRun stores a new run: its record, first events and first wake, or
	// the claim it is born with, all or nothing (RUN-1, RUN-14). The owner comes
	// from the request alone (SCP-5). The caller guarantees that the transition
	// comes from package lifecycle, and with a claim a token that nobody can
	// guess. ErrNotFound: the owner has no such graph version. ErrExists: the id
	// is taken in this store, by whomever; the text doesn't tell. ErrUnsupported:
	// a claim, where admission decides who may start. A wake that is due notifies
	// after it is visible (WAK-1). Record and events are copied.
	InsertRun(ctx context.Context, req InsertRun) (Inserted, error)

	// CommitClaimed replaces a claimed run by its next transition: record, type,
	// schedule; attempts, abandons and poison become zero; the events are
	// appended; atomically (RUN-4). It applies only if token and sequence are the
	// stored ones (RUN-2), so the same request applies at most once (RUN-13). The
	// caller guarantees that the run's graph, owner and starting time stay what
	// they are. ErrNotFound: no such run in the scope. ErrStale: the token isn't
	// the stored one, or the sequence moved, or the run has ended; nothing was
	// written. ErrInvalid: also events that don't continue the stored ones.
	// ErrConflict: an event is stored under a number that should be fresh (EVT-2).
	// Of concurrent commits on one sequence exactly one wins (RUN-7).
	CommitClaimed(ctx context.Context, req CommitClaimed) (Committed, error)

	// CommitUnclaimed replaces a run by the transition of a signal: a
	// compare-and-set on the sequence, which revokes any claim and moves the same
	// sequence, so a transition computed before it never overwrites it (RUN-6). A
	// poisoned run stays poisoned and without a wake while it is running. The
	// rest is as for CommitClaimed, and ErrInactive: the run has ended.
	CommitUnclaimed(ctx context.Context, req CommitUnclaimed) (Committed, error)

	// FetchRun returns a run's record as of the last committed transition, and
	// under the System scope its claim's token (RUN-13). ErrNotFound: no such run
	// in the scope, with the same text for every reason (SCP-3). ErrCorrupt: the
	// row is damaged; a damaged document may also be returned, and the caller
	// calls Verify. The document is the caller's.
	FetchRun(ctx context.Context, req FetchRun) (FetchedRun, error)

	// InspectRun returns a run with its delivery state, from one snapshot, never
	// its token (RUN-10). Errors and ownership are FetchRun's.
	InspectRun(ctx context.Context, req InspectRun) (RunInfo, error)

	// ListRuns returns a page of the scope's runs that pass all filters, newest
	// first by (StartedAt, ID); records only on request (RUN-9). A scope without
	// runs gets an empty page.
	ListRuns(ctx context.Context, req ListRuns) (RunPage, error)

	// RecoverRun makes a poisoned run healthy and due at once, with zero attempts
	// and abandons; a healthy run stays as it is (RUN-12). It uses no sequence and
	// doesn't touch UpdatedAt (RUN-8). ErrNotFound: no such run in the scope.
	// ErrInactive: the run has ended. It notifies (WAK-1).
	RecoverRun(ctx context.Context, req RecoverRun) (Recovered, error)
}

// Claims leases due runs to workers. A run is ready when it is running,
// healthy, unclaimed and its wake is not after the store's time; its claim is
// expired when the claim's end is before the store's time (CLM-1).
type Claims interface {
	// ClaimRuns selects, counts and leases due runs in one atomic operation, at
	// most Limit outcomes; a run goes to one claimer (CLM-2). A run whose attempts
	// are used up is poisoned instead (CLM-3). Only running, healthy runs are
	// claimed (CLM-12); a selected run that has meanwhile moved is left alone
	// (CLM-10). Under fifo each class that has rows gets an outcome when Limit is
	// 2 or more; inside a class the order is (eligible time, id) (CLM-4).
	// Concurrent claimers neither lose nor duplicate a run (CLM-5). Tokens can't
	// be guessed and never come again. Sending it again is safe and leases other
	// runs: leases that got lost on the way end by themselves. ErrUnsupported
	// inside a transaction (TX-1). The records are the caller's (CLM-13).
	ClaimRuns(ctx context.Context, req ClaimRuns) (Claimed, error)

	// RefreshClaim moves a claim's end to the store's time plus TTL, only ever
	// forward (CLM-7). An expired claim is refreshed too, as long as nobody stole
	// it (CLM-11). ErrNotFound: no such run in the scope. ErrStale: the token
	// isn't the stored one; nothing changed (CLM-6).
	RefreshClaim(ctx context.Context, req RefreshClaim) (Refreshed, error)

	// ReleaseClaim gives a claim back and leaves a wake that is due now;
	// ReturnAttempt also gives the attempt back (CLM-8). It never notifies
	// (WAK-3). Errors are RefreshClaim's.
	ReleaseClaim(ctx context.Context, req ReleaseClaim) (Released, error)

	// AbandonClaim gives back a run that this host can't run: the attempt isn't
	// counted, the abandon is, and the wake is the retry time; at MaxAbandons the
	// run is poisoned, unless NonPoisoning (CLM-9). ErrStale: token or sequence
	// isn't the stored one (CLM-6). The rest is as for ReleaseClaim.
	AbandonClaim(ctx context.Context, req AbandonClaim) (Abandoned, error)
}

// Events reads what transitions appended; only they write events (EVT-2).
type Events interface {
	// ListEvents returns a page of a run's retained events, ascending, with the
	// bounds of what is retained, all from one snapshot (EVT-3, EVT-4). A reader
	// that pages while writers commit misses nothing below its cursor (EVT-6).
	// ErrNotFound: no such run in the scope. ErrCorrupt: a row of the page is
	// damaged; a damaged payload may also be returned, and the caller calls
	// Verify (EVT-7). Payloads are the caller's.
	ListEvents(ctx context.Context, req ListEvents) (EventPage, error)

	// FetchEvent returns one event. ErrNotFound: no such run in the scope, or no
	// event with that sequence is retained (EVT-5). The rest is as for ListEvents.
	FetchEvent(ctx context.Context, req FetchEvent) (FetchedEvent, error)

	// LatestEvent returns the latest retained event, if there is one (EVT-5).
	// Errors and ownership are ListEvents'.
	LatestEvent(ctx context.Context, req LatestEvent) (FoundEvent, error)
}
