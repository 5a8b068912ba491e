package pgxtest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	postgres "github.com/docket-go/docket/adapters/pgx"
	"github.com/docket-go/docket/adapters/pgx/pgxtest"
	"github.com/docket-go/docket/adapters/pgx/pgxtest/internal/image"
	"github.com/docket-go/docket/conformance"
	"github.com/docket-go/docket/ports"
)

func TestMain(m *testing.M) { os.Exit(pgxtest.Run(m)) }

func TestDatabase(t *testing.T) {
	t.Parallel()
	first, second := pgxtest.Database(t), pgxtest.Database(t)
	if first == second {
		t.Errorf("two databases are one: %s", first)
	}
	for _, source := range []string{first, second} {
		conn, err := pgx.Connect(t.Context(), source)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Exec(t.Context(), "CREATE TABLE t ()"); err != nil {
			t.Error(err)
		}
		if err := conn.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// TestCrash stops a server under a client and starts it again: what was committed
// is still there.
func TestCrash(t *testing.T) {
	t.Parallel()
	server, err := pgxtest.Find(t.Context())
	if errors.Is(err, pgxtest.ErrNone) && !pgxtest.Required() {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := server.Crash(); errors.Is(err, pgxtest.ErrForeign) {
		if err := server.Resume(t.Context()); !errors.Is(err, pgxtest.ErrForeign) {
			t.Errorf("Resume: %v", err)
		}
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	if _, err := pgx.Connect(t.Context(), server.URL); err == nil {
		t.Error("a crashed server lets somebody in")
	}
	if err := server.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	pool, err := pgxpool.New(t.Context(), server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	if _, err := pool.Exec(t.Context(), "CREATE TABLE kept ()"); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(server.Crash(), server.Resume(t.Context())); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	if _, err := conn.Exec(t.Context(), "TABLE kept"); err != nil {
		t.Errorf("what was committed before the crash: %v", err)
	}
}

// TestDocker certifies the adapter on a server in Docker, in an image that is
// built from what is installed here, because none can be pulled everywhere.
func TestDocker(t *testing.T) {
	if os.Getenv("DOCKET_TEST_DOCKER") != "1" {
		t.Skip("it builds an image: set DOCKET_TEST_DOCKER=1 to run it")
	}
	if out, err := exec.Command("docker", "info").CombinedOutput(); err != nil {
		t.Fatalf("DOCKET_TEST_DOCKER=1, and no Docker engine answers: start one, or unset it: %v\n%s", err, out)
	}
	const tag = "docket-postgres:local"
	t.Cleanup(func() { _ = exec.Command("docker", "image", "rm", tag).Run() })
	if err := image.Build(t.Context(), tag, "testdata/image"); err != nil {
		t.Fatal(err)
	}
	t.Setenv(pgxtest.URLVariable, "")
	t.Setenv(pgxtest.ImageVariable, tag)
	server, err := pgxtest.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Log("testing on", server.Way)
	pool, err := pgxpool.New(t.Context(), server.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	var stores atomic.Int64
	conformance.Run(t, conformance.Harness{
		Name: "postgres in Docker",
		Open: func(ctx context.Context) (ports.Backend, error) {
			schema := fmt.Sprint("store", stores.Add(1))
			if err := postgres.Migrate(ctx, pool, schema); err != nil {
				return nil, err
			}
			return postgres.New(ctx, pool, postgres.Config{Schema: schema})
		},
	})
}

// TestImageThatIsNotThere is told as such, and not as a machine without servers.
func TestImageThatIsNotThere(t *testing.T) {
	t.Setenv(pgxtest.URLVariable, "")
	t.Setenv(pgxtest.ImageVariable, "docket-postgres:there-is-no-such-tag")
	t.Setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
	_, err := pgxtest.Find(t.Context())
	if err == nil || errors.Is(err, pgxtest.ErrNone) {
		t.Errorf("got %v, want an error about the image", err)
	}
}

func TestGivenServer(t *testing.T) {
	t.Setenv(pgxtest.URLVariable, "postgres://example")
	server, err := pgxtest.Find(t.Context())
	if err != nil || server.URL != "postgres://example" || server.Way != pgxtest.URLVariable {
		t.Errorf("%+v, %v", server, err)
	}
}
