"""Random programs against plain models, on both implementations."""

import asyncio
import itertools
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from tests.contract.samples import LATER, Kept, pending, turn
from tests.json_values import json_values
from webbee_kernel.sdk.exceptions import StoreConflict
from webbee_kernel.stores import Collection, Stores
from webbee_kernel.stores.types import AnswerLease, Turn
from webbee_kernel.types import SessionKey, UserKey

T = TypeVar("T")
_tenants = itertools.count()


class Machine(RuleBasedStateMachine):
    """Runs on fresh users of one set of stores."""

    stores: Stores

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.user = UserKey(f"tenant{next(_tenants)}", "alice")

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    def teardown(self) -> None:
        self.runner.close()


class Ring(Machine):
    """Sessions remember the five newest turns, whatever arrives in whatever order."""

    def __init__(self) -> None:
        super().__init__()
        self.key = SessionKey(self.user, "s")
        self.slots: dict[int, Turn] = {}
        self.now = 0.0

    def append_to_it(self, given: Turn) -> bool:
        return self.do(self.stores.sessions.append(self.key, given, expires_at=LATER, now=0.0))

    @rule(step=st.integers(-6, 3), reply=st.text(max_size=20))
    def append(self, step: int, reply: str) -> None:
        newest = max((t.seq for t in self.slots.values()), default=0)
        given = turn(max(1, newest + step), reply=reply)
        held = self.slots.get(given.seq % 5)
        fits = held is None or held.seq < given.seq
        assert self.append_to_it(given) == fits
        if fits:
            self.slots[given.seq % 5] = given

    @rule(names=st.sets(st.sampled_from(["conf_0", "conf_1", "conf_2"]), min_size=1))
    def ask(self, names: set[str]) -> None:
        newest = max((t.seq for t in self.slots.values()), default=0)
        given = turn(newest + 1, waiting=tuple(pending(n) for n in sorted(names)))
        assert self.append_to_it(given)
        self.slots[given.seq % 5] = given

    @rule(n=st.integers(0, 2), back=st.integers(0, 5), later=st.integers(0, 40))
    def answer(self, n: int, back: int, later: int) -> None:
        """Somebody takes a question and, where he gets it, records the answer."""
        name, sessions = f"conf_{n}", self.stores.sessions
        self.now += later
        seq = max((t.seq for t in self.slots.values()), default=0) - back
        held = self.slots.get(seq % 5)
        waits = held and held.seq == seq and any(p.confirmation_id == name for p in held.waiting)
        lease = AnswerLease(self.now + 30, yes=True)
        took = self.do(sessions.take_pending(self.key, seq, name, now=self.now, lease=lease))
        assert took == bool(waits)
        if held and took:
            memory = self.do(sessions.read(self.key, now=0.0))
            left = tuple(p for p in held.waiting if p.confirmation_id != name)
            given = replace(held, waiting=left, reply="answered")
            done = {"version": memory.versions[seq], "answered": [name]}
            assert self.do(sessions.replace(self.key, given, **done, expires_at=LATER))
            self.slots[seq % 5] = given

    @rule()
    def forget(self) -> None:
        self.do(self.stores.sessions.delete(self.key))
        self.slots = {}

    @invariant()
    def memory_is_the_ring(self) -> None:
        memory = self.do(self.stores.sessions.read(self.key, now=0.0))
        assert memory.turns == tuple(sorted(self.slots.values(), key=lambda t: t.seq))
        assert not memory.leases


class Cache(Machine):
    """Entries live until their expiry on a clock that only goes forward."""

    keys = st.sampled_from(["k", "k2", "a:b"])
    models = st.sampled_from(["", "Inbox"])

    def __init__(self) -> None:
        super().__init__()
        self.now = 1000.0
        self.entries: dict[tuple[str, str], tuple[bytes, float]] = {}

    @rule(model=models, key=keys, value=st.binary(max_size=8), ttl=st.integers(5, 300))
    def set(self, model: str, key: str, value: bytes, ttl: int) -> None:
        kept = {"expires_at": self.now + ttl}
        self.do(self.stores.cache.set(self.user, "mail", model, key, value, **kept))
        self.entries[model, key] = (value, self.now + ttl)

    @rule(seconds=st.floats(0, 200))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @rule(model=models, key=keys)
    def get(self, model: str, key: str) -> None:
        value, expiry = self.entries.get((model, key), (None, 0.0))
        found = self.do(self.stores.cache.get(self.user, "mail", model, key, now=self.now))
        assert found == (value if self.now < expiry else None)

    @rule(key=keys)
    def delete(self, key: str) -> None:
        self.do(self.stores.cache.delete(self.user, "mail", ("", "Inbox"), key))
        self.entries = {place: entry for place, entry in self.entries.items() if place[1] != key}

    @rule()
    def purge(self) -> None:
        assert self.do(self.stores.cache.purge(self.user, "mail")) == len(self.entries)
        self.entries = {}


VALUES = json_values(st.text(max_size=5), items=2, fields=2, leaves=4)
documents = st.dictionaries(st.sampled_from("abc"), VALUES, max_size=3)


class Documents(Machine):
    """A collection is a dict of dicts in order of creation."""

    ids = st.sampled_from(["one", "two", "three", "four"])

    def __init__(self) -> None:
        super().__init__()
        self.model: dict[str, dict[str, Any]] = {}
        self.etags: dict[str, str] = {}
        self.kept = Kept(self.stores, Collection(self.user, "app", "c"))

    def put(self, doc_id: str, data: dict[str, Any], etag: str) -> None:
        assert etag not in self.etags.values()
        self.model[doc_id] = data
        self.etags[doc_id] = etag

    @rule(doc_id=ids, data=documents)
    def create(self, doc_id: str, data: dict[str, Any]) -> None:
        work = self.kept.create(data, doc_id=doc_id)
        if doc_id in self.model:
            with pytest.raises(StoreConflict):
                self.do(work)
        else:
            self.put(doc_id, data, self.do(work).etag)

    guards = st.sampled_from(["none", "right", "wrong"])

    @rule(doc_id=ids, data=documents, replace=st.booleans(), guard=guards)
    def update(self, doc_id: str, data: dict[str, Any], replace: bool, guard: str) -> None:
        etag = {"none": "", "right": self.etags.get(doc_id, "absent"), "wrong": "wrong"}[guard]
        work = self.kept.update(doc_id, data, if_match=etag, replace=replace)
        if guard == "wrong" or etag == "absent":
            with pytest.raises(StoreConflict):
                self.do(work)
        else:
            held = {} if replace else self.model.get(doc_id, {})
            self.put(doc_id, {**held, **data}, self.do(work).etag)

    @rule(doc_id=ids)
    def delete(self, doc_id: str) -> None:
        assert self.do(self.kept.delete(doc_id)) == (doc_id in self.model)
        self.model.pop(doc_id, None)
        self.etags.pop(doc_id, None)

    @rule(doc_id=ids)
    def get(self, doc_id: str) -> None:
        found = self.do(self.kept.get(doc_id))
        assert repr(found and found.data) == repr(self.model.get(doc_id))

    @rule(limit=st.integers(1, 5), order=st.sampled_from([None, "a", "-a"]))
    def page_through(self, limit: int, order: str | None) -> None:
        found, cursor = [], None
        while True:
            page = self.do(self.kept.query(limit=limit, order_by=order, cursor=cursor))
            found += page.data
            assert len(page) <= limit
            cursor = page.cursor
            if cursor is None:
                break
        if order is None:
            assert [d.id for d in found] == list(self.model)
        assert sorted(d.id for d in found) == sorted(self.model)
        assert self.do(self.kept.count()) == len(self.model)


@pytest.mark.parametrize("machine", [Ring, Cache, Documents])
def test_no_program_tells_a_store_from_its_model(
    stores: Stores, machine: type[Machine], request: pytest.FixtureRequest
) -> None:
    slow = "memory" not in request.node.name  # each step is a request to moto, or several
    limits = settings(
        max_examples=12 if slow else 40,
        stateful_step_count=20 if slow else 30,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    on_these = type(machine.__name__, (machine,), {"stores": stores})
    run_state_machine_as_test(on_these, settings=limits)
