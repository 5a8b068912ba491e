package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	postgres "github.com/docket-go/docket/adapters/pgx"
	"github.com/docket-go/docket/adapters/pgx/pgxtest"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/engine"
)

func TestMain(m *testing.M) { os.Exit(pgxtest.Run(m)) }

// oddSchema must be quoted wherever it stands.
const oddSchema = `Docket "1"`

// newPostgres makes a store in a schema of a new database.
func newPostgres(t *testing.T) *testStore {
	t.Helper()
	source := pgxtest.Database(t)
	pool, err := pgxpool.New(t.Context(), source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	at := []string{"--store", source, "--schema", oddSchema}
	expect(t, exitDone, "from version 0 to", append([]string{"migrate"}, at...)...)
	backend, err := postgres.New(t.Context(), pool, postgres.Config{Schema: oddSchema})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = backend.Close() })
	return fill(t, backend, at)
}

// TestSignalWakes answers a question from the command line: a worker that looks
// for work every 20 seconds goes on at once.
func TestSignalWakes(t *testing.T) {
	t.Parallel()
	s := newPostgres(t)
	s.start("", "letter")
	const poll = 20 * time.Second
	_, nodes := testGraph(t)
	worker, err := engine.New(s.store, nodes, engine.Config{Poll: poll})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- worker.Run(ctx) }()
	defer func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	}()
	// A run that the worker is handed at its start shows that it is at work.
	if _, err := s.engine.StartRun(ctx, engine.StartRun{Graph: s.ref, RunID: "first"}); err != nil {
		t.Fatal(err)
	}
	if _, err := worker.AwaitRun(ctx, engine.AwaitRun{RunID: "first"}); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	for _, id := range []string{"letter", "first"} {
		expect(t, exitDone, "answered", s.on("signal", id, "1:ask:1", `"go"`)...)
		r, err := worker.AwaitRun(ctx, engine.AwaitRun{RunID: id})
		if took := time.Since(began); err != nil || r.Status != run.Done || took > poll/2 {
			t.Errorf("%s is %s after %v, %v", id, r.Status, took, err)
		}
	}
}

func TestMigrate(t *testing.T) {
	t.Parallel()
	source := pgxtest.Database(t)
	at := func(args ...string) []string { return append(args, "--store", source, "--schema", oddSchema) }
	command := "docket migrate --store 'postgres://"

	expect(t, exitStore, "has no tables|"+command+"|--schema 'Docket \"1\"'", at("runs", "list")...)
	expect(t, exitNo, "has no tables|"+command, at("migrate", "status")...)
	expect(t, exitDone, "from version 0 to 1", at("migrate", "--to", "1")...)
	expect(t, exitStore, "is at version 1, this docket works with|"+command, at("runs", "list")...)
	expect(t, exitNo, "is at version 1|"+command, at("migrate", "status")...)
	expect(t, exitDone, "from version 1 to", at("migrate")...)
	expect(t, exitDone, "is at version", at("migrate")...)
	expect(t, exitDone, "the one that this docket works with", at("migrate", "status")...)
	expect(t, exitDone, "RUN", at("runs", "list")...)
	expect(t, exitUsage, "--down-to goes down", at("migrate", "--to", "1")...)
	expect(t, exitUsage, "--yes", at("migrate", "--down-to", "0")...)
	expect(t, exitDone, "the one that this docket works with", at("migrate", "status")...)
	expect(t, exitDone, "to 1", at("migrate", "--down-to", "1", "--yes")...)
	expect(t, exitUsage, "--to goes up", at("migrate", "--down-to", "2", "--yes")...)
	expect(t, exitDone, "to 0", at("migrate", "--down-to", "0", "--yes")...)
	expect(t, exitStore, "has no tables", at("cancel", "r")...)
	// Without --schema it is public, which is another store.
	expect(t, exitStore, `schema "public" has no tables`, "runs", "list", "--store", source)
}

// TestMigrateNewer leaves a schema alone that a newer docket made.
func TestMigrateNewer(t *testing.T) {
	t.Parallel()
	source := pgxtest.Database(t)
	expect(t, exitDone, "from version 0", "migrate", "--store", source)
	runSQL(t, source, `INSERT INTO docket_schema (version) VALUES (99)`)
	for _, args := range [][]string{{"migrate"}, {"migrate", "--down-to", "0", "--yes"}, {"runs", "list"}} {
		expect(t, exitStore, "use a newer docket", append(args, "--store", source)...)
	}
	expect(t, exitNo, "use a newer docket", "migrate", "status", "--store", source)
}

// TestMigrateSQL builds the tables from what is printed, as a host's own tool.
func TestMigrateSQL(t *testing.T) {
	t.Parallel()
	source := pgxtest.Database(t)
	runSQL(t, source, `CREATE SCHEMA "Docket ""1"""`)
	_, up, _ := docket(t, "migrate", "sql", "--schema", oddSchema)
	runSQL(t, source, up)
	at := []string{"--store", source, "--schema", oddSchema}
	expect(t, exitDone, "the one that this docket works with", append([]string{"migrate", "status"}, at...)...)
	_, down, _ := docket(t, "migrate", "sql", "--down", "--schema", oddSchema)
	runSQL(t, source, down)
	expect(t, exitNo, "has no tables", append([]string{"migrate", "status"}, at...)...)
}

func TestMigrateSQLFiles(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "migrations")
	expect(t, exitDone, "files", "migrate", "sql", "--dir", dir)
	if text, err := os.ReadFile(filepath.Join(dir, "0001_tables.up.sql")); err != nil || !strings.Contains(string(text), `"public".docket_runs`) {
		t.Errorf("0001_tables.up.sql: %v\n%s", err, text)
	}
	expect(t, exitStore, "file exists", "migrate", "sql", "--dir", dir)
}

func runSQL(t *testing.T, source, statements string) {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), source)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	conn, err := pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	if _, err := conn.Conn().PgConn().Exec(context.WithoutCancel(t.Context()), statements).ReadAll(); err != nil {
		t.Fatal(err)
	}
}

func TestPostgresUsage(t *testing.T) {
	t.Parallel()
	const nowhere = "postgres://me:hush@127.0.0.1:1/none"
	for _, c := range []struct {
		code int
		says string
		args []string
	}{
		{exitUsage, "required flag", []string{"migrate"}},
		{exitUsage, "no command", []string{"migrate", "bogus", "--store", nowhere}},
		{exitUsage, "a SQLite file is when it is opened", []string{"migrate", "--store", "docket.db"}},
		{exitUsage, "a SQLite file is when it is opened", []string{"migrate", "status", "--store", "docket.db"}},
		{exitUsage, "--to 0", []string{"migrate", "--store", nowhere, "--to", "0"}},
		{exitUsage, "--to 99", []string{"migrate", "--store", nowhere, "--to", "99"}},
		{exitUsage, "--down-to -1", []string{"migrate", "--store", nowhere, "--down-to", "-1", "--yes"}},
		{exitUsage, "--yes goes with", []string{"migrate", "--store", nowhere, "--yes"}},
		{exitUsage, "down-to", []string{"migrate", "--store", nowhere, "--to", "1", "--down-to", "0"}},
		{exitUsage, "--schema: ", []string{"migrate", "sql", "--schema", "pg_x"}},
		{exitUsage, "--schema: ", []string{"migrate", "status", "--store", nowhere, "--schema", "pg_x"}},
		{exitUsage, "Schema", []string{"runs", "list", "--store", nowhere, "--schema", "pg_x"}},
		{exitUsage, "writes both", []string{"migrate", "sql", "--dir", "d", "--down"}},
		{exitUsage, "has schemas", []string{"runs", "list", "--store", "docket.db", "--schema", "s"}},
		{exitUsage, "no URL", []string{"runs", "list", "--store", "postgres://me:hush@host:port/db"}},
		{exitUsage, "no URL", []string{"runs", "list", "--store", "postgres://me:a/hush@host/db"}},
		{exitUsage, "no URL", []string{"migrate", "status", "--store", "postgres://me:%hush@host/db"}},
		{exitUsage, "password=xxxxx", []string{"migrate", "--store", "postgres://host/db?password=hush&sslmode=odd"}},
		{exitUsage, "xxxxx", []string{"migrate", "--store", "postgres://me:hush@host/db?sslmode=odd"}},
		{exitStore, "postgres://me:xxxxx@127.0.0.1:1/none", []string{"runs", "list", "--store", nowhere}},
		{exitStore, "postgres://me:xxxxx@127.0.0.1:1/none", []string{"migrate", "--store", nowhere}},
		{exitStore, "password=xxxxx", []string{"migrate", "--store", "postgres://127.0.0.1:1/none?password=hush"}},
	} {
		expect(t, c.code, c.says, c.args...)
		if _, out, errs := docket(t, c.args...); strings.Contains(out+errs, "hush") {
			t.Errorf("docket %q tells the password:\n%s%s", c.args, out, errs)
		}
	}
}
