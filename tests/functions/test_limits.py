"""Limits: which one was met and when to come back; what was asked before, and others, go on."""

from dataclasses import replace
from unittest.mock import AsyncMock

import pytest

from local.stack import Stack
from tests.functions.support import BOB, OTHER_ALICE, Answer, Person, functions, obey, rows
from webbee_kernel.clock import FrozenClock
from webbee_kernel.config import Settings
from webbee_kernel.errors import StorageUnavailable
from webbee_kernel.llm.protocol import ModelRequest, ModelResponse, Usage
from webbee_kernel.llm.scripted import FunctionModel
from webbee_kernel.sdk.result import User
from webbee_kernel.stores.rate_limits import Limits

NOON = "2026-05-15T12:00:20Z"


def costly(request: ModelRequest) -> ModelResponse:
    """Each answer of this model costs 50 tokens: 100 those of a turn with a call."""
    return replace(obey(request), usage=Usage(input_tokens=40, output_tokens=10))


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock(NOON)


def limits(**given: str) -> pytest.MarkDecorator:
    env = {f"WEBBEE_{name}": value for name, value in given.items()}
    return pytest.mark.deployed(env=env, model=FunctionModel(costly))


pytestmark = pytest.mark.usefixtures("clock")


def told(answer: Answer) -> tuple[int, str, int, int]:
    error = answer.error
    assert error["code"] == "limit_reached"
    assert answer.headers["retry-after"] == str(error["retry_after"])
    return answer.status, error["field"], error["limit"], error["retry_after"]


@limits(USER_REQUESTS_PER_MINUTE="2")
def test_messages_and_calls_wait_for_the_next_minute(alice: Person, clock: FrozenClock) -> None:
    assert alice.chat("hello", request_id="r1").status == alice.call("probe", "look").status == 200
    refused = alice.chat("hello")
    assert [alice.chat("hello", request_id="r1").status for _ in range(2)] == [200, 200]
    assert told(refused) == (429, "UserRequestsPerMinute", 2, 40)
    assert refused.error["message"] == "That was a lot at once. Please try again in 40 seconds."
    assert told(alice.call("probe", "look"))[:2] == (429, "UserRequestsPerMinute")
    assert (alice.call("probe", "__panel__board").status, len(alice.turns())) == (200, 1)
    for other in (BOB, OTHER_ALICE):
        assert Person(alice.stack, other).chat("hello").status == 200
    clock.advance(40)
    assert alice.chat("hello").status == 200


@limits(USER_TOKENS_PER_DAY="150")
def test_a_day_s_tokens_are_used_up(stack: Stack, alice: Person, clock: FrozenClock) -> None:
    title = f"Name it: probe.look {{}} {alice.chat('probe.look {}')['reply']}"
    assert alice.complete(title, user="s1").status == 200  # a client's own request costs as well
    midnight = 12 * 3600 - 20
    assert told(alice.chat("probe.look {}")) == (429, "UserTokensPerDay", 150, midnight)
    assert Person(stack, BOB).chat("hello").status == 200
    clock.advance(midnight)
    assert alice.chat("probe.look {}").status == 200


@limits(TENANT_TOKENS_PER_DAY="150")
def test_a_tenant_s_tokens_are_its_users(stack: Stack, alice: Person, clock: FrozenClock) -> None:
    assert alice.chat("hello").status == 200  # this process has asked for the sum
    handlers = functions(model=FunctionModel(costly), clock=clock)  # of another process
    bob = Person(replace(stack, handlers=handlers), BOB)
    assert bob.chat("probe.look {}").status == alice.chat("hello").status == 200
    clock.advance(60)
    for one in (alice, Person(stack, BOB)):
        assert told(one.chat("hello"))[:3] == (429, "TenantTokensPerDay", 150)
    assert Person(stack, OTHER_ALICE).chat("hello").status == 200


@limits(
    USER_REQUESTS_PER_MINUTE="0",
    USER_TOKENS_PER_DAY="0",
    TENANT_TOKENS_PER_DAY="0",
    TRANSCRIPT_DAYS="0",
)
def test_without_limits_nothing_is_counted_or_kept(stack: Stack, alice: Person) -> None:
    for _ in range(7):
        assert alice.chat("probe.look {}").status == 200
    (day,) = rows(stack, "limits")  # which says who runs
    assert "tokens" not in day
    assert {row["sk"] for row in rows(stack, "transcripts")} == {"session#s1"}
    assert [t["turn"] for t in alice.turns()] == [3, 4, 5, 6, 7]


async def test_tokens_that_could_not_be_added_are_added_with_the_next_turn_s() -> None:
    store, user = AsyncMock(), User("alice", "acme")
    store.spend.side_effect = [StorageUnavailable("the table is away"), 200]
    settings = Settings.from_env({"WEBBEE_TENANT_TOKENS_PER_DAY": "1000"})
    kept = Limits(store, settings, FrozenClock(NOON))
    for _ in range(2):
        await kept.spend(user, 100)
    assert [call.kwargs["tokens"] for call in store.spend.await_args_list] == [100, 200]
