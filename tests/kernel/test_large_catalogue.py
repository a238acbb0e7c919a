"""A large catalogue: the classifier searches what is not shown, and a session goes on showing what it has shown."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from webbee_kernel.llm.protocol import ModelRequest, ModelResponse, ToolCall
from webbee_kernel.llm.scripted import FunctionModel
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension
from webbee_kernel.stores.memory import memory_stores
from webbee_kernel.testing import TestKernel
from webbee_kernel.turn.tool_search import MAX_ADDED

CROWD = 400


def crowd() -> list[Extension]:
    """Two apps: one with far more functions than a prompt shows, and one whose only function no
    word of the message leads to."""
    big = Extension("big", description="A warehouse of widgets.")
    chat = ChatExtension(big)

    async def handler(ctx: Context) -> ActionResult:
        return ActionResult.success({"widgets": 12}, "12 widgets.")

    for n in range(CROWD):
        about = f"Counts the widgets of shelf {n}, " + "row by row " * 20
        chat.function(f"count_{n}", about)(handler)
    oven = Extension("oven", description="A bakery.")

    @ChatExtension(oven).function("preheat", "Brings the stove to its temperature")
    async def preheat(ctx: Context, degrees: int) -> ActionResult:
        return ActionResult.success({"degrees": degrees}, f"Heating to {degrees} degrees.")

    return [big, oven]


def play(
    *answers: ModelResponse, apps: list[Extension] | None = None
) -> tuple[TestKernel, list[ModelRequest]]:
    """A kernel whose classifier gives these answers; and what it was asked, narrator included."""
    left = list(answers)

    def answer(request: ModelRequest) -> ModelResponse:
        return left.pop(0) if request.role == "classifier" else ModelResponse("Done.")

    model = FunctionModel(answer)
    return TestKernel(apps or crowd(), model=model), model.requests


def planned(name: str, **arguments: Any) -> ModelResponse:
    return ModelResponse(tool_calls=(ToolCall(name, arguments),))


def search(query: str, **within: str) -> ModelResponse:
    return planned("kernel__search", query=query, **within)


PREHEAT = planned("oven__preheat", degrees=180)
MESSAGE = "shelf widgets row 180"


def names(request: ModelRequest) -> list[str]:
    return [tool.name for tool in request.tools]


def test_what_a_search_finds_can_be_called_in_the_next_round() -> None:
    kernel, asked = play(search("bring the stove to a temperature"), PREHEAT)
    body = kernel.chat(MESSAGE).body
    assert [c["fn_name"] for c in body["calls"]] == ["preheat"]
    first, second, narrator = asked
    assert "oven__preheat" not in names(first)
    assert names(second)[: len(names(first))] == names(first)
    assert "oven__preheat" in names(second)
    assert second.system == first.system
    found = second.prompt.removeprefix(first.prompt)
    assert found.startswith("\n[CATALOGUE]\nFOUND: for 'bring the stove")
    assert second.exchanges[0].results[0].endswith("the catalogue shows oven__preheat")
    assert narrator.role == "narrator"


def test_a_search_beside_a_call_tells_what_came_of_both() -> None:
    calls = (search("bring the stove to a temperature"), planned("big__count_7"))
    both = ModelResponse(tool_calls=tuple(c for one in calls for c in one.tool_calls))
    kernel, asked = play(both, PREHEAT)
    body = kernel.chat("how many widgets are on shelf 7? then 180 degrees").body
    assert [c["fn_name"] for c in body["calls"]] == ["count_7", "preheat"]
    found, counted = asked[1].exchanges[0].results
    assert found.endswith("the catalogue shows oven__preheat")
    assert '"widgets": 12' in counted
    assert asked[1].prompt.index("FOUND: ") < asked[1].prompt.index("RESULT: ")


def test_a_search_may_stay_within_one_app() -> None:
    kernel, asked = play(
        search("count widgets", app="oven"), search("temperature", app="oven"), PREHEAT
    )
    kernel.chat(MESSAGE)
    assert "nothing has to do with 'count widgets'" in asked[1].prompt
    assert "oven__preheat" in names(asked[2])


def test_a_function_called_by_its_name_without_having_been_shown_is_shown() -> None:
    kernel, asked = play(PREHEAT, PREHEAT)
    body = kernel.chat(MESSAGE).body
    assert [c["status"] for c in body["calls"]] == ["ok"]
    assert "it was not shown: its arguments stand in the catalogue now" in asked[1].prompt


def test_searches_that_find_nothing_new_end_the_turn() -> None:
    kernel, asked = play(*[search("zebra crossing")] * 3)
    kernel.chat(MESSAGE)
    assert [r.role for r in asked].count("classifier") == 3


def test_a_catalogue_stays_within_what_services_take_however_much_is_searched() -> None:
    kernel, asked = play(*(search(f"widgets of shelf {n}") for n in range(6)), PREHEAT, PREHEAT)
    kernel.chat("preheat the oven")
    first, last = asked[0], [r for r in asked if r.role == "classifier"][-1]
    assert len(last.tools) - len(first.tools) <= MAX_ADDED
    assert len(last.tools) <= 128


def test_where_all_functions_are_shown_there_is_no_search_and_nothing_is_kept() -> None:
    kernel, asked = play(PREHEAT, apps=crowd()[1:])
    kernel.chat("preheat to 180")
    assert [r.role for r in asked] == ["classifier", "narrator"]
    assert names(asked[0]) == ["kernel__continue", "oven__preheat"]
    assert "kernel__search" not in asked[0].system
    assert asked[0].growing is None
    assert kernel.memory().turns[0].listed == ""


def test_a_search_shows_whole_what_stood_there_in_few_words() -> None:
    kernel, _ = play()
    view = kernel.run(kernel.kernel.view(kernel.ask(MESSAGE)))
    short = [t for t in view.opening.tools if t.description.endswith("…")]
    number = short[0].fn_name.removeprefix("count_")
    kernel, asked = play(search(f"widgets of shelf {number}"), PREHEAT, PREHEAT)
    kernel.chat(MESSAGE)
    first, second = ({t.name: t for t in r.tools} for r in asked[:2])
    assert len(first) == len(asked[0].tools)
    assert len(second) == len(asked[1].tools)
    assert first[short[0].name].description.endswith("…")
    assert second[short[0].name].description.endswith("row by row ")


# ---- what a session goes on showing


MATTERS = ("invoice", "parcel", "garden", "orchestra", "glacier")


class Which(BaseModel):
    name: str = ""


def app_of(matter: str) -> Extension:
    """An app of sixty functions about a matter, the first of which destroys."""
    ext = Extension(matter, description=f"All about the {matter}.")
    chat = ChatExtension(ext)

    async def handler(ctx: Context, params: Which) -> ActionResult:
        return ActionResult.success({"name": params.name, "matter": matter}, "Looked after.")

    for n in range(10, 70):
        about = f"Looks after the {matter} number {n}. " + "More is to be said of it. " * 15
        kind: Any = "destructive" if n == 10 else "read"
        chat.function(f"{matter}_{n}", about, action_type=kind)(handler)
    return ext


class Talk:
    """A session of one user; the model planned what `plan` says, a round each."""

    def __init__(self, *matters: str, stores: Any = None) -> None:
        self.asked: list[ModelRequest] = []
        self.plan: list[ModelResponse] = []
        apps = [app_of(matter) for matter in matters or MATTERS]
        self.kernel = TestKernel(apps, model=FunctionModel(self._answer), stores=stores)

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


def before(request: ModelRequest) -> int:
    """How many of the first tools the session's request before had."""
    assert request.growing is not None
    assert request.growing.common == 2
    assert request.system.endswith(request.growing.apps)
    return request.growing.before


def test_the_next_message_finds_what_was_shown_in_its_place_in_any_process() -> None:
    stores = memory_stores()
    here, there = Talk(stores=stores), Talk(stores=stores)
    first = here.say("the parcel number 17")
    then = there.say("the orchestra number 23")
    assert then[: len(first)] == first
    assert "orchestra__orchestra_23" in then[len(first) :]
    one, two = *here.asked, *there.asked
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


def test_what_a_search_shows_in_more_words_stays_in_its_place() -> None:
    talk = Talk()
    talk.say("the parcel number 17", session_id="another")
    shown = talk.asked[0].tools
    place = next(
        n for n, t in enumerate(shown) if t.app_id != "kernel" and "More" not in t.description
    )
    query = shown[place].fn_name.replace("_", " ")
    talk.say("the parcel number 17", search(query))
    first, last = talk.asked[-2:]
    assert first.tools == shown
    assert names(last)[: len(shown)] == names(first)
    assert last.tools[place] != first.tools[place]
    assert before(last) <= place
    talk.say("thank you")
    assert talk.asked[-1].tools == last.tools


def test_a_session_of_many_turns_keeps_its_first_choice_and_shows_what_each_needs() -> None:
    talk = Talk()
    first = talk.say("the parcel number 17")
    for n in range(20, 26):
        for matter in ("parcel", "orchestra", "glacier"):
            shown = talk.say(f"the {matter} number {n}")
            assert shown[: len(first)] == first
            assert f"{matter}__{matter}_{n}" in shown


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
    calls = ToolCall("parcel__parcel_10", {"name": "x"}), ToolCall("kernel__continue", {})
    plan = ModelResponse(tool_calls=calls)
    talk.say("delete x, the parcel number 10, then look at it", plan)
    asked = talk.asked[0]
    [waiting] = talk.kernel.memory().turns[0].waiting
    talk.kernel.confirm(waiting.confirmation_id)
    resumed = next(r for r in talk.asked[1:] if r.role == "classifier")
    assert resumed.tools == asked.tools
    assert before(resumed) == len(asked.tools)
    assert talk.say("thank you") == names(asked)
