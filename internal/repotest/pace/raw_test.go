package pace

import (
	"crypto/sha256"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// byHand is the protocol without an engine: it knows nothing of graphs, checks
// nothing, and does only what has to reach the disk.
type byHand struct {
	pool     *pgxpool.Pool
	schema   string
	insert   string
	claim    string
	commit   string
	end      string
	commits  int // supersteps, the one that ends the run included
	document []byte
	sum      []byte
	types    []string
	payloads [][]byte
	sums     [][]byte
	hash     string
}

const (
	eventsByHand = `, events AS (
		INSERT INTO docket.docket_events (run, seq, type, step, at, recorded_at, encoding, checksum, payload)
		SELECT changed.id, changed.base + e.n, e.type, 1, statement_timestamp(), statement_timestamp(), 'json', e.checksum, e.payload
		FROM changed, unnest($1::text[], $2::bytea[], $3::bytea[]) WITH ORDINALITY AS e (type, checksum, payload, n))
		SELECT id FROM changed`

	insertByHand = `WITH changed AS (
		INSERT INTO docket.docket_runs (run_id, graph_id, graph_hash, status, step, checkpoint_seq, checkpoint_type, event_seq,
			open_interrupts, started_at, updated_at, wake_at, encoding, checksum, document)
		VALUES ($4, 'pace', $5, 'running', 0, 1, 'run_initialized', cardinality($1::text[]),
			0, statement_timestamp(), statement_timestamp(), statement_timestamp(), 'json', $6, $7)
		RETURNING id, 0 AS base)` + eventsByHand

	claimByHand = `UPDATE docket.docket_runs SET wake_at = NULL, claim_token = gen_random_uuid()::text,
			claimed_at = statement_timestamp(), claim_end = statement_timestamp() + interval '1 minute', attempts = attempts + 1
		WHERE id = (SELECT id FROM docket.docket_runs WHERE wake_at <= statement_timestamp()
			ORDER BY wake_at, run_id LIMIT 1 FOR UPDATE SKIP LOCKED)
		RETURNING run_id, claim_token, document`

	commitByHand = `WITH changed AS (
		UPDATE docket.docket_runs SET step = step + 1, checkpoint_seq = checkpoint_seq + 1, event_seq = event_seq + cardinality($1::text[]),
			updated_at = statement_timestamp(), checksum = $6, document = $7, claim_end = statement_timestamp() + interval '1 minute'
		WHERE run_id = $4 AND claim_token = $5 AND checkpoint_seq = $8
		RETURNING id, event_seq - cardinality($1::text[]) AS base)` + eventsByHand

	endByHand = `WITH changed AS (
		UPDATE docket.docket_runs SET step = step + 1, checkpoint_seq = checkpoint_seq + 1, event_seq = event_seq + cardinality($1::text[]),
			updated_at = statement_timestamp(), checksum = $6, document = $7, status = 'done', finished_at = statement_timestamp(),
			claim_token = NULL, claimed_at = NULL, claim_end = NULL
		WHERE run_id = $4 AND claim_token = $5 AND checkpoint_seq = $8
		RETURNING id, event_seq - cardinality($1::text[]) AS base)` + eventsByHand
)

// life starts a run, claims one that is due, whichever it is, and brings that to
// its end.
func (h *byHand) life(b *testing.B, id string) {
	ctx := b.Context()
	one := func(sql string, dest []any, args ...any) {
		err := h.pool.QueryRow(ctx, sql, args...).Scan(dest...)
		for sql == h.claim && errors.Is(err, pgx.ErrNoRows) { // somebody else has mine, and theirs wasn't there yet
			err = h.pool.QueryRow(ctx, sql, args...).Scan(dest...)
		}
		if err != nil {
			b.Error(err)
		}
	}
	var row int64
	one(h.insert, []any{&row}, h.types, h.sums, h.payloads, id, h.hash, h.sum, h.document)
	var token string
	var document []byte
	one(h.claim, []any{&id, &token, &document})
	for seq := range h.commits {
		sql := h.commit
		if seq == h.commits-1 {
			sql = h.end
		}
		one(sql, []any{&row}, h.types, h.sums, h.payloads, id, token, h.sum, h.document, seq+1)
	}
}

// like makes the events and the state as many and as large as those of a run
// that the engine drove.
func (h *byHand) like(b *testing.B, enginesSchema, id string) {
	var state, transitions, events, payload int
	err := h.pool.QueryRow(b.Context(), strings.ReplaceAll(`SELECT octet_length(r.document), r.checkpoint_seq, count(*), avg(octet_length(e.payload))::int
		FROM docket.docket_runs r JOIN docket.docket_events e ON e.run = r.id WHERE r.run_id = $1 GROUP BY r.id`, "docket.", enginesSchema+"."), id).
		Scan(&state, &transitions, &events, &payload)
	if err != nil {
		b.Fatal(err)
	}
	for sql, text := range map[*string]string{&h.insert: insertByHand, &h.claim: claimByHand, &h.commit: commitByHand, &h.end: endByHand} {
		*sql = strings.ReplaceAll(text, "docket.", h.schema+".")
	}
	h.commits = transitions - 1
	h.document = []byte(`"` + strings.Repeat("x", state-2) + `"`)
	sum := sha256.Sum256(h.document)
	h.sum = sum[:]
	body := []byte(`"` + strings.Repeat("x", max(payload-2, 0)) + `"`)
	bodySum := sha256.Sum256(body)
	for range (events + transitions - 1) / transitions {
		h.types = append(h.types, "checkpoint_committed")
		h.payloads, h.sums = append(h.payloads, body), append(h.sums, bodySum[:])
	}
	b.Logf("%d commits, %d bytes of state, %d events of %d bytes a transition", h.commits, state, len(h.types), payload)
}
