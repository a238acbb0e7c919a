"""What goes over the wire, that the stand-ins would notice if it were wrong, and what comes back,
read."""

import copy
import functools
import json
import operator
from dataclasses import replace
from typing import Any

import pytest
from pydantic import BaseModel, Field

from tests.stand_ins.servers import Answer
from tests.stand_ins.wire import converse_problems
from webbee_kernel.errors import ModelUnavailable
from webbee_kernel.llm.bedrock import converse_request
from webbee_kernel.llm.options import ModelOptions
from webbee_kernel.llm.protocol import Exchange, Growing, ToolCall
from webbee_kernel.llm.tools import MAX_DESCRIPTION, describe, parameters

from .conftest import LIST, MODEL_ID, SEND, Wire, asking


def test_a_service_takes_the_request_as_it_is(wire: Wire) -> None:
    half = asking(role="ai", prompt="half a pair: \ud83d", tools=())
    for request in (asking(), asking(tools=()), asking(system=""), half):
        wire.server.play(Answer("ok"))
        assert wire.ask(request).text == "ok"
    assert wire.server.problems == []


def test_bedrock_gets_the_stable_parts_before_a_cache_point(bedrock: Wire) -> None:
    bedrock.server.play(Answer("ok"))
    bedrock.ask()
    [received] = bedrock.server.requests
    assert received.path == f"/model/{MODEL_ID}/converse"
    assert received.body["system"] == [{"text": "Decide."}, {"cachePoint": {"type": "default"}}]
    assert received.body["messages"] == [{"role": "user", "content": [{"text": asking().prompt}]}]
    assert received.body["inferenceConfig"] == {"maxTokens": 1024, "temperature": 0.0}
    names = [t["toolSpec"]["name"] for t in received.body["toolConfig"]["tools"]]
    assert names == ["mail__list_inbox", "mail__send"]
    options = ModelOptions(effort="low", cache="1h", temperature=0.6, stop=("<|end|>",))
    body = converse_request(MODEL_ID, asking(), options=options)
    assert converse_problems(MODEL_ID, {k: v for k, v in body.items() if k != "modelId"}) == []
    assert body["outputConfig"] == {"effort": "low"}
    limits = body["inferenceConfig"]
    assert (limits["temperature"], limits["stopSequences"]) == (0.6, ["<|end|>"])
    assert body["system"][-1] == {"cachePoint": {"type": "default", "ttl": "1h"}}


@pytest.mark.parametrize(
    ("before", "cached"),
    [(2, ["kernel__search", "mail__list_inbox", "mail__send"]),
     (3, ["kernel__search", "mail__send"])],
)  # fmt: skip
def test_bedrock_keeps_tools_part_by_part(bedrock: Wire, before: int, cached: list[str]) -> None:
    """The tools grow: the first is everybody's."""
    everybodys = replace(LIST, name="kernel__search", app_id="kernel", fn_name="search")
    apps = "[APPS]\n- mail: 2 functions: inbox, send."
    growing = Growing(1, before, apps)
    request = asking(system=f"Decide.\n\n{apps}", tools=(everybodys, LIST, SEND), growing=growing)
    bedrock.server.play(Answer("ok"), Answer("ok"))
    bedrock.ask(request)
    later = Exchange("flat", "Hm.", note="go on")
    bedrock.ask(replace(request, exchanges=(later,), opening="Hello"))
    assert bedrock.server.problems == []
    first, second = (r.body for r in bedrock.server.requests)
    tools = first["toolConfig"]["tools"]
    assert tools == second["toolConfig"]["tools"]
    points = [i for i, tool in enumerate(tools) if "cachePoint" in tool]
    assert [tools[i - 1]["toolSpec"]["name"] for i in points] == cached
    assert "cachePoint" in first["system"][-1]
    assert "cachePoint" in second["messages"][-1]["content"][-1]


def test_a_description_fits_and_references_are_written_out() -> None:
    long = describe(replace(LIST, description="x" * 1010))
    assert len(long) <= MAX_DESCRIPTION
    assert "покажи" not in long
    assert describe(replace(LIST, description="x" * 2000)) == "x" * MAX_DESCRIPTION
    assert describe(replace(SEND, description="")) == "send (write)"
    schema = parameters(replace(SEND, input_schema=Person.model_json_schema()))
    assert set(schema) == {"type", "properties", "required"}
    assert schema["required"] == ["name", "home"]
    home = schema["properties"]["home"]
    title = {"description": "Mr or Ms", "type": "string"}
    assert home["description"] == "Where they live"
    assert home["properties"] == {"title": title, "street": {"type": "string"}}
    assert "$ref" not in json.dumps(schema)  # also where a model holds itself


class Address(BaseModel):
    title: str = Field(description="Mr or Ms")
    street: str


class Person(BaseModel):
    name: str
    home: Address = Field(description="Where they live")
    friends: list["Person"] = Field(default_factory=list)


# ---- the stand-ins' checks can fail


WRONG: dict[str, tuple[str, Any]] = {
    "is none of": ("messages 0 role", "robot"),
    "blank": ("messages 0 content 0 text", " "),
    "Unknown parameter": ("messages 0 content 0", {"txt": "a"}),
    "does not match": ("toolConfig tools 0 toolSpec name", "mail.list"),
    "must be object": ("toolConfig tools 0 toolSpec inputSchema json", {"type": "string"}),
    "start with text": ("system 0", {"cachePoint": {"type": "default"}}),
}


@pytest.mark.parametrize("complaint", WRONG)
def test_a_wrong_converse_request_is_noticed(complaint: str) -> None:
    path, value = WRONG[complaint]
    body: Any = copy.deepcopy(converse_request(MODEL_ID, asking()))
    del body["modelId"]
    assert converse_problems(MODEL_ID, body) == []
    *steps, last = (int(step) if step.isdigit() else step for step in path.split())
    functools.reduce(operator.getitem, steps, body)[last] = value
    assert complaint in "; ".join(converse_problems(MODEL_ID, body))


# ---- what comes back


def test_calls_keep_their_order_and_types(wire: Wire) -> None:
    arguments = {"n": 3, "x": 1.5, "on": True, "none": None, "list": [{"a": "ю"}]}
    wire.server.play(Answer(calls=(("mail__list_inbox", {}), ("mail__send", arguments))))
    response = wire.ask()
    first, second = response.tool_calls
    assert (first, second.name) == (ToolCall("mail__list_inbox", {}), "mail__send")
    assert (second.arguments, response.stop_reason) == (arguments, "tool_use")
    # what is no object, or of an answer that was cut off, becomes text, which can never run
    wire.server.play(Answer(calls=(("mail__send", ["a@b.c"]),)))
    assert wire.ask().tool_calls == (ToolCall("mail__send", '["a@b.c"]'),)
    calls = (("mail__list_inbox", {}), ("mail__send", {"to": "a@b.c"}))
    wire.server.play(Answer(calls=calls, stop=wire.cut))
    assert [call.arguments for call in wire.ask().tool_calls] == [{}, '{"to": "a@b.c"}']


def test_nothing_at_all_is_asked_for_once_more_and_behind_results_an_answer(wire: Wire) -> None:
    wire.server.play(Answer(), Answer())
    with pytest.raises(ModelUnavailable) as caught:
        wire.ask()
    assert (caught.value.cause, len(wire.server.requests)) == ("empty", 2)
    wire.server.play(Answer())
    exchange = Exchange("[RESULTS]", calls=(ToolCall("mail__list_inbox", {}),), results=("ok",))
    response = wire.ask(asking(exchanges=(exchange,), opening="p"))
    assert (response.text, response.tool_calls) == ("", ())


def test_a_filtered_answer_says_so_and_a_refusal_is_the_text(wire: Wire) -> None:
    wire.server.play(Answer("The first half of", stop=wire.filtered))
    with pytest.raises(ModelUnavailable) as caught:
        wire.ask()
    assert caught.value.cause == "refused"
    if wire.kind == "openai":
        wire.server.play(Answer(refusal="I cannot help with that."))
        response = wire.ask()
        assert (response.text, response.stop_reason) == ("I cannot help with that.", "refusal")


def test_tokens_out_of_the_services_cache_are_input_and_told_apart(wire: Wire) -> None:
    wire.server.play(Answer("ok", cached_tokens=40), Answer("ok"))
    cached, fresh = (wire.ask().usage for _ in range(2))
    assert (cached.cached_tokens, fresh.cached_tokens) == (40, 0)
    assert cached.input_tokens == fresh.input_tokens + 40
