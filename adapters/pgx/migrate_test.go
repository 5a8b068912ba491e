package postgres

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"

	"github.com/docket-go/docket/ports"
)

// objects lists what a schema holds.
func objects(t *testing.T, b querier, schema string) []string {
	t.Helper()
	rows, err := b.Query(t.Context(), `
		SELECT 'relation ' || relname FROM pg_class WHERE relnamespace = to_regnamespace($1)
		UNION ALL SELECT 'constraint ' || conrelid::regclass::text || ' ' || conname FROM pg_constraint WHERE connamespace = to_regnamespace($1)
		ORDER BY 1`, place(schema).quoted())
	if err != nil {
		t.Fatal(err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// TestMigrateUpAndDown goes through every version both ways: what a step down
// leaves is what was there before the step up.
func TestMigrateUpAndDown(t *testing.T) {
	t.Parallel()
	pool, schema := sharedPool(t), freshName()
	migrateFresh(t, pool, schema)
	if err := MigrateDown(t.Context(), pool, schema, 0); err != nil {
		t.Fatal(err)
	}
	var before [][]string
	for v := range newestVersion {
		before = append(before, objects(t, pool, schema))
		if err := MigrateTo(t.Context(), pool, schema, v+1); err != nil {
			t.Fatal(err)
		}
		if have, err := SchemaVersion(t.Context(), pool, schema); err != nil || have != v+1 {
			t.Fatalf("version %d, %v; want %d", have, err, v+1)
		}
		if slices.Equal(objects(t, pool, schema), before[v]) {
			t.Fatalf("migration %d changed nothing", v+1)
		}
	}
	for v := newestVersion - 1; v >= 0; v-- {
		if err := MigrateDown(t.Context(), pool, schema, v); err != nil {
			t.Fatal(err)
		}
		if after := objects(t, pool, schema); !slices.Equal(after, before[v]) {
			t.Errorf("migrating down to %d leaves %q, want %q", v, after, before[v])
		}
		_, err := New(t.Context(), pool, Config{Schema: schema})
		var wrong *SchemaError
		if !errors.As(err, &wrong) || wrong.Have != v || wrong.Want != newestVersion {
			t.Errorf("New at version %d: %v", v, err)
		}
	}
}

// TestMigrateNewerSchema: a schema that a newer build made is left alone.
func TestMigrateNewerSchema(t *testing.T) {
	t.Parallel()
	b := openFresh(t)
	if err := execRaw(t.Context(), b, `INSERT INTO docket.docket_schema (version) VALUES (99)`); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := execRaw(t.Context(), b, `DELETE FROM docket.docket_schema WHERE version = 99`); err != nil {
			t.Error(err)
		}
	}()
	for what, err := range map[string]error{
		"Migrate":     Migrate(t.Context(), b.pool, b.cfg.Schema),
		"MigrateTo":   MigrateTo(t.Context(), b.pool, b.cfg.Schema, 1),
		"MigrateDown": MigrateDown(t.Context(), b.pool, b.cfg.Schema, 0),
		"New":         func() error { _, err := New(t.Context(), b.pool, b.cfg); return err }(),
	} {
		var newer *SchemaError
		if !errors.As(err, &newer) || newer.Have != 99 || !errors.Is(err, ports.ErrUnsupported) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestMigrateOneWay: a migration never goes the other way than its name says. So
// one that a process asked for before another went further can't undo that.
func TestMigrateOneWay(t *testing.T) {
	t.Parallel()
	pool, schema := sharedPool(t), freshName()
	migrateFresh(t, pool, schema)
	at := newestVersion
	stays := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, ports.ErrInvalid) {
			t.Errorf("%s: %v, want ErrInvalid", what, err)
		}
		if have, err := SchemaVersion(t.Context(), pool, schema); err != nil || have != at {
			t.Errorf("after %s: version %d, %v; want %d", what, have, err, at)
		}
	}
	for v := range newestVersion {
		stays("up to less", MigrateTo(t.Context(), pool, schema, v))
	}
	at = 1
	if err := MigrateDown(t.Context(), pool, schema, at); err != nil {
		t.Fatal(err)
	}
	stays("down to more", MigrateDown(t.Context(), pool, schema, newestVersion))
}

// TestMigrateHalfway: a step that fails leaves nothing of itself.
func TestMigrateHalfway(t *testing.T) {
	t.Parallel()
	pool, schema := sharedPool(t), freshName()
	migrateFresh(t, pool, schema)
	if err := MigrateDown(t.Context(), pool, schema, 0); err != nil {
		t.Fatal(err)
	}
	p := place(schema)
	if _, err := pool.Exec(t.Context(), p.sql(`CREATE TABLE docket.docket_events (x int)`)); err != nil {
		t.Fatal(err)
	}
	if err := Migrate(t.Context(), pool, schema); err == nil || !strings.Contains(err.Error(), "0001_tables.up.sql") {
		t.Fatalf("migrating over a foreign table: %v, want an error that names the file", err)
	}
	if got := objects(t, pool, schema); len(got) != 1 {
		t.Errorf("half a migration is left: %q", got)
	}
	if _, err := pool.Exec(t.Context(), p.sql(`DROP TABLE docket.docket_events`)); err != nil {
		t.Fatal(err)
	}
	if err := Migrate(t.Context(), pool, schema); err != nil {
		t.Errorf("migrating again: %v", err)
	}
}

// TestMigrateByFiveProcesses starts processes that all migrate the same schema.
func TestMigrateByFiveProcesses(t *testing.T) {
	t.Parallel()
	pool, schema := sharedPool(t), freshName()
	type result struct {
		out []byte
		err error
	}
	results := make(chan result)
	const processes = 5
	for range processes {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), roleVariable+"=migrate", urlVariable+"="+server.url, schemaVariable+"="+schema)
		go func() {
			out, err := cmd.CombinedOutput()
			results <- result{out, err}
		}()
	}
	for range processes {
		if r := <-results; r.err != nil {
			t.Errorf("%v\n%s", r.err, r.out)
		}
	}
	migrateFresh(t, pool, schema) // nothing is left to do; it cleans up
	var steps int
	if err := pool.QueryRow(t.Context(), place(schema).sql(`SELECT count(*) FROM docket.docket_schema`)).Scan(&steps); err != nil || steps != newestVersion {
		t.Errorf("%d steps were noted, %v; want %d", steps, err, newestVersion)
	}
}

// TestMigrationsAsFiles runs the files as a host's own tool would.
func TestMigrationsAsFiles(t *testing.T) {
	t.Parallel()
	pool, schema := sharedPool(t), freshName()
	files, err := Migrations(schema)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, name := range migrationNames {
		want = append(want, name+".up.sql", name+".down.sql")
	}
	if err := fstest.TestFS(files, want...); err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec(t.Context(), "CREATE SCHEMA "+place(schema).quoted()); err != nil {
		t.Fatal(err)
	}
	names, err := fs.Glob(files, "*.up.sql")
	if err != nil || len(names) != newestVersion {
		t.Fatalf("%q, %v", names, err)
	}
	for _, name := range names {
		script, err := fs.ReadFile(files, name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := pool.Exec(t.Context(), string(script), pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	migrateFresh(t, pool, schema) // it finds nothing to do, and cleans up
	b := openAt(t, pool, Config{Schema: schema})
	insert(t, b, "r", publish(t, b, owner("")))
}

// TestMigrationNames: the list and the embedded files agree.
func TestMigrationNames(t *testing.T) {
	t.Parallel()
	entries, err := fs.ReadDir(migrationFiles, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	for _, name := range migrationNames {
		want = append(want, name+".down.sql", name+".up.sql")
	}
	if !slices.Equal(got, want) {
		t.Errorf("files %q, list %q", got, want)
	}
}

// TestTwoSchemas: two schemas of one database are two stores, also when their
// names differ only beyond case and quotes.
func TestTwoSchemas(t *testing.T) {
	t.Parallel()
	pool := sharedPool(t)
	a, b := openOn(t, pool, Config{}), openOn(t, pool, Config{})
	for _, s := range []*Backend{a, b} {
		insert(t, s, "r", publish(t, s, owner("")))
	}
	claimOne(t, a, epoch)
	if got := inspect(t, b, "r"); got.WakeAt.IsZero() {
		t.Error("a claim in one schema took the run of the other")
	}
	if a.place.channel() == b.place.channel() || a.place.lock(lockPrune) == b.place.lock(lockPrune) {
		t.Error("two schemas share a channel or a lock")
	}
	if a.place.lock(lockPrune) == a.place.lock(lockMigrate) {
		t.Error("two works of one schema share a lock")
	}
	if n := len(a.place.channel()); n > maxIdentifier {
		t.Errorf("the channel's name has %d bytes", n)
	}
}

func TestMigrateRefuses(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"a version beyond":   MigrateTo(t.Context(), nil, "s", newestVersion+1),
		"a negative version": MigrateDown(t.Context(), nil, "s", -1),
		"a long name":        Migrate(t.Context(), nil, strings.Repeat("é", 32)),
		"a system's name":    Migrate(t.Context(), nil, "pg_mine"),
		"a NUL":              Migrate(t.Context(), nil, "a\x00b"),
	} {
		if !errors.Is(err, ports.ErrInvalid) {
			t.Errorf("%s: %v, want ErrInvalid", name, err)
		}
	}
}
