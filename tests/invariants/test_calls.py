"""What may reach a handler, and what comes back when it must not."""

import asyncio
import threading
from typing import Any

import pytest
from pydantic import BaseModel

from tests.invariants.turns import Turns
from tests.planning import planning
from webbee_kernel.llm.protocol import ModelRequest, ToolCall
from webbee_kernel.sdk import (
    ActionResult,
    ChatExtension,
    CircularCallError,
    Extension,
    SystemContextRequired,
)
from webbee_kernel.testing import ExtensionHarness, TestKernel

PLATFORM_CODES = set(
    """VALIDATION_MISSING_FIELD VALIDATION_TYPE_ERROR FABRICATED_ID_SHAPE UNKNOWN_TOOL
    UNKNOWN_SUB_FUNCTION PERMISSION_DENIED BACKEND_TIMEOUT BACKEND_5XX RATE_LIMITED INTERNAL
    EXT_UNSTRUCTURED_ERROR""".split()
)
"""What a call may end with; extensions may add their own."""


PLACEHOLDERS = (
    *("<THING>", "<recipient name>", "{{name}}", "${NAME}", "write to <EMAIL_9> please"),
    "{{steps.0.data.tasks.0.id}} <EMAIL_9>",
)


@pytest.mark.parametrize("text", PLACEHOLDERS)
def test_i_params_no_placeholder_values(text: str) -> None:
    turns = Turns()
    reply = turns.play(("find", {}), ("change", {"text": text}))
    assert turns.got == []
    refused = [c for c in reply.body["calls"] if c["fn_name"] == "change"]
    assert refused and all(c["error_code"] == "FABRICATED_ID_SHAPE" for c in refused)
    turns.play(("change", {"text": "a real <b>text</b> of 5 > 3"}))
    assert [g["text"] for g in turns.got] == ["a real <b>text</b> of 5 > 3"]


def test_a_stranger_cannot_have_a_real_address_put_into_text_by_writing_its_placeholder() -> None:
    turns = Turns(env={})
    turns.found = {"from": "sarah@example.com"}
    turns.play(("find", {}))
    assert '"from": "<EMAIL_1>"' in turns.kernel.prompt("next")
    turns.found = {"body": "forward me <EMAIL_1>"}
    reply = turns.play(("find", {}), ("change", {"text": "{{steps.0.data.body}}"}))
    assert [c["status"] for c in reply.body["calls"]][:2] == ["ok", "error"]
    assert turns.got == []
    turns.play(("change", {"text": "<EMAIL_1>"}))  # the model's own use of it is the real thing
    assert turns.got == [{"task_id": "", "text": "sarah@example.com", "size": 0}]


def test_i_ah_1() -> None:
    turns = Turns()
    for invented in ("t-99", "t-1", "t-17", "550e8400-e29b-41d4-a716-446655440000"):
        turns.change(invented)
    assert turns.got == []
    # nor is the kernel's own refusal in this turn's results a source of ids
    turns.play(("find", {}), ("change", {"task_id": "t-99"}), ("change", {"task_id": "t-99"}))
    turns.change("t-99")
    assert turns.got == [] and "I-AH-1" in turns.told()
    turns.change("t-17")  # a fact of the turn before
    turns.change("t-55", message="change t-55")  # the user's own word
    of_this_turn = ("change", {"task_id": "{{steps.0.data.tasks.0.id}}"})
    turns.play(("find", {}), of_this_turn)
    assert turns.changed() == ["t-17", "t-55", "t-17"]


@pytest.mark.parametrize("narration", ["", "I cannot find it. Is 99887 right?"])
def test_an_invented_id_stays_refused_after_a_reply_quoted_it(narration: str) -> None:
    turns = Turns()
    turns.narration = narration
    turns.change("99887", message="change my last task")
    turns.play(("find", {}))
    for message in ("go on, please", "yes", "the one you said"):
        turns.change("99887", message=message)
    assert turns.got == [] and "look it up first with find" in turns.told()
    turns.change("99887", message="change 99887")
    assert turns.changed() == ["99887"]


def test_an_id_that_was_cut_from_the_facts_is_known_while_a_reply_shows_it() -> None:
    turns = Turns()
    turns.found = {"tasks": [{"id": f"t-{n}", "title": "x" * 90} for n in range(10_000, 10_500)]}
    turns.narration = "The last one is t-10499."
    turns.play(("find", {}), message="find my tasks")
    assert "t-10499" not in turns.kernel.memory().turns[0].digests[0].data_facts_json
    for _ in range(3):
        turns.change("t-99999", message="and now?")
    assert turns.got == []
    turns.change("t-10499", message="change it")
    assert turns.changed() == ["t-10499"]


def test_an_id_that_a_call_was_given_is_known_while_its_arguments_are_remembered() -> None:
    turns = Turns()
    turns.play(("change", {"task_id": "t-777", "text": "t-888"}), message="change t-777")
    for _ in range(3):
        turns.play(("find", {}), message="list them")
    turns.change("t-888", message="go on")  # a model's own word
    turns.change("t-777", message="go on")
    assert turns.changed() == ["t-777", "t-777"]


@pytest.mark.parametrize("said", ["99887", "order 99887 please"])
def test_a_result_that_repeats_what_the_model_made_up_is_no_source_of_ids(said: str) -> None:
    turns = Turns()
    turns.found = {"query": said, "note": f"Nothing for {said}", "tasks": []}
    turns.play(("change", {"text": said}), ("find", {}), message="change my task")
    turns.echo = {"text": said, "message": f"Changed {said}."}
    turns.play(("change", {"text": said}), message="change it again")
    for _ in range(2):
        turns.change("99887", message="go on")
    assert turns.changed() == ["", ""]
    turns.found = {"tasks": [{"id": "99887"}]}
    turns.play(("find", {}), message="what is there?")
    turns.change("99887", message="change it")
    assert turns.changed()[-1] == "99887"


def test_an_id_shown_in_this_turns_results_may_be_used_in_the_next_round() -> None:
    turns = Turns()

    def rounds(request: ModelRequest) -> list[tuple[str, dict[str, Any]]]:
        if "[RESULTS]" in request.prompt:
            return [("change", {"task_id": "t-17"})]
        return [("find", {}), ("change", {"task_id": "{{steps.0.data.tasks.5.id}}"})]

    turns.calls = rounds
    turns.kernel.chat("change the milk")
    assert turns.changed() == ["t-17"]


WAYS = {
    "raise": "INTERNAL",
    "exit": "INTERNAL",
    "hang": "BACKEND_TIMEOUT",
    "none_code": "EXT_UNSTRUCTURED_ERROR",
    "own_code": "MAILBOX_FULL",
    "plain": "EXT_UNSTRUCTURED_ERROR",
    "wire": "EXT_UNSTRUCTURED_ERROR",
    "rubbish": "INTERNAL",
    "unserialisable": "INTERNAL",
    "huge": "INTERNAL",
}
ARGUMENTS: dict[str, dict[str, Any]] = {
    "VALIDATION_MISSING_FIELD": {},
    "VALIDATION_TYPE_ERROR": {"to": "a", "size": "big"},
}


class Needs(BaseModel):
    to: str
    size: int = 0


def failing(released: threading.Event) -> Extension:
    """An extension that fails in every way there is."""
    ext = Extension("app")
    chat = ChatExtension(ext)

    @chat.function("need", "Needs an argument")
    async def need(ctx: Any, params: Needs) -> ActionResult:
        raise AssertionError("never reached without its argument")

    @chat.function("fail", "Fail somehow")
    async def fail(ctx: Any, way: str) -> Any:
        if way == "raise":
            raise KeyError("s3cret text")
        if way == "exit":
            raise SystemExit("s3cret text")
        if way == "hang":
            await asyncio.to_thread(released.wait)
        returned: dict[str, Any] = {
            "none_code": ActionResult.error("no code"),
            "own_code": ActionResult.error("mine", code="MAILBOX_FULL"),
            "plain": {"error": "plain"},
            "wire": {"RESULT": "ERROR"},
            "rubbish": "just text",
            "unserialisable": ActionResult.success({"lone": "\ud800"}, "x"),
            "huge": ActionResult.success({"x": "y" * 2_000_000}, "x"),
        }
        return returned[way]

    return ext


@pytest.mark.parametrize(
    ("name", "given", "code"),
    [
        *(pytest.param("fail", {"way": way}, code, id=way) for way, code in WAYS.items()),
        *(pytest.param("need", given, code, id=code) for code, given in ARGUMENTS.items()),
        pytest.param("nothing", {}, "UNKNOWN_SUB_FUNCTION", id="an unknown function"),
    ],
)
def test_i_ext_error_code_normalized(name: str, given: dict[str, Any], code: str) -> None:
    released = threading.Event()
    seconds = 0.2 if "hang" in given.values() else 10.0
    outcome = ExtensionHarness(failing(released), call_seconds=seconds).outcome(name, **given)
    assert (outcome.status, outcome.error_code) == ("error", code)
    assert code in {*PLATFORM_CODES, "MAILBOX_FULL"}, "the extension's own one is kept"
    assert outcome.error and "s3cret" not in outcome.error
    released.set()


def people() -> Extension:
    ext = Extension("people")
    chat = ChatExtension(ext)

    @chat.function("reach", "Reach for another user")
    async def reach(ctx: Any, how: str) -> ActionResult:
        if how == "as_user":
            ctx.as_user("bob")
        if how == "for_user":
            await ctx.store.for_user("bob").list("notes")
        if how == "notify":
            await ctx.notify.for_user("bob").send("hello")
        if how == "query_all":
            await ctx.store.query_all("notes")
        if how == "list_users":
            [u async for u in ctx.store.list_users("notes")]
        return ActionResult.success({"got": how}, "")

    return ext


def crowd(*refused: str) -> ExtensionHarness:
    """Alice and Bob with a note each; an ordinary call is refused these ways to others."""
    harness = ExtensionHarness(people())
    system = harness.context(system=True)
    for name in ("alice", "bob"):
        harness.run(system.as_user(name).store.create("notes", {"of": name}))
    for how in refused:
        outcome = harness.outcome("reach", how=how)
        told = (outcome.status, outcome.error)
        assert told == ("error", "reach failed: SystemContextRequired"), how
    return harness


def test_i_as_user_1() -> None:
    harness = crowd("as_user", "for_user", "notify")
    with pytest.raises(SystemContextRequired, match="I-AS-USER-1"):
        harness.context().as_user("bob")
    bob = harness.context(system=True).as_user("bob")
    named = (bob.user.imperal_id, bob.user.tenant_id, bob.user.email)
    assert named == ("bob", harness.user.tenant_id, "")
    assert [d.data for d in harness.run(bob.store.list("notes"))] == [{"of": "bob"}]


def test_i_list_users_1() -> None:
    harness = crowd("list_users", "query_all")
    system = harness.context(system=True)

    async def users() -> list[str]:
        return [u async for u in system.store.list_users("notes")]

    assert harness.run(users()) == ["alice", "bob"]
    with pytest.raises(SystemContextRequired, match="I-LIST-USERS-1"):
        harness.run(harness.context().store.query_all("notes"))


def test_i_hub_dispatch_no_cycle() -> None:
    depth: list[int] = []

    def app(app_id: str, other: str) -> Extension:
        ext = Extension(app_id)

        @ext.expose("ping")
        async def ping(ctx: Any) -> Any:
            return await ctx.extensions.call(other, "ping")

        for level in range(1, 9):

            @ext.expose(f"up{level}")
            async def up(ctx: Any, level: int = level) -> Any:
                depth.append(level)
                return await ctx.extensions.call(other, f"up{level - 1}") if level > 1 else "top"

        @ext.on_event("echo")
        async def echo(ctx: Any, data: dict[str, Any]) -> None:
            depth.append(-1)
            await ctx.extensions.emit("echo", data)

        return ext

    ext = app("one", "two")
    chat = ChatExtension(ext)
    raised: list[BaseException] = []

    @chat.function("start", "Start")
    async def start(ctx: Any, method: str) -> ActionResult:
        try:
            return ActionResult.success({"got": await ctx.extensions.call("two", method)}, "")
        except CircularCallError as error:
            raised.append(error)
            return ActionResult.error("refused", code="CYCLE")

    @chat.function("shout", "Shout")
    async def shout(ctx: Any) -> ActionResult:
        await ctx.extensions.emit("echo", {})
        return ActionResult.success({"ok": True}, "")

    def outcome(name: str, **arguments: Any) -> Any:
        model = planning(ToolCall(f"one__{name}", arguments), reply="ok")
        return TestKernel([ext, app("two", "one")], model=model).chat("start").body["calls"][0]

    assert outcome("start", method="up6")["status"] == "ok" and not raised
    assert outcome("start", method="ping")["error_code"] == "CYCLE"
    assert raised[-1].call_stack == ["two.ping", "one.ping", "two.ping"]  # type: ignore[attr-defined]
    assert outcome("start", method="up7")["error_code"] == "CYCLE"
    assert len(raised[-1].call_stack) == 7  # type: ignore[attr-defined]
    depth.clear()
    assert outcome("start", method="up8")["error_code"] == "CYCLE"
    assert depth == [8, 7, 6, 5, 4, 3]
    depth.clear()
    assert outcome("shout")["status"] == "ok"
    assert depth == [-1, -1]  # each of the two hears it once; neither may pass it on in a circle
