"""What an operator may ask of the services beyond the request, checked against their published
schemas."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.stand_ins.servers import Answer
from tests.stand_ins.wire import converse_problems
from webbee_kernel.bootstrap import make_model
from webbee_kernel.config import Settings
from webbee_kernel.llm.bedrock import BedrockModel, converse_request
from webbee_kernel.llm.openai_compatible import OpenAICompatibleModel
from webbee_kernel.llm.options import ModelOptions

from .conftest import MODEL_ID, SEND, Wire, asking

OPTIONS = ModelOptions(effort="low", cache="1h", temperature=0.6, stop=("<|end|>",))
ADD = replace(
    SEND,
    name="tasks__add",
    input_schema={
        "type": "object",
        "properties": {
            "title": {"type": "string", "description": "What is to be done"},
            "due": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
            "tags": {"type": "array", "items": {"type": "string"}},
            "place": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "street": {"type": "string"}},
                "required": ["city"],
            },
        },
        "required": ["title"],
    },
)
TOOLS = (ADD,)


def test_converse_takes_effort_and_the_time_of_the_cache() -> None:
    body = converse_request(MODEL_ID, asking(tools=TOOLS), options=OPTIONS)
    assert converse_problems(MODEL_ID, {k: v for k, v in body.items() if k != "modelId"}) == []
    assert body["outputConfig"] == {"effort": "low"}
    limits = body["inferenceConfig"]
    assert (limits["temperature"], limits["stopSequences"]) == (0.6, ["<|end|>"])
    assert body["system"][-1] == {"cachePoint": {"type": "default", "ttl": "1h"}}


def test_a_model_that_refuses_a_wish_is_asked_again_without_and_remembered(
    bedrock: Wire, openai: Wire
) -> None:
    cases = [
        (openai, "Unsupported parameter: 'reasoning_effort'", "reasoning_effort"),
        (openai, "Unknown parameter: 'prompt_cache_retention'", "prompt_cache_retention"),
        (bedrock, "This model does not support outputConfig.effort", "outputConfig"),
        (bedrock, "cachePoint.ttl is not supported by this model", "ttl"),
        (openai, "Unsupported parameter: 'stop' is not supported with this model.", "stop"),
        (bedrock, "The model returned: stopSequences is not supported", "stopSequences"),
    ]
    for wire, complaint, gone in cases:
        wire.server.reset()
        model = (
            OpenAICompatibleModel(wire.server.url, "m", options=OPTIONS)
            if wire is openai
            else BedrockModel(MODEL_ID, options=OPTIONS)
        )
        wire.server.play(wire.invalid(complaint), Answer("ok"), Answer("ok"))
        asks = replace(wire, model=model)
        assert [asks.ask(asking(tools=(ADD,))).text for _ in range(2)] == ["ok", "ok"]
        first, *later = (str(r.body) for r in wire.server.requests)
        assert gone in first
        assert not any(f"'{gone}'" in body for body in later)
    assert "cachePoint" in str(bedrock.server.requests[-1].body)


def test_the_settings_reach_the_services(openai: Wire) -> None:
    env = {
        "WEBBEE_MODEL": f"openai:{openai.server.url}#m",
        "WEBBEE_MODEL_EFFORT": "high",
        "WEBBEE_MODEL_CACHE": "24h",
        "WEBBEE_MODEL_TEMPERATURE": "0.3",
        "WEBBEE_MODEL_STOP": '["END"]',
        "WEBBEE_MODEL_TOOL_CHOICE": "auto",
    }
    openai.server.play(Answer("ok"))
    replace(openai, model=make_model(Settings.from_env(env))).ask(asking(tools=(ADD,)))
    body = openai.server.requests[0].body
    assert (body["reasoning_effort"], body["prompt_cache_retention"]) == ("high", "24h")
    assert (body["temperature"], body["stop"]) == (0.3, ["END"])
    assert body["tool_choice"] == "auto"


def granted(service: Wire) -> list[int]:
    """The output tokens of each request."""
    bodies = [r.body for r in service.server.requests]
    if service.kind == "bedrock":
        return [body["inferenceConfig"]["maxTokens"] for body in bodies]
    return [body["max_tokens"] for body in bodies]


@pytest.mark.parametrize(
    "words",
    [
        "The maximum tokens you requested exceeds the model limit of 2048. Try again.",
        "max_tokens: 4096 > 2048, which is the maximum allowed number of output tokens",
        "max_tokens is too large: 4096. This model supports at most 2048 completion tokens.",
        "You requested 9000 tokens (4904 in the messages, 4096 in the completion). Please reduce.",
        "input length and `max_tokens` exceed context limit: 6000 + 4096 > 8192",
    ],
)
def test_a_model_that_refuses_so_many_output_tokens_is_asked_for_fewer(
    wire: Wire, words: str
) -> None:
    wire.server.play(wire.invalid(words), Answer("ok"), Answer("ok"))
    long, short = asking(max_tokens=4096), asking(max_tokens=300)
    assert [wire.ask(request).text for request in (long, short)] == ["ok", "ok"]
    assert granted(wire) == [4096, 1024, 300]
