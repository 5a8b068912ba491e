DROP TABLE docket.docket_events;
DROP TABLE docket.docket_runs;
DROP TABLE docket.docket_graph_versions;
DROP TABLE docket.docket_schema;
