package sqlite

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/docket-go/docket/ports"
)

func TestOpenRefusesBadConfig(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		cfg  Config
		want string
	}{
		{"no path", Config{}, "Path is empty"},
		{"memory", Config{Path: ":memory:"}, "adapters/memory"},
		{"uri", Config{Path: "file:x.db?mode=memory"}, "give the path of a file"},
		{"nul", Config{Path: "a\x00b"}, "NUL"},
		{"synchronous", Config{Path: "x.db", Synchronous: "OFF"}, `Synchronous "OFF"`},
		{"busy timeout", Config{Path: "x.db", BusyTimeout: -1}, "BusyTimeout"},
		{"readers", Config{Path: "x.db", Readers: -1}, "Readers"},
		{"wake poll", Config{Path: "x.db", WakePoll: -1}, "WakePoll"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			b, err := Open(t.Context(), tc.cfg)
			if b != nil || !errors.Is(err, ports.ErrInvalid) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Open answered %v, %v; want an ErrInvalid that says %q", b, err, tc.want)
			}
		})
	}
}

func TestOpenTellsWhichFile(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "no", "such", "docket.db")
	text := filepath.Join(t.TempDir(), "text.db")
	if err := os.WriteFile(text, []byte(strings.Repeat("not a database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{missing: ports.ErrUnavailable, text: ports.ErrCorrupt} {
		b, err := Open(t.Context(), Config{Path: path})
		if b != nil || !errors.Is(err, want) || !strings.Contains(err.Error(), path) {
			t.Errorf("Open(%s) answered %v; want %v that names the file", path, err, want)
		}
	}
}

func TestOddFileNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"with space.db", "q?mode=memory.db", "hash#1.db", "100%41.db", "é😀.db", "a&b=c.db"} {
		path := filepath.Join(dir, name)
		publish(t, openAt(t, path), owner(""))
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%q is not the file that was opened: %v", name, err)
		}
	}
}

// Settings that SQLite keeps per connection must be on every one (B23, B61).
func TestSettingsHoldOnEveryConnection(t *testing.T) {
	t.Parallel()
	cfg := Config{Path: filepath.Join(t.TempDir(), "docket.db"), Readers: 10}
	b, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	for range 10 {
		conn, err := b.readers.Conn(t.Context()) // kept, so that the next one is new
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		wantSettings(t, conn, "1")
	}
	if open := b.readers.Stats().OpenConnections; open != 10 {
		t.Fatalf("%d connections are open, want 10", open)
	}
	publish(t, b, owner(""))
	wantSettings(t, b.writer.conn, "0")
	b.writer.discard()
	publish(t, b, owner("again"))
	wantSettings(t, b.writer.conn, "0")
}

func wantSettings(t *testing.T, conn *sql.Conn, queryOnly string) {
	t.Helper()
	for pragma, want := range map[string]string{
		"journal_mode": "wal", "foreign_keys": "1", "busy_timeout": "25", "synchronous": "2", "query_only": queryOnly,
	} {
		var got string
		if err := conn.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %q, %v; want %q", pragma, got, err, want)
		}
	}
}

func TestNewerSchemaIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "docket.db")
	b := openAt(t, path)
	if err := execRaw(t.Context(), b, `INSERT INTO docket_schema (version) VALUES (?)`, schemaVersion+1); err != nil {
		t.Fatal(err)
	}
	refused, err := Open(t.Context(), Config{Path: path})
	var schema *SchemaError
	if refused != nil || !errors.As(err, &schema) || !errors.Is(err, ports.ErrUnsupported) {
		t.Fatalf("Open answered %v, %v; want a *SchemaError", refused, err)
	}
	if schema.Have != schemaVersion+1 || schema.Want != schemaVersion || schema.Path != path {
		t.Errorf("the error tells %+v", schema)
	}
}

// Processes that start together on a new file all end up with one schema; a
// host's own tables and user_version stay what they are.
func TestConcurrentFirstOpen(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "docket.db")
	host, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	if _, err := host.ExecContext(t.Context(), `PRAGMA user_version = 7; CREATE TABLE runs (mine TEXT); INSERT INTO runs VALUES ('kept')`); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 5 {
		group.Go(func() {
			b, err := Open(t.Context(), Config{Path: path})
			if err != nil {
				t.Error(err)
				return
			}
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	var versions, user int64
	var kept string
	err = errors.Join(
		host.QueryRowContext(t.Context(), `SELECT count(*) FROM docket_schema`).Scan(&versions),
		host.QueryRowContext(t.Context(), `PRAGMA user_version`).Scan(&user),
		host.QueryRowContext(t.Context(), `SELECT mine FROM runs`).Scan(&kept))
	if err != nil || versions != schemaVersion || user != 7 || kept != "kept" {
		t.Errorf("%d schema versions, user_version %d, row %q, %v", versions, user, kept, err)
	}
}

func TestClosedBackend(t *testing.T) {
	t.Parallel()
	b := openFresh(t)
	ref := publish(t, b, owner(""))
	tx, err := b.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	wakes, err := b.Wakes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Errorf("a second Close answered %v", err)
	}
	<-wakes // the first wake
	if _, open := <-wakes; open {
		t.Error("the wakes go on after Close")
	}
	_, inserted := b.InsertRun(t.Context(), ports.InsertRun{Transition: first("r", ref)})
	_, fetched := b.FetchRun(t.Context(), ports.FetchRun{Scope: ports.System(), RunID: "r"})
	_, claimed := b.ClaimRuns(t.Context(), ports.ClaimRuns{Scope: ports.System(), Limit: 1, TTL: 1e9, MaxAttempts: 1})
	_, begun := b.Begin(t.Context())
	_, subscribed := b.Wakes(t.Context())
	for what, err := range map[string]error{
		"InsertRun": inserted, "FetchRun": fetched, "ClaimRuns": claimed, "Begin": begun, "Wakes": subscribed,
		"Commit of a transaction": tx.Commit(t.Context()),
	} {
		if !errors.Is(err, ports.ErrClosed) {
			t.Errorf("%s answered %v, want ErrClosed", what, err)
		}
	}
}
