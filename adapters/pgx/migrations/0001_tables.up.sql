-- Times are the store's or the transition's, in microseconds. Ids compare by
-- bytes, whatever the database's locale. State and payloads are opaque bytes.

CREATE TABLE docket.docket_schema (
	version    integer     NOT NULL PRIMARY KEY,
	applied_at timestamptz NOT NULL DEFAULT now()
);

-- scope_key is never NULL, so that uniqueness and foreign keys hold for rows
-- without a tenant too; no tenant can be spelled like it.
CREATE TABLE docket.docket_graph_versions (
	tenant       text COLLATE "C" CHECK (tenant <> ''),
	scope_key    text COLLATE "C" NOT NULL
		GENERATED ALWAYS AS (CASE WHEN tenant IS NULL THEN '-' ELSE '+' || tenant END) STORED,
	graph_id     text COLLATE "C" NOT NULL CHECK (graph_id <> ''),
	hash         text COLLATE "C" NOT NULL CHECK (hash <> ''),
	published_at timestamptz NOT NULL,
	encoding     text COLLATE "C" NOT NULL,
	document     bytea NOT NULL,
	PRIMARY KEY (scope_key, graph_id, hash)
);

CREATE INDEX docket_graph_versions_newest
	ON docket.docket_graph_versions (scope_key, graph_id, published_at, hash);

CREATE TABLE docket.docket_runs (
	id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	run_id          text COLLATE "C" NOT NULL CONSTRAINT docket_runs_run_id UNIQUE CHECK (run_id <> ''),
	tenant          text COLLATE "C" CHECK (tenant <> ''),
	scope_key       text COLLATE "C" NOT NULL
		GENERATED ALWAYS AS (CASE WHEN tenant IS NULL THEN '-' ELSE '+' || tenant END) STORED,
	graph_id        text COLLATE "C" NOT NULL,
	graph_hash      text COLLATE "C" NOT NULL,
	status          text COLLATE "C" NOT NULL CHECK (status IN ('running', 'waiting', 'done', 'failed', 'cancelled')),
	step            bigint NOT NULL CHECK (step >= 0),
	checkpoint_seq  bigint NOT NULL CHECK (checkpoint_seq >= 1),
	checkpoint_type text COLLATE "C" NOT NULL,
	event_seq       bigint NOT NULL CHECK (event_seq >= 0),
	open_interrupts bigint NOT NULL CHECK (open_interrupts >= 0),
	attempts        bigint NOT NULL DEFAULT 0 CHECK (attempts >= 0),
	abandons        bigint NOT NULL DEFAULT 0 CHECK (abandons >= 0),
	started_at      timestamptz NOT NULL,
	updated_at      timestamptz NOT NULL,
	finished_at     timestamptz,
	wake_at         timestamptz,
	claimed_at      timestamptz,
	claim_end       timestamptz,
	poisoned_at     timestamptz,
	claim_token     text COLLATE "C" CHECK (claim_token <> ''),
	poison_reason   text COLLATE "C" CHECK (poison_reason <> ''),
	encoding        text COLLATE "C" NOT NULL,
	checksum        bytea NOT NULL CHECK (octet_length(checksum) = 32),
	document        bytea NOT NULL,

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

	FOREIGN KEY (scope_key, graph_id, graph_hash)
		REFERENCES docket.docket_graph_versions (scope_key, graph_id, hash) ON DELETE RESTRICT
) WITH (
	-- Room on each page for the next version of its rows: a commit that keeps its
	-- claim changes no indexed column, so it is a heap-only update.
	fillfactor = 60,
	autovacuum_vacuum_scale_factor = 0.02,
	autovacuum_vacuum_cost_delay = 0
);

-- What a retaining commit changes (sequences, document, claim_end) is in no key
-- and no predicate. Live claims are bounded by the workers' slots, so the scan
-- for expired ones filters them; an index by the claim's end would be rewritten
-- by every commit.
CREATE INDEX docket_runs_ready ON docket.docket_runs (wake_at, run_id) WHERE wake_at IS NOT NULL;
CREATE INDEX docket_runs_claimed ON docket.docket_runs (run_id) WHERE claim_token IS NOT NULL;
CREATE INDEX docket_runs_poisoned ON docket.docket_runs (started_at, run_id) WHERE poisoned_at IS NOT NULL;
CREATE INDEX docket_runs_open ON docket.docket_runs (started_at, run_id) WHERE open_interrupts > 0;
CREATE INDEX docket_runs_newest ON docket.docket_runs (started_at, run_id);
CREATE INDEX docket_runs_by_owner ON docket.docket_runs (scope_key, started_at, run_id);
CREATE INDEX docket_runs_by_status ON docket.docket_runs (status, started_at, run_id);
CREATE INDEX docket_runs_by_graph ON docket.docket_runs (scope_key, graph_id, graph_hash);
CREATE INDEX docket_runs_finished ON docket.docket_runs (finished_at, run_id) WHERE finished_at IS NOT NULL;

CREATE TABLE docket.docket_events (
	run         bigint NOT NULL REFERENCES docket.docket_runs (id) ON DELETE CASCADE,
	seq         bigint NOT NULL CHECK (seq > 0),
	step        bigint NOT NULL CHECK (step >= 0),
	at          timestamptz NOT NULL,
	recorded_at timestamptz NOT NULL,
	type        text COLLATE "C" NOT NULL,
	encoding    text COLLATE "C" NOT NULL,
	checksum    bytea NOT NULL CHECK (octet_length(checksum) = 32),
	payload     bytea NOT NULL,
	PRIMARY KEY (run, seq)
);

CREATE INDEX docket_events_recorded ON docket.docket_events (recorded_at);

INSERT INTO docket.docket_schema (version) VALUES (1);
