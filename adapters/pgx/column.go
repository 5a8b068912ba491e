package postgres

import (
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// scopeKey is what the generated column scope_key holds for an owner: never
// NULL, injective, and no tenant is spelled like nobody.
func scopeKey(o record.Owner) string {
	if o.Tenant == "" {
		return "-"
	}
	return "+" + o.Tenant
}

// limitedTo is the scope key that a scope is limited to, NULL under System.
// Statements compare with ($n::text IS NULL OR scope_key = $n).
func limitedTo(s ports.Scope) any {
	if s.Kind == ports.ScopeSystem {
		return nil
	}
	return scopeKey(record.Owner{Tenant: s.Tenant})
}

func ownerOf(tenant pgtype.Text) record.Owner { return record.Owner{Tenant: tenant.String} }

// timeOf is a stored time that may be missing.
func timeOf(t pgtype.Timestamptz) time.Time {
	if !t.Valid {
		return time.Time{}
	}
	return t.Time.UTC()
}

// timeColumn, textColumn and limitColumn are elements of a column in which some
// may be missing.
func timeColumn(t time.Time) pgtype.Timestamptz {
	return pgtype.Timestamptz{Time: t, Valid: !t.IsZero()}
}

func textColumn(s string) pgtype.Text { return pgtype.Text{String: s, Valid: s != ""} }

func limitColumn(s ports.Scope) pgtype.Text {
	key, limited := limitedTo(s).(string)
	return pgtype.Text{String: key, Valid: limited}
}

// optional is the column form of a time that may be missing.
func optional(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t
}

// blob keeps an empty slice from becoming NULL.
func blob(data []byte) []byte {
	if data == nil {
		return []byte{}
	}
	return data
}

// checksum reads a stored checksum. One of another length can't be of the
// record's bytes: it stays zero, and the reader's Verify tells (EVT-7).
func checksum(data []byte) (sum record.Checksum) {
	if len(data) == len(sum) {
		copy(sum[:], data)
	}
	return sum
}
