DROP VIEW docket.docket_event_payloads;
DROP VIEW docket.docket_run_states;
DELETE FROM docket.docket_schema WHERE version = 2;
