"""Models err in every way: unknown functions, broken arguments, silence, invented ids and numbers.
The user still gets an honest reply."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.functions.support import PROBE, call, obey, say
from tests.planning import telling
from webbee_kernel.errors import ModelUnavailable
from webbee_kernel.llm.protocol import ModelResponse, ToolCall
from webbee_kernel.llm.scripted import FunctionModel, ScriptedModel
from webbee_kernel.stores import Collection
from webbee_kernel.testing import USER, TestKernel
from webbee_kernel.turn.messages import as_text

CLOSED = {"WEBBEE_CONFIRM": "destructive"}
"""What a model does with its answers, not what the user is asked before."""


def kernel(
    *script: Any, extensions: Sequence[Any] = (PROBE,), **options: Any
) -> tuple[TestKernel, ScriptedModel]:
    model = ScriptedModel(script)
    options["env"] = {**CLOSED, **options.get("env", {})}
    return TestKernel(extensions, model=model, **options), model


BAD_ANSWERS: dict[str, ModelResponse] = {
    "an unknown function": call("probe.explode"),
    "an unknown app": call("nothing.save", text="x"),
    "a function without its app": call("save", text="x"),
    "an empty name": ModelResponse(tool_calls=(ToolCall("", {}),)),
    "broken JSON": ModelResponse(tool_calls=(ToolCall("probe__save", '{"text": "x'),)),
    "a list for arguments": ModelResponse(tool_calls=(ToolCall("probe__save", '["x"]'),)),
    "null for arguments": ModelResponse(tool_calls=(ToolCall("probe__save", None),)),  # type: ignore[arg-type]
    "nothing": ModelResponse(),
    "white space": say("  \n "),
    "a missing argument": call("probe.save"),
    "an argument of a wrong type": call("probe.save", text={"copies": 1}),
    "an argument over its limit": call("probe.save", text="x" * 101),
    "an invented id": call("probe.open", id="0198f2aa-77aa-7000-8000-1234567890ab"),
    "a placeholder": call("probe.save", text="<TEXT>"),
    "a placeholder of nobody": call("probe.save", text="<EMAIL_7>"),
    "a template": call("probe.save", text="${text}"),
    "a reference to a step that is not there": call("probe.save", text="{{steps.4.data.text}}"),
    "a reference to itself": call("probe.save", text="{{steps.0.data.text}}"),
}
CLAIM = say("I have saved it under number 4711.")
"""A number from nowhere is told back once, and stays if the model insists."""


@pytest.mark.parametrize(
    "answer", [*BAD_ANSWERS.values(), CLAIM], ids=[*BAD_ANSWERS, "a claim of something done"]
)
def test_a_bad_answer_is_told_back_once_and_the_repair_is_used(answer: ModelResponse) -> None:
    k, model = kernel(answer, call("probe.save", text="mended"), say('Saved "mended".'))
    reply = k.chat("save the word mended")
    model.assert_finished()
    told = model.requests[1].prompt.partition("[PROBLEMS]\n")[2]
    assert "PROBLEM: " in told
    if answer is BAD_ANSWERS["an argument over its limit"]:
        assert '"field": "text"' in told and '"limit": "100"' in told
    assert (reply.text, reply.body["status"]) == ('Saved "mended".', "ok")
    assert [(c["fn_name"], c["status"]) for c in reply.body["calls"]] == [("save", "ok")]


@pytest.mark.parametrize("answer", BAD_ANSWERS.values(), ids=BAD_ANSWERS.keys())
def test_an_answer_that_stays_bad_ends_in_an_honest_reply(answer: ModelResponse) -> None:
    model = FunctionModel(lambda request: answer if request.role == "classifier" else say(""))
    k = TestKernel([PROBE], model=model)
    reply = k.chat("save the word mended")
    assert [r.role for r in model.requests].count("classifier") <= 3
    assert reply.text.strip()
    assert not re.search(r"saved|4711|done", reply.text, re.IGNORECASE)
    assert not any(c["status"] == "ok" for c in reply.body["calls"])
    (turn,) = k.memory().turns
    assert turn.digests == ()
    assert k.run(k.app.stores.documents.count(Collection(k.key, "probe", "texts"))) == 0


def test_the_honest_reply_is_in_the_language_of_the_user_and_not_of_what_a_message_quotes() -> None:
    model = FunctionModel(lambda _: ModelResponse())
    k = TestKernel([PROBE], model=model, user=replace(USER, language="ru-RU"))
    said = "Не получилось понять, что нужно сделать. Скажите, пожалуйста, иначе или точнее."
    assert k.chat("сохрани слово").text == said
    k = TestKernel([PROBE], model=model, user=USER)
    told = k.chat('delete the note "Der Code vom Tor ist 7719"').text
    assert told == k.chat("delete the note").text != k.chat("Lösche bitte die Notiz").text


@pytest.mark.parametrize("error", [ModelUnavailable("retry"), RuntimeError("an adapter's defect")])
def test_a_model_that_is_not_there_or_breaks_leaves_nothing_behind(error: Exception) -> None:
    k, _ = kernel(error, call("probe.save", text="x"), say('Saved "x".'))
    with pytest.raises(type(error)):
        k.chat("save x", request_id="r1")
    assert k.memory().turns == ()
    assert k.run(k.app.stores.audit.list(k.key, now=0.0)) == ()
    assert k.chat("save x", request_id="r1").body["turn"] == 1
    k, _ = kernel(call("probe.save", text="x"), ModelUnavailable("gone"))
    assert k.chat("save x").text == 'Saved "x".', "without a narrator the tools have the word"


ORDERS = {"count": 36, "newest": {"id": "A-17", "customer": "Anna Weber"}}
EXPOSED = {"IMPERAL_FACT_LEDGER_EXPOSE_PII": "true"}


def test_of_two_replies_the_one_with_fewer_marks_is_shown() -> None:
    told = {"extensions": [telling("shop", orders=ORDERS)], "env": EXPOSED}
    first, second = "There are 36 orders, 14 of B-99.", "There are 36 orders, 14 of A-17."
    for replies in ((first, second), (second, first)):
        k, _ = kernel(call("shop.orders"), *map(say, replies), **told)
        assert k.chat("how many orders do I have?").text == second


def test_a_person_reads_no_rule_for_models() -> None:
    fabricated, missing = "FABRICATED_ID_SHAPE", "VALIDATION_MISSING_FIELD"
    values = {"<TEXT>": fabricated, "{{nothing}}": fabricated, "{{steps.0.data.missing}}": missing}
    for value, code in values.items():
        k, _ = kernel(*[call("probe.save", text=value)] * 3, say("Hm."), say("Hm."))
        reply = k.chat("save it")
        assert [c["error_code"] for c in reply.body["calls"]] == [code]
        text = as_text(reply.body)
        assert "not started \u2013 something that it needs is still missing" in text
        assert "I-PARAMS" not in text and "steps.0" not in text


def test_the_narrator_sees_neither_skeleton_nor_history() -> None:
    model = FunctionModel(obey)
    k = TestKernel([PROBE], model=model)
    k.chat('probe.save {"text": "earlier"}')
    k.chat("probe.look {}")
    narrations = [r for r in model.requests if r.role == "narrator"]
    assert not any(
        marker in r.prompt + r.system
        for r in narrations
        for marker in ("[SKELETON]", "[HISTORY]", "FACTS:")
    )
    assert [r.tools for r in narrations] == [(), ()]
