"""The fact ledger through whole turns: what a call returned is what the next turn's classifier
reads."""

import json
import re
from typing import Any

import pytest
from pydantic import BaseModel, SecretStr

from tests.planning import planning
from webbee_kernel.channels.fact_ledger import OMITTED_FN, TRUNCATED
from webbee_kernel.llm.protocol import ModelRequest, ModelResponse, ToolCall
from webbee_kernel.llm.scripted import FunctionModel
from webbee_kernel.sdk import ActionResult, ChatExtension, Extension
from webbee_kernel.testing import ExtensionHarness, TestKernel

OPEN = {"IMPERAL_FACT_LEDGER_EXPOSE_PII": "true"}


class Turns:
    """A kernel whose model makes the calls a test asks for and narrates what it says."""

    def __init__(self, *, env: dict[str, str] | None = None) -> None:
        self.results: list[Any] = []
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.narration = "done"
        self.requests: list[ModelRequest] = []
        self.got: list[dict[str, Any]] = []
        self.ext = Extension("app")
        chat = ChatExtension(self.ext)

        @chat.function("show", "Show things")
        async def show(ctx: Any, **kwargs: Any) -> Any:
            self.got.append(kwargs)
            result = self.results.pop(0)
            if isinstance(result, Exception):
                raise result
            return result

        @self.ext.panel("side")
        async def side(ctx: Any) -> Any:
            return {"type": "Text", "props": {"text": "p4nel"}}

        self.kernel = TestKernel([self.ext], model=FunctionModel(self.answer), env=env or OPEN)

    def answer(self, request: ModelRequest) -> ModelResponse:
        self.requests.append(request)
        if request.role == "narrator":
            return ModelResponse(self.narration)
        return ModelResponse(
            tool_calls=tuple(ToolCall(f"app__{name}", arguments) for name, arguments in self.calls)
        )

    def play(self, *results: Any, message: str = "go") -> Any:
        """One turn with a call per result."""
        self.results = list(results)
        self.calls = [("show", {"n": n}) for n in range(len(results))]
        return self.kernel.chat(message)

    def facts(self) -> list[tuple[str, str, Any]]:
        """The FACTS lines of the next turn's prompt."""
        lines = [x for x in self.kernel.prompt("next").split("\n") if x.startswith("FACTS:")]
        found = [re.fullmatch(r"FACTS: app=(\S+) fn=(\S+) data=(.*)", x) for x in lines]
        return [(m[1], m[2], json.loads(m[3])) for m in found if m]


def test_i_dispatch_result_data_plumbed() -> None:
    turns = Turns()
    turns.play(
        ActionResult.success({"count": 36, "_action_meta": {"ms": 4}}, "about fifty tasks"),
        ActionResult.error("it broke", code="E"),
        ActionResult.success({}, "an empty hand"),
        RuntimeError("boom"),
    )
    assert turns.facts() == [("app", "show", {"count": 36})]
    kept = [d.data_facts_json for d in turns.kernel.memory().turns[0].digests]
    assert [json_text for json_text in kept if json_text] == ['{"count": 36}']
    ledger = "".join(x for x in turns.kernel.prompt("next").split("\n") if x.startswith("FACTS:"))
    assert not any(word in ledger for word in ("fifty", "broke", "empty", "boom", "_action_meta"))
    ExtensionHarness(turns.ext, stores=turns.kernel.app.stores).panel("side")
    assert "p4nel" not in turns.kernel.prompt("next")


def test_i_cross_turn_fact_ledger_deep_serialized() -> None:
    deep: Any = {"leaf": ["значение", 2**70, 0.1, True, None, {"key with spaces": '\u2028\n"'}]}
    for level in range(60):
        deep = {"level": level, "inner": [deep]} if level % 2 else [deep, {"side": level}]
    turns = Turns()
    turns.play(ActionResult.success({"root": deep}, "deep"))
    (fact,) = turns.facts()
    assert fact == ("app", "show", {"root": deep})
    turns.play(ActionResult.success({"n": 2}, "two"))
    assert turns.facts()[0] == fact


@pytest.mark.parametrize("calls", [1, 3, 10])
def test_i_fact_ledger_per_turn_agg_cap(calls: int) -> None:
    turns = Turns()
    bulky = {"count": 200, "items": [{"id": f"t{i}", "title": "строка " * 5} for i in range(200)]}
    turns.play(*[ActionResult.success({**bulky, "call": n}, "many") for n in range(calls)])
    lines = [x for x in turns.kernel.prompt("next").split("\n") if x.startswith("FACTS:")]
    assert len("\n".join(lines)) <= 3_000
    facts = turns.facts()
    assert len(facts) == len(lines)
    newest = facts[-1][2]
    assert (
        newest["call"] == calls - 1
        and newest["count"] == 200
        and newest["items"][0] == bulky["items"][0]
    )
    assert re.fullmatch(r"… \d+ more", newest["items"][-1])
    assert len(lines[-1]) == max(map(len, lines))
    for _, fn, data in facts[:-1]:
        assert TRUNCATED in data or data["items"][-1].startswith("…"), fn
    shown = [data["call"] for _, fn, data in facts if fn != OMITTED_FN and "call" in data]
    assert shown == sorted(shown)


PERSONAL = {
    "from": "sarah@example.com",
    "name": "Sarah Connor",
    "phone": "+1 415 555 2671",
    "id": "abc-1",
    "total": 1234567890,
}
SECRETS = ("sarah@example.com", "Sarah Connor", "415 555 2671")


@pytest.mark.parametrize("env", [{}, {"IMPERAL_FACT_LEDGER_EXPOSE_PII": "false"}])
def test_i_fact_ledger_pii_mask_default_off(env: dict[str, str]) -> None:
    ext_section = Extension("people")

    @ext_section.skeleton("last")
    async def last(ctx: Any) -> dict[str, Any]:
        return {"response": {"from": "sarah@example.com"}}

    turns = Turns(env={"WEBBEE_MODEL": "offline", **env})
    turns.narration = "A letter from <EMAIL_1>."
    reply = turns.play(ActionResult.success(PERSONAL, "A letter from sarah@example.com."))
    assert reply.text == "A letter from sarah@example.com."
    ExtensionHarness(ext_section, stores=turns.kernel.app.stores).skeleton("last")
    turns.results, turns.calls = (
        [ActionResult.success({"sent": True}, "Sent.")],
        [("show", {"to": "<EMAIL_1>"})],
    )
    turns.narration = "OK."
    turns.kernel.chat("answer the same person")
    seen = "".join(r.system + r.prompt for r in turns.requests) + turns.kernel.prompt("and now?")
    assert (
        len(turns.requests) == 4
        and "<EMAIL_1>" in seen
        and '"id": "abc-1"' in seen
        and "1234567890" in seen
    )
    assert not [secret for secret in SECRETS if secret in seen]
    assert turns.got[-1] == {"to": "sarah@example.com"}  # the handler gets the real thing
    opened = Turns(env=OPEN)
    opened.play(ActionResult.success(PERSONAL, "A letter."))
    assert all(secret in opened.kernel.prompt("next") for secret in SECRETS)


def test_i_classifier_prompt_renders_fact_ledger() -> None:
    turns = Turns()
    for n in range(7):
        turns.play(
            *[ActionResult.success({"turn": n, "call": c}, "ok") for c in range(2)],
            message=f"message {n}",
        )
    turns.calls = [("show", {"n": 0})]
    turns.results = [ActionResult.success({"n": 1}, "ok")]
    turns.kernel.chat("one more")
    lines = (
        [r for r in turns.requests if r.role == "classifier"][-1]
        .prompt.partition("[HISTORY]\n")[2]
        .split("\n")
    )
    assert lines.pop(0) == "NOTE: 2 older turns of this conversation: not shown."
    assert len(lines) == 5 * 3 + 1
    for index, turn in enumerate(range(2, 7)):
        said, first, second = lines[index * 3 : index * 3 + 3]
        assert f"message {turn} → " in said
        assert first == f'FACTS: app=app fn=show data={{"turn": {turn}, "call": 0}}'
        assert second == f'FACTS: app=app fn=show data={{"turn": {turn}, "call": 1}}'
    assert lines[-1].endswith(" user] one more")


def test_the_incident_of_36_against_50_is_marked_in_a_whole_turn() -> None:
    turns = Turns()
    turns.narration = "You have 50 tasks."
    data = {"tasks": [{"id": f"t{n}", "title": f"Task {n}"} for n in range(36)]}
    reply = turns.play(ActionResult.success(data, "36 tasks."), message="how many tasks do I have?")
    (mark,) = reply.body["marks"]
    assert reply.text[mark["start"] : mark["end"]] == "50" and mark["holds"] == "tasks: 36"
    assert reply.text == "You have 50 tasks.\n\nIn the data: tasks: 36."
    correction = [r for r in turns.requests if r.role == "narrator"][1]
    assert (
        "[PROBLEMS]" in correction.prompt and "50" in correction.prompt.partition("[PROBLEMS]")[2]
    )
    turns.narration = "You have 36 tasks."
    assert (
        turns.play(
            ActionResult.success(data, "36 tasks."), message="how many tasks do I have?"
        ).text
        == "You have 36 tasks."
    )


class Letter(BaseModel):
    to: str
    subject: str
    api_key: str = ""
    pass_phrase: SecretStr = SecretStr("")


def test_arguments_are_remembered_masked_and_without_secrets() -> None:
    ext = Extension("mail")
    chat = ChatExtension(ext)

    @chat.function("send", "Send a mail", action_type="write")
    async def send(ctx: Any, params: Letter) -> ActionResult:
        return ActionResult.success({"sent": True}, "Sent.")

    said = {
        "to": "sarah@example.com",
        "subject": "Q3",
        "api_key": "k-1234",
        "pass_phrase": "open-sesame",
    }
    kernel = TestKernel([ext], model=planning(ToolCall("mail__send", said), reply="Sent."))
    reply = kernel.chat("send Q3")
    kernel.confirm(reply.body["confirmation"]["id"])
    shown = kernel.prompt("and to the same address").splitlines()
    assert (
        shown[shown.index('FACTS: app=mail fn=send data={"sent": true}') + 1]
        == 'ARGS: app=mail fn=send args={"to": "<EMAIL_1>", "subject": "Q3"}'
    )
    assert kernel.memory().turns[0].vault == {"<EMAIL_1>": "sarah@example.com"}
    assert "k-1234" not in str(kernel.memory()) and "open-sesame" not in str(kernel.memory())
