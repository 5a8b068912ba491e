-- owner: '-' for tenantless, '+' followed by the tenant's id otherwise. The
-- mapping is injective, never NULL, and no tenant equals tenantless.
-- Times: microseconds since 1970 UTC. Ids compare by bytes (BINARY).

CREATE TABLE docket_graph_versions (
	owner        TEXT    NOT NULL CHECK (owner = '-' OR owner GLOB '+?*'),
	graph_id     TEXT    NOT NULL CHECK (graph_id <> ''),
	hash         TEXT    NOT NULL CHECK (hash <> ''),
	published_at INTEGER NOT NULL,
	encoding     TEXT    NOT NULL,
	document     BLOB    NOT NULL,
	PRIMARY KEY (owner, graph_id, hash)
) STRICT;

CREATE INDEX docket_graph_versions_newest
	ON docket_graph_versions (owner, graph_id, published_at, hash);

-- A run's delivery state and promoted columns. Its document lives in a table of
-- its own, so that claiming, refreshing and listing never rewrite or read it.
CREATE TABLE docket_runs (
	id              INTEGER PRIMARY KEY,
	run_id          TEXT    NOT NULL UNIQUE CHECK (run_id <> ''),
	owner           TEXT    NOT NULL CHECK (owner = '-' OR owner GLOB '+?*'),
	graph_id        TEXT    NOT NULL,
	graph_hash      TEXT    NOT NULL,
	status          TEXT    NOT NULL CHECK (status IN ('running', 'waiting', 'done', 'failed', 'cancelled')),
	step            INTEGER NOT NULL CHECK (step >= 0),
	checkpoint_seq  INTEGER NOT NULL CHECK (checkpoint_seq >= 0),
	checkpoint_type TEXT    NOT NULL,
	event_seq       INTEGER NOT NULL CHECK (event_seq >= 0),
	open_interrupts INTEGER NOT NULL CHECK (open_interrupts >= 0),
	started_at      INTEGER NOT NULL,
	updated_at      INTEGER NOT NULL,
	finished_at     INTEGER,
	encoding        TEXT    NOT NULL,
	wake_at         INTEGER,
	claim_token     TEXT    CHECK (claim_token <> ''),
	claimed_at      INTEGER,
	claim_end       INTEGER,
	attempts        INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
	abandons        INTEGER NOT NULL DEFAULT 0 CHECK (abandons >= 0),
	poisoned_at     INTEGER,
	poison_reason   TEXT    CHECK (poison_reason <> ''),

	CONSTRAINT terminal_is_finished
		CHECK ((status IN ('done', 'failed', 'cancelled')) = (finished_at IS NOT NULL)),
	CONSTRAINT claim_is_whole
		CHECK ((claim_token IS NULL) = (claimed_at IS NULL) AND (claim_token IS NULL) = (claim_end IS NULL)),
	CONSTRAINT poison_is_whole
		CHECK ((poisoned_at IS NULL) = (poison_reason IS NULL)),
	CONSTRAINT only_running_is_delivered
		CHECK (status = 'running' OR (wake_at IS NULL AND claim_token IS NULL AND poisoned_at IS NULL)),
	CONSTRAINT running_has_one_way_on
		CHECK (status <> 'running'
			OR (poisoned_at IS NULL AND (wake_at IS NULL) <> (claim_token IS NULL))
			OR (poisoned_at IS NOT NULL AND wake_at IS NULL AND claim_token IS NULL)),

	FOREIGN KEY (owner, graph_id, graph_hash)
		REFERENCES docket_graph_versions (owner, graph_id, hash) ON DELETE RESTRICT ON UPDATE RESTRICT
) STRICT;

-- What a retaining commit changes (step, sequences, claim_end) is in no key and
-- in no predicate: such a commit touches no index.
CREATE INDEX docket_runs_ready ON docket_runs (wake_at, run_id) WHERE wake_at IS NOT NULL;
CREATE INDEX docket_runs_claimed ON docket_runs (run_id) WHERE claim_token IS NOT NULL;
CREATE INDEX docket_runs_poisoned ON docket_runs (started_at, run_id) WHERE poisoned_at IS NOT NULL;
CREATE INDEX docket_runs_open ON docket_runs (started_at, run_id) WHERE open_interrupts > 0;
CREATE INDEX docket_runs_newest ON docket_runs (started_at, run_id);
CREATE INDEX docket_runs_by_owner ON docket_runs (owner, started_at, run_id);
CREATE INDEX docket_runs_by_status ON docket_runs (status, started_at, run_id);
CREATE INDEX docket_runs_by_graph ON docket_runs (owner, graph_id, graph_hash);
CREATE INDEX docket_runs_finished ON docket_runs (finished_at, run_id) WHERE finished_at IS NOT NULL;

CREATE TABLE docket_run_documents (
	run      INTEGER PRIMARY KEY REFERENCES docket_runs (id) ON DELETE CASCADE,
	checksum BLOB NOT NULL,
	document BLOB NOT NULL
) STRICT;

CREATE TABLE docket_events (
	run         INTEGER NOT NULL REFERENCES docket_runs (id) ON DELETE CASCADE,
	seq         INTEGER NOT NULL CHECK (seq > 0),
	type        TEXT    NOT NULL,
	step        INTEGER NOT NULL CHECK (step >= 0),
	time        INTEGER NOT NULL,
	recorded_at INTEGER NOT NULL,
	encoding    TEXT    NOT NULL,
	checksum    BLOB    NOT NULL,
	payload     BLOB    NOT NULL,
	PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX docket_events_recorded ON docket_events (recorded_at);

-- How many transactions stored a wake that was due at once: other processes
-- watch the number.
CREATE TABLE docket_wakes (
	id INTEGER PRIMARY KEY CHECK (id = 1),
	n  INTEGER NOT NULL
) STRICT;

INSERT INTO docket_wakes (id, n) VALUES (1, 0);
