"""Which functions of a large catalogue a prompt shows, what of their schemas, and what of them a session
goes on showing."""

import itertools
import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from webbee_kernel.catalogue import AppInfo, FunctionInfo
from webbee_kernel.llm.tools import brief, characters, compact, describe, forms
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension, Recipient
from webbee_kernel.testing import TestKernel
from webbee_kernel.turn import tool_retrieval
from webbee_kernel.turn.tool_retrieval import BUDGET, Shortlist, shortlist

MATTERS = ("invoice", "parcel", "garden", "orchestra", "glacier", "harbour", "violin", "engine")


def of_matters(each: int = 60) -> list[FunctionInfo]:
    """Of each matter so many, each with a few words of its own."""
    schema = {"type": "object", "properties": {"note": {"type": "string"}}}
    found = []
    for matter, n in itertools.product(MATTERS, range(each)):
        about = f"Looks after the {matter} number {n}. " + "More is to be said of it. " * 15
        found.append(FunctionInfo(matter, f"{matter}_{n}", about, input_schema=schema))
    return found


ALL = of_matters()
OTHERS = [
    FunctionInfo("sky", "weather", "Погода на завтра", examples=("погода в Риге",)),
    FunctionInfo("bank", "delete_account", "Deletes an account."),
    FunctionInfo("bank", "list_cards", "Lists the payment cards of the user."),
    FunctionInfo("ops", "list_incidents", "Shows the incidents that are open."),
    FunctionInfo("ops", "send_message", "Sends a message to somebody on duty."),
    FunctionInfo("code", "get_repository", "Describes one repository."),
]


def test_a_message_reaches_a_function_that_is_described_otherwise() -> None:
    for message, first in (
        ("какая погода будет в Риге?", "weather"),
        ("удали аккаунт номер 7", "delete_account"),
        ("какие сейчас инциденты?", "list_incidents"),
        ("покажи репозиторий kernel", "get_repository"),
        ("tell the people on duty that the shop is down", "send_message"),
        ("get rid of account 7", "delete_account"),
    ):
        found = shortlist([*ALL, *OTHERS], message)
        assert (found.ranked[0].fn_name, found.ranked[0] in found.shown) == (first, True)
        assert found.characters <= BUDGET


def test_a_verbose_function_takes_no_more_room_than_another_unless_it_is_the_nearest() -> None:
    def verbose(name: str, about: str) -> FunctionInfo:
        one = {"type": "string", "description": f"Parameter of {about} " * 30}
        properties = {f"p{n}": one for n in range(20)}
        schema: dict[str, Any] = {"type": "object", "properties": properties, "required": ["p0"]}
        return FunctionInfo("talk", name, f"Speaks of {about}. " + "And on. " * 200, "read", schema)

    many = [verbose(f"talk_{n}", f"matter{n}") for n in range(60)]
    found = shortlist([*many, *OTHERS], "matter7 and the cards and incidents and the repository")
    shown = {f.fn_name for f in found.shown}
    assert {"talk_7", "list_cards", "list_incidents", "get_repository"} <= shown
    assert found.characters <= BUDGET
    spoken = [t for t in found.tools if t.app_id == "talk"]
    assert len(spoken) > 15
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
    assert view.opening.prompt.apps == f"[APPS]\n- shop: {lead.strip()}"
    told = kernel.registry.catalogue().to_dict()["apps"][0]["functions"][0]["description"]
    assert told == f"{lead}Does a."


async def handler(ctx: Context) -> ActionResult:
    return ActionResult.success({"ok": True}, "done")


def stood(listed: Shortlist) -> tool_retrieval.ToolList:
    """What the next turn reads of this one."""
    kept = tool_retrieval.to_text(tool_retrieval.tool_list(listed.tools, ALL, listed.base), b"key!")
    again = tool_retrieval.from_text(kept, b"key!")
    assert again
    return again


def test_what_was_added_or_used_stays_when_room_is_made_and_the_first_choice_with_it() -> None:
    listed = first = shortlist(ALL, f"the {MATTERS[0]} number 1")
    made_room: list[int] = []
    for n, matter in enumerate(MATTERS[1:], 2):
        before, listed = listed, shortlist(ALL, f"the {matter} number {n}", before=stood(listed))
        assert listed.tools[: len(first.tools)] == first.tools
        assert f"{matter}_{n}" in {f.fn_name for f in listed.shown}
        assert len(listed.tools) <= tool_retrieval.MAX_GROWN
        assert listed.characters <= tool_retrieval.MAX_LISTED
        assert listed.tools[: listed.unchanged] == before.tools[: listed.unchanged]
        if listed.unchanged < len(before.tools):
            made_room.append(listed.unchanged)
    assert 0 < len(made_room) < len(MATTERS) - 1
    used = {("violin", "violin_3"), ("engine", "engine_25")}
    small = of_matters(30)
    shown = (tool_retrieval.ListedTool(n, False) for n in range(tool_retrieval.MAX_GROWN))
    full = tool_retrieval.ToolList(tuple(shown), 90)
    listed = shortlist(small, "the glacier number 4", used=used, before=full)
    assert used <= {(f.app_id, f.fn_name) for f in listed.shown}
    assert len(listed.tools) <= tool_retrieval.MAX_GROWN


class Row(BaseModel):
    article: str = Field(description="What it is")
    count: int = 1


class Order(BaseModel):
    to: Annotated[Recipient, Field(description="Who gets it", max_length=200)]
    currency: str = Field(min_length=3, max_length=3)
    order_id: str | None = Field(None, description="The order id")
    kind: Literal["gift", "own"] = "own"
    limit: int = Field(20, ge=1, le=50)
    loud: bool = False
    note: str = ""
    rows: list[Row] = Field(default_factory=list, description="The rows. One for each article.")


def test_a_schema_keeps_all_that_tells_what_to_write() -> None:
    found = compact(Order.model_json_schema())
    row = {"type": "object", "required": ["article"], "properties": {
        "article": {"type": "string", "description": "What it is"},
        "count": {"type": "integer", "default": 1},
    }}  # fmt: skip
    assert (found["required"], brief(found, 10_000)) == (["to", "currency"], found)
    assert found["properties"] == {
        "to": {"type": "string", "description": "Who gets it"},
        "currency": {"type": "string", "minLength": 3, "maxLength": 3},
        "order_id": {"type": "string"},
        "kind": {"type": "string", "enum": ["gift", "own"], "default": "own"},
        "limit": {"type": "integer", "default": 20, "maximum": 50},
        "loud": {"type": "boolean"},
        "note": {"type": "string"},
        "rows": {"type": "array", "description": "The rows. One for each article.", "items": row},
    }


def test_null_stays_where_an_argument_must_be_given_and_where_it_is_one_of_several() -> None:
    text, whole, null = ({"type": kind} for kind in ("string", "integer", "null"))
    given: dict[str, tuple[Any, Any]] = {
        "must": ({"anyOf": [text, null]}, {"anyOf": [text, null]}),
        "may": ({"anyOf": [text, whole, null]}, {"anyOf": [text, whole]}),
        "listed": ({"type": ["string", "null"], "default": None}, text),
        "zero": ({**whole, "default": 0}, {**whole, "default": 0}),  # is no empty default
    }
    properties = {name: before for name, (before, _) in given.items()}
    found = compact({"type": "object", "properties": properties, "required": ["must"]})
    assert found["properties"] == {name: after for name, (_, after) in given.items()}


def test_of_many_arguments_what_is_required_stays_and_of_long_choices_none() -> None:
    properties = {f"argument_{n:02}": {"type": "string"} for n in range(20)}
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    for room, some in ((50, 0), (200, 2)):
        short = brief({**schema, "required": ["argument_19"]}, room)
        assert list(short["properties"]) == [*list(properties)[:some], "argument_19"]
        assert len(json.dumps(short)) <= max(room, 110)
    function = FunctionInfo("a", "f", "Does it. " + "At length. " * 40, "read", schema)
    assert describe(forms(function).brief) == "Does it (+14 arguments)"
    assert len(forms(function).whole.input_schema["properties"]) == 20
    text, choices = {"type": "string"}, [f"choice-{n}" for n in range(30)]
    properties = {"a": {**text, "enum": choices}, "b": {**text, "enum": ["x"]}}
    short = brief({"type": "object", "properties": properties, "required": ["a"]}, 150)
    assert short["properties"] == {**properties, "a": text}
