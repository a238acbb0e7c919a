"""Answers that are heard while they are written: what is special about them; that they say the same
as answers in one piece is shown by the other tests of this folder, which ask for both."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from unittest.mock import Mock

import pytest
from botocore.exceptions import EventStreamError

from tests.stand_ins.servers import Answer
from webbee_kernel.background import LoopThread
from webbee_kernel.errors import ModelUnavailable
from webbee_kernel.llm.adapter import Listener
from webbee_kernel.llm.bedrock import BedrockModel, ConverseAnswer
from webbee_kernel.llm.failures import Retryable
from webbee_kernel.llm.openai_chat import ChatAnswer
from webbee_kernel.llm.options import ModelOptions
from webbee_kernel.llm.protocol import ModelResponse, streamed

from .conftest import MODEL_ID, Wire, asking


def test_calls_that_converse_streams_oddly_are_those_meant() -> None:
    """Two at one index, and with a gap between their indexes."""
    for first, second in ((0, 0), (2, 7)):
        answer = ConverseAnswer(asking())
        for index, call_id, to in ((first, "a", "bob"), (second, "b", "eva")):
            at = {"contentBlockIndex": index}
            tool = {"toolUse": {"toolUseId": call_id, "name": "mail__send"}}
            given = {"toolUse": {"input": f'{{"to": "{to}"}}'}}
            answer.event({"contentBlockStart": {"start": tool, **at}})
            answer.event({"contentBlockDelta": {"delta": given, **at}})
        answer.event({"messageStop": {"stopReason": "tool_use"}})
        found = answer.response().tool_calls
        assert [call.arguments for call in found] == [{"to": "bob"}, {"to": "eva"}]


def chat(*deltas: dict[str, Any]) -> ModelResponse:
    answer = ChatAnswer(asking())
    for choice in [*({"delta": delta} for delta in deltas), {"finish_reason": "stop"}]:
        answer.line(f"data: {json.dumps({'choices': [choice]})}")
    return answer.response()


def test_one_function_called_twice_without_ids_is_two_calls() -> None:
    calls = [{"function": {"name": "mail__send", "arguments": f'{{"to": "{to}"}}'}}
             for to in ("bob", "eva")]  # fmt: skip
    found = chat(*({"tool_calls": [call]} for call in calls))
    assert [call.arguments for call in found.tool_calls] == [{"to": "bob"}, {"to": "eva"}]
    found = chat({"reasoning_content": "H"}, {"reasoning_content": "m."}, {"content": "Hello."})
    assert found.text == "Hello." and found.reasoning is not None
    assert found.reasoning.plain == {"reasoning_content": "Hm."}


LONG = "The first sentence is here. The second one follows it. The third ends the reply."


@pytest.fixture
def wire(service: Wire) -> Wire:
    return replace(service, streams=True)


def test_an_answer_is_heard_before_it_is_whole(wire: Wire) -> None:
    wire.server.play(Answer("ok"), Answer(LONG, pace_s=0.5))
    wire.ask()  # shows that the model does not think aloud

    async def first_piece() -> str:
        heard: asyncio.Queue[str] = asyncio.Queue()
        asked = asyncio.ensure_future(streamed(wire.model, asking(), heard.put_nowait))
        piece = await heard.get()
        asked.cancel()
        return piece

    piece = wire.loop.run(first_piece())
    assert piece and LONG.startswith(piece) and piece != LONG


def test_an_answer_that_breaks_off_before_its_first_word_is_asked_for_again(wire: Wire) -> None:
    wire.server.play(Answer(LONG, broken_off=1), Answer("ok"))
    assert (wire.ask().text, len(wire.server.requests)) == ("ok", 2)
    with pytest.raises(Retryable):  # as is an event that is no JSON
        ChatAnswer(asking()).line("data: {broken")


def test_what_only_its_end_tells_and_what_comes_after_the_end_is_never_heard(openai: Wire) -> None:
    """Not in the first answer, and not in one behind answers that had none."""
    thoughts = "So the user greets. That is friendly. I greet back.\n</think>\n\nHello."
    openai.server.play(*(Answer(text) for text in (thoughts, "Hi. There you are.", thoughts)))
    openai = replace(openai, streams=True)
    assert [openai.ask().text for _ in range(3)] == ["Hello.", "Hi. There you are.", "Hello."]
    heard: list[str] = []
    aloud = Listener(heard.append)
    aloud("before ")
    aloud.is_closed = True
    aloud("after")
    assert heard == ["before "]


def breaking(code: str, said: str) -> Iterator[dict[str, Any]]:
    """A stream of Bedrock that says something, or nothing, and then raises."""
    if said:
        yield {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": said}}}
    error = {"Error": {"Code": code, "Message": "The stream ended."}}
    raise EventStreamError(error, "ConverseStream")


@pytest.mark.parametrize("said", ["", "Good evening. "])
@pytest.mark.parametrize(
    ("code", "cause"),
    [
        ("throttlingException", "rate_limit"),
        ("modelStreamErrorException", "server_error"),
        ("internalServerException", "server_error"),
        ("serviceUnavailableException", "server_error"),
        ("validationException", "parameter"),
    ],
)
def test_an_exception_inside_a_stream_of_bedrock_has_its_cause(
    loop: LoopThread, code: str, cause: str, said: str
) -> None:
    ask = Mock(side_effect=lambda **_: {"stream": breaking(code, said)})
    client = Mock(converse_stream=ask)
    plainly = ModelOptions(thinks_aloud=False)
    model = BedrockModel(MODEL_ID, client_factory=lambda *_, **__: client, options=plainly)
    heard: list[str] = []
    with pytest.raises(ModelUnavailable) as caught:
        loop.run(model.stream(asking(), heard.append))
    assert (caught.value.cause, "".join(heard).strip()) == (cause, said.strip())
    assert ask.call_count == (1 if said or cause == "parameter" else 2)
