"""What a turn costs in DynamoDB: fixed, whatever the history, the users and the documents. Two
writes of the kernel: the request is counted, the turn recorded; every fifth archives five turns."""

import asyncio
import threading
from typing import Any

import pytest

from benchmarks.meter import Call, Meter, metered
from local.stack import Stack
from tests.functions.support import ALICE, Person, deployed, obey
from webbee_kernel import background
from webbee_kernel.aws.clients import aws_client
from webbee_kernel.llm.protocol import ModelRequest, ModelResponse
from webbee_kernel.llm.scripted import FunctionModel

WRITE = 'probe.save {"text": "x"}'


def cost(person: Person, message: str, **body: Any) -> Meter:
    with metered(aws_client("dynamodb")) as meter:
        assert person.chat(message, **body).status == 200
        assert background.wait(60)  # what the cell leaves of an effect, nobody waits for
    return meter


def sent(calls: list[Call], *, of_the_kernel: bool = True) -> list[str]:
    """Operations in a stable order; a handler's own requests to the store are its own affair."""
    return sorted(
        f"{c.operation} {'+'.join(t.removesuffix('Table') for t in c.tables)}"
        for c in calls
        if not of_the_kernel or c.tables != ("StoreTable",)
    )


pytestmark = pytest.mark.usefixtures("unhurried")


@pytest.fixture
def settled(stack: Stack) -> Person:
    """A user after her first turn, so that neither first-time work nor the session list's row
    counts."""
    person = Person(stack, ALICE)
    person.chat("hello")
    return person


TURN = ["PutItem Sessions", "Query Sessions", "Query Skeleton", "UpdateItem Limits"]
"""What every turn sends; tokens, where a model counts them, go with the next request's count."""


AUDIT = "PutItem Audit"
WRITTEN = (AUDIT, "PutItem Cache", "TransactWriteItems Audit+Events")
"""The claim of a write, what whoever runs it leaves of its outcome, its record."""


@pytest.mark.parametrize(
    ("message", "more"),
    [("just talk", []), ("probe.look {}", [AUDIT]), (WRITE, WRITTEN)],
    ids=["no call", "a read", "a write"],
)
def test_what_a_turn_a_read_and_a_write_cost(
    settled: Person, message: str, more: list[str]
) -> None:
    meter = cost(settled, message)
    assert sent(meter.calls) == sorted([*TURN, *more])
    if more == [AUDIT]:
        assert (meter.reads, meter.writes) == (3, 3)  # one of the reads is the handler's own


def test_what_a_repeated_request_and_a_yes_cost(settled: Person) -> None:
    cost(settled, WRITE, request_id="r1")
    looked = ["Query Sessions", "Query Skeleton", *["UpdateItem Limits"] * 2]
    assert sent(cost(settled, WRITE, request_id="r1").calls) == looked
    confirmation = settled.chat('probe.remove {"text": "x"}')["confirmation"]["id"]
    with metered(aws_client("dynamodb")) as meter:
        assert settled.confirm(confirmation).status == 200
    assert sent(meter.calls) == [
        *("GetItem Sessions", "PutItem Audit", "PutItem Cache", "Query Sessions", "Query Skeleton"),
        *("TransactWriteItems Audit+Events", "UpdateItem Limits", *["UpdateItem Sessions"] * 2),
    ]


def test_the_cost_does_not_grow_with_turns_sessions_users_and_documents(settled: Person) -> None:
    """The request, the call and the turn, a unit each; each fifth turn also archives five."""
    costs, units = {}, {}
    for turn in range(2, 18):
        meter = cost(settled, "probe.look {}")
        costs[turn] = (sent(meter.calls), sum(c.write for c in meter.calls))
        units[turn] = meter.write_units
    assert costs[3] == costs[8] == costs[13]
    assert costs[7] == costs[12] == costs[17]
    assert costs[3][0] == sorted([*TURN, AUDIT])
    archived = sorted([*costs[3][0], "PutItem Transcripts"])
    assert costs[6][0] == costs[11][0] == costs[16][0] == archived
    assert sorted(units[turn] for turn in range(2, 12)) == [3.0] * 8 + [4.0] * 2
    settled.chat(WRITE)  # the first document of a collection writes a row that lists its user
    before = cost(settled, WRITE)
    for number in range(12):
        Person(settled.stack, {**ALICE, "sub": f"user-{number}"}).chat(WRITE)
        settled.chat(WRITE, session_id=f"other-{number}")
    after = cost(settled, WRITE)
    assert sent(after.calls, of_the_kernel=False) == sent(before.calls, of_the_kernel=False)
    assert sum(c.write for c in after.calls) == sum(c.write for c in before.calls)


class Watched(FunctionModel):
    """A model whose second answer, the narrator's, waits until a request has left."""

    def __init__(self, left: threading.Event) -> None:
        super().__init__(obey)
        self.left = left

    async def complete(self, request: ModelRequest) -> ModelResponse:
        if request.role == "narrator":
            assert await asyncio.to_thread(self.left.wait, 10)
        return await super().complete(request)


@pytest.mark.parametrize("message", ["probe.look {}", WRITE])
def test_a_call_s_record_is_written_while_the_narrator_speaks(message: str) -> None:
    left = threading.Event()

    def note(params: dict[str, Any], **_: Any) -> None:
        if "call#" in str(params):
            left.set()

    with deployed(model=Watched(left)) as stack:
        events = aws_client("dynamodb").meta.events
        events.register("provide-client-params.dynamodb", note)
        try:
            assert Person(stack, ALICE).chat(message).status == 200
        finally:
            events.unregister("provide-client-params.dynamodb", note)
        assert left.is_set()
