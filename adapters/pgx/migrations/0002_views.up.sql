-- For people with psql: state and payloads as json. It is json and never jsonb,
-- which refuses U+0000 and rewrites numbers. Nothing in docket reads a view.

CREATE VIEW docket.docket_run_states AS
	SELECT run_id, tenant, graph_id, graph_hash, status, step, checkpoint_seq, checkpoint_type,
		event_seq, open_interrupts, attempts, abandons, started_at, updated_at, finished_at,
		wake_at, claimed_at, claim_end, poisoned_at, poison_reason,
		CASE WHEN encoding = 'json' THEN convert_from(document, 'UTF8')::json END AS state
	FROM docket.docket_runs;

CREATE VIEW docket.docket_event_payloads AS
	SELECT r.run_id, r.tenant, e.seq, e.type, e.step, e.at, e.recorded_at,
		CASE WHEN e.encoding = 'json' THEN convert_from(e.payload, 'UTF8')::json END AS payload
	FROM docket.docket_events e JOIN docket.docket_runs r ON r.id = e.run;

INSERT INTO docket.docket_schema (version) VALUES (2);
