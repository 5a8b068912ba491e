package pgxtest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
)

// TB is what Database needs of a *testing.T.
type TB interface {
	Helper()
	Context() context.Context
	Cleanup(func())
	Skip(args ...any)
	Fatal(args ...any)
	Errorf(format string, args ...any)
}

// shared is the process's server, once a test asked for it.
var shared struct {
	once   sync.Once
	server *Server
	err    error
	count  atomic.Int64
}

// Run runs the tests and then stops the server that they used. It is for
// TestMain, which must not end the process before.
func Run(m interface{ Run() int }) (code int) {
	defer func() {
		if shared.server == nil {
			return
		}
		if err := shared.server.Close(); err != nil {
			fmt.Fprintln(os.Stderr, "pgxtest: stopping the server:", err)
			code = max(code, 1)
		}
	}()
	return m.Run()
}

func start() (*Server, error) {
	shared.once.Do(func() {
		shared.server, shared.err = Find(context.Background())
		if shared.err == nil {
			fmt.Fprintln(os.Stderr, "pgxtest: testing on", shared.server.Way)
		} else {
			fmt.Fprintln(os.Stderr, shared.err)
		}
	})
	return shared.server, shared.err
}

// Database makes an empty database in UTF8 that goes with the test, and returns
// its connection string. Without a server it skips the test, or fails it where
// one is Required.
func Database(t TB) string {
	t.Helper()
	server, err := start()
	if err != nil {
		if errors.Is(err, ErrNone) && !Required() {
			t.Skip(err)
		}
		t.Fatal(err)
	}
	name := fmt.Sprintf("pgxtest_%d_%d", os.Getpid(), shared.count.Add(1))
	if err := administer(t.Context(), server, "CREATE DATABASE "+name+" TEMPLATE template0 ENCODING 'UTF8'"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		err := administer(context.WithoutCancel(t.Context()), server, "DROP DATABASE "+name+" WITH (FORCE)")
		if err != nil {
			t.Errorf("pgxtest: %v", err)
		}
	})
	return onDatabase(server.URL, name)
}

func administer(ctx context.Context, s *Server, statement string) error {
	conn, err := pgx.Connect(ctx, s.URL)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	_, err = conn.Exec(ctx, statement, pgx.QueryExecModeSimpleProtocol)
	return err
}

// onDatabase is a connection string for another database of the same server, in
// either form, URL or keywords.
func onDatabase(source, name string) string {
	if u, err := url.Parse(source); err == nil && u.Scheme != "" {
		u.Path = "/" + name
		return u.String()
	}
	return source + " dbname=" + name
}
