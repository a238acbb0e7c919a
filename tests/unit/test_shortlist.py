from __future__ import annotations

from webbee_kernel.catalogue import FunctionInfo
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension
from webbee_kernel.testing import TestKernel
from webbee_kernel.turn.shortlist import BUDGET, shortlist


def functions(count: int) -> list[FunctionInfo]:
    """Functions of one big app, each with a word of its own."""
    return [
        FunctionInfo(
            "big",
            f"fn_{n:03}",
            f"Handles widget{n:03} " + "of the warehouse " * 12,
            examples=(f"open widget{n:03}",),
        )
        for n in range(count)
    ]


def test_a_catalogue_within_its_budget_is_shown_whole() -> None:
    few = functions(5)
    found = shortlist(few, "anything")
    assert found.shown == tuple(few)
    assert found.notice() == ""


def test_a_large_catalogue_shows_what_is_nearest_to_the_message() -> None:
    many = functions(50) + [
        FunctionInfo("zoo", f"feed_{n}", "Feeds animals " * 40, examples=()) for n in range(212)
    ]
    extra = FunctionInfo("zoo", "weather", "Погода на завтра", examples=("погода в Риге",))
    found = shortlist([*many, extra], "какая погода будет в Риге?")
    assert extra in found.shown
    assert found.ranked[0] == extra
    assert sum(f.characters for f in found.shown) <= BUDGET
    assert f"{len(found.shown)} of 263 functions are shown" in found.notice()


def test_functions_of_the_last_turns_always_stay() -> None:
    many = functions(262)
    used = {("big", "fn_261"), ("big", "fn_000")}
    found = shortlist(many, "open widget100", used=used)
    assert used <= {(f.app_id, f.fn_name) for f in found.shown}


def test_the_same_input_gives_the_same_list_in_catalogue_order() -> None:
    many = functions(262)
    first, second = (
        shortlist(many, "open the warehouse"),
        shortlist(list(reversed(many)), "open the warehouse"),
    )
    assert {f.fn_name for f in first.shown} == {f.fn_name for f in second.shown}
    assert list(first.shown) == [f for f in many if f in first.shown]


def test_the_prompt_says_that_there_is_more() -> None:
    ext = Extension("big")
    chat = ChatExtension(ext)

    async def handler(ctx: Context) -> ActionResult:
        return ActionResult.success({"ok": True}, "done")

    for n in range(262):
        chat.function(f"fn_{n}", f"Handles thing number {n} " * 10)(handler)
    prompt = TestKernel([ext]).prompt("hello")
    assert prompt.startswith("[CATALOGUE]\nNOTE: ")
    assert " of 262 functions are shown" in prompt
