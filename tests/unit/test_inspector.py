"""The inspector: every rule that drops something from the prompt is named, and nothing it says
differs from the prompt."""

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from tests.json_values import json_values
from tests.planning import planning, telling
from webbee_kernel.api import inspector, value_search
from webbee_kernel.bootstrap import make_dispatch, make_refresher
from webbee_kernel.channels import skeleton
from webbee_kernel.llm.protocol import ToolCall
from webbee_kernel.refresh.refresh_queue import RefreshItem, RefreshRequest
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension
from webbee_kernel.stores.dynamodb.transcripts import dropped_turns
from webbee_kernel.stores.types import Section
from webbee_kernel.testing import USER, TestKernel
from webbee_kernel.turn.turn_context import TurnContext
from webbee_kernel.types import SessionKey, UserKey, user_dict

CROWDED: dict[str, Any] = {
    "first": 1,
    "mail": "sarah@example.com",
    "long": "word " * 40,
    "many": list(range(90)),
    "records": [{"id": "r1", "title": "One", "colour": "turquoise", "_x": 1}],
    "_private": "sesame",
    "deep": {"inner": {"lost": 1}, "list": [1, 2]},
    "seventh": "marmalade",
}


class Params(BaseModel):
    """What to return."""

    data: dict[str, Any] = {}


def an_extension(section: dict[str, Any]) -> Extension:
    ext = Extension("shop", "1.0.0", display_name="Shop", description="A shop")
    chat = ChatExtension(ext, description="A shop")

    @chat.function("look", "Look at the goods", examples=["show the goods"])
    async def look(ctx: Context, params: Params) -> ActionResult:
        await ctx.cache.set("kept", "rhubarb")
        assert await ctx.cache.get("kept") == "rhubarb"
        return ActionResult.success(params.data, "Looked.")

    @chat.function("buy", "Buy", action_type="write", scopes=["pay"], examples=["buy bread"])
    async def buy(ctx: Context, params: Params) -> ActionResult:
        return ActionResult.success({}, "Bought.")

    @ext.skeleton("goods", ttl=60)
    async def goods(ctx: Context) -> dict[str, Any]:
        return {"response": section}

    @ext.skeleton("broken")
    async def broken(ctx: Context) -> dict[str, Any]:
        raise RuntimeError("secret words")

    return ext


def kernel_with(
    section: dict[str, Any] = CROWDED, data: Any = None, turns: int = 1, **options: Any
) -> TestKernel:
    """A kernel whose section was refreshed and whose `look` was called `turns` times."""
    model = planning(ToolCall("shop__look", {"data": data or {"n": 1}}), reply="Looked.")
    kernel = TestKernel([an_extension(section)], model=model, **options)
    refresher = make_refresher(kernel.app, make_dispatch(kernel.app, kernel.registry))
    for name in ("goods", "broken"):
        wanted = (RefreshItem("shop", name, "new"),)
        kernel.run(refresher.refresh(RefreshRequest(user_dict(USER), wanted)))
    for _ in range(turns):
        kernel.chat("show the goods")
    return kernel


def view_of(kernel: TestKernel, message: str = "hello") -> TurnContext:
    view: TurnContext = kernel.run(kernel.kernel.view(kernel.ask(message)))
    return view


async def _nothing(ctx: Context, params: Params) -> ActionResult:
    return ActionResult.success({}, "Done.")


def section_report(kernel: TestKernel, name: str = "goods") -> dict[str, Any]:
    return next(s for s in inspector.explain(view_of(kernel))["sections"] if s["section"] == name)


def test_each_field_names_the_rule_that_took_something_of_it() -> None:
    rows = [{"id": f"{n}", "title": "title " * 9} for n in range(4)]
    long = section_report(kernel_with({f"field_{n}": rows for n in range(6)}))
    assert (len(long["line"]), long["fields"][-1]["state"]) == (700, "dropped")
    assert any(x["rule"] == "line_over_700" for f in long["fields"] for x in f["losses"])
    fields = section_report(kernel_with())["fields"]
    assert [(f["name"], f["state"], *(x["rule"] for x in f["losses"])) for f in fields] == [
        ("first", "shown"),
        ("mail", "shown"),
        ("long", "cut", "string_over_60"),
        ("many", "cut", "values_over_200"),
        ("records", "cut", "record_label", "underscore"),
        ("_private", "dropped", "underscore"),
        ("deep", "cut", "nested", "nested"),
        ("seventh", "dropped", "seventh_field"),
    ]


def test_a_section_tells_its_age_its_next_refresh_and_its_last_error() -> None:
    kernel = kernel_with()
    kernel.clock.advance(70)
    good, bad = section_report(kernel), section_report(kernel, "broken")
    told = {"age": "cached ~70s ago", "age_s": 70, "ttl_s": 60, "stale": True}
    assert good.items() >= {**told, "next_refresh_in_s": -10}.items()
    assert (bad["in_prompt"], bad["failures"], bad["last_error"]) == (False, 1, "RuntimeError")
    assert "no refresh has succeeded yet" in bad["why_not"]
    assert "secret words" not in str(bad)


def test_a_fact_tells_what_was_cut_what_is_masked_and_when_it_leaves() -> None:
    rows = [{"n": i, "text": "x" * 50} for i in range(100)]
    data = {"who": "ivan@example.com", "rows": rows}
    kernel = kernel_with(env={"WEBBEE_CONFIRM": "destructive"}, data=data)
    turn = inspector.explain(view_of(kernel))["turns"][0]
    fact = turn["facts"][0]
    assert turn["leaves_on_turn"] == 6
    assert turn["facts_chars"] <= turn["facts_limit"] == 3000
    assert fact["is_cut"]
    assert list(fact["masked"].values()) == ["ivan@example.com"]
    assert fact["data"]["who"] == "ivan@example.com"
    assert "ivan@example.com" not in fact["line"]


def test_functions_that_do_not_fit_the_catalogue_say_so() -> None:
    many = telling("many", bake={})
    for i in range(150):
        about = f"Handle matter number {i} " + "of the kind " * 30
        ChatExtension(many).function(f"do_{i}", about)(_nothing)
    view = view_of(TestKernel([many]), "bake bread please")
    report = inspector.explain(view)
    left_out = [f for f in report["functions"] if not f["in_catalogue"]]
    assert left_out
    assert all("functions fit into the 21,000 characters" in f["why_not"] for f in left_out)
    assert next(f for f in report["functions"] if f["fn_name"] == "bake")["in_catalogue"]
    block = next(b for b in report["blocks"] if b["name"] == "catalogue")
    assert block["chars"] <= block["cap"]
    found = value_search.search(view, f"many__{left_out[0]['fn_name']}")["found"]
    assert found[0]["state"] == "dropped"


def test_apps_that_are_not_installed_say_so() -> None:
    view = view_of(kernel_with())
    object.__setattr__(view, "installed", frozenset())
    report = inspector.explain(view)
    assert {f["why_not"] for f in report["functions"]} == {"the app is not installed for this user"}
    assert all("not installed" in s["why_not"] for s in report["sections"])
    assert value_search.search(view, "marmalade")["found"][0]["state"] == "hidden"
    told = [value_search.search(view, name) for name in ("shop__look", "Shop.Look")]
    why = "not offered: the app is not installed for this user; called in turn 1"
    assert all(not t["seen"] and t["verdict"] == f"shop.look is a function, {why}" for t in told)


def test_what_left_the_five_turns_is_found_in_the_conversation() -> None:
    kernel = kernel_with(data={"code": "kumquat-7"}, turns=7)
    view = view_of(kernel)
    key = SessionKey(UserKey.of(USER), "s1")
    past = kernel.run(dropped_turns(kernel.app.stores, key, view.memory, now=kernel.clock.now()))
    lost = [
        f for f in value_search.search(view, "kumquat-7", past)["found"] if f["state"] != "shown"
    ]

    found = [(f["place"], f["path"].partition("[")[0], f["state"]) for f in lost]
    assert found == [(f"turn {n}", "details", "dropped") for n in (1, 2)]
    told = {f["because"] for f in lost}
    assert told == {"the model remembers the last 5 turns, and this is no more among them"}


NEVER_READ = (
    "no model reads ctx.cache or ctx.store until a function returns it or a section shows it"
)
PHONE = {"section": {"n": 1}, "data": {"phone": "+49 170 1234567"}}
NUMBERS = {"at": "2026-11-29T09:55:50Z", "phone": "+491701234567", "code": "71240", "n": 12.5}


@pytest.mark.parametrize(
    ("value", "given", "state", "because", "verdict"),
    [
        ("marmalade", {}, "dropped", "only the first 6 fields render", ""),
        ("sesame", {}, "dropped", "underscore never renders", ""),
        ("turquoise", {}, "dropped", "its title and id", ""),
        ("sarah@example.com", {}, "masked", "the model reads <EMAIL_", ""),
        ("+49 170 1234567", PHONE, "masked", "", "the model reads a placeholder for it"),
        # beside what is masked, and cut itself
        ("300418", {"section": {"note": f"sarah@example.com {'x ' * 400}300418"}}, "cut", "", ""),
        ("hello", {}, "shown", "", ""),
        ("look", {"turns": 2}, "shown", "", "^shop.look is a function, offered to the model at place 1; called in turn 1 and 2$"),
        ("shop.buy", {}, "shown", "would be refused: the scope pay", "^shop.buy is a function, offered to"),
        ("Look at the goods", {}, "shown", "", ""),
        ("rhubarb", {}, "", "", f"never written.*{NEVER_READ}$"),  # in the cache alone
        ("rhubarb", {"data": {"rows": ["x" * 50] * 100}}, "", "", "cut where it may have stood"),
        # no part of a moment or of a longer number
        *((n, {"section": {"n": 1}, "data": NUMBERS}, "", "", "never written")
          for n in ("12345", "777", "5550", "955", "50", "234567", "240")),
    ],
)  # fmt: skip
def test_search_finds_where_a_value_stands_and_why_it_does_not_show(
    value: str, given: dict[str, Any], state: str, because: str, verdict: str
) -> None:
    told = value_search.search(view_of(kernel_with(**given)), value)
    found = told["found"]
    if state:
        assert any(f["state"] == state and because in f["because"] for f in found), found
    if verdict.startswith("never written"):
        assert (told["seen"], found) == (False, [])
    assert re.search(verdict, told["verdict"])


def test_what_only_the_rules_or_a_header_say_is_found_by_its_line() -> None:
    view = view_of(kernel_with())
    found = value_search.search(view, "AUTHORITATIVE")
    assert (found["seen"], {f["channel"] for f in found["found"]}) == (True, {"prompt"})
    place = found["found"][0]
    text = {"system text": view.opening.prompt.system, "prompt": view.opening.prompt.text}
    line = text[place["place"]].splitlines()[int(place["path"].removeprefix("line ")) - 1]
    assert "AUTHORITATIVE" in line


JSON = json_values(st.text(max_size=12), items=7, fields=8, leaves=25)


@given(st.dictionaries(st.text(max_size=20), JSON, max_size=9), st.text(min_size=1, max_size=5))
@settings(max_examples=20, deadline=None)
def test_any_section_is_explained_as_it_renders(data: dict[str, Any], value: str) -> None:
    view = view_of(TestKernel([an_extension({})]))
    section = Section("shop", "goods", data, view.now, 60)
    view = replace(view, user_state=view.user_state._replace(sections=(section,), installations=()))
    [report] = [s for s in inspector.explain(view)["sections"] if s["section"] == "goods"]
    line = skeleton.line(section, view.now, "goods", view.masker.mask)
    assert (report["line"], len(report["fields"])) == (line, len(data))
    for field in report["fields"]:
        assert field["state"] == "dropped" or field["shown"] in line
    value_search.search(view, value)
