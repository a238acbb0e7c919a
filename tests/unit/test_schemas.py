"""JSON schemas as models read them."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from webbee_kernel.catalogue import FunctionInfo
from webbee_kernel.llm.schemas import brief, compact
from webbee_kernel.llm.tools import describe, forms
from webbee_kernel.sdk import Recipient


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
    assert found["required"] == ["to", "currency"]
    assert found["properties"] == {
        "to": {"type": "string", "description": "Who gets it"},
        "currency": {"type": "string", "minLength": 3, "maxLength": 3},
        "order_id": {"type": "string"},
        "kind": {"type": "string", "enum": ["gift", "own"], "default": "own"},
        "limit": {"type": "integer", "default": 20, "maximum": 50},
        "loud": {"type": "boolean"},
        "note": {"type": "string"},
        "rows": {
            "type": "array",
            "description": "The rows. One for each article.",
            "items": {
                "type": "object",
                "required": ["article"],
                "properties": {
                    "article": {"type": "string", "description": "What it is"},
                    "count": {"type": "integer", "default": 1},
                },
            },
        },
    }


def test_null_stays_where_an_argument_must_be_given_and_where_it_is_one_of_several() -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {
            "must": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "may": {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]},
            "listed": {"type": ["string", "null"], "default": None},
        },
        "required": ["must"],
    }
    assert compact(schema)["properties"] == {
        "must": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "may": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        "listed": {"type": "string"},
    }


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Only unread messages (непрочитанные).", "Only unread messages."),
        ("open (not done, открытые, невыполненные), all (все)", "open (not done), all"),
        ("today / monday / сегодня / завтра (at 15:00)", "today / monday (at 15:00)"),
        ("`none` (no date, без срока) takes it away", "`none` (no date) takes it away"),
        ("Имя клиента (name)", "Имя клиента (name)"),
        ("Café of Müller", "Café of Müller"),
    ],
)
def test_a_description_in_latin_letters_says_nothing_again_in_others(text: str, read: str) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "string", "description": text}}}
    assert compact(schema)["properties"]["n"]["description"] == read


def test_a_zero_is_no_empty_default() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer", "default": 0}}}
    assert compact(schema)["properties"]["n"] == {"type": "integer", "default": 0}


def test_in_few_words_names_and_types_stay() -> None:
    whole = compact(Order.model_json_schema())
    short = brief(whole, 500)
    assert len(json.dumps(short)) < len(json.dumps(whole)) / 1.5
    assert set(short["properties"]) == set(whole["properties"])
    assert short["required"] == whole["required"]
    assert all(s["type"] for s in short["properties"].values())
    assert "description" not in json.dumps(short)
    assert brief(whole, 10_000) == whole


def test_of_many_arguments_what_is_required_stays_and_some_of_the_rest() -> None:
    properties = {f"argument_{n:02}": {"type": "string"} for n in range(20)}
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    for room, some in ((50, 0), (200, 2)):
        short = brief({**schema, "required": ["argument_19"]}, room)
        assert list(short["properties"]) == [*list(properties)[:some], "argument_19"]
        assert len(json.dumps(short)) <= max(room, 110)
    function = FunctionInfo("a", "f", "Does it. " + "At length. " * 40, "read", schema)
    assert describe(forms(function).brief) == "Does it (+14 arguments)"
    assert len(forms(function).whole.input_schema["properties"]) == 20


def test_long_lists_of_choices_go_from_a_function_in_few_words() -> None:
    choices = [f"choice-{n}" for n in range(30)]
    properties = {"a": {"type": "string", "enum": choices}, "b": {"type": "string", "enum": ["x"]}}
    short = brief({"type": "object", "properties": properties, "required": ["a"]}, 150)
    assert short["properties"] == {"a": {"type": "string"}, "b": {"type": "string", "enum": ["x"]}}
