package ports

import "github.com/docket-go/docket/core/record"

// ScopeKind names whose rows an operation may see (SCP-1).
type ScopeKind string

// The scopes. The zero ScopeKind is invalid: missing input never means System
// (SCP-2).
const (
	ScopeSystem     ScopeKind = "system"
	ScopeTenantless ScopeKind = "tenantless"
	ScopeTenant     ScopeKind = "tenant"
)

// Scope says whose runs an operation addresses.
type Scope struct {
	Kind   ScopeKind
	Tenant string // only for ScopeTenant
}

// System addresses every owner's runs: the scope of dispatchers and operators.
func System() Scope { return Scope{Kind: ScopeSystem} }

// Tenantless addresses the runs that have no tenant, and only those (SCP-2).
func Tenantless() Scope { return Scope{Kind: ScopeTenantless} }

// Tenant addresses one tenant's runs.
func Tenant(id string) Scope { return Scope{Kind: ScopeTenant, Tenant: id} }

// ScopeOf returns the scope that sees exactly the owner's runs.
func ScopeOf(o record.Owner) Scope {
	if o.Tenant == "" {
		return Tenantless()
	}
	return Tenant(o.Tenant)
}

// Matches reports whether a row of the given owner is inside the scope.
func (s Scope) Matches(o record.Owner) bool {
	switch s.Kind {
	case ScopeSystem:
		return true
	case ScopeTenantless:
		return o.Tenant == ""
	case ScopeTenant:
		return o.Tenant == s.Tenant && s.Tenant != ""
	}
	return false
}
