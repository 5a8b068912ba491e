package cluster

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// superuser is the cluster's only role.
const superuser = "docket"

// Config says how to run a cluster. The zero value is useful.
type Config struct {
	// BinDir holds initdb and postgres. Empty: where Find finds them.
	BinDir string
	// Durable flushes commits to the disk, for benchmarks that mean something.
	Durable bool
	// Settings are further settings of the server, by name.
	Settings map[string]string
}

// Cluster is a running cluster. Its methods are safe for concurrent use.
type Cluster struct {
	cfg      Config
	dir      string
	port     int
	password string
	user     *account
	guard    io.Closer // closing it lets the guard clean up

	mu     sync.Mutex
	server *exec.Cmd // nil while it is stopped
	exited chan struct{}
}

// Start makes and starts a cluster.
func Start(ctx context.Context, cfg Config) (*Cluster, error) {
	if cfg.BinDir == "" {
		dir, err := Find()
		if err != nil {
			return nil, err
		}
		cfg.BinDir = dir
	}
	user, err := unprivileged()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "docket-postgres-")
	if err != nil {
		return nil, err
	}
	c := &Cluster{cfg: cfg, dir: dir, user: user, password: rand.Text()}
	if err := c.prepare(ctx); err != nil {
		return nil, errors.Join(err, c.remove())
	}
	if err := c.Resume(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (c *Cluster) remove() error { return os.RemoveAll(c.dir) }

// prepare runs initdb and starts the guard.
func (c *Cluster) prepare(ctx context.Context) error {
	secret := filepath.Join(c.dir, "password")
	if err := os.WriteFile(secret, []byte(c.password), 0o600); err != nil {
		return err
	}
	for _, path := range []string{c.dir, secret} {
		if err := c.user.own(path); err != nil {
			return err
		}
	}
	initdb := c.command(ctx, "initdb", "--pgdata="+c.data(), "--username="+superuser, "--pwfile="+secret,
		"--auth=md5", "--encoding=UTF8", "--locale=C", "--no-sync")
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("cluster: initdb: %w\n%s", err, out)
	}
	return c.startGuard()
}

func (c *Cluster) data() string { return filepath.Join(c.dir, "data") }

// command runs a program of PostgreSQL's as the unprivileged user, in a directory
// that it may read.
func (c *Cluster) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(c.cfg.BinDir, name), args...)
	cmd.Dir = c.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}
	c.user.become(cmd)
	return cmd
}

// guardScript waits until nobody holds the other end of its input any more,
// then stops the server, if there still is one, and removes the directory.
const guardScript = `read -r _
pid=$(head -n 1 "$1/data/postmaster.pid" 2>/dev/null) && kill -QUIT "$pid" 2>/dev/null
while [ -n "$pid" ] && kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
rm -rf "$1"`

func (c *Cluster) startGuard() error {
	guard := exec.Command("/bin/sh", "-c", guardScript, "guard", c.dir)
	guard.Dir = "/"
	c.user.become(guard)
	pipe, err := guard.StdinPipe()
	if err != nil {
		return err
	}
	if err := guard.Start(); err != nil {
		return fmt.Errorf("cluster: the guard: %w", err)
	}
	c.guard = pipe
	go func() { _ = guard.Wait() }()
	return nil
}

// Resume starts the server unless it runs, on the same port as before.
func (c *Cluster) Resume(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.server != nil {
		return nil
	}
	var err error
	for range 3 { // a port that was free may be taken by the time the server asks
		port := c.port
		if port == 0 {
			if port, err = freePort(); err != nil {
				return err
			}
		}
		if err = c.launch(ctx, port); err == nil {
			c.port = port
			return nil
		}
		if ctx.Err() != nil || c.port != 0 {
			break
		}
	}
	return err
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// launch starts the server on a port and waits until it answers; c.mu is held.
func (c *Cluster) launch(ctx context.Context, port int) error {
	log, err := os.OpenFile(filepath.Join(c.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	server := c.command(context.WithoutCancel(ctx), "postgres", c.serverArgs(port)...)
	server.Stdout, server.Stderr = log, log
	if err := server.Start(); err != nil {
		return fmt.Errorf("cluster: postgres: %w", err)
	}
	exited := make(chan struct{})
	go func() {
		_ = server.Wait()
		close(exited)
	}()
	if err := c.answers(ctx, port, exited); err != nil {
		_ = server.Process.Kill()
		<-exited
		text, _ := os.ReadFile(filepath.Join(c.dir, "log"))
		return fmt.Errorf("cluster: the server doesn't start: %w\n%s", err, text)
	}
	c.server, c.exited = server, exited
	return nil
}

func (c *Cluster) serverArgs(port int) []string {
	settings := map[string]string{
		"listen_addresses": "127.0.0.1", "port": strconv.Itoa(port), "unix_socket_directories": "",
		"max_connections": "200", "shared_buffers": "64MB", "log_min_messages": "fatal", "timezone": "UTC",
	}
	if !c.cfg.Durable {
		settings["fsync"], settings["full_page_writes"] = "off", "off"
	}
	for name, value := range c.cfg.Settings {
		settings[name] = value
	}
	args := []string{"-D", c.data()}
	for name, value := range settings {
		args = append(args, "-c", name+"="+value)
	}
	return args
}

// answers polls until the server lets somebody in.
func (c *Cluster) answers(ctx context.Context, port int, exited <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(ctx, 60*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		conn, err := pgx.Connect(ctx, c.url(port, "postgres"))
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-exited:
			return errors.New("it ended")
		case <-ctx.Done():
			return err
		case <-tick.C:
		}
	}
}

// URL is the connection string of one of the cluster's databases, as its
// superuser.
func (c *Cluster) URL(database string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.url(c.port, database)
}

func (c *Cluster) url(port int, database string) string {
	u := url.URL{
		Scheme: "postgres", User: url.UserPassword(superuser, c.password),
		Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), Path: "/" + database,
		RawQuery: "sslmode=disable",
	}
	return u.String()
}

// Address is where the server listens.
func (c *Cluster) Address() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(c.port))
}

// Crash stops the server as a crash does, without a checkpoint or a word to its
// clients (mode immediate), and returns when it is gone.
func (c *Cluster) Crash() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.server == nil {
		return nil
	}
	if err := crash(c.server.Process); err != nil {
		return err
	}
	<-c.exited
	c.server = nil
	return nil
}

// Close stops the server and removes the cluster.
func (c *Cluster) Close() error {
	err := c.Crash()
	if c.guard != nil {
		err = errors.Join(err, c.guard.Close())
	}
	return errors.Join(err, c.remove())
}
