package postgres

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/docket-go/docket/conformance"
	"github.com/docket-go/docket/ports"
)

// hostile are settings that a database may come with. None of them may change an
// answer.
var hostile = []string{
	"default_transaction_isolation = 'serializable'",
	"TimeZone = 'Asia/Kathmandu'",
	"DateStyle = 'German, DMY'",
	"IntervalStyle = 'sql_standard'",
	"search_path = ''",
	"standard_conforming_strings = off",
	"bytea_output = 'escape'",
	"lock_timeout = '8s'",
	"statement_timeout = '8s'",
	"plan_cache_mode = 'force_generic_plan'",
	"default_transaction_deferrable = on",
}

// icu is a locale in which text isn't ordered by its bytes.
const icu = `LOCALE_PROVIDER icu ICU_LOCALE 'en-US' LOCALE 'C' ENCODING 'UTF8'`

// TestConformanceOnHostileSettings runs the whole suite once more, on a database
// that does everything its own way, through a pool of one connection (LIF-4).
func TestConformanceOnHostileSettings(t *testing.T) {
	t.Parallel()
	url := freshDatabase(t, icu, hostile...)
	if got := orderedBy(t, url, ""); slices.IsSortedFunc(got, strings.Compare) {
		t.Fatalf("the database orders text by its bytes: %q; it proves nothing", got)
	}
	conformance.Run(t, harness(t, open(t, url, 1), Config{}))
}

func orderedBy(t *testing.T, url, collation string) []string {
	t.Helper()
	rows, err := open(t, url, 1).Query(t.Context(),
		`SELECT x FROM unnest('{B,Z,a,a-b,a_b,ab,run-1,run_10,é}'::text[]) AS u (x) ORDER BY x `+collation)
	if err != nil {
		t.Fatal(err)
	}
	got, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestConformanceWithoutSessions runs the core of the suite as behind a
// transaction pooler: no prepared statement, no LISTEN.
func TestConformanceWithoutSessions(t *testing.T) {
	t.Parallel()
	needServer(t)
	pool := open(t, server.url, 4, func(c *pgxpool.Config) {
		c.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	})
	h := harness(t, pool, Config{PollOnly: true})
	h.Reopen, h.Crash, h.Spawn = nil, nil, nil
	conformance.Run(t, h)
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, ending string
		settings     []string
		want         error
		text         string
	}{
		{"a database that isn't UTF8", "ENCODING 'LATIN1' LOCALE 'C'", nil, ports.ErrUnsupported, "UTF8"},
		{"a database without tables", "", nil, ports.ErrUnsupported, "postgres.Migrate"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			pool := open(t, freshDatabase(t, tc.ending, tc.settings...), 2)
			if _, err := New(t.Context(), pool, Config{}); !errors.Is(err, tc.want) || !strings.Contains(err.Error(), tc.text) {
				t.Errorf("got %v, want %v that says %q", err, tc.want, tc.text)
			}
		})
	}
}

// TestReadOnlyByDefault: the adapter asks for read-write transactions by itself.
func TestReadOnlyByDefault(t *testing.T) {
	t.Parallel()
	pool := open(t, freshDatabase(t, "", "default_transaction_read_only = on"), 2)
	if err := Migrate(t.Context(), pool, ""); err != nil {
		t.Fatal(err)
	}
	b := openAt(t, pool, Config{})
	insert(t, b, "r", publish(t, b, owner("")))
	claimOne(t, b, epoch)
}

// TestReadOnlyServer: what a server refuses because it takes no writes is typed.
func TestReadOnlyServer(t *testing.T) {
	t.Parallel()
	b := openFresh(t)
	tx, err := b.pool.BeginTx(t.Context(), pgx.TxOptions{AccessMode: pgx.ReadOnly})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback(t.Context()) })
	v := version("g", "{}")
	_, err = b.WithTx(tx).SaveGraph(t.Context(), ports.SaveGraph{Version: v})
	var readOnly *ReadOnlyError
	if !errors.As(err, &readOnly) || !errors.Is(err, ports.ErrUnavailable) {
		t.Errorf("got %v, want a *ReadOnlyError that is ErrUnavailable", err)
	}
	standby := serverFacts{version: minVersion, encoding: "UTF8", standby: true}
	if err := standby.check("New"); !errors.As(err, &readOnly) || !errors.Is(err, ports.ErrUnavailable) {
		t.Errorf("a standby: %v", err)
	}
	old := serverFacts{version: minVersion - 1, encoding: "UTF8"}
	if err := old.check("New"); !errors.Is(err, ports.ErrUnsupported) {
		t.Errorf("an old server: %v", err)
	}
}
