package pgxtest

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/ory/dockertest/v3"
	"github.com/ory/dockertest/v3/docker"
)

// containerLife is when Docker ends a container whose tests were killed.
const containerLife = 30 * time.Minute

// startContainer runs an image that behaves like Docker's official one: it takes
// POSTGRES_PASSWORD and listens on 5432.
func startContainer(ctx context.Context, image string) (*Server, error) {
	fail := func(err error) (*Server, error) {
		return nil, fmt.Errorf("pgxtest: %s=%s: %w", ImageVariable, image, err)
	}
	pool, err := dockertest.NewPool("")
	if err != nil {
		return fail(err)
	}
	if err := pool.Client.PingWithContext(ctx); err != nil {
		return fail(fmt.Errorf("no Docker: %w", err))
	}
	repository, tag := splitImage(image)
	password := rand.Text()
	container, err := pool.RunWithOptions(&dockertest.RunOptions{
		Repository: repository, Tag: tag, Env: []string{"POSTGRES_PASSWORD=" + password},
	}, func(h *docker.HostConfig) { h.AutoRemove = true })
	if err != nil {
		return fail(err)
	}
	stop := func() error { return pool.Purge(container) }
	if err := container.Expire(uint(containerLife.Seconds())); err != nil {
		_ = stop()
		return fail(err)
	}
	u := url.URL{
		Scheme: "postgres", User: url.UserPassword("postgres", password),
		Host: container.GetHostPort("5432/tcp"), Path: "/postgres", RawQuery: "sslmode=disable",
	}
	pool.MaxWait = time.Minute
	err = pool.Retry(func() error {
		conn, err := pgx.Connect(ctx, u.String())
		if err != nil {
			return err
		}
		return conn.Close(ctx)
	})
	if err != nil {
		_ = stop()
		return fail(err)
	}
	return &Server{URL: u.String(), Way: "the image " + image + " in Docker", stop: stop}, nil
}

// splitImage takes the tag off; a colon before a slash belongs to a registry's
// port.
func splitImage(image string) (repository, tag string) {
	colon := strings.LastIndexByte(image, ':')
	if colon < 0 || strings.Contains(image[colon:], "/") {
		return image, "latest"
	}
	return image[:colon], image[colon+1:]
}
