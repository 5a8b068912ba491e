"""The rules of docs/contract.md over two dictionaries."""

import secrets
import time

from check import TERMINAL, Refusal, number, size_of

NO_POISON = {}


class Row:
    """A stored run: its record as it came, its events, who works on it."""

    def __init__(self, owner, run, events):
        self.owner, self.run, self.events = owner, run, events
        self.wake = self.token = self.claimed_at = self.claim_end = None
        self.attempts = self.abandons = 0
        self.poison = NO_POISON

    def seq(self):
        return number(self.run, "checkpoint_seq")

    def unclaim(self):
        self.token = self.claimed_at = self.claim_end = None

    def poison_as(self, reason, now):
        self.unclaim()
        self.wake, self.poison = None, {"at": now, "reason": reason}

    def advance(self, transition):
        """Replace the record and append the events, if they continue the run."""
        run, events = transition["run"], transition.get("events", [])
        for kept in ("graph", "started_at"):
            if run[kept] != self.run[kept]:
                raise Refusal("invalid", "transition.run." + kept, "a run keeps it")
        if number(run, "event_seq") - len(events) != number(self.run, "event_seq"):
            raise Refusal("invalid", "transition.events", "they don't continue the stored ones")
        self.run, self.events = run, self.events + events
        self.attempts = self.abandons = 0
        self.poison, self.wake = NO_POISON, None


def visible(row, scope):
    kind = scope["kind"]
    return kind == "system" or row.owner == (scope["tenant"] if kind == "tenant" else "")


def wake_of(schedule, now):
    """The wake that a schedule leaves, None for none (RUN-5)."""
    if schedule["kind"] == "immediate":
        return now
    return number(schedule, "at") if schedule["kind"] == "at" else None


def end_of(now, params):
    """The end of a claim: its TTL comes in nanoseconds (CLM-1)."""
    return now + number(params, "ttl") // 1000


def page_of(items, limit, cursor_of, given):
    """A page: its items, where it goes on, and whether there is more."""
    some = items[:limit]
    return {"items": some, "next": cursor_of(some[-1]) if some else given, "has_more": len(items) > limit}


class Store:
    """Every public method is an operation; its request has been checked."""

    def __init__(self):
        self._graphs = {}  # (owner, graph id, hash): version
        self._runs = {}  # run id: Row
        self._last = 0  # the store's time doesn't go back

    def _now(self, params):
        if "now" in params:
            return number(params, "now")
        self._last = max(self._last, time.time_ns() // 1000)
        return self._last

    def _visible(self, params):
        """Unknown and foreign are one answer (SCP-3)."""
        row = self._runs.get(params["run_id"])
        if row is None or not visible(row, params["scope"]):
            raise Refusal("not_found")
        return row

    def _held(self, params):
        """The claim is held under exactly its token, also an expired one (CLM-6, CLM-11)."""
        row = self._visible(params)
        if row.token != params["token"]:
            raise Refusal("stale")
        return row

    # Graphs

    def save_graph(self, p):
        version, now = p["version"], self._now(p)
        key = (p.get("owner", {}).get("tenant", ""), version["ref"]["id"], version["ref"]["hash"])
        old = self._graphs.get(key)
        if old is None:
            self._graphs[key] = {**version, "published_at": str(now)}
            return {"published_at": now, "created": True}
        if (old["document"], old["encoding"]) != (version["document"], version["encoding"]):
            raise Refusal("conflict", message="other bytes under the same ref")
        return {"published_at": old["published_at"]}

    def fetch_graph(self, p):
        key = (p.get("owner", {}).get("tenant", ""), p["ref"]["id"], p["ref"]["hash"])
        if key not in self._graphs:
            raise Refusal("not_found")
        return {"version": self._graphs[key]}

    def list_graphs(self, p):
        owner, after = p.get("owner", {}).get("tenant", ""), p.get("after", {})
        place = lambda v: (number(v, "published_at"), v["ref"]["hash"])
        found = [v for (o, name, _), v in self._graphs.items() if (o, name) == (owner, p["graph_id"])]
        if after:
            found = [v for v in found if place(v) < (number(after, "published_at"), after["hash"])]
        found.sort(key=place, reverse=True)
        items = [{"ref": v["ref"], "published_at": v["published_at"], "size": size_of(v["document"])} for v in found]
        return page_of(items, number(p, "limit") or 100, lambda i: {"published_at": i["published_at"], "hash": i["ref"]["hash"]}, after)

    def latest_graph(self, p):
        newest = self.list_graphs({**p, "limit": "1"})["items"]
        if not newest:
            raise Refusal("not_found")
        return newest[0]

    # Runs

    def insert_run(self, p):
        run, owner, now = p["transition"]["run"], p.get("owner", {}).get("tenant", ""), self._now(p)
        if (owner, run["graph"]["id"], run["graph"]["hash"]) not in self._graphs:
            raise Refusal("not_found")
        if run["id"] in self._runs:
            raise Refusal("exists")
        row = Row(owner, run, p["transition"].get("events", []))
        if grant := p.get("claim"):
            row.token, row.claimed_at, row.claim_end, row.attempts = grant["token"], now, end_of(now, grant), 1
        else:
            row.wake = wake_of(p["transition"]["schedule"], now)
        self._runs[run["id"]] = row
        return {"now": now, "claim_end": row.claim_end}

    def commit_claimed(self, p):
        row, now, schedule = self._held(p), self._now(p), p["transition"]["schedule"]
        if row.seq() != number(p, "expected_seq"):
            raise Refusal("stale")
        row.advance(p["transition"])
        if schedule["kind"] == "retain":
            row.claim_end = max(row.claim_end, end_of(now, p))
        else:
            row.unclaim()
            row.wake = wake_of(schedule, now)
        return {"now": now, "claim_end": row.claim_end}

    def commit_unclaimed(self, p):
        row, now = self._visible(p), self._now(p)
        if row.run["status"] in TERMINAL:
            raise Refusal("inactive")
        if row.seq() != number(p, "expected_seq"):
            raise Refusal("stale")
        poison = row.poison
        row.advance(p["transition"])
        row.unclaim()
        row.wake = wake_of(p["transition"]["schedule"], now)
        if poison and row.run["status"] == "running":  # RUN-6
            row.wake, row.poison = None, poison
        return {"now": now}

    def fetch_run(self, p):
        row = self._visible(p)
        token = row.token if p["scope"]["kind"] == "system" else None
        return {"owner": {"tenant": row.owner}, "run": row.run, "token": token, "now": self._now(p)}

    def inspect_run(self, p):
        row = self._visible(p)
        return {
            "owner": {"tenant": row.owner}, "run": row.run, "wake_at": row.wake, "claimed_at": row.claimed_at,
            "claim_end": row.claim_end, "attempts": row.attempts, "abandons": row.abandons, "poison": row.poison,
            "now": self._now(p),
        }

    def list_runs(self, p):
        place = lambda row: (number(row.run, "started_at"), row.run["id"].encode())  # bytes order ids (VAL-2)
        found = [row for row in self._runs.values() if visible(row, p["scope"]) and self._matches(row, p)]
        if after := p.get("after", {}):
            found = [row for row in found if place(row) < (number(after, "started_at"), after["run_id"].encode())]
        found.sort(key=place, reverse=True)
        hidden = () if p.get("records") else ("document", "checksum")
        items = [
            {"owner": {"tenant": row.owner}, "run": {k: v for k, v in row.run.items() if k not in hidden}, "poison": row.poison}
            for row in found
        ]
        cursor = lambda i: {"started_at": i["run"]["started_at"], "run_id": i["run"]["id"]}
        return {**page_of(items, number(p, "limit") or 100, cursor, after), "now": self._now(p)}

    def _matches(self, row, p):
        run, statuses = row.run, p.get("statuses", [])
        return (
            (not statuses or run["status"] in statuses)
            and p.get("graph_id", run["graph"]["id"]) == run["graph"]["id"]
            and p.get("graph_hash", run["graph"]["hash"]) == run["graph"]["hash"]
            and (not p.get("open_interrupts") or number(run, "open_interrupts") > 0)
            and (not p.get("poisoned") or bool(row.poison))
        )

    def recover_run(self, p):
        row, now = self._visible(p), self._now(p)
        if row.run["status"] in TERMINAL:
            raise Refusal("inactive")
        changed = bool(row.poison)
        if changed:
            row.poison, row.attempts, row.abandons, row.wake = NO_POISON, 0, 0, now
        return {"changed": changed, "now": now}

    # Claims

    def claim_runs(self, p):
        now, limit, prefer = self._now(p), number(p, "limit"), p.get("prefer", "ready")
        classes = {"ready": [], "expired": []}
        for row in self._runs.values():
            if row.run["status"] != "running" or row.poison:
                continue
            if row.token is None and row.wake <= now:
                classes["ready"].append((row.wake, row.run["id"].encode(), "ready", row))
            elif row.token is not None and row.claim_end < now:
                classes["expired"].append((row.claim_end, row.run["id"].encode(), "expired", row))
        first = sorted(classes.pop(prefer), key=lambda due: due[:2])
        (second,) = (sorted(due, key=lambda due: due[:2]) for due in classes.values())
        if limit >= 2 and second:  # CLM-4: each class gets one
            first = first[: limit - 1]
        answer = {"leases": [], "poisoned": [], "now": now}
        for _, _, kind, row in (first + second)[:limit]:
            self._claim(row, kind, now, p, answer)
        return answer

    def _claim(self, row, kind, now, p, answer):
        owner = {"tenant": row.owner}
        if row.attempts >= number(p, "max_attempts"):  # CLM-3
            row.poison_as("max_claim_attempts_exceeded", now)
            answer["poisoned"].append({"owner": owner, "run_id": row.run["id"], "poison": row.poison})
            return
        row.attempts += 1
        row.wake, row.token, row.claimed_at, row.claim_end = None, secrets.token_hex(16), now, end_of(now, p)
        answer["leases"].append({
            "owner": owner, "run": row.run, "token": row.token, "attempt": row.attempts, "class": kind,
            "now": now, "claim_end": row.claim_end,
        })

    def refresh_claim(self, p):
        row, now = self._held(p), self._now(p)
        row.claim_end = max(row.claim_end, end_of(now, p))
        return {"claim_end": row.claim_end, "now": now}

    def release_claim(self, p):
        row, now = self._held(p), self._now(p)
        row.unclaim()
        row.wake = now
        if p.get("return_attempt"):
            row.attempts = max(row.attempts - 1, 0)
        return {"now": now}

    def abandon_claim(self, p):
        row, now = self._held(p), self._now(p)
        if row.seq() != number(p, "expected_seq"):
            raise Refusal("stale")
        row.unclaim()
        row.attempts = max(row.attempts - 1, 0)
        base, cap = number(p, "backoff_base"), number(p, "backoff_cap")
        wait = min(base << min(row.abandons, 64), cap)  # CLM-9; Python's integers don't overflow
        row.wake = number(p, "retry_at") if "retry_at" in p else now + wait // 1000
        row.abandons += 1
        if not p.get("non_poisoning") and row.abandons >= number(p, "max_abandons"):
            row.poison_as("max_claim_abandons_exceeded", now)
        return {"abandons": row.abandons, "wake_at": row.wake, "poison": row.poison, "now": now}

    # Events

    def list_events(self, p):
        row, after, limit = self._visible(p), number(p, "after_seq"), number(p, "limit") or 250
        found = [e for e in row.events if number(e, "seq") > after]
        some = found[:limit]
        return {
            "events": some, "next_after_seq": number(some[-1], "seq") if some else after, "has_more": len(found) > limit,
            "oldest": number(row.events[0], "seq") if row.events else 0,
            "latest": number(row.events[-1], "seq") if row.events else 0,
            "latest_seq": number(row.run, "event_seq"),
        }

    def fetch_event(self, p):
        for event in self._visible(p).events:
            if event["seq"] == p["seq"]:
                return {"event": event}
        raise Refusal("not_found")

    def latest_event(self, p):
        events = self._visible(p).events
        return {"event": events[-1], "found": True} if events else {}
