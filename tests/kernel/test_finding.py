"""The classifier searches for functions that its catalogue does not show."""

from __future__ import annotations

from webbee_kernel.llm.protocol import ModelRequest, ModelResponse, ToolCall
from webbee_kernel.llm.scripted import FunctionModel
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension
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
        chat.function(f"count_{n}", f"Counts the widgets of shelf {n}, " + "row by row " * 20)(
            handler
        )
    oven = Extension("oven", description="A bakery.")

    @ChatExtension(oven).function("preheat", "Brings the stove to its temperature")
    async def preheat(ctx: Context, degrees: int) -> ActionResult:
        return ActionResult.success({"degrees": degrees}, f"Heating to {degrees} degrees.")

    return [big, oven]


def play(*answers: ModelResponse) -> tuple[TestKernel, list[ModelRequest]]:
    """A kernel whose classifier gives these answers; and what it was asked, narrator included."""
    asked: list[ModelRequest] = []
    left = list(answers)

    def answer(request: ModelRequest) -> ModelResponse:
        asked.append(request)
        return left.pop(0) if request.role == "classifier" else ModelResponse("Done.")

    return TestKernel(crowd(), model=FunctionModel(answer)), asked


def search(query: str, app: str = "") -> ModelResponse:
    given = {"query": query, "app": app} if app else {"query": query}
    return ModelResponse(tool_calls=(ToolCall("kernel__search", given),))


PREHEAT = ModelResponse(tool_calls=(ToolCall("oven__preheat", {"degrees": 180}),))
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
    both = ModelResponse(
        tool_calls=(
            ToolCall("kernel__search", {"query": "bring the stove to a temperature"}),
            ToolCall("big__count_7", {}),
        )
    )
    kernel, asked = play(both, PREHEAT)
    body = kernel.chat("how many widgets are on shelf 7? then 180 degrees").body
    assert [c["fn_name"] for c in body["calls"]] == ["count_7", "preheat"]
    found, counted = asked[1].exchanges[0].results
    assert found.endswith("the catalogue shows oven__preheat")
    assert '"widgets": 12' in counted
    assert asked[1].prompt.index("FOUND: ") < asked[1].prompt.index("RESULT: ")


def test_a_search_may_stay_within_one_app() -> None:
    kernel, asked = play(search("count widgets", "oven"), search("temperature", "oven"), PREHEAT)
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


def test_where_all_functions_are_shown_there_is_no_search_and_a_turn_costs_two_model_calls() -> (
    None
):
    asked: list[ModelRequest] = []

    def answer(request: ModelRequest) -> ModelResponse:
        asked.append(request)
        return PREHEAT if request.role == "classifier" else ModelResponse("Done.")

    TestKernel(crowd()[1:], model=FunctionModel(answer)).chat("preheat to 180")
    assert [r.role for r in asked] == ["classifier", "narrator"]
    assert names(asked[0]) == ["kernel__continue", "oven__preheat"]
    assert "kernel__search" not in asked[0].system


def test_the_offline_model_answers_beside_a_search_it_does_not_use() -> None:
    assert TestKernel(crowd()).chat("widgets of shelf 7").body["reply"]


def test_a_search_shows_whole_what_stood_there_in_few_words() -> None:
    kernel, _ = play()
    view = kernel.run(kernel.kernel.view(kernel.ask(MESSAGE)))
    short = [t for t in view.tools if t.description.endswith("…")]
    number = short[0].fn_name.removeprefix("count_")
    kernel, asked = play(search(f"widgets of shelf {number}"), PREHEAT, PREHEAT)
    kernel.chat(MESSAGE)
    first, second = ({t.name: t for t in r.tools} for r in asked[:2])
    assert len(first) == len(asked[0].tools)
    assert len(second) == len(asked[1].tools)
    assert first[short[0].name].description.endswith("…")
    assert second[short[0].name].description.endswith("row by row ")
