package conformance

import (
	"context"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

var scopeCases = []Case{
	{
		ID: "scope/missing-scope-is-invalid", Clauses: on("SCP-1 SCP-2"),
		Rule: "An operation without a scope is ErrInvalid: missing input never means System.",
		run:  missingScopeIsInvalid,
	},
	{
		ID: "scope/malformed-scope-is-invalid", Clauses: on("SCP-1"),
		Rule: "A tenant scope without a tenant, and another scope with one, are ErrInvalid.",
		run:  malformedScopeIsInvalid,
	},
	{
		ID: "scope/claims-are-system", Clauses: on("SCP-1"),
		Rule: "Runs are claimed under the system scope only.",
		run:  claimsAreSystem,
	},
	{
		ID: "scope/blank-tenant-is-invalid", Clauses: on("SCP-1"),
		Rule: "A blank tenant, or one that is no id, is ErrInvalid as an owner and as a scope.",
		run:  blankTenantIsInvalid,
	},
	{
		ID: "scope/tenantless-sees-only-tenantless", Clauses: on("SCP-2"),
		Rule: "The tenantless scope matches only rows without a tenant.",
		run:  tenantlessSeesOnlyTenantless,
	},
	{
		ID: "scope/each-scope-lists-its-own", Clauses: on("SCP-1 SCP-2"),
		Rule: "A list shows a tenant its own runs, tenantless the runs without a tenant, System all.",
		run:  eachScopeListsItsOwn,
	},
	{
		ID: "scope/strangers-learn-nothing", Clauses: on("SCP-3"),
		Rule: "Wrong tenant, tenantless on a tenant's row, and an unknown id answer ErrNotFound with one text.",
		run:  strangersLearnNothing,
	},
	{
		ID: "scope/strangers-change-nothing", Clauses: on("SCP-3"),
		Rule: "A signal, claim call or recovery from a wrong scope is ErrNotFound and writes nothing.",
		run:  strangersChangeNothing,
	},
	{
		ID: "scope/tenants-are-case-sensitive", Clauses: on("SCP-1 SCP-2"),
		Rule: "Tenants that differ in case or by a trailing space are different tenants.",
		run:  tenantsAreCaseSensitive,
	},
	{
		ID: "scope/equal-refs-are-apart", Clauses: on("SCP-4 SCP-5"),
		Rule: "Owners save equal refs without access to each other's version.",
		run:  equalRefsAreApart,
	},
	{
		ID: "scope/a-run-uses-its-owners-graph", Clauses: on("SCP-4 RUN-1"),
		Rule: "A run's graph must exist for the run's owner, whoever else has it.",
		run:  aRunUsesItsOwnersGraph,
	},
	{
		ID: "scope/owner-comes-from-the-request", Clauses: on("SCP-5"),
		Rule: "The owner of a run is the request's, and every answer that names an owner names that one.",
		run:  ownerComesFromTheRequest,
	},
}

// byScope is every operation on one run that takes a scope and reads.
func (s *store) reads(ctx context.Context, scope ports.Scope, id string) map[string]error {
	errs := map[string]error{}
	_, errs["FetchRun"] = s.FetchRun(ctx, ports.FetchRun{Scope: scope, RunID: id, Now: s.env.now})
	_, errs["InspectRun"] = s.InspectRun(ctx, ports.InspectRun{Scope: scope, RunID: id, Now: s.env.now})
	_, errs["ListEvents"] = s.ListEvents(ctx, ports.ListEvents{Scope: scope, RunID: id})
	_, errs["FetchEvent"] = s.FetchEvent(ctx, ports.FetchEvent{Scope: scope, RunID: id, Seq: 1})
	_, errs["LatestEvent"] = s.LatestEvent(ctx, ports.LatestEvent{Scope: scope, RunID: id})
	return errs
}

// writes is every operation on one run that takes a scope and writes.
func (s *store) writes(ctx context.Context, scope ports.Scope, r *subject, token string) map[string]error {
	id, seq, now := r.run.ID, r.run.CheckpointSeq, s.env.now
	errs := map[string]error{}
	_, errs["CommitClaimed"] = s.CommitClaimed(ctx, ports.CommitClaimed{
		Scope: scope, RunID: id, Token: token, ExpectedSeq: seq, Transition: r.next(now, change{}), TTL: ttl, Now: now})
	_, errs["CommitUnclaimed"] = s.CommitUnclaimed(ctx, ports.CommitUnclaimed{
		Scope: scope, RunID: id, ExpectedSeq: seq, Transition: r.next(now, change{}), Now: now})
	_, errs["RecoverRun"] = s.RecoverRun(ctx, ports.RecoverRun{Scope: scope, RunID: id, Now: now})
	_, errs["RefreshClaim"] = s.RefreshClaim(ctx, ports.RefreshClaim{Scope: scope, RunID: id, Token: token, TTL: ttl, Now: now})
	_, errs["ReleaseClaim"] = s.ReleaseClaim(ctx, ports.ReleaseClaim{Scope: scope, RunID: id, Token: token, Now: now})
	_, errs["AbandonClaim"] = s.AbandonClaim(ctx, ports.AbandonClaim{
		Scope: scope, RunID: id, Token: token, ExpectedSeq: seq, NonPoisoning: true, Now: now})
	return errs
}

func missingScopeIsInvalid(e *env) {
	s := e.open()
	r := s.start(nobody, "r")
	token := s.claim(r).Token
	before := s.observe(r)
	for _, errs := range []map[string]error{
		s.reads(e.Context(), ports.Scope{}, "r"), s.writes(e.Context(), ports.Scope{}, r, token),
	} {
		for _, op := range sortedKeys(errs) {
			e.want(errs[op], ports.ErrInvalid, op+" without a scope")
		}
	}
	_, err := s.ListRuns(e.Context(), ports.ListRuns{Now: e.now})
	e.want(err, ports.ErrInvalid, "ListRuns without a scope")
	_, err = s.ClaimRuns(e.Context(), ports.ClaimRuns{Limit: 1, TTL: ttl, MaxAttempts: 1, Now: e.now})
	e.want(err, ports.ErrInvalid, "ClaimRuns without a scope")
	s.unchanged(before, r, "an operation without a scope")
}

func malformedScopeIsInvalid(e *env) {
	s := e.open()
	s.start(acme, "r")
	for _, scope := range []ports.Scope{
		{Kind: ports.ScopeTenant}, {Kind: ports.ScopeSystem, Tenant: "acme"}, {Kind: ports.ScopeTenantless, Tenant: "acme"}, {Kind: "everyone"},
	} {
		for op, err := range s.reads(e.Context(), scope, "r") {
			e.want(err, ports.ErrInvalid, op+" with scope "+show(scope))
		}
	}
}

func claimsAreSystem(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	before := s.observe(r)
	for _, scope := range []ports.Scope{ports.Tenant("acme"), ports.Tenantless()} {
		_, err := s.ClaimRuns(e.Context(), ports.ClaimRuns{Scope: scope, Limit: 1, TTL: ttl, MaxAttempts: 1, Now: e.now})
		e.want(err, ports.ErrInvalid, "ClaimRuns with scope "+show(scope))
	}
	s.unchanged(before, r, "a claim from a tenant's scope")
}

func blankTenantIsInvalid(e *env) {
	s := e.open()
	for _, tenant := range []string{" ", "a\nb", "\xff", padding(256)} {
		owner := record.Owner{Tenant: tenant}
		_, err := s.SaveGraph(e.Context(), ports.SaveGraph{Owner: owner, Version: version("flow", 1), Now: e.now})
		e.want(err, ports.ErrInvalid, "saving a graph of tenant "+showString(tenant))
		_, err = s.FetchRun(e.Context(), ports.FetchRun{Scope: ports.Tenant(tenant), RunID: "r", Now: e.now})
		e.want(err, ports.ErrInvalid, "fetching a run as tenant "+showString(tenant))
	}
}

func tenantlessSeesOnlyTenantless(e *env) {
	s := e.open()
	s.start(acme, "owned")
	free := s.start(nobody, "free")
	for op, err := range s.reads(e.Context(), ports.Tenantless(), "owned") {
		e.want(err, ports.ErrNotFound, op+" of a tenant's run by tenantless")
	}
	for op, err := range s.reads(e.Context(), ports.Tenantless(), free.run.ID) {
		e.check(err == nil, "%s of a tenantless run by tenantless: %v", op, err)
	}
	for op, err := range s.reads(e.Context(), ports.Tenant("acme"), free.run.ID) {
		e.want(err, ports.ErrNotFound, op+" of a tenantless run by a tenant")
	}
}

func eachScopeListsItsOwn(e *env) {
	s := e.open()
	s.start(acme, "a")
	s.start(globex, "b")
	s.start(nobody, "c")
	for _, c := range []struct {
		scope ports.Scope
		want  []string
	}{
		{ports.Tenant("acme"), []string{"a"}}, {ports.Tenant("globex"), []string{"b"}}, {ports.Tenantless(), []string{"c"}},
		{ports.Tenant("nobody-has-this"), []string{}}, {ports.System(), []string{"c", "b", "a"}},
	} {
		e.same(c.want, s.runIDs(ports.ListRuns{Scope: c.scope}), "runs listed with scope "+show(c.scope))
	}
}

// strangersLearnNothing asks one store that has the run and one that hasn't.
func strangersLearnNothing(e *env) {
	with, without := e.open(), e.open()
	r := with.start(acme, "secret")
	token := with.claim(r).Token
	unknownReads := without.reads(e.Context(), ports.Tenant("globex"), "secret")
	unknownWrites := without.writes(e.Context(), ports.Tenant("globex"), r, token)
	for _, scope := range []ports.Scope{ports.Tenant("globex"), ports.Tenantless()} {
		for op, err := range with.reads(e.Context(), scope, "secret") {
			e.sameRefusal(unknownReads[op], err, op+" by "+show(scope))
		}
		for op, err := range with.writes(e.Context(), scope, r, token) {
			e.sameRefusal(unknownWrites[op], err, op+" by "+show(scope))
		}
	}
}

// sameRefusal wants ErrNotFound from both, in the same words.
func (e *env) sameRefusal(unknown, foreign error, what string) {
	e.Helper()
	e.want(unknown, ports.ErrNotFound, what+" of an unknown run")
	e.want(foreign, ports.ErrNotFound, what+" of another owner's run")
	if unknown != nil && foreign != nil {
		e.same(unknown.Error(), foreign.Error(), what+": the text of unknown against foreign")
	}
}

func strangersChangeNothing(e *env) {
	s := e.open()
	r := s.start(acme, "r")
	token := s.claim(r).Token
	before := s.observe(r)
	for _, scope := range []ports.Scope{ports.Tenant("globex"), ports.Tenantless()} {
		for op, err := range s.writes(e.Context(), scope, r, token) {
			e.want(err, ports.ErrNotFound, op+" by "+show(scope))
		}
	}
	s.unchanged(before, r, "an operation from a wrong scope")
}

func tenantsAreCaseSensitive(e *env) {
	s := e.open()
	s.start(acme, "r")
	for _, tenant := range []string{"ACME", "acme ", "acm", "acme2", "é"} {
		for op, err := range s.reads(e.Context(), ports.Tenant(tenant), "r") {
			e.want(err, ports.ErrNotFound, op+" as tenant "+showString(tenant))
		}
	}
}

func equalRefsAreApart(e *env) {
	s := e.open()
	v := version("flow", 1)
	s.save(acme, v)
	for _, stranger := range []record.Owner{nobody, globex} {
		_, err := s.FetchGraph(e.Context(), ports.FetchGraph{Owner: stranger, Ref: v.Ref})
		e.want(err, ports.ErrNotFound, "fetching acme's graph as "+show(stranger))
		_, err = s.LatestGraph(e.Context(), ports.LatestGraph{Owner: stranger, GraphID: "flow"})
		e.want(err, ports.ErrNotFound, "latest of acme's graph as "+show(stranger))
		e.check(len(s.versions(stranger, "flow", 10)) == 0, "%s lists acme's versions", show(stranger))
	}
	e.advance(ttl)
	for _, owner := range []record.Owner{nobody, globex} {
		got, err := s.SaveGraph(e.Context(), ports.SaveGraph{Owner: owner, Version: v, Now: e.now})
		e.ok(err, "saving an equal ref as another owner")
		e.check(got.Created, "an equal ref of another owner counts as already there")
		e.sameTime(e.now, got.PublishedAt, "publication by another owner")
	}
}

func aRunUsesItsOwnersGraph(e *env) {
	s := e.open()
	ref := s.graph(acme)
	for _, owner := range []record.Owner{globex, nobody} {
		r := &subject{owner: owner}
		e.want(s.insert(r, begin("r", ref, e.now, change{})), ports.ErrNotFound, "a run of "+show(owner)+" on acme's graph")
	}
	e.same([]string{}, s.runIDs(ports.ListRuns{Scope: ports.System()}), "runs after refused inserts")
}

func ownerComesFromTheRequest(e *env) {
	s := e.open()
	for _, owner := range []record.Owner{nobody, acme, {Tenant: "Ünïcode tenant"}} {
		r := s.start(owner, "run of "+owner.Tenant)
		e.same(owner, s.info(r).Owner, "the owner told by InspectRun")
		got, err := s.FetchRun(e.Context(), ports.FetchRun{Scope: r.scope(), RunID: r.run.ID, Now: e.now})
		e.ok(err, "fetching with the owner's scope")
		e.same(owner, got.Owner, "the owner told by FetchRun")
		e.same(owner, s.claim(r).Owner, "the owner told by a lease")
		page, err := s.ListRuns(e.Context(), ports.ListRuns{Scope: r.scope(), Now: e.now})
		e.ok(err, "listing with the owner's scope")
		if len(page.Items) != 1 {
			e.Fatalf("listing as %s gives %d runs, want 1", show(owner), len(page.Items))
		}
		e.same(owner, page.Items[0].Owner, "the owner told by ListRuns")
	}
}
