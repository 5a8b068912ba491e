package pgxtest

import (
	"context"
	"errors"
	"os"

	"github.com/docket-go/docket/adapters/pgx/internal/cluster"
)

// The variables that say which server to take.
const (
	URLVariable     = "DOCKET_TEST_DATABASE_URL"
	ImageVariable   = "DOCKET_TEST_POSTGRES_IMAGE"
	RequireVariable = "DOCKET_REQUIRE_POSTGRES"
)

// ErrNone says that there is no server to be found here, and what would help.
var ErrNone = errors.New("pgxtest: no PostgreSQL here: set " + URLVariable + " to a server's URL, or " +
	ImageVariable + " to an image for Docker, or install the PostgreSQL server (initdb, postgres)")

// Server is a server to test on.
type Server struct {
	// URL of a database on it, as a role that may create databases.
	URL string
	// Way says how it was found.
	Way string

	stop    func() error
	cluster *cluster.Cluster // nil unless it is a throw-away one
}

// Close stops what Find started. It leaves a server of somebody else's alone.
func (s *Server) Close() error { return s.stop() }

// ErrForeign says that a server isn't ours to stop in the middle of a test.
var ErrForeign = errors.New("pgxtest: only a throw-away cluster is crashed: this server is " +
	URLVariable + "'s or runs in Docker")

// Crash stops the server without a checkpoint or a word to its clients (mode
// immediate), for tests of what survives that. It answers ErrForeign unless the
// server is a throw-away cluster.
func (s *Server) Crash() error {
	if s.cluster == nil {
		return ErrForeign
	}
	return s.cluster.Crash()
}

// Resume starts a crashed server again, at the same URL.
func (s *Server) Resume(ctx context.Context) error {
	if s.cluster == nil {
		return ErrForeign
	}
	return s.cluster.Resume(ctx)
}

// Find finds a server, the first of the three ways that is there. It answers
// ErrNone when none is, and another error when one is there and doesn't work.
func Find(ctx context.Context) (*Server, error) {
	if url := os.Getenv(URLVariable); url != "" {
		return &Server{URL: url, Way: URLVariable, stop: func() error { return nil }}, nil
	}
	if image := os.Getenv(ImageVariable); image != "" {
		return startContainer(ctx, image)
	}
	c, err := cluster.Start(ctx, cluster.Config{})
	switch {
	case errors.Is(err, cluster.ErrNotInstalled):
		return nil, ErrNone
	case err != nil:
		return nil, err
	}
	return &Server{URL: c.URL("postgres"), Way: "a throw-away cluster", stop: c.Close, cluster: c}, nil
}

// Required reports whether tests must not be skipped for want of a server.
func Required() bool {
	return os.Getenv("CI") != "" || os.Getenv(RequireVariable) == "1"
}
