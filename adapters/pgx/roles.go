package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/docket-go/docket/ports"
)

// roles is the port's graph, run and event operations over a database. They are
// the same alone and in a transaction.
type roles struct {
	db  database
	sql *statements
}

var _ interface {
	ports.Graphs
	ports.Runs
	ports.Events
} = roles{}

// row runs a statement that has at most one row, and reports whether it had.
func (r roles) row(ctx context.Context, op string, at stage, sql string, args []any, dest ...any) (found bool, err error) {
	err = r.db.query(ctx, op, at, sql, args, func(rows pgx.Rows) error {
		found = true
		return rows.Scan(dest...)
	})
	return found && err == nil, err
}

// clock is the parameter that replaces the store's clock; NULL keeps it, and
// each statement then judges by statement_timestamp().
func clock(asked time.Time) any {
	if asked.IsZero() {
		return nil
	}
	return asked
}

// storeTime asks for the time alone, for answers without a row to carry it.
func (r roles) storeTime(ctx context.Context, op string, asked time.Time) (time.Time, error) {
	if !asked.IsZero() {
		return asked, nil
	}
	var now pgtype.Timestamptz
	_, err := r.row(ctx, op, reading, "SELECT statement_timestamp()", nil, &now)
	return timeOf(now), err
}
