"""What comes back, read."""

from __future__ import annotations

from typing import Any

import pytest

from tests.stand_ins.servers import Answer
from webbee_kernel.errors import ModelUnavailable
from webbee_kernel.llm.openai_compatible import read
from webbee_kernel.llm.protocol import Exchange, ToolCall

from .conftest import Wire, asking


def test_calls_keep_their_order_and_types(wire: Wire) -> None:
    arguments = {"n": 3, "x": 1.5, "on": True, "none": None, "list": [{"a": "ю"}]}
    wire.server.play(Answer(calls=(("mail__list_inbox", {}), ("mail__send", arguments))))
    response = wire.ask()
    assert response.tool_calls == (
        ToolCall("mail__list_inbox", {}),
        ToolCall("mail__send", arguments),
    )
    assert response.stop_reason == "tool_use"


def test_nothing_at_all(wire: Wire) -> None:
    """A first answer without anything is asked for once more; behind results it means that nothing
    is left to call."""
    wire.server.play(Answer(), Answer())
    with pytest.raises(ModelUnavailable) as caught:
        wire.ask()
    assert (caught.value.cause, len(wire.server.requests)) == ("empty", 2)
    wire.server.play(Answer())
    exchange = Exchange("[RESULTS]", calls=(ToolCall("mail__list_inbox", {}),), results=("ok",))
    response = wire.ask(asking(exchanges=(exchange,), opening="p"))
    assert (response.text, response.tool_calls) == ("", ())


def test_arguments_that_are_json_but_no_object_become_text(wire: Wire) -> None:
    wire.server.play(Answer(calls=(("mail__send", ["a@b.c"]),)))
    assert wire.ask().tool_calls == (ToolCall("mail__send", '["a@b.c"]'),)


def test_the_last_call_of_a_cut_off_answer_can_never_run(wire: Wire) -> None:
    wire.server.play(
        Answer(calls=(("mail__list_inbox", {}), ("mail__send", {"to": "a@b.c"})), stop=wire.cut)
    )
    first, last = wire.ask().tool_calls
    assert first.arguments == {}
    assert last.arguments == '{"to": "a@b.c"}'  # text: the planner sends it back


def test_a_filtered_answer_says_so(wire: Wire) -> None:
    wire.server.play(Answer("The first half of", stop=wire.filtered))
    with pytest.raises(ModelUnavailable) as caught:
        wire.ask()
    assert caught.value.cause == "refused"


def test_a_refusal_is_the_text(openai: Wire) -> None:
    openai.server.play(Answer(refusal="I cannot help with that."))
    response = openai.ask()
    assert (response.text, response.stop_reason) == ("I cannot help with that.", "refusal")


@pytest.mark.parametrize("body", [None, [], {}, {"choices": []}, "hello"])
def test_what_is_no_completion_is_an_outage_that_names_the_setting(body: Any) -> None:
    with pytest.raises(ModelUnavailable, match="WEBBEE_MODEL"):
        read(body, asking())
