"""Effects that outlive their turn: recorded when they have ended or are lost, and their results
kept."""

import asyncio
import json
import random
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event as Signal
from typing import Any

import boto3
import pytest
from botocore.exceptions import EndpointConnectionError

from local.stack import EventStream, Stack
from tests.functions.support import ALICE, BOB, Person, deployed, rows, settle, until, waiting
from webbee_kernel import background, stores
from webbee_kernel.api.chat_turn import PAUSES_S
from webbee_kernel.aws.clients import aws_client
from webbee_kernel.clock import FrozenClock
from webbee_kernel.errors import StorageUnavailable
from webbee_kernel.llm.protocol import ModelRequest, ModelResponse, ToolCall
from webbee_kernel.refresh.refresh_queue import OPEN_S
from webbee_kernel.stores import Stores
from webbee_kernel.stores.audit_trail import LOST_S

MAIN = """
import asyncio
from pathlib import Path

from pydantic import BaseModel
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension

ext = Extension("slow")
chat = ChatExtension(ext)


class Which(BaseModel):
    number: int


@chat.function("order", "Order a report", action_type="write")
async def order(ctx: Context, params: Which) -> ActionResult:
    while not Path(__file__).with_name(f"go-{params.number}").exists():
        await asyncio.sleep(0.01)
    return ActionResult.success({"report": f"r-{params.number}"}, "Ready.")
"""

STEPS = (
    *("store the event", "read the session", "write the turn", "lose the write's answer"),
    *("send to the queue", "push to pages", "end at once", "end behind its work"),
)
"""What may fail: in the cell, in the function, in its queue, and the function itself."""


class _EndedError(Exception):
    """The function's process ended: Lambda delivers again."""


@dataclass
class Faults:
    """Which steps are to fail next, and how often each has."""

    wanted: Counter[str] = field(default_factory=Counter)
    done: Counter[str] = field(default_factory=Counter)

    def is_due(self, step: str) -> bool:
        if not self.wanted[step]:
            return False
        self.wanted[step] -= 1
        self.done[step] += 1
        return True

    def meet(self, step: str) -> None:
        if self.is_due(step):
            raise StorageUnavailable(f"cannot {step}")


def fails(store: Any, name: str, faults: Faults, before: str, after: str = "") -> None:
    """A method of a store fails where the step before or the step after it is due."""
    method = getattr(store, name)

    async def failing(*args: Any, **options: Any) -> Any:
        faults.meet(before)
        done = await method(*args, **options)
        faults.meet(after)
        return done

    setattr(store, name, failing)


class Patient:
    """A model that orders and, where it is told to, takes its time over the reply."""

    name = "patient"

    def __init__(self) -> None:
        self.asked, self.reply = Signal(), Signal()
        self.reply.set()

    async def complete(self, request: ModelRequest) -> ModelResponse:
        if request.role == "classifier":
            lines = [line for line in request.prompt.splitlines() if " user] order " in line]
            number = int(lines[-1].rpartition(" ")[2])
            return ModelResponse(tool_calls=(ToolCall("slow__order", {"number": number}),))
        self.asked.set()
        await asyncio.to_thread(self.reply.wait)
        return ModelResponse(text="It is still at it.")


@dataclass
class Late:
    """A deployment whose stream and queue the test delivers."""

    stack: Stack
    stream: EventStream
    queue: str
    dead: str
    folder: Path
    clock: FrozenClock
    model: Patient
    faults: Faults

    @property
    def person(self) -> Person:
        return Person(self.stack, ALICE)

    def end(self, number: int) -> None:
        """Let an order end, and wait until its event is stored."""
        (self.folder / "slow" / f"go-{number}").touch()
        until(lambda: any(e["data"]["report"] == f"r-{number}" for e in self.events()))

    def events(self) -> list[dict[str, Any]]:
        found = [json.loads(r["body"]) for r in rows(self.stack, "events")]
        return [{**e, **e.get("data", {})} for e in found if e["kind"] == "result"]

    def hand(self, name: str, event: Any) -> Any:
        """An invocation, behind whose work the function may end."""
        answer = self.stack.invoke(name, event)
        if self.faults.is_due("end behind its work"):
            self.stack.handlers["chat_turn"].lambda_handler.reset()
            raise _EndedError
        return answer

    def turn_of_the_queue(self) -> None:
        """Time passes until the next letter is due; it is delivered, and again where it fails."""
        self.clock.advance(PAUSES_S[-1])
        for message in waiting(self.queue):
            message.delayed_until -= PAUSES_S[-1] * 1000
        sqs = boto3.client("sqs")
        while found := sqs.receive_message(
            QueueUrl=self.queue, MaxNumberOfMessages=10, AttributeNames=["All"]
        ).get("Messages"):
            records = [
                {"messageId": m["MessageId"], "body": m["Body"], "eventSource": "aws:sqs"}
                for m in found
            ]
            failed = {m["MessageId"] for m in found}
            with suppress(_EndedError):
                if not self.faults.is_due("end at once"):
                    answer = self.hand("chat_turn", {"Records": records})
                    failed = {f["itemIdentifier"] for f in answer["batchItemFailures"]}
            for message in found:
                handle = {"QueueUrl": self.queue, "ReceiptHandle": message["ReceiptHandle"]}
                if message["MessageId"] in failed:
                    sqs.change_message_visibility(**handle, VisibilityTimeout=0)
                else:
                    sqs.delete_message(**handle)

    def turn_of_the_stream(self) -> None:
        with suppress(_EndedError):
            if not self.faults.is_due("end at once"):
                settle(self.stream.hand_over)

    def settle(self) -> None:
        """All that is under way, until nothing is; delays pass at once."""
        for _ in range(40):
            self.turn_of_the_stream()
            self.turn_of_the_queue()
            is_read = self.stream._seen == len(self.stream._written) and not self.stream._again
            if is_read and not waiting(self.queue):
                return
        raise AssertionError("it never came to rest")

    def look(self) -> int:
        """Time passes until skeleton_refresh looks after open records; how many messages it had."""
        self.clock.advance(OPEN_S)
        self.stack.hasten(OPEN_S)
        return self.stack.drain()

    def records(self) -> list[str]:
        """How recorded calls ended."""
        found = rows(self.stack, "audit", "call#")
        told = self.person.send("GET", "/v1/me/audit")["records"]
        assert len(told) == len(found)
        return [f"{c['fn_name']}: {c['status']}" for c in told]

    def told(self, session: str) -> tuple[int, list[str]]:
        """How often the model's memory has the report, and how the call is told."""
        [turn] = self.person.turns(session)
        facts = self.person.prompt("and now?", session).count("FACTS: app=slow fn=order data=")
        return facts, [c["status"] for c in turn["calls"]]


@pytest.fixture
def late(tmp_path: Path) -> Iterator[Late]:
    (tmp_path / "slow").mkdir()
    (tmp_path / "slow" / "main.py").write_text(MAIN)
    clock, faults, model = FrozenClock(time.time()), Faults(), Patient()

    def faulty(own: Stores) -> Stores:
        fails(own.events, "append", faults, "store the event")
        fails(own.sessions, "read", faults, "read the session")
        fails(own.sessions, "replace", faults, "write the turn", "lose the write's answer")
        fails(own.connections, "of_user", faults, "push to pages")
        return own

    def refuse(**_: Any) -> None:
        if faults.is_due("send to the queue"):
            raise EndpointConnectionError(endpoint_url="the queue")

    env = {"WEBBEE_CALL_SECONDS": "0.05", "WEBBEE_USER_REQUESTS_PER_MINUTE": "0"}
    names = ("late", "dead")
    with (
        deployed(extensions=tmp_path, env=env, clock=clock, model=model, stores=faulty) as stack,
        pytest.MonkeyPatch.context() as patch,
    ):
        queue, dead = (boto3.client("sqs").create_queue(QueueName=n)["QueueUrl"] for n in names)
        patch.setenv("WEBBEE_LATE_QUEUE_URL", queue)
        patch.setenv("WEBBEE_DEAD_LETTER_URL", dead)
        patch.setattr(stores, "PAUSES_S", (0.0,) * len(stores.PAUSES_S))  # each attempt at once
        events = aws_client("sqs").meta.events  # the function's own client, its own error
        events.register("before-send.sqs.SendMessage", refuse)
        made = Late(stack, stack.stream(), queue, dead, tmp_path, clock, model, faults)
        made.stream._invoke = made.hand
        yield made
        events.unregister("before-send.sqs.SendMessage", refuse)
        model.reply.set()


def test_one_that_runs_is_looked_at_again_and_one_without_end_is_lost(late: Late) -> None:
    assert late.person.call("slow", "order", number=1)["error_code"] == "BACKEND_TIMEOUT"
    assert late.records() == []
    looks = 0
    while not late.records():
        assert late.look() >= 1
        looks += 1
    assert (looks, late.records()) == (-(-LOST_S // OPEN_S), ["order: error"])
    late.end(1)


def test_no_late_success_is_lost_in_two_hundred_faults(late: Late) -> None:
    chance = random.Random(30)
    number = 0
    while sum(late.faults.done.values()) < 200:
        number += 1
        late.person.chat(f"order {number}", session_id=f"s{number}", request_id=f"q{number}")
        for step in chance.choices(STEPS, k=10):
            late.faults.wanted[step] += 1
        late.faults.wanted["store the event"] = min(2, late.faults.wanted["store the event"])
        late.end(number)
        late.settle()
        late.faults.wanted.clear()
        assert late.told(f"s{number}") == (1, ["ok"]), f"order {number}"
    assert set(late.faults.done) == set(STEPS)
    assert number < 100


def test_a_result_waits_for_a_turn_that_is_recorded_minutes_later(late: Late) -> None:
    late.model.reply.clear()
    with ThreadPoolExecutor(1) as asking:
        turn = asking.submit(late.person.chat, "order 1", session_id="s1", request_id="q1")
        assert late.model.asked.wait(60)  # for the words about a call that still runs
        late.end(1)
        late.turn_of_the_stream()
        passed = 0.0
        while passed < 295:
            assert waiting(late.queue)
            late.turn_of_the_queue()
            passed += PAUSES_S[-1]
        assert late.person.turns("s1") == []
        late.model.reply.set()
        assert turn.result()["turn"] == 1
        assert [r["status"] for r in turn.result()["receipts"]] == ["running"]
        assert "FACTS:" not in late.person.prompt("and now?", "s1")
    late.settle()
    assert late.told("s1") == (1, ["ok"])
    [event] = late.events()
    assert (event["text"], event["data"]) == ("Ready.", {"report": "r-1"})
    assert event["session_id"] == "s1"
    # no longer an error that a model would mend
    assert "user ok apps=[slow]" in late.person.prompt("what came of it?", "s1")
    again = late.person.chat("order 1", session_id="s1", request_id="q1")
    [call] = again["calls"]
    assert (again["turn"], call["status"], call["late"]) == (1, "ok", True)
    assert background.wait(60)  # its outcome is kept beside the event
    assert late.look() >= 1
    assert late.records() == ["order: ok"]
    late.stack.hasten(10 * OPEN_S)
    settle(late.stack.drain)
    assert late.records() == ["order: ok"]


def test_letters_that_nobody_can_read_or_takes_hold_up_no_other(late: Late) -> None:
    late.person.chat("order 1", session_id="s1", request_id="q1")
    late.faults.wanted["read the session"] = 1
    late.end(1)
    late.turn_of_the_stream()
    told = {"session_id": "s1", "request_id": "never", "app_id": "slow", "fn_name": "order"}
    of_no_turn = {
        "user": {"tenant_id": "acme", "imperal_id": "alice"},
        "event": {"id": "e1", "at": "", "kind": "result", "data": {**told, "status": "ok"}},
        "waited_s": 0,
    }
    for letter in ("{not JSON", json.dumps(of_no_turn)):
        boto3.client("sqs").send_message(QueueUrl=late.queue, MessageBody=letter)
    late.settle()
    assert late.told("s1") == (1, ["ok"])
    [buried] = waiting(late.dead)
    assert "{not JSON" in json.loads(buried.body)["record"]["body"]


MALFORMED: list[dict[str, Any]] = [
    {"pk": {"S": "acme#alice"}, "sk": {"S": "1"}},
    {"pk": {"S": "acme#alice"}, "sk": {"S": "1"}, "body": {"S": "{"}},
    {"pk": {"S": "nobody"}, "sk": {"S": "1"}, "body": {"S": "{}"}},
    {"pk": {"N": "1"}, "sk": {"S": "1"}, "body": {"S": "{}"}},
]


def test_malformed_rows_fail_alone_and_five_other_users_are_served(late: Late) -> None:
    handed: list[Any] = []
    late.stream._invoke = lambda name, event: handed.extend(event["Records"])
    people = {n: Person(late.stack, {**BOB, "sub": f"user-{n}"}) for n in range(1, 6)}
    for number, person in people.items():
        person.chat(f"order {number}", session_id="s1", request_id=f"q{number}")
        late.end(number)
    settle(late.stream.hand_over)
    rows = [{"SequenceNumber": str(n), "NewImage": image} for n, image in enumerate(MALFORMED)]
    inserted = {"eventSource": "aws:dynamodb", "eventName": "INSERT"}
    bad = [{**inserted, "dynamodb": row} for row in ({"NewImage": {"pk": {}}}, *rows)]
    answer = late.stack.invoke("chat_turn", {"Records": [*handed[:3], *bad, *handed[3:]]})
    assert answer == {"batchItemFailures": []}
    for number, person in people.items():
        [turn] = person.turns("s1")
        assert [c["status"] for c in turn["calls"]] == ["ok"], number
    assert len(waiting(late.dead)) == len(bad)
