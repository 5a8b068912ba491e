package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"

	_ "modernc.org/sqlite" // the driver, for writes behind the backend's back

	"github.com/docket-go/docket/conformance"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// behind runs one statement on the backend's file through a connection of its
// own, and wants it to touch one row.
func (f *files) behind(ctx context.Context, b ports.Backend, statement string, args ...any) (err error) {
	source := url.URL{Scheme: "file", Opaque: f.path(b), RawQuery: "_pragma=busy_timeout(5000)&_pragma=foreign_keys(1)"}
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

// corrupt replaces the first byte of the stored bytes and keeps their length.
func (f *files) corrupt(ctx context.Context, b ports.Backend, t conformance.Target) error {
	const flip = `CAST('~' || substr(%[1]s, 2) AS BLOB)`
	switch {
	case t.Ref.ID != "":
		return f.behind(ctx, b, fmt.Sprintf(`UPDATE docket_graph_versions SET document = `+flip+`
			WHERE owner = ? AND graph_id = ? AND hash = ?`, "document"), ownerKey(t.Owner), t.Ref.ID, t.Ref.Hash)
	case t.Seq != 0:
		return f.behind(ctx, b, fmt.Sprintf(`UPDATE docket_events SET payload = `+flip+`
			WHERE run = (SELECT id FROM docket_runs WHERE run_id = ?) AND seq = ?`, "payload"), t.RunID, t.Seq)
	}
	return f.behind(ctx, b, fmt.Sprintf(`UPDATE docket_run_documents SET document = `+flip+`
		WHERE run = (SELECT id FROM docket_runs WHERE run_id = ?)`, "document"), t.RunID)
}

// ownerKey is the adapter's mapping of owners to keys.
func ownerKey(o record.Owner) string {
	if o.Tenant == "" {
		return "-"
	}
	return "+" + o.Tenant
}

// rawWrite tries to give a healthy, due, running row a forbidden shape.
func (f *files) rawWrite(ctx context.Context, b ports.Backend, runID string, shape conformance.Shape) error {
	changes := map[conformance.Shape]string{
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
	set, known := changes[shape]
	if !known {
		return nil // not refused: the case must notice a shape that isn't tried
	}
	return f.behind(ctx, b, `UPDATE docket_runs SET `+set+` WHERE run_id = ?`, runID)
}
