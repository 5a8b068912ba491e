package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"

	"github.com/docket-go/docket/conformance"
	"github.com/docket-go/docket/conformance/wire"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// file is the database behind the backend's back. The adapter brings the driver.
type file struct {
	path string
}

// corrupt replaces the first byte of what is stored and keeps its length. The
// checksum stays, so whoever verifies must notice (EVT-7, GRF-2).
func (f *file) corrupt(ctx context.Context, _ ports.Backend, t wire.Target) error {
	const run = `(SELECT id FROM docket_runs WHERE run_id = ?)`
	flip := func(column string) string { return column + ` = CAST('~' || substr(` + column + `, 2) AS BLOB)` }
	switch {
	case t.Ref.ID != "":
		return f.exec(ctx, `UPDATE docket_graph_versions SET `+flip("document")+` WHERE owner = ? AND graph_id = ? AND hash = ?`,
			ownerKey(t.Owner), t.Ref.ID, t.Ref.Hash)
	case t.Seq != 0:
		return f.exec(ctx, `UPDATE docket_events SET `+flip("payload")+` WHERE run = `+run+` AND seq = ?`, t.RunID, t.Seq)
	}
	return f.exec(ctx, `UPDATE docket_run_documents SET `+flip("document")+` WHERE run = `+run, t.RunID)
}

// ownerKey is the adapter's mapping of owners to keys.
func ownerKey(o record.Owner) string {
	if o.Tenant == "" {
		return "-"
	}
	return "+" + o.Tenant
}

// shapes are the rows that the schema must refuse (RUN-11), as changes of a
// healthy, due, running one.
var shapes = map[conformance.Shape]string{
	conformance.ShapeFinishedRunning:  `finished_at = 1`,
	conformance.ShapeTokenAlone:       `claim_token = 't', wake_at = NULL`,
	conformance.ShapeReasonAlone:      `poison_reason = 'why', wake_at = NULL`,
	conformance.ShapeNothingDue:       `wake_at = NULL`,
	conformance.ShapeWakeAndClaim:     `claim_token = 't', claimed_at = 1, claim_end = 2`,
	conformance.ShapePoisonAndWake:    `poisoned_at = 1, poison_reason = 'why'`,
	conformance.ShapeTerminalWake:     `status = 'done', finished_at = 1`,
	conformance.ShapeTerminalUnended:  `status = 'done', wake_at = NULL`,
	conformance.ShapeUnknownStatus:    `status = 'created', wake_at = NULL`,
	conformance.ShapeNegativeAttempts: `attempts = -1`,
}

// rawWrite returns the schema's refusal. A shape that it doesn't know it must
// not call refused: it says that nothing was.
func (f *file) rawWrite(ctx context.Context, _ ports.Backend, raw wire.Raw) error {
	set, known := shapes[conformance.Shape(raw.Shape)]
	if !known {
		return nil
	}
	return f.exec(ctx, `UPDATE docket_runs SET `+set+` WHERE run_id = ?`, raw.RunID)
}

// exec runs one statement on a connection of its own and wants it to touch one
// row.
func (f *file) exec(ctx context.Context, statement string, args ...any) (err error) {
	source := url.URL{Scheme: "file", Opaque: f.path, RawQuery: "_pragma=busy_timeout(5000)&_pragma=foreign_keys(1)"}
	db, err := sql.Open("sqlite", source.String())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	done, err := db.ExecContext(ctx, statement, args...)
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); err != nil || n != 1 {
		return fmt.Errorf("%d rows instead of one (%w)", n, err)
	}
	return nil
}
