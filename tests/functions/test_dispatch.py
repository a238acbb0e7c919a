"""The seam to the function that runs extensions: a turn is honest where that function fails or is
away."""

import asyncio
import io
import json
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, ReadTimeoutError

from local.stack import Stack
from tests.functions.support import call, deployed, rows, say
from webbee_kernel import background
from webbee_kernel.aws.invoke import LambdaDispatch, LambdaFunction
from webbee_kernel.background import LoopThread
from webbee_kernel.bootstrap import bootstrap, make_kernel
from webbee_kernel.config import Settings
from webbee_kernel.errors import DispatchRefused, DispatchUnanswered, StorageUnavailable
from webbee_kernel.llm.protocol import ModelResponse, ToolCall
from webbee_kernel.llm.scripted import ScriptedModel
from webbee_kernel.refresh.refresh_queue import OPEN_S
from webbee_kernel.sdk import User
from webbee_kernel.stores.codec import decompress
from webbee_kernel.stores.dynamodb.user_items import CachedCatalogue
from webbee_kernel.turn.kernel import TurnRequest
from webbee_kernel.turn.messages import Reply, as_text
from webbee_kernel.types import CallRequest, user_dict

WISH = "save the text x, then try to fail and return rubbish of the kind string"
OWN_ERROR = "{}: did not work – something broke inside the app"


class FunctionClient:
    """What boto3's Lambda client does, with the real handler behind it. `fail` goes in the place of
    the next calls' answers."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        self.fail: Callable[[], dict[str, Any]] | None = None
        self.fail_from = 0
        """Of the calls from this step on."""
        self.throttles = {"catalogue": 0, "function": 0}
        """How many of the next invocations of a kind."""
        self.invocations: list[dict[str, Any]] = []

    def invoke(self, FunctionName: str, Payload: str | bytes) -> dict[str, Any]:  # noqa: N803 - boto3's own names
        asked = json.loads(Payload)
        self.invocations.append(asked)
        if self.fail and asked["kind"] != "catalogue" and asked["step"] >= self.fail_from:
            return self.fail()
        if self.throttles[asked["kind"]]:
            self.throttles[asked["kind"]] -= 1
            return throttled()
        return answered(self.stack.handlers["tool_dispatch"].lambda_handler(asked, None))


def answered(body: Any, **more: Any) -> dict[str, Any]:
    return {"StatusCode": 200, "Payload": io.BytesIO(json.dumps(body).encode()), **more}


def broken() -> dict[str, Any]:
    told = {"errorType": "Runtime.ExitError", "errorMessage": "Error: Runtime exited"}
    return answered(told, FunctionError="Unhandled")


def down() -> dict[str, Any]:
    error = StorageUnavailable("The table AuditTable is overloaded; try again.")
    return answered({"unavailable": error.body()["error"]})


def refused(status: int, code: str) -> dict[str, Any]:
    answer: Any = {"Error": {"Code": code, "Message": code}}
    answer["ResponseMetadata"] = {"HTTPStatusCode": status}
    raise ClientError(answer, "Invoke")


throttled = partial(refused, 429, "TooManyRequestsException")
forbidden = partial(refused, 403, "AccessDeniedException")
failing = partial(refused, 500, "ServiceException")


def unreachable() -> dict[str, Any]:
    raise EndpointConnectionError(endpoint_url="https://lambda.example")


def silent() -> dict[str, Any]:
    raise ReadTimeoutError(endpoint_url="https://lambda.example")


FAILURES = {"broken": broken, "silent": silent, "failing": failing}
REFUSALS = {"throttled": throttled, "forbidden": forbidden, "unreachable": unreachable}


class Seam:
    """A kernel in front of it."""

    def __init__(self, stack: Stack, **env: str) -> None:
        self.stack = stack
        self.env = {**stack.env, **env}
        self.client = FunctionClient(stack)
        self._loop = LoopThread("dispatch-test")
        self._dispatch = LambdaDispatch("tool", lambda _: self.client)

    def say(self, *script: Any, message: str = WISH, request_id: str = "r1") -> Reply:
        """One turn with a model that plays the script."""
        app = bootstrap(Settings.from_env(self.env), llm=ScriptedModel(script))
        kernel = make_kernel(app, dispatch=self._dispatch)
        ask = TurnRequest(User("alice", tenant_id="acme"), "s1", message, request_id)
        reply: Reply = self._loop.run(kernel.turn(ask))
        return reply


BUSY = "120"
"""Seconds of a call on a busy machine."""


@pytest.fixture
def seam() -> Iterator[Seam]:
    with deployed() as stack:
        yield Seam(stack, WEBBEE_CALL_SECONDS=BUSY)
        background.wait(30)  # what is late still writes to this database


@pytest.fixture
def chat() -> Iterator[Seam]:
    """In front of the function; what travels is looked at, not what is asked about before."""
    with deployed() as stack:
        yield Seam(stack, WEBBEE_CALL_SECONDS=BUSY, WEBBEE_CONFIRM="destructive")


def ended(reply: Reply) -> list[tuple[str, str]]:
    """`(function, status or code)` of the calls."""
    return [(c["fn_name"], c.get("error_code") or c["status"]) for c in reply.body["calls"]]


@pytest.mark.parametrize(
    ("planned", "code", "state", "told"),
    [
        (call("probe.fail"), "INTERNAL", "failed", OWN_ERROR.format("Raises")),
        (call("probe.leave"), "INTERNAL", "failed", OWN_ERROR.format("or tries to")),
        (call("probe.sleep"), "BACKEND_TIMEOUT", "running", "Probe – Answers late: still running"),
        (call("probe.block"), "BACKEND_TIMEOUT", "running", "Blocks its thread: still running"),
        (call("probe.guarded"), "PERMISSION_DENIED", "failed", "needs the scope probe:admin"),
        (
            *(call("probe.rubbish", kind="string"), "INTERNAL", "unknown"),
            "Returns rubbish of a kind “string”: no answer, it may or may not have been done",
        ),
    ],
    ids=["raises", "exits", "late", "blocks", "forbidden", "rubbish"],
)
def test_a_call_that_fails(
    seam: Seam, planned: ModelResponse, code: str, state: str, told: str
) -> None:
    if state == "running":
        seam.env["WEBBEE_CALL_SECONDS"] = "1"  # little patience with what does not come
    reply = seam.say(planned, say("Nothing else can be called."), say(""), say(""))
    [(_, ended_with)] = ended(reply)
    assert ended_with == code
    [receipt] = reply.body["receipts"]
    assert (receipt["status"], receipt["call"]) == (state, 0)
    assert receipt["what"].startswith("Probe – ") and told in receipt["text"]
    [made] = reply.body["calls"]
    if state == "failed":
        assert made.get("incident", "") in receipt["text"]
    assert receipt["text"] in as_text(reply.body)
    assert reply.body["status"] == "error"
    assert (rows(seam.stack, "audit") == []) is (code == "PERMISSION_DENIED")


LOOKS, SAVES = call("probe.look"), call("probe.save", text="x")


@pytest.mark.parametrize(
    ("fail", "planned"),
    [(down, LOOKS), (silent, LOOKS), (down, SAVES)],
    ids=["a read, no database", "a read, no answer", "a write that was not claimed"],
)
def test_what_did_not_happen_can_be_retried_as_a_whole(
    seam: Seam, fail: Any, planned: ModelResponse
) -> None:
    seam.client.fail = fail
    with pytest.raises(StorageUnavailable if fail is down else DispatchUnanswered):
        seam.say(planned)
    assert rows(seam.stack, "sessions") == []
    seam.client.fail = None
    told = say("0 texts." if planned is LOOKS else 'Saved "x".')
    assert seam.say(planned, told).body["turn"] == 1


@pytest.mark.parametrize("fail", [down, silent], ids=["no database", "no answer"])
def test_what_was_done_is_told_with_what_could_not_be_run(seam: Seam, fail: Any) -> None:
    def then_gone(_: Any) -> ModelResponse:
        seam.client.fail = fail
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
    told = "Probe – List the saved texts: did not work – look was not run: retry later"
    assert failed["text"] == told
    assert failed["text"] in as_text(reply.body)


def test_a_read_that_ended_its_process_failed_and_the_turn_says_so(chat: Seam) -> None:
    chat.client.fail = broken
    reply = chat.say(call("probe.look"), *[say("The texts could not be read.")] * 3)
    assert [(c["app_id"], c["error_code"]) for c in reply.body["calls"]] == [("probe", "INTERNAL")]
    assert reply.body["status"] == "error"
    assert len(rows(chat.stack, "audit", "call#")) == 1


@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES.keys())
def test_a_write_without_answer_is_called_neither_done_nor_undone(chat: Seam, failure: Any) -> None:
    chat.client.fail = failure
    told = say("It is not known whether it was saved.")
    reply = chat.say(call("probe.save", text="x"), told, *[say('Saved "x".')] * 2)
    assert reply.body["status"] == "error"
    (receipt,) = reply.body["receipts"]
    assert receipt["status"] == "unknown"
    assert as_text(reply.body).index(receipt["text"]) < as_text(reply.body).index("Saved")
    assert [c["error_code"] for c in reply.body["calls"]] == ["BACKEND_5XX"]
    chat.stack.hasten(OPEN_S)
    assert chat.stack.drain() >= 1  # somebody looks after its record


@pytest.mark.parametrize("refusal", REFUSALS.values(), ids=REFUSALS.keys())
def test_a_refused_write_was_not_run_and_is_run_when_repeated(chat: Seam, refusal: Any) -> None:
    chat.client.fail = refusal
    chat.env["WEBBEE_CALL_SECONDS"] = "1"  # so long it is repeated
    with pytest.raises(DispatchRefused, match=r"was not run \(\w+\): retry"):
        chat.say(call("probe.save", text="x"))
    chat.env["WEBBEE_CALL_SECONDS"] = BUSY
    tried = len([e for e in chat.client.invocations if e["kind"] == "function"])
    assert (tried == 1) is (refusal is forbidden), "what will not pass is not repeated"
    assert rows(chat.stack, "sessions") == []
    claim, told = (json.loads(r["body"]) for r in rows(chat.stack, "audit"))
    assert {claim["status"], told["status"]} == {"started", "error"}  # and was not run
    chat.client.fail = None
    reply = chat.say(call("probe.save", text="x"), say('Saved "x".'))
    assert (reply.body["status"], reply.text) == ("ok", 'Saved "x".')
    assert reply.body["refresh_panels"] == [{"app_id": "probe", "panel_id": "board"}]


def test_a_throttled_invocation_is_repeated_until_it_is_let_through(chat: Seam) -> None:
    chat.client.throttles = {"catalogue": 2, "function": 2}
    reply = chat.say(call("probe.save", text="x"), say('Saved "x".'))
    assert (reply.body["status"], reply.text) == ("ok", 'Saved "x".')
    kinds = [e["kind"] for e in chat.client.invocations]
    assert kinds == ["catalogue"] * 3 + ["function"] * 3
    given = [e["deadline_s"] for e in chat.client.invocations if e["kind"] == "function"]
    assert given[0] > given[1] > given[2]  # each has what is left of the call's time
    assert len(rows(chat.stack, "store", "texts#")) == 1


def test_after_something_ran_a_refused_call_is_told_as_not_run(chat: Seam) -> None:
    chat.say(call("probe.look"), say("0 texts."))
    calls = [c for text in "xy" for c in call("probe.save", text=text).tool_calls]
    chat.client.fail, chat.client.fail_from = forbidden, 1
    told = [say("One was saved, one was not run.")] * 3
    reply = chat.say(ModelResponse(tool_calls=tuple(calls)), *told, request_id="r2")
    assert [c["status"] for c in reply.body["calls"]] == ["ok", "error"]
    assert "check whether it was done" not in reply.text


def test_an_integer_beyond_64_bits_is_exact_on_both_ways(chat: Seam) -> None:
    chat.say(call("probe.rubbish", kind="huge integer"), say("A huge integer."))
    kept = decompress(rows(chat.stack, "sessions")[0]["packed"])
    assert '"n":1180591620717411303424' in kept.replace("\\", "").replace(": ", ":")
    answers = [call("probe.save", text=text) for text in (2**70, "mended")]
    assert chat.say(*answers, say('Saved "mended".'), request_id="r2").text == 'Saved "mended".'


def test_a_call_whose_credentials_do_not_come_in_time_was_not_run(chat: Seam) -> None:
    class Sts:
        async def of(self, *_: Any, **__: Any) -> Any:
            await asyncio.sleep(30)

    who = user_dict(User("alice", tenant_id="acme"))
    request = CallRequest("function", who, "probe", "save", {"text": "x"}, deadline_s=0.05)
    sts: Any = Sts()
    dispatch = LambdaDispatch("tool", lambda _: chat.client, credentials=sts)
    with pytest.raises(DispatchRefused, match="no credentials"):
        asyncio.run(dispatch.call(request))
    assert chat.client.invocations == []


def test_ten_calls_are_on_their_way_at_once() -> None:
    all_of_them = threading.Barrier(10, timeout=30)

    class Client:
        def invoke(self, **_: Any) -> dict[str, Any]:
            all_of_them.wait()  # none is answered before the tenth was sent
            return {"Payload": io.BytesIO(b"{}")}

    async def ten() -> list[Any]:
        invoked = LambdaFunction("cell", lambda _: Client())
        return await asyncio.gather(*(invoked.invoke({}) for _ in range(10)))

    assert asyncio.run(ten()) == [{}] * 10


def test_a_new_process_takes_the_catalogue_kept_for_this_deployment(chat: Seam) -> None:
    """The next process answers although the function that knows it is away; another deployment asks
    its own."""
    settings = Settings.from_env(
        {**chat.stack.env, "WEBBEE_DISPATCH": "cell", "WEBBEE_DISPATCH_VERSION": "cell:7"}
    )
    app = bootstrap(settings, llm=ScriptedModel([]))
    loop = LoopThread("kept-catalogue")

    def dispatch(version: str, client: FunctionClient | None) -> LambdaDispatch:
        def made(_: str) -> FunctionClient:
            assert client, "nobody is there"
            return client

        kept = CachedCatalogue(app.stores.deployed, version, app.clock)
        return LambdaDispatch("cell", made, store=kept)

    first = loop.run(dispatch("cell:7", chat.client).catalogue())
    assert background.wait(60)
    assert first.apps
    assert loop.run(dispatch("cell:7", None).catalogue()) == first
    assert background.wait(60)
    assert loop.run(dispatch("cell:8", None).catalogue.peek()) is None
