"""The refresh loop on the real function: tick, queue, lease, save, alert; whatever comes twice or
dies half-way."""

import asyncio
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock

import boto3
import pytest

from benchmarks.meter import metered
from local.stack import Stack, local_stack
from local.template import load_template
from tests.functions.support import (
    ALICE,
    BOB,
    EXTENSIONS,
    OTHER_ALICE,
    SHARDS,
    Answer,
    LocalLambda,
    Outage,
    Person,
    event,
    functions,
    rows,
    settle,
    stores_of,
)
from webbee_kernel.api.function import Function
from webbee_kernel.api.skeleton_refresh import RefreshService
from webbee_kernel.aws.clients import aws_client
from webbee_kernel.bootstrap import bootstrap
from webbee_kernel.clock import FrozenClock
from webbee_kernel.errors import DispatchUnanswered
from webbee_kernel.refresh.refresh_queue import (
    PRESENCE,
    RefreshItem,
    RefreshMessage,
    RefreshQueue,
    RefreshRequest,
    ShardDue,
    UserDue,
    from_wire,
    to_wire,
)
from webbee_kernel.refresh.refresh_user import LEASE_S
from webbee_kernel.stores.dynamodb import Tables, dynamodb_stores
from webbee_kernel.stores.types import Section, UserState
from webbee_kernel.types import UserKey

TICK = event("eventbridge_tick")
SECTIONS = ["broken", "steady", "watch"]
ALICES, BOBS = "acme/alice", "acme/bob"


class Queue(RefreshQueue):
    """Stands where SQS does, and keeps what was sent."""

    def __init__(self) -> None:
        self.messages: list[RefreshMessage] = []
        self.failing = False

    async def send(self, messages: Sequence[RefreshMessage]) -> None:
        if self.failing and any(isinstance(m, UserDue) for m in messages):
            raise OSError("the queue is away")
        self.messages.extend(messages)

    def take(self) -> list[RefreshMessage]:
        """What waits, which then waits no longer."""
        waiting, self.messages = self.messages, []
        return waiting


class Loop:
    """The function, its queue, its clock."""

    def __init__(self, stack: Stack, clock: FrozenClock, queue: Queue, outage: Outage) -> None:
        self.stack, self.clock, self.queue, self.outage = stack, clock, queue, outage

    def tick(self) -> list[RefreshMessage]:
        """One tick of the schedule, its shards looked through; whom that queued."""
        waiting = self.queue.take()
        self.stack.invoke("skeleton_refresh", TICK)
        assert self.deliver(*self.queue.take()) == []
        found, self.queue.messages = self.queue.take(), waiting
        return found

    def deliver(self, *messages: RefreshMessage) -> list[str]:
        """One batch; the ids of those that will come again, counted from 0."""
        records = [
            {"messageId": str(n), "body": json.dumps(to_wire(m)), "eventSource": "aws:sqs"}
            for n, m in enumerate(messages)
        ]
        answer = self.stack.invoke("skeleton_refresh", {"Records": records})
        return [f["itemIdentifier"] for f in answer["batchItemFailures"]]

    def after(self, seconds: float) -> None:
        """What waits is delivered so much later."""
        self.clock.advance(seconds)
        self.deliver(*self.queue.take())

    def run(self, seconds: int) -> int:
        """Let time pass, a tick a minute, each message delivered at its second; how many there
        were of users who are due."""
        start = self.clock.now()
        ticks = list(range(0, seconds + 1, 60))
        waiting: list[tuple[float, RefreshMessage]] = []
        delivered = 0
        while True:
            waiting += [(self.clock.now() + m.delay_s, m) for m in self.queue.take()]
            waiting.sort(key=lambda w: w[0])
            if ticks and (not waiting or start + ticks[0] <= waiting[0][0]):
                self.clock.set(start + ticks.pop(0))
                self.stack.invoke("skeleton_refresh", TICK)
            elif waiting and waiting[0][0] <= start + seconds:
                at, message = waiting.pop(0)
                self.clock.set(max(at, self.clock.now()))
                assert self.deliver(message) == []
                delivered += isinstance(message, UserDue)
            else:
                break
        self.clock.set(start + seconds)
        self.queue.messages = [m for _, m in waiting]
        return delivered

    def person(self, claims: Any = ALICE) -> Person:
        return Person(self.stack, claims)

    def state(self, owner: str = "acme#alice") -> UserState:
        """What the skeleton's table says of a user."""
        stores = dynamodb_stores(Tables.from_variables(os.environ), shards=SHARDS)
        return asyncio.run(stores.skeleton.read(UserKey(*owner.split("#"))))

    def has(self, name: str) -> bool:
        return name in [s.section for s in self.state().sections]

    def section(self, name: str, owner: str = "acme#alice") -> Section:
        return next(s for s in self.state(owner).sections if s.section == name)

    def data(self, name: str, owner: str = "acme#alice") -> Any:
        return self.section(name, owner).data

    def trace(self) -> Counter[str]:
        """What ran, and how often."""
        own, found = "acme#alice#clockwork", rows(self.stack, "store", "trace#")
        return Counter(json.loads(r["data"])["what"] for r in found if r["pk"] == own)


@contextmanager
def refreshing(**env: str) -> Iterator[Loop]:
    """A deployment in which only `probe` is everybody's."""
    clock, queue, outage = FrozenClock(), Queue(), Outage()
    flaky = stores_of(outage.client)

    def refresh(settings: Any, given: Any) -> RefreshService:
        app = bootstrap(settings, clock=clock, stores=flaky(None))
        cell = LocalLambda(handlers).dispatch()
        return RefreshService(settings, app=app, dispatch=cell, sender=queue)

    env = {"WEBBEE_INSTALL": "probe", "WEBBEE_DUE_SHARDS": str(SHARDS), **env}
    with local_stack(extensions_dir=EXTENSIONS, env=env) as stack:
        handlers = functions(clock=clock, stores=flaky)
        clock_ = Function("skeleton_refresh", refresh)
        handlers["skeleton_refresh"] = SimpleNamespace(lambda_handler=clock_)
        yield Loop(replace(stack, handlers=handlers), clock, queue, outage)


@pytest.fixture
def loop() -> Iterator[Loop]:
    with refreshing() as made:
        yield made


def requests(loop: Loop) -> list[RefreshRequest]:
    """What turns asked for through SQS, which then waits no longer."""
    sqs, queue = boto3.client("sqs"), {"QueueUrl": loop.stack.queue_url}
    found: list[RefreshMessage] = []
    while batch := sqs.receive_message(**queue, MaxNumberOfMessages=10).get("Messages"):
        for m in batch:
            sqs.delete_message(**queue, ReceiptHandle=m["ReceiptHandle"])
            found.append(from_wire(json.loads(m["Body"])))
    return [message for message in found if isinstance(message, RefreshRequest)]


def asked(loop: Loop) -> list[tuple[str, str]]:
    """The same, by section and reason."""
    return sorted((w.section, w.reason) for message in requests(loop) for w in message.wanted)


@pytest.fixture
def fresh(loop: Loop) -> Loop:
    """Alice has the app and every section has been saved once, at the same second, in which the
    tick was too; her message for half a minute later waits in the queue."""
    loop.tick()
    loop.person().install("clockwork")
    assert loop.deliver(*loop.queue.take()) == []
    assert set(loop.trace()) >= set(SECTIONS)
    asked(loop)
    return loop


def due(messages: Sequence[RefreshMessage]) -> list[tuple[str, int]]:
    found = [m for m in messages if isinstance(m, UserDue)]
    return sorted((f"{m.user['tenant_id']}/{m.user['imperal_id']}", m.delay_s) for m in found)


def who(claims: Any = ALICE) -> dict[str, Any]:
    return {"imperal_id": claims["sub"], "tenant_id": claims["tenant_id"], "language": "en"}


def is_due(claims: Any = ALICE) -> UserDue:
    return UserDue(who(claims))


def wants(*sections: str, reason: str = "effect", claims: Any = ALICE) -> RefreshRequest:
    return RefreshRequest(who(claims), tuple(RefreshItem("clockwork", s, reason) for s in sections))


def test_whoever_no_tick_will_find_in_time_is_queued_by_the_refresh_itself(fresh: Loop) -> None:
    assert (due(fresh.queue.messages), fresh.tick()) == ([(ALICES, 30)], [])
    fresh.after(30)
    assert fresh.queue.take() == []
    fresh.clock.advance(10)
    assert due([*fresh.tick(), *fresh.tick()]) == [
        (ALICES, 20)
    ]  # a tick that runs twice queues once


def test_five_minutes_refresh_a_section_once_a_period_by_a_message_a_round(fresh: Loop) -> None:
    messages = fresh.run(300)
    trace = fresh.trace()
    assert (trace["watch"], trace["broken"], trace["steady"]) == (6, 6, 11)
    assert messages == 10  # one for each half minute, whatever falls due in it


def test_a_backlog_multiplies_no_messages_and_one_that_got_lost_is_made_up_for(fresh: Loop) -> None:
    fresh.person(BOB).install("clockwork")
    queued = fresh.queue.take()  # Alice's is lost, and nobody refreshes anything
    asked_at = fresh.clock.now() + 3_500
    for _ in range(30):
        fresh.clock.advance(60)
        queued += fresh.tick()
    assert len(queued) == 2
    fresh.clock.advance(2_200)
    fresh.deliver(*[ShardDue(n, asked_at) for n in range(SHARDS)])
    assert fresh.queue.take() == [], "the consumers are behind"
    fresh.deliver(*[ShardDue(n, fresh.clock.now()) for n in range(SHARDS)])
    assert due(fresh.queue.take()) == [(ALICES, 0), (BOBS, 0)]


def test_a_shard_that_was_left_half_way_is_taken_up_where_it_was_left(fresh: Loop) -> None:
    pass_by(fresh, 120)
    fresh.clock.advance(120)
    fresh.queue.failing = True
    fresh.stack.invoke("skeleton_refresh", TICK)
    shards = [m for m in fresh.queue.take() if isinstance(m, ShardDue)]
    assert len(fresh.deliver(*shards)) == 1  # Alice's: her message was not sent
    fresh.queue.failing = False
    fresh.clock.advance(56)
    assert (fresh.deliver(*shards), due(fresh.queue.take())) == ([], [(ALICES, 0)])


def test_what_is_due_costs_a_lease_a_look_and_a_save_delivered_often(fresh: Loop) -> None:
    fresh.clock.advance(30)
    (message,) = fresh.queue.take()
    with ThreadPoolExecutor(4) as consumers:
        list(consumers.map(lambda _: fresh.deliver(message), range(4)))
    assert fresh.deliver(message) == []
    assert fresh.trace()["steady"] == 2
    fresh.clock.advance(30)
    messages = fresh.tick()
    with metered(aws_client("dynamodb")) as meter:
        assert fresh.deliver(*messages) == []
    calls = [c.operation for c in meter.calls if c.tables == ("SkeletonTable",)]
    assert calls == ["UpdateItem", "Query", "UpdateItem"]


def set_value(loop: Loop, n: int) -> None:
    """A write of the user's own, asked for without a model."""
    assert loop.person().call("clockwork", "set", n=n)["summary"] == f"Set to {n}."


def alerts(loop: Loop) -> list[str]:
    return [e["text"] for e in loop.person().events("alert")]


SAVE = ("update_item", "SET #sections")
KILLED: dict[str, tuple[str, str, bool]] = {
    "after the handlers, before what the data was": ("put_item", "~clockwork#watch", False),
    "after what the data was, before the data": ("put_item", "'clockwork#watch'", False),
    "after the data, before it knew": ("put_item", "'clockwork#watch'", True),
    "after the data, before the alert": ("put_item", "EventsTable", False),
    "after the alert, before it knew": ("put_item", "EventsTable", True),
    "after the alert, before the save": (*SAVE, False),
    "after the save": (*SAVE, True),
}


@pytest.mark.parametrize(("operation", "what", "after"), KILLED.values(), ids=KILLED.keys())
def test_a_consumer_is_killed_half_way(fresh: Loop, operation: str, what: str, after: bool) -> None:
    set_value(fresh, 5)
    fresh.clock.advance(60)
    fresh.outage.next(operation, what, error=SystemError("killed"), after=after)
    assert fresh.deliver(is_due()) == ["0"]
    assert fresh.outage.over()
    for _ in range(3):  # SQS delivers it again, when the lease is out
        fresh.clock.advance(LEASE_S)
        fresh.deliver(is_due())
    assert alerts(fresh) == ["from 0 to 5"]
    assert fresh.data("watch") == {"n": 5}
    assert (fresh.section("watch").version, fresh.section("watch").alerted) == (2, 2)


def test_a_handler_that_fails_keeps_the_last_snapshot_and_backs_off(fresh: Loop) -> None:
    set_value(fresh, -1)
    pauses = []
    for failures in range(1, 9):
        fresh.clock.set(max(fresh.clock.now(), fresh.section("broken").due_at))
        assert fresh.deliver(is_due()) == []
        stored = fresh.section("broken")
        pauses.append(stored.due_at - fresh.clock.now())
        assert (stored.failures, stored.data) == (failures, {"n": 0})
    assert pauses == [15, 30, 60, 120, 300, 600, 600, 600]
    assert "business" not in fresh.section("broken").last_error
    set_value(fresh, 3)
    fresh.clock.set(fresh.section("broken").due_at)
    fresh.deliver(is_due())
    stored = fresh.section("broken")
    assert (stored.failures, stored.last_error, stored.data) == (0, "", {"n": 3})
    assert stored.due_at == fresh.clock.now() + 60


@pytest.mark.parametrize(
    "body",
    [
        *("", "null", "[]", "{}", '{"user": {}}', '{"kind": "user_due"}'),
        '{"kind": "refresh_asked", "user": {"imperal_id": "a"}, "wanted": [["clockwork"]]}',
        '{"kind": "kind_of_tomorrow", "user": {"imperal_id": "a"}}',
        '{"user": {"imperal_id": "a"}, "app_id": 5, "section": null}',
    ],
)
def test_a_message_that_cannot_be_read_harms_no_other(fresh: Loop, body: str) -> None:
    fresh.clock.advance(60)
    good = json.dumps(to_wire(is_due()))
    records = [{"messageId": "bad", "body": body}, {"messageId": "good", "body": good}]
    answer = fresh.stack.invoke("skeleton_refresh", {"Records": records})
    assert [f["itemIdentifier"] for f in answer["batchItemFailures"]] in ([], ["bad"])
    assert fresh.trace()["steady"] == 2


def test_a_batch_takes_as_long_as_one(fresh: Loop, monkeypatch: pytest.MonkeyPatch) -> None:
    """The function's time is measured by one message, and a batch has as many as the template
    says."""
    service = fresh.stack.handlers["skeleton_refresh"].lambda_handler.service()
    away = AsyncMock(side_effect=DispatchUnanswered("away"))
    monkeypatch.setattr(service.scheduler, "tick", away)
    with pytest.raises(DispatchUnanswered):
        fresh.stack.invoke("skeleton_refresh", TICK)
    assert any(isinstance(message, ShardDue) for message in fresh.queue.take())
    events = load_template()["Resources"]["SkeletonRefreshFunction"]["Properties"]["Events"]
    count = events["Refresh"]["Properties"]["BatchSize"]
    together = asyncio.Barrier(count)

    async def refresh(*_: object) -> str:
        async with asyncio.timeout(60):
            await together.wait()
        return "saved"

    monkeypatch.setattr(service.refresher, "refresh", refresh)
    assert fresh.deliver(*[is_due()] * count) == []


def test_a_write_asks_for_its_apps_sections_at_once_with_one_message(fresh: Loop) -> None:
    assert fresh.trace()["alert {} {'n': 0}"] == 1  # the first snapshot met an empty old one
    assert alerts(fresh) == []
    for told in (["from 0 to 5"], ["from 0 to 5", "from 5 to 7"]):
        value = int(told[-1][-1])
        set_value(fresh, value)
        (message,) = requests(fresh)
        assert set(message.wanted) == set(wants(*SECTIONS).wanted)
        fresh.deliver(message)
        assert [fresh.data(s) for s in SECTIONS] == [{"n": value}] * 3
        fresh.run(120)
        assert alerts(fresh) == told


def test_an_alert_that_gives_no_answer_is_made_up_for_and_holds_up_no_section(
    fresh: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    dispatch = fresh.stack.handlers["skeleton_refresh"].lambda_handler.service().dispatch
    call, silent = dispatch.call, AsyncMock(side_effect=DispatchUnanswered("away"))
    monkeypatch.setattr(dispatch, "call", lambda r: (silent if r.kind == "alert" else call)(r))
    set_value(fresh, 5)
    fresh.clock.advance(60)
    assert fresh.deliver(is_due()) == alerts(fresh) == []
    assert all(pause > 0 for pause in waits(fresh).values())
    monkeypatch.undo()
    fresh.run(120)
    assert alerts(fresh) == ["from 0 to 5"]


def test_what_is_asked_for_while_a_refresh_runs_is_carried(fresh: Loop) -> None:
    fresh.queue.take()
    fresh.clock.advance(60)
    fresh.outage.next("update_item", "SET #sections", error=SystemError("killed"))
    fresh.deliver(is_due())  # it holds the lease and will not be through before that runs out
    set_value(fresh, 5)
    assert fresh.deliver(*requests(fresh)) == []  # nothing to come again in 12 minutes
    assert fresh.trace()["steady"] == 2
    fresh.clock.advance(LEASE_S)
    fresh.deliver(is_due())
    assert [fresh.data(s) for s in SECTIONS] == [{"n": 5}] * 3


def test_a_stale_section_is_asked_for_without_waiting_and_a_fresh_one_not(fresh: Loop) -> None:
    fresh.person().chat("clockwork.get {}")
    fresh.person().chat("probe.fail {}")
    fresh.clock.advance(25)
    fresh.person().chat("probe.look {}")
    assert asked(fresh) == []
    fresh.clock.advance(100)
    before = fresh.trace()
    fresh.person().chat("probe.look {}")
    assert asked(fresh) == [(s, "stale") for s in SECTIONS]
    assert fresh.trace() == before


@pytest.mark.usefixtures("unhurried")
def test_an_app_everyone_has_gets_its_sections_with_the_first_turn(alice: Person) -> None:
    alice.chat("probe.look {}")
    settle(alice.stack.drain)
    stored = [r["sk"] for r in rows(alice.stack, "skeleton") if r["pk"] == "acme#alice"]
    sections = [sk for sk in stored if not sk.startswith("!")]
    assert sorted(sections) == [f"clockwork#{s}" for s in SECTIONS]


def test_hooks_run_once_when_a_user_comes_and_goes_however_often_asked(loop: Loop) -> None:
    alice = loop.person()
    hooks = ("on_install", "on_enable", "on_disable", "on_uninstall")

    def counts() -> list[int]:
        return [loop.trace()[h] for h in hooks]

    def at_once(work: Callable[[str], Answer]) -> set[int]:
        with ThreadPoolExecutor(6) as callers:
            return {answer.status for answer in callers.map(work, ["clockwork"] * 6)}

    assert at_once(alice.install) == {alice.install("clockwork").status} == {200}
    assert counts() == [1, 1, 0, 0]  # on_enable raises
    assert [alice.uninstall("clockwork").status for _ in range(3)] == [200] * 3
    assert (counts(), at_once(alice.install)) == ([1, 1, 1, 1], {200})
    assert (counts(), set(due(loop.queue.take()))) == ([2, 2, 1, 1], {(ALICES, 0)})


def test_uninstalling_purges_that_app_of_that_user_and_can_be_repeated(fresh: Loop) -> None:
    for claims in (BOB, OTHER_ALICE):
        fresh.person(claims).install("clockwork")
    fresh.deliver(*fresh.queue.take())
    fresh.queue.take()
    fresh.person().chat('probe.mark {"text": "kept"}')
    assert fresh.person().uninstall("clockwork")["purged"]["sections"] == 3
    assert fresh.person().uninstall("clockwork")["purged"] == {"sections": 0, "cache": 0}
    assert not any(fresh.has(s) for s in SECTIONS)
    for owner in ("acme#bob", "umbrella#alice"):
        assert [fresh.data(s, owner) for s in SECTIONS] == [{"n": 0}] * 3
    assert fresh.person().call("probe", "whoami")["data"]["cached"] == {"text": "kept"}
    fresh.clock.advance(120)
    for late in (is_due(), wants(*SECTIONS, reason="stale"), wants(*SECTIONS), wants("gone")):
        fresh.deliver(late)
    fresh.deliver(is_due(BOB), is_due(OTHER_ALICE))
    assert not any(fresh.has(s) for s in SECTIONS), "what comes late brings nothing back"
    fresh.queue.take()
    fresh.clock.advance(60)
    assert {owner for owner, _ in due(fresh.tick())} == {BOBS, "umbrella/alice"}
    assert "steady" not in fresh.person().prompt()


# ---- users who are away

DAY = 86_400
HOURS = 3_600


@pytest.fixture
def patient() -> Iterator[Loop]:
    """A deployment with AbsentAfterDays=3 in which Alice has the app and was noted in this very
    second."""
    with refreshing(WEBBEE_ABSENT_AFTER_DAYS="3") as made:
        made.person().install("clockwork")
        made.deliver(*made.queue.take())
        made.queue.take()
        made.person().chat("probe.look {}")
        assert asked(made) == []  # her sections' first refresh noted her
        yield made


def waits(loop: Loop) -> dict[str, float]:
    return {s: (loop.section(s).due_at or 0.0) - loop.clock.now() for s in SECTIONS}


def pass_by(loop: Loop, seconds: float) -> None:
    """Let time pass, and the loop do what is due by then."""
    loop.clock.advance(seconds)
    assert loop.deliver(is_due()) == []
    loop.queue.take()


def test_sections_of_an_absent_user_wait_six_hours_but_alerts(patient: Loop) -> None:
    pass_by(patient, 4 * DAY)
    assert waits(patient) == {"steady": 30, "broken": 60, "watch": 60}
    pass_by(patient, 61)
    assert waits(patient) == {"steady": 6 * HOURS, "broken": 6 * HOURS, "watch": 60}
    before = patient.trace()
    patient.run(600)
    passed = patient.trace() - before
    assert (passed["watch"], passed["steady"], passed["broken"]) == (10, 0, 0)
    pass_by(patient, 6 * HOURS)
    assert waits(patient) == {"steady": 6 * HOURS, "broken": 6 * HOURS, "watch": 60}
    # who comes back has the sections refreshed at once and the usual pace again
    pass_by(patient, 3 * HOURS)
    came_back = patient.clock.now()
    patient.person().chat("probe.look {}")
    (message,) = requests(patient)
    assert sorted(w.section for w in message.wanted) == ["", "broken", "steady"]
    patient.deliver(message)
    assert waits(patient) == {"steady": 30, "broken": 60, "watch": 60}
    assert patient.section("steady").refreshed_at == came_back
    again = patient.trace()
    patient.deliver(message)  # twice delivered, once done
    assert patient.trace() == again
    pass_by(patient, 61)
    assert waits(patient) == {"steady": 30, "broken": 60, "watch": 60}


@pytest.mark.usefixtures("unhurried")
def test_a_user_is_noted_once_a_day_by_one_message_and_one_write(patient: Loop) -> None:
    noted = []
    for _ in range(5):
        patient.clock.advance(11 * HOURS)
        patient.person().chat("probe.look {}")
        asks = requests(patient)
        wanted = [tuple(w for w in m.wanted if w.reason == PRESENCE) for m in asks]
        message = [replace(m, wanted=w) for m, w in zip(asks, wanted, strict=True) if w]
        with metered(aws_client("dynamodb")) as meter:
            patient.deliver(*message)
        noted.append((len(message), [c.operation for c in meter.calls]))
    assert noted == [(0, []), (0, []), (1, ["UpdateItem"]), (0, []), (0, [])]


def test_without_the_setting_nobody_is_noted_and_nothing_waits() -> None:
    with refreshing(WEBBEE_ABSENT_AFTER_DAYS="0") as loop:
        loop.person().install("clockwork")
        loop.deliver(*loop.queue.take())
        pass_by(loop, 30 * DAY)
        assert waits(loop) == {"steady": 30, "broken": 60, "watch": 60}
        loop.person().chat("probe.look {}")
        assert asked(loop) == []
        assert loop.state().seen_at is None
