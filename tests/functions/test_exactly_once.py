"""The same request may arrive twice, at the same moment, in other threads (and in other processes,
`tests/e2e`): its effects happen once, its reply is one."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier, Lock
from typing import Any, TypeVar

import pytest

from local.stack import Stack
from tests.functions.support import (
    ALICE,
    Answer,
    Outage,
    Person,
    call,
    deployed,
    obey,
    rows,
    stores_of,
)
from webbee_kernel.clock import FrozenClock
from webbee_kernel.llm.protocol import ModelRequest, ModelResponse, ToolCall
from webbee_kernel.llm.scripted import FunctionModel

T = TypeVar("T")
pytestmark = pytest.mark.usefixtures("clock", "unhurried")
"""What comes at once comes in the same second, however slow the machine is: a request that is
repeated a second later finds its turn at work, and is told so."""


def at_once(*work: Callable[[], T]) -> list[T]:
    """Run everything in threads that start together."""
    together = Barrier(len(work), timeout=30)

    def run(one: Callable[[], T]) -> T:
        together.wait()
        return one()

    with ThreadPoolExecutor(len(work)) as threads:
        return list(threads.map(run, work))


def texts(stack: Stack, collection: str = "texts") -> list[str]:
    """What the probe stored, oldest first."""
    found = [r for r in rows(stack, "store", f"{collection}#") if r["pk"].endswith("#probe")]
    return [json.loads(r["data"])["text"] for r in sorted(found, key=lambda r: r["sk"])]


def are_alike(answers: list[Answer]) -> bool:
    """Whether all are the one answer, but for the time that each took."""
    for answer in answers:
        assert answer.status == 200
        for made in answer["calls"]:
            made.pop("duration_ms")
    return all(answer.body == answers[0].body for answer in answers)


@pytest.mark.parametrize("deliveries", [2, 8])
def test_deliveries_at_once_have_one_answer(stack: Stack, alice: Person, deliveries: int) -> None:
    message = 'probe.save {"text": "once"} probe.look {} probe.save {"text": "twice"}'
    assert are_alike(at_once(*[partial(alice.chat, message, request_id="r1")] * deliveries))
    assert texts(stack) == ["once", "twice"]
    assert [t["message"] for t in alice.turns()] == [message]
    assert len(alice.events("panel_refresh")) == 2


CLOSED = {"WEBBEE_CONFIRM": "destructive"}
"""What runs once, not what is asked about before."""


class Fickle:
    """A model that words the same wish differently each time it is asked, as real ones do."""

    def __init__(self) -> None:
        self.asked = 0
        self._lock = Lock()

    def __call__(self, request: ModelRequest) -> ModelResponse:
        if request.role == "narrator":
            return obey(request)
        with self._lock:
            self.asked += 1
            both = (f"wording {self.asked}", f"another wording {self.asked}")
        return ModelResponse(tool_calls=tuple(ToolCall("probe__save", {"text": t}) for t in both))


@pytest.mark.deployed(model=FunctionModel(Fickle()), env=CLOSED)
@pytest.mark.parametrize("deliveries", [2, 5])
def test_a_fickle_model_does_it_once(stack: Stack, alice: Person, deliveries: int) -> None:
    answers = at_once(*[lambda: alice.chat("save what I mean", request_id="r1")] * deliveries)
    assert are_alike(answers)
    assert (len(texts(stack)), len(alice.events("panel_refresh"))) == (2, 2)
    # another request is another wish
    assert alice.chat("save what I mean", request_id="r2").status == 200
    assert len(texts(stack)) == 4


def test_a_call_that_was_refused_for_its_arguments_does_not_count_as_one() -> None:
    """The first turn is lost, as by a process that dies before it has recorded it."""
    answers = (call("probe.save", text=text) for text in ("", "mended", "right at once"))
    model = FunctionModel(
        lambda request: obey(request) if request.role == "narrator" else next(answers)
    )
    outage = Outage()
    outage.next("put_item", "SessionsTable")
    with deployed(model=model, env=CLOSED, stores=stores_of(outage.client)) as stack:
        alice = Person(stack, ALICE)
        assert alice.chat("save it", request_id="r1").status == 503
        answer = alice.chat("save it", request_id="r1")
        assert (answer.status, answer["reply"]) == (200, 'Saved "mended".')
        assert texts(stack) == ["mended"]


def test_a_request_id_is_of_one_request_which_it_names(stack: Stack, alice: Person) -> None:
    once = 'probe.save {"text": "once"}'
    first = alice.chat(once, request_id="r1")
    alice.chat("probe.look {}")
    assert alice.chat(once, request_id="r1").body == first.body
    assert texts(stack) == ["once"]
    assert [t["turn"] for t in alice.turns()] == [1, 2]
    other = alice.chat('probe.save {"text": "other"}', request_id="r1")
    assert (other.status, other.error["field"]) == (409, "request_id")
    at_once(*[lambda: alice.chat(once)] * 2)
    assert texts(stack) == ["once"] * 3
    assert [t["turn"] for t in alice.turns()] == [1, 2, 3, 4]


def test_two_tabs_lose_nothing_and_keep_their_order(stack: Stack, alice: Person) -> None:
    words = [f"w{n}" for n in range(16)]
    answers = at_once(*(partial(alice.chat, f'probe.save {{"text": "{w}"}}') for w in words))
    assert [a.status for a in answers] == [200] * 16
    assert sorted(a["turn"] for a in answers) == list(range(1, 17))
    assert sorted(texts(stack)) == sorted(words)
    turns = alice.turns()
    assert [t["turn"] for t in turns] == list(range(1, 17))
    assert [t["at"] for t in turns] == sorted(t["at"] for t in turns)
    replied = {a["turn"]: a["reply"] for a in answers}
    assert [t["reply"] for t in turns] == [replied[t["turn"]] for t in turns]
    stored = [r["sk"] for r in rows(stack, "sessions")]
    assert sorted(stored) == [f"turn#{slot}" for slot in range(5)]


def test_direct_calls_of_one_id_run_once(stack: Stack, alice: Person) -> None:
    def press(name: str, text: str) -> Answer:
        body = {"function": name, "params": {"text": text}, "request_id": "click-1"}
        return alice.send("POST", "/v1/extensions/probe/call", body=body)

    answers = at_once(*[lambda: press("save", "first")] * 4)
    told = [(a.status, a["status"], a["data"]["text"]) for a in answers]
    assert told == [(200, "ok", "first")] * 4
    assert len({a["data"]["id"] for a in answers}) == 1
    for function in ("save", "remove"):
        refused = press(function, "second")
        assert (refused.status, refused.error["code"]) == (409, "request_conflict")
        assert refused.error["field"] == "request_id"
    assert press("save", "first")["data"]["text"] == "first"
    assert (texts(stack), removed(stack)) == (["first"], [])


REMOVE = 'probe.remove {"text": "x"}'


def asked(person: Person, message: str = REMOVE, **body: Any) -> str:
    """Ask for something destructive; the confirmation's id."""
    answer = person.chat(message, **body)
    assert answer["status"] == "confirmation"
    return str(answer["confirmation"]["id"])


def removed(stack: Stack) -> list[str]:
    return texts(stack, "removed")


@pytest.mark.parametrize(
    "words",
    ["Yes, delete it!", "OK", "Да, удаляй", "No, don't delete it", "cancel", "Нет, не надо"],
)
def test_what_a_yes_and_a_no_in_words_do(alice: Person, words: str) -> None:
    confirmation, is_yes = asked(alice), words[0] in "YOД"
    answer = alice.chat(words)
    assert (answer["status"], bool(answer["calls"])) == ("ok", is_yes)
    assert (answer["reply"] == 'Removed "x".') is is_yes
    assert alice.confirm(confirmation)["reply"] == answer["reply"]
    alice.chat("yes")
    assert removed(alice.stack) == ["x"] * is_yes


@pytest.mark.parametrize("times", [6, 2], ids=["by its button", "in words"])
def test_a_yes_that_comes_several_times_at_once_runs_once(alice: Person, times: int) -> None:
    ways = {6: partial(Person.confirm, confirmation_id=asked(alice))}
    ways[2] = partial(Person.chat, message="yes", request_id="r2")
    answers = at_once(*[partial(ways[times], alice)] * times)
    assert removed(alice.stack) == ["x"]
    assert are_alike(answers)
    assert [t["turn"] for t in alice.turns()] == [1]


def test_of_two_answers_at_once_one_counts(stack: Stack, alice: Person) -> None:
    confirmation = asked(alice, session_id="s2")
    yes = partial(alice.chat, session_id="s2")
    answers = at_once(lambda: alice.confirm(confirmation), lambda: yes("yes"))
    assert removed(stack) == ["x"]
    assert {a.status for a in answers} in ({200}, {200, 410})
    asked(alice)
    answers = at_once(lambda: alice.chat("yes"), lambda: alice.chat("no"))
    # whichever came second found the question answered, or, later still, no question at all
    told = {a["reply"] for a in answers}
    assert removed(stack) == (["x", "x"] if 'Removed "x".' in told else ["x"])
    assert next(t["reply"] for t in alice.turns()) in told


def test_a_question_expires_after_five_minutes(clock: FrozenClock, alice: Person) -> None:
    late, still = asked(alice), asked(alice, session_id="s2")
    clock.advance(299)
    assert alice.confirm(still).status == 200
    clock.advance(1)
    answer = alice.confirm(late)
    assert (answer.status, answer.error["limit"]) == (410, 300)
    alice.chat("yes")
    assert removed(alice.stack) == ["x"]
