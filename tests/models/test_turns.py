"""Whole turns over the wire: what a failing or odd model does to a user."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from pydantic import BaseModel

from tests.stand_ins.servers import Answer
from webbee_kernel.errors import ModelUnavailable
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension
from webbee_kernel.testing import TestKernel

from .conftest import Wire

Kernel = Callable[[Wire], TestKernel]


class SendParams(BaseModel):
    """A message."""

    to: str
    copies: int = 1


class Sent:
    """What the extension did, in order."""

    def __init__(self) -> None:
        self.to: list[str] = []

    def extension(self) -> Extension:
        ext = Extension("mail", "1.0.0", description="Mail")
        chat = ChatExtension(ext, tool_name="mail", description="Mail")

        @chat.function("list_inbox", description="List the inbox", action_type="read")
        async def list_inbox(ctx: Context) -> ActionResult:
            return ActionResult.success({"unread": 8}, summary="8 unread messages.")

        @chat.function("send", description="Send a message", action_type="write")
        async def send(ctx: Context, params: SendParams) -> ActionResult:
            self.to.append(params.to)
            return ActionResult.success({"to": params.to}, summary=f"Sent to {params.to}.")

        return ext


@pytest.fixture
def sent() -> Sent:
    return Sent()


@pytest.fixture
def kernel(wire: Wire, sent: Sent) -> TestKernel:
    """What is sent waits for no yes: these turns are about models, not about consent."""
    return TestKernel([sent.extension()], model=wire.model, env={"WEBBEE_CONFIRM": "destructive"})


LIST = Answer(calls=(("mail__list_inbox", {}),))


def test_two_requests_make_a_turn(wire: Wire, kernel: TestKernel) -> None:
    wire.server.play(LIST, Answer("You have 8 unread messages."))
    reply = kernel.chat("what is new?")
    assert (reply.text, reply.body["status"]) == ("You have 8 unread messages.", "ok")
    assert len(wire.server.requests) == 2
    assert wire.server.problems == []


def test_a_throttled_classifier_is_an_outage_and_leaves_no_trace(
    wire: Wire, kernel: TestKernel
) -> None:
    wire.server.play(wire.throttled, wire.throttled)
    with pytest.raises(ModelUnavailable) as caught:
        kernel.chat("what is new?")
    assert caught.value.status == 503
    assert kernel.memory().turns == ()
    assert kernel.memory().last_seq == TestKernel().memory().last_seq


@pytest.mark.parametrize("kind", ["throttled", "broken", "denied"])
def test_a_narrator_that_fails_after_the_work_leaves_the_summaries(
    wire: Wire, kernel: TestKernel, sent: Sent, kind: str
) -> None:
    wire.server.play(
        Answer(calls=(("mail__send", {"to": "bob"}),)), getattr(wire, kind), getattr(wire, kind)
    )
    reply = kernel.chat("send it to bob")
    assert reply.text.startswith("Sent to bob.") and reply.body["status"] == "ok"
    assert sent.to == ["bob"]
    assert len(kernel.memory().turns) == 1


def test_a_narrator_that_drops_the_line_leaves_the_summaries(
    wire: Wire, kernel: TestKernel
) -> None:
    wire.server.play(LIST, Answer(drop=True), Answer(drop=True))
    assert kernel.chat("what is new?").text.startswith("8 unread messages.")


def test_malformed_arguments_are_repaired_once(wire: Wire, kernel: TestKernel, sent: Sent) -> None:
    wire.server.play(
        wire.malformed("mail__send"),
        Answer(calls=(("mail__send", {"to": "bob"}),)),
        Answer("Sent to bob."),
    )
    assert kernel.chat("send it to bob").text == "Sent to bob."
    assert sent.to == ["bob"]
    assert "the arguments are not a JSON object" in str(wire.server.requests[1].body)
    assert len(wire.server.requests) == 3


def test_arguments_that_do_not_fit_are_repaired_once(
    wire: Wire, kernel: TestKernel, sent: Sent
) -> None:
    wire.server.play(
        Answer(calls=(("mail__send", {"to": "bob", "copies": "many"}),)),
        Answer(calls=(("mail__send", {"to": "bob"}),)),
        Answer("Sent to bob."),
    )
    kernel.chat("send it to bob")
    assert sent.to == ["bob"]
    assert len(wire.server.requests) == 3


def test_a_call_that_was_cut_off_never_runs(wire: Wire, kernel: TestKernel, sent: Sent) -> None:
    cut = Answer(calls=(("mail__send", {"to": "bo"}),), stop=wire.cut)
    wire.server.play(cut, Answer(calls=(("mail__send", {"to": "bob"}),)), Answer("Sent to bob."))
    kernel.chat("send it to bob")
    assert sent.to == ["bob"]


def test_an_unknown_function_is_told_back(wire: Wire, kernel: TestKernel) -> None:
    wire.server.play(
        Answer(calls=(("bank__pay", {}),)), LIST, Answer("You have 8 unread messages.")
    )
    assert kernel.chat("what is new?").text == "You have 8 unread messages."
    assert "there is no such function" in str(wire.server.requests[1].body)


def test_an_empty_answer_is_told_back(wire: Wire, kernel: TestKernel) -> None:
    wire.server.play(Answer(), LIST, Answer("You have 8 unread messages."))
    assert kernel.chat("what is new?").text == "You have 8 unread messages."


def test_text_beside_calls_is_not_the_reply(wire: Wire, kernel: TestKernel) -> None:
    wire.server.play(
        Answer("I will look.", calls=LIST.calls), Answer("You have 8 unread messages.")
    )
    assert kernel.chat("what is new?").text == "You have 8 unread messages."


def test_an_invented_number_is_corrected_over_the_wire(wire: Wire, kernel: TestKernel) -> None:
    wire.server.play(
        LIST, Answer("You have 36 unread messages."), Answer("You have 8 unread messages.")
    )
    assert kernel.chat("what is new?").text == "You have 8 unread messages."
    assert "36" in str(wire.server.requests[2].body)


def test_a_filtered_narration_leaves_the_summaries(wire: Wire, kernel: TestKernel) -> None:
    wire.server.play(LIST, Answer(stop=wire.filtered), Answer(stop=wire.filtered))
    assert kernel.chat("what is new?").text.startswith("8 unread messages.")


def test_a_slow_model_ends_the_turn_at_its_deadline(wire: Wire, sent: Sent) -> None:
    kernel = TestKernel(
        [sent.extension()], model=wire.model, env={"WEBBEE_TURN_SECONDS": "2.6"}
    )  # 2 s are kept for recording
    wire.server.play(Answer("late", delay_s=30))
    with pytest.raises(ModelUnavailable, match=r"did not answer within|time was used up"):
        kernel.chat("what is new?")  # on a busy machine it is over before the model was asked
    assert kernel.memory().turns == ()


def test_the_narrator_never_gets_tools_or_history(wire: Wire, kernel: TestKernel) -> None:
    wire.server.play(
        LIST, Answer("You have 8 unread messages."), LIST, Answer("You have 8 unread messages.")
    )
    kernel.chat("the first question")
    kernel.chat("what is new?")
    narrator = str(wire.server.requests[3].body)
    assert "the first question" not in narrator
    assert "list_inbox" in narrator  # as a result
    assert not {"tools", "toolConfig"} & set(wire.server.requests[3].body)


def test_ctx_ai_is_served_too(wire: Wire) -> None:
    ext = Extension("poet", "1.0.0", description="Poems")
    chat = ChatExtension(ext, tool_name="poet", description="Poems")

    @chat.function("write", description="Write a poem", action_type="read")
    async def write(ctx: Context) -> ActionResult:
        answer = await ctx.ai.complete("A line, please.")
        return ActionResult.success(
            {"line": answer.text, "tokens": answer.tokens_used > 0}, summary=answer.text
        )

    wire.server.play(
        Answer(calls=(("poet__write", {}),)),
        Answer("The bees are back."),
        Answer("The bees are back."),
    )
    assert TestKernel([ext], model=wire.model).chat("a poem").text == "The bees are back."
    assert wire.server.problems == []


@pytest.fixture
def verified(wire: Wire, sent: Sent) -> TestKernel:
    return TestKernel(
        [sent.extension()], model=wire.model, env={"WEBBEE_MODEL_VERIFIER": "offline"}
    )


CAUSE = "You have 8 unread messages. Nobody has written because the server was down."


def test_a_verifier_is_asked_about_the_sentences_that_no_rule_sees(
    wire: Wire, verified: TestKernel
) -> None:
    wire.server.play(LIST, Answer(CAUSE), Answer("1 | 8 unread messages"), Answer("You have 8."))
    assert verified.chat("what is new?").text == "You have 8."
    asked = json.dumps(wire.server.requests[2].body, ensure_ascii=False)
    assert "Nobody has written because" in asked and "1. You have 8" not in asked
    assert wire.server.problems == []


@pytest.mark.parametrize("answer", ["NONE", "1 | the server was up", "9 | 8 unread", "hm", ""])
def test_an_answer_without_words_of_the_results_changes_nothing(
    wire: Wire, verified: TestKernel, answer: str
) -> None:
    wire.server.play(LIST, Answer(CAUSE), Answer(answer))
    assert verified.chat("what is new?").text == CAUSE


def test_a_verifier_that_is_away_is_done_without(wire: Wire, verified: TestKernel) -> None:
    wire.server.play(LIST, Answer(CAUSE), wire.broken, wire.broken)
    assert verified.chat("what is new?").text == CAUSE


def test_a_reply_that_the_rules_see_whole_needs_no_verifier(
    wire: Wire, verified: TestKernel
) -> None:
    wire.server.play(LIST, Answer("You have 8 unread messages."))
    assert verified.chat("what is new?").text == "You have 8 unread messages."
    assert len(wire.server.requests) == 2


def test_what_a_verifier_keeps_doubting_is_marked(wire: Wire, verified: TestKernel) -> None:
    doubt = Answer("1 | 8 unread messages")
    wire.server.play(LIST, Answer(CAUSE), doubt, Answer(CAUSE), doubt)
    body = verified.chat("what is new?").body
    assert body["reply"] == CAUSE
    (mark,) = body["marks"]
    assert CAUSE[mark["start"] : mark["end"]].startswith("Nobody has written because")
    assert mark["holds"] == "8 unread messages"
