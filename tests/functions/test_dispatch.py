"""One suite over both seams: extension code in this process, and in a function of its own. A turn
cannot tell them apart."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ReadTimeoutError

from local.stack import Stack
from tests.functions.support import EXTENSIONS, call, deployed, rows, say
from webbee_kernel import background
from webbee_kernel.aws.invoke import LambdaDispatch
from webbee_kernel.background import LoopThread
from webbee_kernel.bootstrap import bootstrap, make_host, make_kernel
from webbee_kernel.catalogue import Catalogue, Dispatch
from webbee_kernel.config import Settings
from webbee_kernel.errors import DispatchUnanswered, KernelError, StorageUnavailable, across
from webbee_kernel.extensions.host import InlineDispatch
from webbee_kernel.llm.protocol import ModelResponse, ToolCall
from webbee_kernel.llm.scripted import ScriptedModel
from webbee_kernel.sdk import User
from webbee_kernel.turn.kernel import Ask
from webbee_kernel.turn.messages import Reply, as_text
from webbee_kernel.types import CallOutcome, CallRequest

WISH = "save the text x, then try to fail and return rubbish of the kind string"
DOWN = StorageUnavailable("The table AuditTable is overloaded; try again.")
OWN_ERROR = "{}: did not work – something broke inside the app"
GONE = DispatchUnanswered("the extension function did not answer: retry")


class Inline:
    """The real host in this process. `error` is raised in place of the next calls' answers."""

    def __init__(self, stack: Stack) -> None:
        settings = Settings.from_env({**stack.env, "WEBBEE_EXTENSIONS_DIR": str(EXTENSIONS)})
        self._inner = InlineDispatch(make_host(bootstrap(settings)))
        self.error: KernelError | None = None

    async def catalogue(self) -> Catalogue:
        return await self._inner.catalogue()

    async def call(self, request: CallRequest) -> CallOutcome:
        if self.error:
            raise self.error
        return await self._inner.call(request)


class Invoked:
    """boto3's Lambda client in front of the real handler, which raises `error` where it is told."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self.error: KernelError | None = None

    def invoke(self, FunctionName: str, Payload: str | bytes) -> dict[str, Any]:  # noqa: N803 - boto3's own names
        event = json.loads(Payload)
        if self.error is GONE and event["kind"] != "catalogue":
            raise ReadTimeoutError(endpoint_url="https://lambda.example")
        answer = self._stack.handlers["tool_dispatch"].lambda_handler(event, None)
        if self.error and event["kind"] != "catalogue":
            answer = {"unavailable": self.error.body()["error"]}
        return {"StatusCode": 200, "Payload": io.BytesIO(json.dumps(answer).encode())}


class Seam:
    """A kernel in front of one of the two."""

    def __init__(self, kind: str, stack: Stack) -> None:
        self.stack = stack
        self._settings = Settings.from_env(stack.env)
        self._loop = LoopThread("dispatch-test")
        self._behind: Inline | Invoked = Inline(stack) if kind == "inline" else Invoked(stack)
        self._dispatch: Dispatch = (
            self._behind
            if isinstance(self._behind, Inline)
            else LambdaDispatch("tool", lambda _: self._behind)
        )

    def fail(self, error: KernelError | None) -> None:
        """From now on calls end so."""
        self._behind.error = error

    def say(self, *script: Any, request_id: str = "r1") -> Reply:
        """One turn with a model that plays the script."""
        kernel = make_kernel(
            bootstrap(self._settings, llm=ScriptedModel(script)), dispatch=self._dispatch
        )
        ask = Ask(User("alice", tenant_id="acme"), "s1", WISH, request_id)
        reply: Reply = self._loop.run(kernel.turn(ask))
        return reply


@pytest.fixture(params=["inline", "lambda"])
def seam(request: pytest.FixtureRequest) -> Iterator[Seam]:
    with deployed(env={"WEBBEE_CALL_SECONDS": "1"}) as stack:
        yield Seam(request.param, stack)
        background.wait(30)  # what is late still writes to this database


def ended(reply: Reply) -> list[tuple[str, str]]:
    """`(function, status or code)` of the calls."""
    return [(c["fn_name"], c.get("error_code") or c["status"]) for c in reply.body["calls"]]


def test_a_call_that_succeeds(seam: Seam) -> None:
    reply = seam.say(call("probe.save", text="x"), say('Saved "x".'))
    assert (reply.text, ended(reply)) == ('Saved "x".', [("save", "ok")])
    assert reply.body["refresh_panels"] == [{"app_id": "probe", "panel_id": "board"}]


@pytest.mark.parametrize(
    ("planned", "code", "state", "told"),
    [
        (call("probe.fail"), "INTERNAL", "failed", OWN_ERROR.format("Raises")),
        (call("probe.leave"), "INTERNAL", "failed", OWN_ERROR.format("or tries to")),
        (call("probe.sleep"), "BACKEND_TIMEOUT", "running", "Probe – Answers late: still running"),
        (
            call("probe.block"),
            "BACKEND_TIMEOUT",
            "running",
            "Probe – Blocks its thread: still running",
        ),
        (call("probe.guarded"), "PERMISSION_DENIED", "failed", "needs the scope probe:admin"),
        (
            call("probe.rubbish", kind="string"),
            "INTERNAL",
            "failed",
            OWN_ERROR.format("Returns rubbish of a kind"),
        ),
    ],
    ids=["raises", "exits", "late", "blocks", "forbidden", "rubbish"],
)
def test_a_call_that_fails(
    seam: Seam, planned: ModelResponse, code: str, state: str, told: str
) -> None:
    reply = seam.say(planned, say("Nothing else can be called."), say(""), say(""))
    [(_, ended_with)] = ended(reply)
    assert ended_with == code
    [receipt] = reply.body["receipts"]
    assert (receipt["status"], receipt["call"]) == (state, 0)
    assert receipt["what"].startswith("Probe – ") and told in receipt["text"]
    [made] = reply.body["calls"]
    assert made.get("incident", "") in receipt["text"]
    assert receipt["text"] in as_text(reply.body)
    assert reply.body["status"] == "error"


def test_arguments_that_the_handler_does_not_take_go_back_to_the_model(seam: Seam) -> None:
    reply = seam.say(
        call("probe.save", text="x" * 101), call("probe.save", text="x"), say('Saved "x".')
    )
    assert ended(reply) == [("save", "ok")]


@pytest.mark.parametrize("error", [DOWN, GONE], ids=["no database", "no answer"])
def test_a_read_with_which_nothing_happened_can_be_retried_as_a_whole(
    seam: Seam, error: KernelError
) -> None:
    seam.fail(error)
    with pytest.raises(type(error)):
        seam.say(call("probe.look"))
    assert rows(seam.stack, "sessions") == []
    seam.fail(None)
    assert seam.say(call("probe.look"), say("0 texts.")).body["turn"] == 1


def test_a_write_that_was_not_claimed_can_be_retried_as_a_whole(seam: Seam) -> None:
    seam.fail(DOWN)
    with pytest.raises(StorageUnavailable):
        seam.say(call("probe.save", text="x"))
    seam.fail(None)
    assert seam.say(call("probe.save", text="x"), say('Saved "x".')).body["turn"] == 1


def test_a_write_that_gave_no_answer_is_not_called_done_nor_undone(seam: Seam) -> None:
    seam.fail(GONE)
    reply = seam.say(call("probe.save", text="x"), say("It is not known."), say(""), say(""))
    assert ended(reply) == [("save", "BACKEND_5XX")]
    assert "may or may not have been done" in reply.text


@pytest.mark.parametrize("error", [DOWN, GONE], ids=["no database", "no answer"])
def test_what_was_done_before_is_told_with_what_could_not_be_run(
    seam: Seam, error: KernelError
) -> None:
    def then_gone(_: Any) -> ModelResponse:
        seam.fail(error)
        return call("probe.look")

    both = ModelResponse(
        tool_calls=(ToolCall("probe__save", {"text": "x"}), ToolCall("kernel__continue", {}))
    )
    reply = seam.say(both, then_gone, say("Nothing else can be called."), say(""), say(""))
    assert ended(reply) == [("save", "ok"), ("look", "BACKEND_5XX")]
    assert 'Saved "x".' in reply.text
    done, failed = reply.body["receipts"]
    assert (done["status"], done["call"]) == ("done", 0)
    assert (failed["status"], failed["call"]) == ("failed", 1)
    assert (
        failed["text"]
        == "Probe – List the saved texts: did not work – look was not run: retry later"
    )
    assert failed["text"] in as_text(reply.body)


@pytest.mark.parametrize("error", [DOWN, GONE])
def test_an_error_crosses_the_seam_with_its_type(error: KernelError) -> None:
    crossed = across(json.loads(json.dumps(error.body()["error"])))
    assert (type(crossed), str(crossed), crossed.code) == (type(error), str(error), error.code)


def test_an_error_of_an_earlier_version_crosses_as_an_outage_of_the_database() -> None:
    assert isinstance(across("The table is overloaded."), StorageUnavailable)
