package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/docket-go/docket/ports"
)

// TestMapError: what the server said, and whether it can have stored anything.
func TestMapError(t *testing.T) {
	t.Parallel()
	server := func(severity, code string) error {
		return fmt.Errorf("around: %w", &pgconn.PgError{SeverityUnlocalized: severity, Code: code})
	}
	for _, tc := range []struct {
		name                     string
		err                      error
		unsent, reading, writing ports.Code
	}{
		{"link lost", io.ErrUnexpectedEOF, ports.CodeUnavailable, ports.CodeUnavailable, ports.CodeUncertain},
		{"context ended", context.Canceled, ports.CodeUnavailable, ports.CodeUnavailable, ports.CodeUncertain},
		{"session ended", server("FATAL", "57P01"), ports.CodeUnavailable, ports.CodeUnavailable, ports.CodeUncertain},
		{"completion unknown", server("ERROR", "40003"), ports.CodeUnavailable, ports.CodeUnavailable, ports.CodeUncertain},
		{"no connections left", server("ERROR", "53300"), ports.CodeUnavailable, ports.CodeUnavailable, ports.CodeUnavailable},
		{"deadlock", server("ERROR", "40P01"), ports.CodeUnavailable, ports.CodeUnavailable, ports.CodeUnavailable},
		{"serialization", server("ERROR", "40001"), ports.CodeUnavailable, ports.CodeUnavailable, ports.CodeUnavailable},
		{"lock time-out", server("ERROR", "55P03"), ports.CodeUnavailable, ports.CodeUnavailable, ports.CodeUnavailable},
		{"statement time-out", server("ERROR", "57014"), ports.CodeUnavailable, ports.CodeUnavailable, ports.CodeUnavailable},
		{"read-only", server("ERROR", "25006"), ports.CodeUnavailable, ports.CodeUnavailable, ports.CodeUnavailable},
		{"disk full", server("ERROR", "53100"), ports.CodeUnavailable, ports.CodeUnavailable, ports.CodeUnavailable},
		{"a number is taken", server("ERROR", "23505"), ports.CodeConflict, ports.CodeConflict, ports.CodeConflict},
		{"a rule of the table", server("ERROR", "23514"), ports.CodeCorrupt, ports.CodeCorrupt, ports.CodeCorrupt},
		{"damaged page", server("ERROR", "XX001"), ports.CodeCorrupt, ports.CodeCorrupt, ports.CodeCorrupt},
		{"COMMIT rolled back", pgx.ErrTxCommitRollback, ports.CodeUnavailable, ports.CodeUnavailable, ports.CodeUnavailable},
		{"transaction is over", pgx.ErrTxClosed, ports.CodeClosed, ports.CodeClosed, ports.CodeClosed},
		{"an answer", ports.Stale("x"), ports.CodeStale, ports.CodeStale, ports.CodeStale},
	} {
		for at, want := range map[stage]ports.Code{unsent: tc.unsent, reading: tc.reading, writing: tc.writing} {
			got := mapError("Op", tc.err, at)
			if ports.CodeOf(got) != want {
				t.Errorf("%s at stage %d: %v, want %s", tc.name, at, got, want)
			}
			if !errors.Is(got, tc.err) {
				t.Errorf("%s at stage %d: the driver's error can't be reached from %v", tc.name, at, got)
			}
		}
	}
	if err := mapError("Op", nil, writing); err != nil {
		t.Errorf("no error became %v", err)
	}
}

func TestRepeatable(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]bool{"40001": true, "40P01": true, "23505": false, "57014": false, "57P01": false, "0A000": false} {
		if got := repeatable(fmt.Errorf("around: %w", &pgconn.PgError{Code: code})); got != want {
			t.Errorf("%s: %v", code, got)
		}
	}
	if !repeatable(&pgconn.PgError{Code: "0A000", Message: "cached plan must not change result type"}) {
		t.Error("a plan that a migration outdated isn't sent again")
	}
	if repeatable(io.EOF) {
		t.Error("a lost link is sent again without knowing")
	}
}

// TestPlansSurviveAMigration: a table that changes under prepared statements
// costs no caller an error.
func TestPlansSurviveAMigration(t *testing.T) {
	t.Parallel()
	needServer(t)
	b := openOn(t, open(t, server.url, 1), Config{})
	insert(t, b, "r", publish(t, b, owner("")))
	claimOne(t, b, epoch)
	if err := MigrateDown(t.Context(), b.pool, b.cfg.Schema, 1); err != nil { // the views would hold the column
		t.Fatal(err)
	}
	for n, kind := range []string{"integer", "bigint"} {
		_, err := b.pool.Exec(t.Context(), b.place.sql(`ALTER TABLE docket.docket_runs ALTER COLUMN step TYPE `+kind))
		if err != nil {
			t.Fatal(err)
		}
		inspect(t, b, "r")
		claimOne(t, b, epoch.Add(time.Duration(n+1)*time.Hour))
	}
}

func TestConfigRefuses(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]Config{
		"Schema":         {Schema: strings.Repeat("x", 64)},
		"Listen":         {PollOnly: true, Listen: &pgx.ConnConfig{}},
		"Heartbeat":      {Heartbeat: -1},
		"AcquireTimeout": {AcquireTimeout: -1},
		"CancelGrace":    {CancelGrace: -1},
	} {
		_, err := New(t.Context(), nil, cfg)
		if !errors.Is(err, ports.ErrInvalid) || !strings.Contains(err.Error(), "Config."+name) {
			t.Errorf("%s: %v, want ErrInvalid that names it", name, err)
		}
	}
	if _, err := New(t.Context(), nil, Config{}); !errors.Is(err, ports.ErrInvalid) {
		t.Errorf("no pool: %v", err)
	}
}

// TestClosedPool: the host closed the pool under the backend.
func TestClosedPool(t *testing.T) {
	t.Parallel()
	needServer(t)
	home := openFresh(t)
	pool, err := pgxpool.New(t.Context(), server.url)
	if err != nil {
		t.Fatal(err)
	}
	b := openAt(t, pool, home.cfg)
	pool.Close()
	if _, err := b.ListRuns(t.Context(), ports.ListRuns{Scope: ports.System()}); !errors.Is(err, ports.ErrUnavailable) {
		t.Errorf("got %v, want ErrUnavailable", err)
	}
}

// TestViews: state and payloads are json for people, whatever they hold.
func TestViews(t *testing.T) {
	t.Parallel()
	b := openFresh(t)
	tr := first("r", publish(t, b, owner("")))
	tr.Run.Document = []byte(`{"nul":"a\u0000b","big":9007199254740993,"one":1e2}`)
	tr.Events[0].Payload = []byte(`{"lone":"\ud83d\ude00","nul":"\u0000"}`)
	if _, err := b.InsertRun(t.Context(), ports.InsertRun{Transition: tr, Now: epoch}); err != nil {
		t.Fatal(err)
	}
	var state, payload string
	err := b.pool.QueryRow(t.Context(), b.place.sql(`SELECT s.state::text, e.payload::text
		FROM docket.docket_run_states s JOIN docket.docket_event_payloads e USING (run_id) WHERE s.run_id = 'r'`)).Scan(&state, &payload)
	if err != nil || state != string(tr.Run.Document) || payload != string(tr.Events[0].Payload) {
		t.Errorf("%s %s, %v", state, payload, err)
	}
}
