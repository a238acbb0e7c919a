"""A session goes on showing what it has shown of a large catalogue: what the model's service has in
its cache."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from webbee_kernel.llm.protocol import ModelRequest, ModelResponse, ToolCall
from webbee_kernel.llm.scripted import FunctionModel
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension
from webbee_kernel.stores.memory import memory_stores
from webbee_kernel.testing import TestKernel

MATTERS = ("invoice", "parcel", "garden", "orchestra", "glacier")


class Which(BaseModel):
    name: str = ""


def apps(*matters: str, each: int = 60) -> list[Extension]:
    """An app of sixty functions for each matter; each has one that destroys."""
    return [_app(matter, each) for matter in matters]


def _app(matter: str, each: int) -> Extension:
    ext = Extension(matter, description=f"All about the {matter}.")
    chat = ChatExtension(ext)

    async def handler(ctx: Context, params: Which) -> ActionResult:
        return ActionResult.success({"name": params.name, "matter": matter}, "Looked after.")

    for n in range(10, 10 + each):
        about = f"Looks after the {matter} number {n}. " + "More is to be said of it. " * 15
        kind: Any = "destructive" if n == 10 else "read"
        chat.function(f"{matter}_{n}", about, action_type=kind)(handler)
    return ext


class Talk:
    """A session of one user; the model calls what `plan` says, a round each."""

    def __init__(self, *matters: str, stores: Any = None, each: int = 60) -> None:
        self.asked: list[ModelRequest] = []
        self.plan: list[ModelResponse] = []
        self.kernel = TestKernel(
            apps(*(matters or MATTERS), each=each), model=FunctionModel(self._answer), stores=stores
        )

    def _answer(self, request: ModelRequest) -> ModelResponse:
        self.asked.append(request)
        if request.role == "narrator" or not self.plan:
            return ModelResponse("Hm.")
        return self.plan.pop(0)

    def say(self, message: str, *plan: ModelResponse, session_id: str = "s1") -> list[str]:
        """Say it; the names of the tools that the first round was shown."""
        at, self.plan = len(self.asked), list(plan)
        self.kernel.chat(message, session_id=session_id)
        return names(self.asked[at])


def names(request: ModelRequest) -> list[str]:
    return [tool.name for tool in request.tools]


def before(request: ModelRequest) -> int:
    """How many of the first tools the session's request before had."""
    assert request.growing is not None
    assert request.growing.common == 2
    assert request.system.endswith(request.growing.apps)
    return request.growing.before


def calls(name: str, **arguments: Any) -> ModelResponse:
    return ModelResponse(tool_calls=(ToolCall(name, arguments),))


def test_the_next_message_finds_what_was_shown_in_its_place() -> None:
    talk = Talk()
    first = talk.say("the parcel number 17")
    then = talk.say("the orchestra number 23")
    assert then[: len(first)] == first
    assert "orchestra__orchestra_23" in then[len(first) :]
    one, two = talk.asked
    assert two.tools[: len(first)] == one.tools
    assert two.system == one.system
    assert (before(one), before(two)) == (2, len(first))


def test_everybody_with_these_apps_reads_the_same_before_what_is_his_own() -> None:
    talk = Talk()
    talk.say("the parcel number 17")
    talk.say("the glacier number 31", session_id="s2")
    one, two = talk.asked
    assert one.system == two.system
    assert [t.name for t in one.tools[:2]] == ["kernel__continue", "kernel__search"]
    assert one.tools[:2] == two.tools[:2]
    assert one.tools[2:] != two.tools[2:]


def test_another_process_shows_the_same() -> None:
    stores = memory_stores()
    here, there = Talk(stores=stores), Talk(stores=stores)
    first = here.say("the parcel number 17")
    assert there.say("the orchestra number 23")[: len(first)] == first


def test_what_a_search_found_stands_there_in_the_next_turn() -> None:
    talk = Talk()
    first = talk.say("the parcel number 17", calls("kernel__search", query="orchestra 66"))
    last = talk.asked[-1]
    assert "orchestra__orchestra_66" in set(names(last)) - set(first)
    assert before(last) == len(first)
    assert talk.say("thank you") == names(last)


def test_what_a_search_shows_in_more_words_stays_in_its_place() -> None:
    talk = Talk()
    talk.say("the parcel number 17", session_id="another")
    shown = talk.asked[0].tools
    place = next(
        n for n, t in enumerate(shown) if t.app_id != "kernel" and "More" not in t.description
    )
    query = shown[place].fn_name.replace("_", " ")
    talk.say("the parcel number 17", calls("kernel__search", query=query))
    first, last = talk.asked[-2:]
    assert first.tools == shown
    assert names(last)[: len(shown)] == names(first)
    assert last.tools[place] != first.tools[place]
    assert before(last) <= place
    talk.say("thank you")
    assert talk.asked[-1].tools == last.tools


def test_a_session_of_many_turns_keeps_its_first_choice() -> None:
    talk = Talk()
    first = talk.say("the parcel number 17")
    for n in range(20, 32):
        assert talk.say(f"and the parcel number {n}")[: len(first)] == first


def test_an_app_that_leaves_begins_the_list_anew() -> None:
    stores = memory_stores()
    first = Talk(stores=stores).say("the parcel number 17")
    fewer = Talk(*MATTERS[:4], stores=stores)
    then = fewer.say("the orchestra number 23")
    assert then[: len(first)] != first
    assert before(fewer.asked[0]) == 2
    assert "orchestra__orchestra_23" in then


def test_a_yes_goes_on_with_what_the_question_was_asked_of() -> None:
    talk = Talk()
    plan = ModelResponse(
        tool_calls=(
            ToolCall("parcel__parcel_10", {"name": "x"}),
            ToolCall("kernel__continue", {}),
        )
    )
    talk.say("delete x, the parcel number 10, then look at it", plan)
    asked = talk.asked[0]
    [waiting] = talk.kernel.memory().turns[0].waiting
    talk.kernel.confirm(waiting.confirmation_id)
    resumed = next(r for r in talk.asked[1:] if r.role == "classifier")
    assert resumed.tools == asked.tools
    assert before(resumed) == len(asked.tools)
    assert talk.say("thank you") == names(asked)


def test_two_tabs_of_a_session_both_find_what_they_need() -> None:
    talk = Talk()
    first = talk.say("the parcel number 17")
    for n in (23, 24, 25):
        for matter in ("orchestra", "glacier"):
            shown = talk.say(f"the {matter} number {n}")
            assert shown[: len(first)] == first
            assert f"{matter}__{matter}_{n}" in shown


def test_where_all_functions_are_shown_nothing_is_kept() -> None:
    talk = Talk("parcel", each=12)
    talk.say("the parcel number 17")
    assert talk.asked[0].growing is None
    assert talk.kernel.memory().turns[0].listed == ""
