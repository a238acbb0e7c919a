"""The refresh loop on the real function: tick, queue, lease, save, alert; whatever comes twice or
dies half-way."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, replace
from types import SimpleNamespace
from typing import Any

import boto3
import pytest

from benchmarks.meter import metered
from local.stack import Stack, local_stack
from tests.functions.support import (
    ALICE,
    BOB,
    EXTENSIONS,
    OTHER_ALICE,
    Answer,
    Person,
    event,
    functions,
    rows,
)
from tests.functions.test_database_failures import Outage
from webbee_kernel.api.function import Function
from webbee_kernel.api.skeleton_refresh import RefreshService
from webbee_kernel.aws.clients import aws_client
from webbee_kernel.base.clock import FrozenClock
from webbee_kernel.bootstrap import bootstrap
from webbee_kernel.stores.dynamodb import Tables, dynamodb_stores
from webbee_kernel.values import RefreshMessage

TICK = event("eventbridge_tick")
SECTIONS = ["broken", "steady", "watch"]


class Queue:
    """Stands where SQS does, and keeps what was sent."""

    def __init__(self) -> None:
        self.messages: list[RefreshMessage] = []

    async def send(self, messages: Sequence[RefreshMessage]) -> None:
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
        """One tick of the schedule; what it queued."""
        self.stack.invoke("skeleton_refresh", TICK)
        return self.queue.take()

    def deliver(self, *messages: RefreshMessage) -> list[str]:
        """One batch; the ids of those that will come again, counted from 0."""
        records = [
            {"messageId": str(n), "body": json.dumps(asdict(m)), "eventSource": "aws:sqs"}
            for n, m in enumerate(messages)
        ]
        answer = self.stack.invoke("skeleton_refresh", {"Records": records})
        return [f["itemIdentifier"] for f in answer["batchItemFailures"]]

    def run(self, seconds: int) -> None:
        """Let time pass minute by minute, each message delivered at its second."""
        end = self.clock.now() + seconds
        while (start := self.clock.now()) <= end:
            for message in sorted(self.tick(), key=lambda m: m.delay_s):
                if start + message.delay_s <= end:
                    self.clock.set(start + message.delay_s)
                    assert self.deliver(message) == []
            self.clock.set(start + 60)
        self.clock.set(end)

    def person(self, claims: Any = ALICE) -> Person:
        return Person(self.stack, claims)

    def section(self, name: str, owner: str = "acme#alice") -> dict[str, Any]:
        """The stored section; empty when there is none."""
        found = [
            r
            for r in rows(self.stack, "skeleton")
            if (r["pk"], r["sk"]) == (owner, f"clockwork#{name}")
        ]
        return found[0] if found else {}

    def data(self, name: str, owner: str = "acme#alice") -> Any:
        return json.loads(self.section(name, owner)["data"])

    def trace(self, owner: str = "acme#alice") -> Counter[str]:
        """What ran, and how often."""
        found = [
            r
            for r in rows(self.stack, "store")
            if r["pk"] == f"{owner}#clockwork" and r["sk"].startswith("trace#")
        ]
        return Counter(json.loads(r["data"])["what"] for r in found)


@contextmanager
def refreshing(**env: str) -> Iterator[Loop]:
    """A deployment in which only `probe` is everybody's."""
    clock, queue, outage = FrozenClock(), Queue(), Outage()

    def flaky(_: Any) -> Any:
        return dynamodb_stores(
            Tables.from_variables(os.environ),
            shards=4,
            secrets_prefix="/webbee/local",
            client_factory=outage.client,
        )

    def refresh(settings: Any, given: Any) -> RefreshService:
        return RefreshService(
            settings, app=bootstrap(settings, clock=clock, stores=flaky(None)), sender=queue
        )

    with local_stack(extensions_dir=EXTENSIONS, env={"WEBBEE_INSTALL": "probe", **env}) as stack:
        handlers = functions(clock=clock, stores=flaky)
        handlers = {
            **handlers,
            "skeleton_refresh": SimpleNamespace(
                lambda_handler=Function("skeleton_refresh", refresh)
            ),
        }
        yield Loop(replace(stack, handlers=handlers), clock, queue, outage)


@pytest.fixture
def loop() -> Iterator[Loop]:
    with refreshing() as made:
        yield made


def asked(loop: Loop) -> list[tuple[str, str]]:
    """What turns asked for through SQS, section and reason."""
    return sorted((m.section, m.reason) for m in requests(loop))


def requests(loop: Loop) -> list[RefreshMessage]:
    """The messages that turns sent through SQS."""
    sqs = boto3.client("sqs")
    found: list[RefreshMessage] = []
    while batch := sqs.receive_message(
        QueueUrl=loop.stack.queue_url, MaxNumberOfMessages=10, WaitTimeSeconds=0
    ).get("Messages"):
        for m in batch:
            sqs.delete_message(QueueUrl=loop.stack.queue_url, ReceiptHandle=m["ReceiptHandle"])
            found.append(RefreshMessage(**json.loads(m["Body"])))
    return found


@pytest.fixture
def fresh(loop: Loop) -> Loop:
    """Alice has the app and every section has been saved once, at the same second."""
    loop.person().install("clockwork")
    assert loop.deliver(*loop.tick()) == []
    assert set(loop.trace()) >= set(SECTIONS)
    asked(loop)
    return loop


def due(messages: Sequence[RefreshMessage]) -> list[tuple[str, int]]:
    """Section and delay of queued messages."""
    return sorted((m.section, m.delay_s) for m in messages)


def message(section: str, reason: str = "due", claims: Any = ALICE) -> RefreshMessage:
    who = {"imperal_id": claims["sub"], "tenant_id": claims["tenant_id"], "language": "en"}
    return RefreshMessage(who, "clockwork", section, reason)


def test_installing_puts_the_sections_on_the_clock(loop: Loop) -> None:
    assert loop.tick() == []
    loop.person().install("clockwork")
    assert due(loop.tick()) == [("broken", 0), ("steady", 0), ("steady", 30), ("watch", 0)]


def test_a_tick_finds_only_what_falls_due_before_the_next_one(fresh: Loop) -> None:
    assert due(fresh.tick()) == [("steady", 30)]
    fresh.clock.advance(1)
    assert due(fresh.tick()) == [("broken", 59), ("steady", 29), ("steady", 59), ("watch", 59)]


def test_what_is_late_is_not_delayed(fresh: Loop) -> None:
    fresh.clock.advance(500)
    assert due(fresh.tick()) == [("broken", 0), ("steady", 0), ("steady", 30), ("watch", 0)]


def test_each_section_is_refreshed_at_its_own_second(fresh: Loop) -> None:
    began = fresh.clock.now()
    (steady,) = fresh.tick()
    fresh.clock.advance(steady.delay_s)
    fresh.deliver(steady)
    assert float(fresh.section("steady")["refreshed_at"]) == began + 30
    assert float(fresh.section("steady")["due_at"]) == began + 60
    assert float(fresh.section("watch")["refreshed_at"]) == began


def test_five_minutes_refresh_each_section_once_a_period(fresh: Loop) -> None:
    fresh.run(300)
    trace = fresh.trace()
    assert (trace["watch"], trace["broken"], trace["steady"]) == (6, 6, 11)


def test_a_tick_that_runs_twice_saves_once(fresh: Loop) -> None:
    fresh.clock.advance(60)
    first, second = fresh.tick(), fresh.tick()
    assert due(first) == due(second)
    fresh.deliver(*first)
    assert fresh.deliver(*second) == []
    assert fresh.trace() == Counter(
        {
            "steady": 2,
            "watch": 2,
            "broken": 2,
            "alert {} {'n': 0}": 1,
            "on_install": 1,
            "on_enable": 1,
        }
    )


def test_a_message_delivered_twice_saves_once(fresh: Loop) -> None:
    fresh.clock.advance(60)
    steady = next(m for m in fresh.tick() if m.section == "steady")
    fresh.deliver(steady)
    assert fresh.deliver(steady) == []
    assert fresh.trace()["steady"] == 2


def test_a_message_delivered_to_four_consumers_at_once_runs_once(fresh: Loop) -> None:
    fresh.clock.advance(60)
    steady = next(m for m in fresh.tick() if m.section == "steady")
    with ThreadPoolExecutor(4) as consumers:
        list(consumers.map(lambda _: fresh.deliver(steady), range(4)))
    assert fresh.trace()["steady"] == 2


def test_a_lease_that_ran_out_is_anyones(fresh: Loop) -> None:
    fresh.clock.advance(60)
    (watch,) = [m for m in fresh.tick() if m.section == "watch"]
    fresh.outage.next("put_item", "clockwork#watch", error=SystemError("killed"))
    assert fresh.deliver(watch) == ["0"]
    fresh.deliver(watch)
    assert float(fresh.section("watch")["due_at"]) <= fresh.clock.now()
    fresh.clock.advance(61)
    assert fresh.deliver(watch) == []
    assert float(fresh.section("watch")["refreshed_at"]) == fresh.clock.now()


def set_value(loop: Loop, n: int, claims: Any = ALICE) -> None:
    assert loop.person(claims).chat(f'clockwork.set {{"n": {n}}}')["reply"] == f"Set to {n}."


def alerts(loop: Loop, claims: Any = ALICE) -> list[str]:
    return [e["text"] for e in loop.person(claims).events("alert")]


def test_a_change_is_told_once(fresh: Loop) -> None:
    set_value(fresh, 5)
    fresh.run(240)
    assert alerts(fresh) == ["from 0 to 5"]
    set_value(fresh, 7)
    fresh.run(120)
    assert alerts(fresh) == ["from 0 to 5", "from 5 to 7"]


def test_the_first_snapshot_meets_an_empty_old_one(fresh: Loop) -> None:
    assert fresh.trace()["alert {} {'n': 0}"] == 1
    assert alerts(fresh) == []


KILLED: dict[str, tuple[str, str, bool]] = {
    "after the handler, before the save": ("put_item", "clockwork#watch", False),
    "after the save, before it knew": ("put_item", "clockwork#watch", True),
    "after the save, before the alert": ("put_item", "EventsTable", False),
    "after the alert, before it knew": ("put_item", "EventsTable", True),
    "after the alert, before it was marked": ("update_item", "SET #alerted", False),
    "after the mark": ("update_item", "SET #alerted", True),
}


@pytest.mark.parametrize(("operation", "what", "after"), KILLED.values(), ids=KILLED.keys())
def test_a_consumer_killed_half_way_loses_no_alert_and_tells_none_twice(
    fresh: Loop, operation: str, what: str, after: bool
) -> None:
    set_value(fresh, 5)
    fresh.clock.advance(60)
    (watch,) = [m for m in fresh.tick() if m.section == "watch"]
    fresh.outage.next(operation, what, error=SystemError("killed"), after=after)
    assert fresh.deliver(watch) == ["0"]
    assert fresh.outage.over()
    for _ in range(3):  # SQS delivers it again, when the lease is out
        fresh.clock.advance(61)
        fresh.deliver(watch)
    assert alerts(fresh) == ["from 0 to 5"]
    assert fresh.data("watch") == {"n": 5}
    assert int(fresh.section("watch")["version"]) == 2


def test_a_handler_that_fails_keeps_the_last_snapshot_and_backs_off(fresh: Loop) -> None:
    set_value(fresh, -1)
    pauses = []
    for failures in range(1, 9):
        fresh.clock.set(max(fresh.clock.now(), float(fresh.section("broken")["due_at"])))
        assert fresh.deliver(message("broken")) == []
        stored = fresh.section("broken")
        pauses.append(float(stored["due_at"]) - fresh.clock.now())
        assert (int(stored["failures"]), json.loads(stored["data"])) == (failures, {"n": 0})
    assert pauses == [15, 30, 60, 120, 300, 600, 600, 600]
    assert "business" not in json.dumps(fresh.section("broken"))
    set_value(fresh, 3)
    fresh.clock.set(float(fresh.section("broken")["due_at"]))
    fresh.deliver(message("broken"))
    stored = fresh.section("broken")
    assert (int(stored["failures"]), stored["last_error"], fresh.data("broken")) == (
        0,
        "",
        {"n": 3},
    )
    assert float(stored["due_at"]) == fresh.clock.now() + 60


def test_a_section_that_fails_ages_visibly(fresh: Loop) -> None:
    set_value(fresh, -1)
    fresh.clock.advance(90)
    fresh.deliver(message("broken"))
    developer = fresh.person({**ALICE, "role": "developer"})
    prompt = developer.send(
        "chat_turn", "GET", "/v1/inspect", query={"message": "x", "session_id": "s1"}
    )["prompt"]
    assert "- broken (cached ~90s ago): n=0" in prompt


def test_a_batch_reports_only_what_has_to_come_again(loop: Loop) -> None:
    loop.person().install("clockwork")
    batch = event("sqs_refresh_batch")
    loop.outage.next("put_item", "clockwork#broken")
    answer = loop.stack.invoke("skeleton_refresh", batch)
    ids = {
        r["messageId"]: json.loads(r["body"]) if r["body"].startswith("{") else None
        for r in batch["Records"]
    }
    failed = [ids[f["itemIdentifier"]] for f in answer["batchItemFailures"]]
    assert [m["section"] if m else None for m in failed] == ["broken", None]
    assert loop.data("steady") == {"n": 0}


@pytest.mark.parametrize(
    "body",
    [
        "",
        "null",
        "[]",
        "{}",
        '{"user": {}}',
        '{"user": {"imperal_id": "a"}, "app_id": 5, "section": null}',
    ],
)
def test_a_message_that_cannot_be_read_harms_no_other(fresh: Loop, body: str) -> None:
    fresh.clock.advance(60)
    good = json.dumps(asdict(message("steady")))
    records = [{"messageId": "bad", "body": body}, {"messageId": "good", "body": good}]
    answer = fresh.stack.invoke("skeleton_refresh", {"Records": records})
    assert [f["itemIdentifier"] for f in answer["batchItemFailures"]] in ([], ["bad"])
    assert fresh.trace()["steady"] == 2


def test_two_users_are_on_their_own_clocks(fresh: Loop) -> None:
    fresh.clock.advance(20)
    fresh.person(BOB).install("clockwork")
    set_value(fresh, 9, BOB)
    fresh.deliver(*[m for m in fresh.tick() if m.user["imperal_id"] == "bob"])
    assert (fresh.data("steady"), fresh.data("steady", "acme#bob")) == ({"n": 0}, {"n": 9})
    found = sorted((m.user["imperal_id"], m.section, m.delay_s) for m in fresh.tick())
    assert found == [
        ("alice", "broken", 40),
        ("alice", "steady", 10),
        ("alice", "steady", 40),
        ("alice", "watch", 40),
        ("bob", "steady", 30),
    ]


def test_a_write_asks_for_its_apps_sections_at_once(fresh: Loop) -> None:
    set_value(fresh, 5)
    assert asked(fresh) == [(s, "effect") for s in SECTIONS]
    fresh.deliver(*[message(s, "effect") for s in SECTIONS])
    assert [fresh.data(s) for s in SECTIONS] == [{"n": 5}] * 3
    assert alerts(fresh) == ["from 0 to 5"]


def test_a_read_and_a_failed_write_ask_for_nothing(fresh: Loop) -> None:
    fresh.person().chat("clockwork.get {}")
    fresh.person().chat("probe.fail {}")
    assert asked(fresh) == []


def test_a_stale_section_is_rendered_with_its_age_and_asked_for_without_waiting(
    fresh: Loop,
) -> None:
    fresh.clock.advance(125)
    before = fresh.trace()
    fresh.person().chat("probe.look {}")
    assert asked(fresh) == [(s, "stale") for s in SECTIONS]
    assert fresh.trace() == before


def test_a_section_within_its_time_is_not_asked_for(fresh: Loop) -> None:
    fresh.clock.advance(25)
    fresh.person().chat("probe.look {}")
    assert asked(fresh) == []


def test_an_app_everyone_has_gets_its_sections_with_the_first_turn() -> None:
    with local_stack(extensions_dir=EXTENSIONS) as stack:
        stack = replace(stack, handlers=functions())
        person = Person(stack, ALICE)
        person.chat("probe.look {}")
        while stack.drain():
            pass
        stored = [r["sk"] for r in rows(stack, "skeleton")]
        assert sorted(stored) == [f"clockwork#{s}" for s in SECTIONS]


def test_hooks_run_when_a_user_comes_and_goes_and_not_in_between(loop: Loop) -> None:
    alice = loop.person()
    hooks = ("on_install", "on_enable", "on_disable", "on_uninstall")

    def counts() -> list[int]:
        return [loop.trace()[h] for h in hooks]

    assert [alice.install("clockwork").status for _ in range(3)] == [200] * 3
    assert counts() == [1, 1, 0, 0]
    assert [alice.uninstall("clockwork").status for _ in range(3)] == [200] * 3
    assert counts() == [1, 1, 1, 1]
    alice.install("clockwork")
    assert counts() == [2, 2, 1, 1]


def test_of_installations_at_the_same_time_one_calls_the_hooks(loop: Loop) -> None:
    def at_once(work: Callable[[str], Answer]) -> set[int]:
        with ThreadPoolExecutor(6) as callers:
            return {answer.status for answer in callers.map(work, ["clockwork"] * 6)}

    assert at_once(loop.person().install) == {200}
    assert (loop.trace()["on_install"], loop.trace()["on_enable"]) == (1, 1)  # on_enable raises
    loop.person().uninstall("clockwork")
    assert at_once(loop.person().install) == {200}
    assert (loop.trace()["on_install"], loop.trace()["on_enable"]) == (2, 2)
    assert due(loop.tick()) == [("broken", 0), ("steady", 0), ("steady", 30), ("watch", 0)]


def test_uninstalling_purges_that_app_of_that_user_and_can_be_repeated(fresh: Loop) -> None:
    for claims in (BOB, OTHER_ALICE):
        fresh.person(claims).install("clockwork")
    fresh.deliver(*fresh.tick())
    fresh.person().chat('probe.mark {"text": "kept"}')
    assert fresh.person().uninstall("clockwork")["purged"]["sections"] == 3
    assert fresh.person().uninstall("clockwork")["purged"] == {"sections": 0, "cache": 0}
    assert [fresh.section(s) for s in SECTIONS] == [{}, {}, {}]
    assert all(
        fresh.data(s, owner) == {"n": 0}
        for s in SECTIONS
        for owner in ("acme#bob", "umbrella#alice")
    )
    assert fresh.person().call("probe", "whoami")["data"]["cached"] == {"text": "kept"}
    fresh.clock.advance(120)
    assert {(m.user["tenant_id"], m.user["imperal_id"]) for m in fresh.tick()} == {
        ("acme", "bob"),
        ("umbrella", "alice"),
    }
    prompt = fresh.person({**ALICE, "role": "developer"}).send(
        "chat_turn", "GET", "/v1/inspect", query={"message": "x"}
    )["prompt"]
    assert "steady" not in prompt


@pytest.mark.parametrize("reason", ["due", "stale", "effect"])
def test_a_message_that_comes_after_the_user_left_brings_nothing_back(
    fresh: Loop, reason: str
) -> None:
    fresh.person().uninstall("clockwork")
    fresh.clock.advance(120)
    fresh.deliver(*[message(s, reason) for s in SECTIONS])
    assert [fresh.section(s) for s in SECTIONS] == [{}, {}, {}]
    assert fresh.tick() == []


def test_a_section_that_is_no_longer_there_leaves_the_clock(fresh: Loop) -> None:
    assert (
        fresh.deliver(
            replace(message("gone"), section="gone"), replace(message("steady"), app_id="gone")
        )
        == []
    )


# ---- users who are away

DAY = 86_400
HOURS = 3_600


@pytest.fixture
def patient() -> Iterator[Loop]:
    """A deployment with AbsentAfterDays=3 in which Alice has the app and was noted in this very
    second."""
    with refreshing(WEBBEE_ABSENT_AFTER_DAYS="3") as made:
        made.person().install("clockwork")
        made.deliver(*made.tick())
        made.person().chat("probe.look {}")
        assert asked(made) == []  # her sections' first refresh noted her
        yield made


def waits(loop: Loop) -> dict[str, float]:
    """Seconds until each section is due."""
    return {s: float(loop.section(s)["due_at"]) - loop.clock.now() for s in SECTIONS}


def pass_by(loop: Loop, seconds: float) -> None:
    """Let time pass, and the loop do what is due by then."""
    loop.clock.advance(seconds)
    assert loop.deliver(*[m for m in loop.tick() if m.delay_s == 0]) == []


def test_sections_of_an_absent_user_wait_six_hours_but_those_with_alerts_do_not(
    patient: Loop,
) -> None:
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


def test_who_comes_back_has_the_sections_refreshed_at_once_and_the_usual_pace_again(
    patient: Loop,
) -> None:
    pass_by(patient, 5 * DAY)
    pass_by(patient, 3 * HOURS)
    came_back = patient.clock.now()
    patient.person().chat("probe.look {}")
    messages = requests(patient)
    assert sorted((m.section, m.reason) for m in messages) == [
        ("", "seen"),
        ("broken", "stale"),
        ("steady", "stale"),
    ]
    patient.deliver(*messages)
    assert waits(patient) == {"steady": 30, "broken": 60, "watch": 60}
    assert float(patient.section("steady")["refreshed_at"]) == came_back
    again = patient.trace()
    patient.deliver(*messages)  # twice delivered, once done
    assert patient.trace() == again
    pass_by(patient, 61)
    assert waits(patient) == {"steady": 30, "broken": 60, "watch": 60}


def test_a_section_that_is_almost_due_at_the_slow_pace_is_refreshed_at_once_too(
    patient: Loop,
) -> None:
    pass_by(patient, 5 * DAY)
    patient.clock.advance(6 * HOURS - 10)
    patient.person().chat("probe.look {}")
    patient.deliver(*requests(patient))
    assert waits(patient) == {"steady": 30, "broken": 60, "watch": 60}


def test_a_failing_section_of_an_absent_user_waits_as_well_and_is_tried_at_once_on_return(
    patient: Loop,
) -> None:
    set_value(patient, -1)
    patient.deliver(*requests(patient))
    pass_by(patient, 5 * DAY)
    assert (waits(patient)["broken"], patient.section("broken")["failures"]) == (6 * HOURS, "2")
    patient.clock.advance(HOURS)
    patient.person().chat("probe.look {}")
    messages = requests(patient)
    assert ("broken", "stale") in [(m.section, m.reason) for m in messages]
    patient.deliver(*messages)
    assert (waits(patient)["broken"], patient.section("broken")["failures"]) == (60, "3")
    patient.person().chat("probe.look {}")
    assert asked(patient) == []  # its backoff has it


def test_a_user_is_noted_once_a_day_by_one_message_and_one_write(patient: Loop) -> None:
    noted = []
    for _ in range(5):
        patient.clock.advance(11 * HOURS)
        patient.person().chat("probe.look {}")
        message = [m for m in requests(patient) if m.reason == "seen"]
        with metered(aws_client("dynamodb")) as meter:
            patient.deliver(*message)
        noted.append((len(message), [c.operation for c in meter.calls]))
    assert noted == [(0, []), (0, []), (1, ["PutItem"]), (0, []), (0, [])]


def test_a_turn_costs_what_it_costs_without_the_setting(patient: Loop) -> None:
    patient.clock.advance(2 * DAY)
    for _ in range(2):  # the first asks to note the user, the second does not
        with metered(aws_client("dynamodb")) as meter:
            patient.person().chat("hello")
        assert sorted(c.operation for c in meter.calls) == ["PutItem", "Query", "Query"]


@pytest.mark.parametrize(
    ("days", "steady"),
    [
        ("0", ["PutItem", "Query", "UpdateItem"]),
        ("3", ["GetItem", "PutItem", "Query", "UpdateItem"]),
    ],
)
def test_a_refresh_costs_one_small_read_more_where_the_section_could_wait(
    days: str, steady: list[str]
) -> None:
    costs = {}
    with refreshing(WEBBEE_ABSENT_AFTER_DAYS=days) as loop:
        loop.person().install("clockwork")
        for _ in range(2):
            loop.clock.advance(61)
            for message in loop.tick():
                with metered(aws_client("dynamodb")) as meter:
                    loop.deliver(message)
                if message.delay_s == 0:
                    costs[message.section] = sorted(
                        c.operation for c in meter.calls if c.tables == ("SkeletonTable",)
                    )
    assert (costs["steady"], costs["watch"]) == (steady, ["PutItem", "Query", "UpdateItem"])


def test_a_user_nobody_noted_counts_from_the_next_refresh(patient: Loop) -> None:
    patient.person(BOB).install("clockwork")
    patient.clock.advance(9 * DAY)  # installed, never refreshed, never seen
    patient.deliver(*patient.tick())
    assert float(patient.section("steady", "acme#bob")["due_at"]) - patient.clock.now() == 30
    pass_by(patient, 4 * DAY + 60)
    assert float(patient.section("steady", "acme#bob")["due_at"]) - patient.clock.now() == 6 * HOURS


def test_without_the_setting_nobody_is_noted_and_nothing_waits(fresh: Loop) -> None:
    fresh.clock.advance(30 * DAY)
    fresh.deliver(*[m for m in fresh.tick() if m.delay_s == 0])
    assert waits(fresh) == {"steady": 30, "broken": 60, "watch": 60}
    fresh.person().chat("probe.look {}")
    assert asked(fresh) == []
    assert [r["sk"] for r in rows(fresh.stack, "skeleton") if "_kernel" in r["sk"]] == []
