package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// busySlice is SQLite's own busy timeout, set on every connection. It is short:
// SQLite's back-off reaches 100 ms, so that a process in a tight loop of commits
// could starve another one. Waiting in many short slices, with a fresh start of
// the back-off each, finds the gaps; Config.BusyTimeout bounds the whole.
const busySlice = 25 * time.Millisecond

// openWriters opens the pool of the one writer connection.
func openWriters(cfg Config) (*sql.DB, error) {
	db, err := sql.Open("sqlite", dsn(cfg, false))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

// openReaders opens the pool of read-only connections.
func openReaders(cfg Config) (*sql.DB, error) {
	db, err := sql.Open("sqlite", dsn(cfg, true))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(cfg.Readers)
	db.SetMaxIdleConns(cfg.Readers)
	return db, nil
}

// dsn names the file and the settings that each new connection gets from the
// driver: they are per connection, so setting them once on a pool would leave
// the other connections without.
func dsn(cfg Config, readOnly bool) string {
	path := filepath.ToSlash(cfg.Path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // C:/x → file:///C:/x
	}
	q := url.Values{}
	q.Add("_pragma", fmt.Sprintf("busy_timeout(%d)", busySlice.Milliseconds()))
	q.Add("_pragma", "foreign_keys(1)")
	q.Add("_pragma", fmt.Sprintf("synchronous(%s)", cfg.Synchronous))
	if readOnly {
		q.Add("_pragma", "query_only(1)")
	}
	u := url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}
	return u.String()
}

// useWAL puts the file into WAL mode, which is kept in the file.
func useWAL(ctx context.Context, conn *sql.Conn) error {
	var mode string
	if err := conn.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("the file system doesn't support WAL mode (journal mode stays %q); is it a network mount?", mode)
	}
	return nil
}
