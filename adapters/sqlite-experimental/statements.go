package sqlite

import (
	"context"
	"database/sql"
	"sync"
)

// preparer is a pool or a connection.
type preparer interface {
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
}

// statements runs SQL by its text and prepares each text once. The set of texts
// is bounded: no value is ever part of one.
type statements struct {
	from preparer

	mu       sync.RWMutex
	prepared map[string]*sql.Stmt
}

func newStatements(from preparer) *statements {
	return &statements{from: from, prepared: map[string]*sql.Stmt{}}
}

// exec runs a statement and returns how many rows it changed.
func (s *statements) exec(ctx context.Context, query string, args ...any) (int64, error) {
	stmt, err := s.prepare(ctx, query)
	if err != nil {
		return 0, err
	}
	result, err := stmt.ExecContext(ctx, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// row scans the only row of a query; sql.ErrNoRows when there is none.
func (s *statements) row(ctx context.Context, query string, args []any, dest ...any) error {
	stmt, err := s.prepare(ctx, query)
	if err != nil {
		return err
	}
	return stmt.QueryRowContext(ctx, args...).Scan(dest...)
}

// each calls scan for every row of a query. The cursor is closed when it
// returns, so that the connection is free again.
func (s *statements) each(ctx context.Context, query string, args []any, scan func(*sql.Rows) error) error {
	stmt, err := s.prepare(ctx, query)
	if err != nil {
		return err
	}
	rows, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// close ends all prepared statements. database/sql leaves those of a single
// connection to their owner, and SQLite keeps a connection alive, locks and all,
// as long as one of its statements is.
func (s *statements) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, stmt := range s.prepared {
		_ = stmt.Close()
	}
	clear(s.prepared)
}

func (s *statements) prepare(ctx context.Context, query string) (*sql.Stmt, error) {
	s.mu.RLock()
	stmt := s.prepared[query]
	s.mu.RUnlock()
	if stmt != nil {
		return stmt, nil
	}
	// Outside the lock: preparing may wait for a connection of the pool.
	stmt, err := s.from.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if first := s.prepared[query]; first != nil {
		return first, stmt.Close()
	}
	s.prepared[query] = stmt
	return stmt, nil
}
