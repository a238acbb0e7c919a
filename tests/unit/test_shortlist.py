"""Which functions of a large catalogue a prompt shows."""

from __future__ import annotations

from typing import Any

import pytest

from webbee_kernel.catalogue import AppInfo, Catalogue, FunctionInfo
from webbee_kernel.llm.tools import characters, forms
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension
from webbee_kernel.testing import TestKernel
from webbee_kernel.turn.tool_retrieval import BUDGET, QUOTA, ranked, shortlist


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


def zoo() -> list[FunctionInfo]:
    return [FunctionInfo("zoo", f"feed_{n}", "Feeds animals " * 40) for n in range(212)]


def test_a_catalogue_within_its_budget_is_shown_whole() -> None:
    few = functions(5)
    found = shortlist(few, "anything")
    assert found.shown == tuple(few)
    assert found.tools == tuple(forms(f).whole for f in few)
    assert not found.left_out


def test_a_large_catalogue_shows_what_is_nearest_to_the_message() -> None:
    extra = FunctionInfo("sky", "weather", "Погода на завтра", examples=("погода в Риге",))
    many = [*functions(50), *zoo(), extra]
    found = shortlist(many, "какая погода будет в Риге?")
    assert extra in found.shown
    assert found.ranked[0] == extra
    assert found.characters <= BUDGET


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


OTHERS = [
    FunctionInfo("bank", "delete_invoice", "Deletes an invoice."),
    FunctionInfo("bank", "list_cards", "Lists the payment cards of the user."),
    FunctionInfo("ops", "list_incidents", "Shows the incidents that are open."),
    FunctionInfo("ops", "send_message", "Sends a message to somebody on duty."),
    FunctionInfo("code", "get_repository", "Describes one repository."),
]


@pytest.mark.parametrize(
    ("message", "first"),
    [
        ("удали счёт номер 7", "delete_invoice"),
        ("какие сейчас инциденты?", "list_incidents"),
        ("покажи репозиторий kernel", "get_repository"),
        ("tell the people on duty that the shop is down", "send_message"),
        ("get rid of invoice 7", "delete_invoice"),
    ],
)
def test_a_message_reaches_a_function_described_in_other_words(message: str, first: str) -> None:
    assert ranked([*functions(60), *OTHERS], message)[0].fn_name == first


def test_what_the_app_is_about_counts_for_its_functions() -> None:
    twins = [FunctionInfo(a, "get_usage", "Returns the usage.") for a in ("a1", "b2")]
    apps = {"a1": AppInfo("a1", description="Electricity"), "b2": AppInfo("b2", description="Sky")}
    assert ranked(twins, "usage of electricity", apps=apps)[0].app_id == "a1"
    assert ranked(twins, "usage of the sky", apps=apps)[0].app_id == "b2"


def test_a_verbose_function_takes_no_more_room_than_another_unless_it_is_the_nearest() -> None:
    def verbose(name: str, about: str) -> FunctionInfo:
        properties = {
            f"p{n}": {"type": "string", "description": f"Parameter of {about} " * 30}
            for n in range(20)
        }
        schema: dict[str, Any] = {"type": "object", "properties": properties, "required": ["p0"]}
        return FunctionInfo("talk", name, f"Speaks of {about}. " + "And on. " * 200, "read", schema)

    many = [verbose(f"talk_{n}", f"matter{n}") for n in range(QUOTA * 2)]
    found = shortlist([*many, *OTHERS], "matter7 and the cards and incidents and the repository")
    shown = {f.fn_name for f in found.shown}
    assert {"talk_7", "list_cards", "list_incidents", "get_repository"} <= shown
    assert found.characters <= BUDGET
    spoken = [t for t in found.tools if t.app_id == "talk"]
    assert len(spoken) > QUOTA / 2
    assert all("p0" in t.input_schema["properties"] for t in spoken)
    assert max(map(characters, spoken)) < forms(many[0]).whole_characters


def test_what_functions_of_an_app_say_in_common_is_said_once() -> None:
    lead = "This tool belongs to the shop of Anna. Tool description: "
    named = [FunctionInfo("shop", f"do_{x}", f"{lead}Does {x}.") for x in ("a", "b", "c")]
    app = AppInfo("shop", functions=tuple(named))
    assert [forms(f).whole.description for f in app.functions] == ["Does a.", "Does b.", "Does c."]
    ext = Extension("shop")
    chat = ChatExtension(ext)
    for function in named:
        chat.function(function.fn_name, function.description)(handler)
    kernel = TestKernel([ext])
    view = kernel.run(kernel.kernel.view(kernel.ask("do a")))
    assert view.prompt.apps == f"[APPS]\n- shop: {lead.strip()}"
    assert kernel.registry.catalogue().to_dict()["apps"][0]["functions"][0]["description"] == (
        f"{lead}Does a."
    )


def test_a_catalogue_of_the_release_before_is_read_and_ours_reads_there() -> None:
    ours = Catalogue({"bank": AppInfo("bank", functions=tuple(OTHERS[:2]))}).to_dict()
    assert "lead" not in ours["apps"][0]["functions"][0]
    before = {
        "apps": [
            {
                **ours["apps"][0],
                "functions": [{**f, "characters": 200} for f in ours["apps"][0]["functions"]],
            }
        ]
    }
    assert Catalogue.from_dict(before) == Catalogue.from_dict(ours)


async def handler(ctx: Context) -> ActionResult:
    return ActionResult.success({"ok": True}, "done")


def test_the_prompt_says_that_there_is_more_and_what_each_app_holds() -> None:
    ext = Extension("big", description="A warehouse.")
    chat = ChatExtension(ext)
    for n in range(262):
        chat.function(f"count_widgets_{n}", f"Handles thing number {n} " * 10)(handler)
    kernel = TestKernel([ext])
    view = kernel.run(kernel.kernel.view(kernel.ask("hello")))
    assert view.prompt.text.startswith("[CATALOGUE]\nNOTE: ")
    assert " of 262 functions are shown" in view.prompt.text
    assert view.prompt.apps == "[APPS]\n- big: 262 functions: count, widgets. A warehouse."
    assert [t.name for t in view.tools[:2]] == ["kernel__continue", "kernel__search"]
