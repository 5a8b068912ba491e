package main

import (
	"context"

	"github.com/docket-go/docket/conformance"
	"github.com/docket-go/docket/ports"
)

// corrupt flips a bit of the first stored byte.
func (s *schemas) corrupt(ctx context.Context, b ports.Backend, t conformance.Target) error {
	switch {
	case t.Ref.ID != "":
		return s.behind(ctx, b, `UPDATE %[1]s.docket_graph_versions SET document = set_byte(document, 0, get_byte(document, 0) # 1)
			WHERE coalesce(tenant, '') = $1 AND graph_id = $2 AND hash = $3`, t.Owner.Tenant, t.Ref.ID, t.Ref.Hash)
	case t.Seq != 0:
		return s.behind(ctx, b, `UPDATE %[1]s.docket_events SET payload = set_byte(payload, 0, get_byte(payload, 0) # 1)
			WHERE run = (SELECT id FROM %[1]s.docket_runs WHERE run_id = $1) AND seq = $2`, t.RunID, t.Seq)
	}
	return s.behind(ctx, b, `UPDATE %[1]s.docket_runs SET document = set_byte(document, 0, get_byte(document, 0) # 1)
		WHERE run_id = $1`, t.RunID)
}

// rawWrite tries to give a healthy, due, running row a forbidden shape.
func (s *schemas) rawWrite(ctx context.Context, b ports.Backend, runID string, shape conformance.Shape) error {
	changes := map[conformance.Shape]string{
		conformance.ShapeFinishedRunning:  `finished_at = now()`,
		conformance.ShapeTokenAlone:       `claim_token = 't', wake_at = NULL`,
		conformance.ShapeReasonAlone:      `poison_reason = 'why', wake_at = NULL`,
		conformance.ShapeNothingDue:       `wake_at = NULL`,
		conformance.ShapeWakeAndClaim:     `claim_token = 't', claimed_at = now(), claim_end = now()`,
		conformance.ShapePoisonAndWake:    `poisoned_at = now(), poison_reason = 'why'`,
		conformance.ShapeTerminalWake:     `status = 'done', finished_at = now()`,
		conformance.ShapeTerminalUnended:  `status = 'done', wake_at = NULL`,
		conformance.ShapeUnknownStatus:    `status = 'created', wake_at = NULL`,
		conformance.ShapeNegativeAttempts: `attempts = -1`,
	}
	set, known := changes[shape]
	if !known {
		return nil // not refused: the case must notice a shape that isn't tried
	}
	return s.behind(ctx, b, `UPDATE %[1]s.docket_runs SET `+set+` WHERE run_id = $1`, runID)
}
