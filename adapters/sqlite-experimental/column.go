package sqlite

import (
	"database/sql"
	"time"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// ownerKey is the column form of an owner. It is injective and never NULL, so
// that uniqueness and foreign keys hold for tenantless rows too, and no tenant
// can be spelled like it.
func ownerKey(o record.Owner) string {
	if o.Tenant == "" {
		return "-"
	}
	return "+" + o.Tenant
}

// ownerOf reads ownerKey back.
func ownerOf(key string) record.Owner {
	if key == "" || key[0] != '+' {
		return record.Owner{}
	}
	return record.Owner{Tenant: key[1:]}
}

// scopeKey is the owner a scope is limited to; nil, which is NULL, under System.
// Statements compare with (?n IS NULL OR owner = ?n).
func scopeKey(s ports.Scope) any {
	if s.Kind == ports.ScopeSystem {
		return nil
	}
	return ownerKey(record.Owner{Tenant: s.Tenant})
}

// timeOf is a stored time.
func timeOf(micros int64) time.Time { return time.UnixMicro(micros).UTC() }

// optionalTime is a stored time that may be missing.
func optionalTime(micros sql.NullInt64) time.Time {
	if !micros.Valid {
		return time.Time{}
	}
	return timeOf(micros.Int64)
}

// optional is the column form of a time that may be missing.
func optional(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
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
