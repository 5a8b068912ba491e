package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/docket-go/docket/adapters/pgx/internal/cluster"
)

// server is the one that all tests of the process share: each has a schema or a
// database of its own on it.
var server struct {
	url     string           // "" without a server
	cluster *cluster.Cluster // nil for a server of somebody else's
	missing error
}

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	if role := os.Getenv(roleVariable); role != "" {
		return playRole(role)
	}
	defer func() {
		if server.cluster != nil {
			_ = server.cluster.Close()
		}
	}()
	if server.url = os.Getenv("DOCKET_TEST_DATABASE_URL"); server.url != "" {
		fmt.Println("postgres: testing on DOCKET_TEST_DATABASE_URL")
	} else if c, err := cluster.Start(context.Background(), cluster.Config{}); err == nil {
		server.cluster, server.url = c, c.URL("postgres")
		fmt.Println("postgres: testing on a throw-away cluster")
	} else {
		server.missing = err
		fmt.Println("postgres: no server to test on, so what needs one is skipped:", err)
	}
	return m.Run()
}

// needServer skips, or fails where a server is a must.
func needServer(t testing.TB) {
	t.Helper()
	if server.url != "" {
		return
	}
	const say = "set DOCKET_TEST_DATABASE_URL or install the PostgreSQL server (%v)"
	if os.Getenv("CI") != "" || os.Getenv("DOCKET_REQUIRE_POSTGRES") == "1" {
		t.Fatalf("no PostgreSQL: "+say, server.missing)
	}
	t.Skipf(say, server.missing)
}

// needCluster is for tests that stop the server or change its settings.
func needCluster(t testing.TB) {
	t.Helper()
	needServer(t)
	if server.cluster == nil {
		t.Skip("the server is somebody else's: it isn't stopped")
	}
}

func open(t testing.TB, url string, conns int32, change ...func(*pgxpool.Config)) *pgxpool.Pool {
	t.Helper()
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	cfg.MaxConns = conns
	for _, c := range change {
		c(cfg)
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// shared is the pool of the tests that change nothing about the server.
var shared = sync.OnceValues(func() (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(server.url)
	if err != nil {
		return nil, err
	}
	cfg.MaxConns = 16
	return pgxpool.NewWithConfig(context.Background(), cfg)
})

func sharedPool(t testing.TB) *pgxpool.Pool {
	t.Helper()
	needServer(t)
	pool, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return pool
}

var named atomic.Int64

// freshName is a name that no other test has; capitals, a space and a quote make
// it one that must be quoted everywhere.
func freshName() string { return fmt.Sprintf(`Docket "%d" %d`, os.Getpid(), named.Add(1)) }

// openFresh returns a backend in a migrated schema of its own.
func openFresh(t testing.TB) *Backend {
	t.Helper()
	return openOn(t, sharedPool(t), Config{})
}

func openOn(t testing.TB, pool *pgxpool.Pool, cfg Config) *Backend {
	t.Helper()
	cfg.Schema = freshName()
	migrateFresh(t, pool, cfg.Schema)
	return openAt(t, pool, cfg)
}

func openAt(t testing.TB, pool *pgxpool.Pool, cfg Config) *Backend {
	t.Helper()
	b, err := New(t.Context(), pool, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return b
}

// migrateFresh makes a schema that goes with the test.
func migrateFresh(t testing.TB, pool *pgxpool.Pool, schema string) {
	t.Helper()
	if err := Migrate(t.Context(), pool, schema); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		if err := MigrateDown(ctx, pool, schema, 0); err != nil {
			t.Errorf("migrating down: %v", err)
		}
		if _, err := pool.Exec(ctx, "DROP SCHEMA "+place(schema).quoted()); err != nil {
			t.Errorf("the schema isn't empty after migrating down: %v", err)
		}
	})
}

// freshDatabase makes a database with the given ending of CREATE DATABASE and
// settings, and returns its connection string.
func freshDatabase(t testing.TB, ending string, settings ...string) string {
	t.Helper()
	pool := sharedPool(t)
	name := pgx.Identifier{freshName()}
	if _, err := pool.Exec(t.Context(), "CREATE DATABASE "+name.Sanitize()+" TEMPLATE template0 "+ending); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, err := pool.Exec(context.WithoutCancel(t.Context()), "DROP DATABASE "+name.Sanitize()+" WITH (FORCE)")
		if err != nil {
			t.Error(err)
		}
	})
	for _, s := range settings {
		if _, err := pool.Exec(t.Context(), "ALTER DATABASE "+name.Sanitize()+" SET "+s); err != nil {
			t.Fatal(err)
		}
	}
	cfg, err := pgx.ParseConfig(server.url)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Database = name[0]
	return urlOf(cfg)
}

func execRaw(ctx context.Context, b *Backend, sql string, args ...any) error {
	tag, err := b.pool.Exec(ctx, b.place.sql(sql), args...)
	if err == nil && tag.RowsAffected() != 1 {
		err = errors.New("it touched " + tag.String())
	}
	return err
}
