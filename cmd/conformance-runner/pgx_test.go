package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/docket-go/docket/adapters/pgx/pgxtest"
	"github.com/docket-go/docket/conformance"
)

// TestPostgresConforms certifies on a part of the suite; the adapter's own tests
// run all of it.
func TestPostgresConforms(t *testing.T) {
	t.Parallel()
	server, err := pgxtest.Find(t.Context())
	if err != nil {
		if errors.Is(err, pgxtest.ErrNone) && !pgxtest.Required() {
			t.Skip(err)
		}
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	code, out := runIn(t, "--backend", "pgx", "--dsn", server.URL, "--run", "^(commit|shape|durable|graphs)/")
	if code != conformance.ExitConformant || !strings.Contains(out, "pgx") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	if strings.Contains(out, server.URL) {
		t.Errorf("the report tells the server's URL, which holds a password:\n%s", out)
	}
}

func TestPostgresThatIsNotThere(t *testing.T) {
	t.Parallel()
	code, out := runIn(t, "--backend", "pgx", "--dsn", "postgres://127.0.0.1:1/none")
	if code != conformance.ExitCouldNotRun {
		t.Errorf("exit code %d:\n%s", code, out)
	}
}
