package mutants

import (
	"fmt"
	"strings"

	"github.com/docket-go/docket/conformance/model"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

var scopeMutants = []Mutant{
	{Name: "claims-of-a-tenant", Clause: "SCP-1", Off: "A tenant may claim, and gets everybody's runs.",
		rules: rules{claimRuns: func(s *model.State, req ports.ClaimRuns, token model.TokenSource) (ports.Claimed, error) {
			if req.Scope.Kind != "" {
				req.Scope = ports.System()
			}
			return s.ClaimRuns(req, token)
		}}},
	{Name: "no-scope-is-system", Clause: "SCP-2", Off: "A read without a scope is one of the system.",
		rules: reading(func(scope ports.Scope) ports.Scope {
			if scope == (ports.Scope{}) {
				return ports.System()
			}
			return scope
		})},
	{Name: "tenantless-is-a-wildcard", Clause: "SCP-2", Off: "Tenantless matches the rows of every tenant.",
		rules: reading(func(scope ports.Scope) ports.Scope {
			if scope == ports.Tenantless() {
				return ports.System()
			}
			return scope
		})},
	{Name: "tenants-fold-case", Clause: "SCP-2", Off: "Tenants that differ in case are one.",
		rules: reading(func(scope ports.Scope) ports.Scope {
			scope.Tenant = strings.ToLower(scope.Tenant)
			return scope
		})},
	{Name: "tenant-leak", Clause: "SCP-3", Off: "A fetch doesn't look at the tenant.",
		rules: rules{fetchRun: func(s *model.State, req ports.FetchRun) (ports.FetchedRun, error) {
			err := req.Check()
			if err == nil && req.Scope.Kind == ports.ScopeTenant {
				got, err := s.FetchRun(ports.FetchRun{Scope: ports.System(), RunID: req.RunID, Now: req.Now})
				got.Token = ""
				return got, err
			}
			return s.FetchRun(req)
		}}},
	{Name: "foreign-row-has-its-own-text", Clause: "SCP-3", Off: "The answer to a wrong tenant says that there is such a run.",
		rules: rules{inspectRun: func(s *model.State, req ports.InspectRun) (ports.RunInfo, error) {
			got, err := s.InspectRun(req)
			if _, there := s.Row(req.RunID); there && ports.CodeOf(err) == ports.CodeNotFound {
				err = fmt.Errorf("run of another tenant: %w", err)
			}
			return got, err
		}}},
	{Name: "foreign-row-is-stale", Clause: "SCP-3", Off: "A holder in a wrong scope is told that its claim is stale.",
		rules: rules{refreshClaim: func(s *model.State, req ports.RefreshClaim) (ports.Refreshed, error) {
			got, err := s.RefreshClaim(req)
			if _, there := s.Row(req.RunID); there && ports.CodeOf(err) == ports.CodeNotFound {
				err = ports.Stale("RefreshClaim")
			}
			return got, err
		}}},
	{Name: "strangers-signal", Clause: "SCP-3", Off: "A signal doesn't look at its scope.",
		rules: rules{commitUnclaimed: func(s *model.State, req ports.CommitUnclaimed) (ports.Committed, error) {
			if req.Scope.Kind != "" {
				req.Scope = ports.System()
			}
			return s.CommitUnclaimed(req)
		}}},
	{Name: "graphs-for-everybody", Clause: "SCP-4", Off: "What a tenant saves is there for tenantless too.",
		rules: rules{saveGraph: func(s *model.State, req ports.SaveGraph) (ports.SavedGraph, error) {
			got, err := s.SaveGraph(req)
			if v, ok := s.Graph(req.Owner, req.Version.Ref); ok && err == nil {
				s.PutGraph(record.Owner{}, v)
			}
			return got, err
		}}},
	{Name: "owner-is-rewritten", Clause: "SCP-5", Off: "A run's owner is stored in lower case.",
		rules: mendedInsert(func(r *model.Row, _ ports.InsertRun) { r.Owner.Tenant = strings.ToLower(r.Owner.Tenant) })},
}

// reading changes the scope of fetches, inspections and lists.
func reading(f func(ports.Scope) ports.Scope) rules {
	return rules{
		fetchRun: func(s *model.State, req ports.FetchRun) (ports.FetchedRun, error) {
			req.Scope = f(req.Scope)
			return s.FetchRun(req)
		},
		inspectRun: func(s *model.State, req ports.InspectRun) (ports.RunInfo, error) {
			req.Scope = f(req.Scope)
			return s.InspectRun(req)
		},
		listRuns: func(s *model.State, req ports.ListRuns) (ports.RunPage, error) {
			req.Scope = f(req.Scope)
			return s.ListRuns(req)
		},
	}
}
