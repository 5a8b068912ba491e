"""The shape of requests, checked before anything is looked up (RUN-3)."""

import re

MAX_RUN, MAX_EVENT, MAX_EVENTS, MAX_PAGE = 16 << 20, 1 << 20, 10_000, 1000
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}\Z")
HASH = re.compile(r"[0-9a-f]{64}\Z")
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
TERMINAL = ("done", "failed", "cancelled")
DURABLE = ("running", "waiting") + TERMINAL
YEAR_1, YEAR_10000 = -62135596800 * 10**6, 253402300800 * 10**6

# Which statuses a commit of each type may leave, and which each schedule needs.
ENDS = {"run_completed": ("done",), "run_failed": ("failed",), "run_cancelled": ("cancelled",), "retry_scheduled": ("running",)}
STEPS = ("step_committed", "interrupt_requested", "interrupt_resolved")
SCHEDULES = {
    "retain": ("running",), "immediate": ("running",), "at": ("running",), "external": ("waiting",), "terminal": TERMINAL,
}


class Refusal(Exception):
    """An error of the contract, as it travels."""

    def __init__(self, code, path="", message="", detail=""):
        super().__init__(code)
        self.code, self.path, self.message, self.detail = code, path, message, detail


def number(params, name):
    return int(params.get(name, "0"))


def size_of(data):
    """The number of bytes that base64 text stands for."""
    return len(data) * 3 // 4 - data.count("=", -2)


def need(so, path, message):
    if not so:
        raise Refusal("invalid", path, message)


def small(size, limit, path):
    if size > limit:
        raise Refusal("invalid", path, f"{size} is over the limit of {limit}", "too_large")


def an_id(text, path):
    need(text and len(text.encode()) <= 255 and not CONTROL.search(text), path, "an id has 1 to 255 bytes and no control characters")


def a_name(text, path):
    need(NAME.match(text), path, "not a name")


def a_time(params, name, path, required=False):
    need(name in params or not required, path, "a time is missing")
    need(YEAR_1 <= number(params, name) < YEAR_10000, path, "outside the years 1 to 9999")


def a_ref(ref, path):
    a_name(ref.get("id", ""), path + ".id")
    need(HASH.match(ref.get("hash", "")), path + ".hash", "not a hash")


def tenant(text, path):
    an_id(text, path)
    need(text.strip(), path, "a tenant is not blank")


def owner(params):
    if text := params.get("owner", {}).get("tenant", ""):
        tenant(text, "owner.tenant")


def scope(params):
    given = params.get("scope", {})
    kind, whose = given.get("kind", ""), given.get("tenant", "")
    need(kind in ("system", "tenantless", "tenant"), "scope.kind", "an operation names its scope")  # SCP-2
    if kind == "tenant":
        tenant(whose, "scope.tenant")
    else:
        need(not whose, "scope.tenant", "only the scope tenant has one")


def page(params, least=0):
    need(least <= number(params, "limit") <= MAX_PAGE, "limit", f"outside {least}..{MAX_PAGE}")


def claim(params):
    scope(params)
    an_id(params.get("run_id", ""), "run_id")
    an_id(params.get("token", ""), "token")


def ttl(params, path="ttl"):
    need(number(params, "ttl") >= 1000, path, "a claim lasts at least a microsecond")


def record(run, path):
    an_id(run.get("id", ""), path + ".id")
    a_ref(run.get("graph", {}), path + ".graph")
    need(run.get("status", "") in DURABLE, path + ".status", "not a durable status")
    for name, least in (("step", 0), ("checkpoint_seq", 1), ("event_seq", 0), ("open_interrupts", 0)):
        need(number(run, name) >= least, f"{path}.{name}", f"less than {least}")
    a_time(run, "started_at", path + ".started_at", True)
    a_time(run, "updated_at", path + ".updated_at", True)
    a_time(run, "finished_at", path + ".finished_at")
    need((run["status"] in TERMINAL) == ("finished_at" in run), path + ".finished_at", "there exactly when the run has ended")
    a_name(run.get("encoding", ""), path + ".encoding")
    need(run.get("document"), path + ".document", "empty")
    small(size_of(run["document"]), MAX_RUN, path + ".document")


def events(transition):
    run, listed = transition["run"], transition.get("events", [])
    small(len(listed), MAX_EVENTS, "transition.events")
    base = number(run, "event_seq") - len(listed)
    need(base >= 0, "transition.events", "more than event_seq counts")
    for i, event in enumerate(listed):
        path = f"transition.events[{i}]"
        need(event.get("run_id") == run["id"], path + ".run_id", "another run's")
        need(number(event, "seq") == base + i + 1, path + ".seq", "a gap")
        need(number(event, "step") >= 0, path + ".step", "less than 0")
        a_name(event.get("type", ""), path + ".type")
        a_time(event, "time", path + ".time", True)
        a_name(event.get("encoding", ""), path + ".encoding")
        small(size_of(event.get("payload", "")), MAX_EVENT, path + ".payload")


def transition_of(params, inserts, claimed):
    given = params.get("transition", {})
    given.setdefault("run", {})
    given.setdefault("schedule", {})
    run, kind = given["run"], given["schedule"].get("kind", "")
    record(run, "transition.run")
    typ, status = run.get("checkpoint_type", ""), run["status"]
    if inserts:
        need(typ == "run_initialized", "transition.run.checkpoint_type", "an insert initialises")
    else:
        fits = status in ENDS[typ] if typ in ENDS else typ in STEPS and status not in TERMINAL
        need(fits, "transition.run.checkpoint_type", "doesn't fit the status")
    events(given)
    a_time(given["schedule"], "at", "transition.schedule.at", kind == "at")
    need(kind == "at" or "at" not in given["schedule"], "transition.schedule.at", "only the schedule at has a time")
    need(kind != "retain" or claimed, "transition.schedule.kind", "there is no claim to retain")
    need(status in SCHEDULES.get(kind, ()), "transition.schedule.kind", "doesn't fit the status")
    return given


def commit(params, claimed):
    scope(params)
    an_id(params.get("run_id", ""), "run_id")
    need(number(params, "expected_seq") >= 1, "expected_seq", "less than 1")
    if claimed:
        an_id(params.get("token", ""), "token")
        if params.get("transition", {}).get("schedule", {}).get("kind") == "retain":
            ttl(params)
    run = transition_of(params, False, claimed)["run"]
    need(run["id"] == params["run_id"], "transition.run.id", "another run")
    need(number(run, "checkpoint_seq") == number(params, "expected_seq") + 1, "transition.run.checkpoint_seq", "not the next")


def insert_run(params):
    owner(params)
    grant = params.get("claim", {})
    if grant:
        an_id(grant.get("token", ""), "claim.token")
        ttl(grant, "claim.ttl")
    given = transition_of(params, True, bool(grant))
    need(not grant or given["schedule"]["kind"] == "retain", "transition.schedule.kind", "a run born claimed retains")
    need(number(given["run"], "checkpoint_seq") == 1, "transition.run.checkpoint_seq", "not 1")
    need(number(given["run"], "event_seq") == len(given.get("events", [])), "transition.events", "they don't begin at 1")


def save_graph(params):
    owner(params)
    version = params.get("version", {})
    a_ref(version.get("ref", {}), "version.ref")
    a_name(version.get("encoding", ""), "version.encoding")
    need(version.get("document"), "version.document", "empty")
    small(size_of(version["document"]), MAX_RUN, "version.document")


def list_graphs(params):
    owner(params)
    a_name(params.get("graph_id", ""), "graph_id")
    if after := params.get("after"):
        a_time(after, "published_at", "after.published_at", True)
        need(HASH.match(after.get("hash", "")), "after.hash", "not a hash")
    page(params)


def list_runs(params):
    scope(params)
    for status in params.get("statuses", []):
        need(status in DURABLE, "statuses", "not a durable status")
    if "graph_id" in params:
        a_name(params["graph_id"], "graph_id")
    if "graph_hash" in params:
        need(HASH.match(params["graph_hash"]) and "graph_id" in params, "graph_hash", "not a hash, or without graph_id")
    if after := params.get("after"):
        a_time(after, "started_at", "after.started_at", True)
        an_id(after.get("run_id", ""), "after.run_id")
    page(params)


def claim_runs(params):
    need(params.get("scope", {}) == {"kind": "system"}, "scope", "runs are claimed under the system scope")
    page(params, 1)
    ttl(params)
    need(number(params, "max_attempts") >= 1, "max_attempts", "less than 1")
    need(params.get("prefer", "ready") in ("ready", "expired"), "prefer", "not a class")


def abandon_claim(params):
    claim(params)
    need(number(params, "expected_seq") >= 1, "expected_seq", "less than 1")
    a_time(params, "retry_at", "retry_at")
    need(number(params, "backoff_base") >= 0, "backoff_base", "less than 0")
    need(number(params, "backoff_cap") >= number(params, "backoff_base"), "backoff_cap", "below the base")
    need(params.get("non_poisoning") or number(params, "max_abandons") >= 1, "max_abandons", "less than 1")


def one_run(params):
    scope(params)
    an_id(params.get("run_id", ""), "run_id")


def refresh_claim(params):
    claim(params)
    ttl(params)


def list_events(params):
    one_run(params)
    need(number(params, "after_seq") >= 0, "after_seq", "less than 0")
    page(params)


def fetch_event(params):
    one_run(params)
    need(number(params, "seq") >= 1, "seq", "less than 1")


def fetch_graph(params):
    owner(params)
    a_ref(params.get("ref", {}), "ref")


def latest_graph(params):
    owner(params)
    a_name(params.get("graph_id", ""), "graph_id")


CHECKS = {
    "save_graph": save_graph, "fetch_graph": fetch_graph, "latest_graph": latest_graph, "list_graphs": list_graphs,
    "insert_run": insert_run, "commit_claimed": lambda p: commit(p, True), "commit_unclaimed": lambda p: commit(p, False),
    "fetch_run": one_run, "inspect_run": one_run, "list_runs": list_runs, "recover_run": one_run,
    "claim_runs": claim_runs, "refresh_claim": refresh_claim, "release_claim": claim, "abandon_claim": abandon_claim,
    "list_events": list_events, "fetch_event": fetch_event, "latest_event": one_run,
}


def check(op, params):
    CHECKS[op](params)
    a_time(params, "now", "now")
