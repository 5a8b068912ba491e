package ports

import (
	"fmt"
	"strings"
	"time"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/core/value"
)

// check collects the first thing wrong with a request's shape. The Check
// methods of all requests are built from it, so that every adapter refuses the
// same requests with the same words, before any lookup (RUN-3).
type check struct {
	op    string
	first *Error
}

func (c *check) err() error {
	if c.first == nil {
		return nil
	}
	return c.first
}

func (c *check) refuse(path, message string) {
	if c.first == nil {
		c.first = Invalid(c.op, path, message)
	}
}

func (c *check) refuseError(path string, err error) {
	if c.first == nil {
		c.first = &Error{Code: CodeInvalid, Op: c.op, Path: path, Err: err}
	}
}

// tooLarge refuses what is over one of the limits that all backends share (LIM-1).
func (c *check) tooLarge(path string, size, limit int) {
	if c.first == nil && size > limit {
		c.first = Invalid(c.op, path, fmt.Sprintf("%d is over the limit of %d", size, limit))
		c.first.Detail = DetailTooLarge
	}
}

func (c *check) id(path, id string) {
	if err := value.CheckID(id); err != nil {
		c.refuseError(path, err)
	}
}

func (c *check) name(path, name string) {
	if err := value.CheckName(name); err != nil {
		c.refuseError(path, err)
	}
}

func (c *check) hash(path, hash string) {
	ok := len(hash) == 2*len(record.Checksum{})
	for i := 0; ok && i < len(hash); i++ {
		ok = '0' <= hash[i] && hash[i] <= '9' || 'a' <= hash[i] && hash[i] <= 'f'
	}
	if !ok {
		c.refuse(path, "a graph hash is 64 lower-case hexadecimal digits")
	}
}

func (c *check) ref(path string, ref graph.Ref) {
	c.name(path+".ID", ref.ID)
	c.hash(path+".Hash", ref.Hash)
}

func (c *check) tenant(path, tenant string) {
	c.id(path, tenant)
	if strings.TrimSpace(tenant) == "" {
		c.refuse(path, "a tenant is not blank")
	}
}

func (c *check) owner(o record.Owner) {
	if o.Tenant != "" {
		c.tenant("Owner.Tenant", o.Tenant)
	}
}

// scope refuses the zero scope: missing input never means System (SCP-2).
func (c *check) scope(s Scope) {
	switch s.Kind {
	case ScopeTenant:
		c.tenant("Scope.Tenant", s.Tenant)
	case ScopeSystem, ScopeTenantless:
		if s.Tenant != "" {
			c.refuse("Scope.Tenant", "only ScopeTenant has a tenant")
		}
	default:
		c.refuse("Scope.Kind", "an operation names its scope: system, tenantless or tenant")
	}
}

func (c *check) status(path, status string) {
	if !run.Status(status).Durable() {
		c.refuse(path, fmt.Sprintf("%q is not a durable status", value.Cut(status, 64)))
	}
}

// atLeast refuses numbers below a minimum.
func (c *check) atLeast(path string, n, minimum int64) {
	if n < minimum {
		c.refuse(path, fmt.Sprintf("%d is less than %d", n, minimum))
	}
}

func (c *check) limit(path string, limit, minimum int) {
	if limit < minimum || limit > MaxPage {
		c.refuse(path, fmt.Sprintf("%d is outside %d..%d", limit, minimum, MaxPage))
	}
}

// ttl refuses durations that vanish in a store of microseconds.
func (c *check) ttl(path string, d time.Duration) {
	if d < time.Microsecond {
		c.refuse(path, "a claim lasts at least a microsecond")
	}
}

func (c *check) token(path, token string) { c.id(path, token) }

// moment refuses times that some store can't hold.
func (c *check) moment(path string, t time.Time) {
	if t.IsZero() {
		c.refuse(path, "a time is missing")
		return
	}
	c.optionalMoment(path, t)
}

func (c *check) optionalMoment(path string, t time.Time) {
	if t.IsZero() {
		return
	}
	if year := t.UTC().Year(); year < 1 || year > 9999 {
		c.refuse(path, fmt.Sprintf("year %d is outside 1..9999", year))
	}
}
