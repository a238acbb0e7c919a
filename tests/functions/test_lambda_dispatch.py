"""Extension code in a function of its own: the same answers, and honest ones when that function is
away."""

from __future__ import annotations

import asyncio
import io
import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, ReadTimeoutError

from local.stack import Stack
from tests.functions.support import call, deployed, rows, say
from webbee_kernel import background
from webbee_kernel.aws.invoke import Invoked, LambdaDispatch
from webbee_kernel.background import LoopThread
from webbee_kernel.bootstrap import bootstrap, make_kernel
from webbee_kernel.catalogue import Catalogue
from webbee_kernel.config import Settings
from webbee_kernel.errors import DispatchRefused, DispatchUnanswered
from webbee_kernel.llm.protocol import ModelResponse, ToolCall
from webbee_kernel.llm.scripted import ScriptedModel
from webbee_kernel.refresh.refresh_queue import OPEN_S
from webbee_kernel.sdk import User
from webbee_kernel.stores.codec import unpack
from webbee_kernel.stores.deployment import CachedCatalogue
from webbee_kernel.turn.kernel import Ask, Kernel
from webbee_kernel.turn.messages import Reply, as_text


class FunctionClient:
    """What boto3's Lambda client does, with the real handler behind it. `fail` goes in the place of
    the next calls' answers."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        self.fail: Callable[[], dict[str, Any]] | None = None
        self.refusals = {"catalogue": 0, "function": 0}
        """How many of the next invocations of a kind Lambda throttles."""
        self.fail_from = 0
        """Of the calls from this step on."""
        self.invocations: list[dict[str, Any]] = []

    def invoke(self, FunctionName: str, Payload: str | bytes) -> dict[str, Any]:  # noqa: N803 - boto3's own names
        event = json.loads(Payload)
        self.invocations.append(event)
        if self.fail and event["kind"] != "catalogue":
            return self.fail()
        if self.refusals.get(event["kind"]):
            self.refusals[event["kind"]] -= 1
            return throttled()
        if self.fail_from and event.get("step", 0) >= self.fail_from - 1:
            return forbidden()
        answer = self.stack.handlers["tool_dispatch"].lambda_handler(event, None)
        return {"StatusCode": 200, "Payload": io.BytesIO(json.dumps(answer).encode())}


class Chat:
    """A kernel in front of the function."""

    def __init__(self, stack: Stack, client: FunctionClient) -> None:
        self.client = client
        self.call_seconds = 120  # a busy machine's
        self._env = stack.env
        self._loop = LoopThread("lambda-dispatch-test")

    def say(
        self,
        *script: Any,
        message: str = "save the text x, or return rubbish",
        request_id: str = "r1",
    ) -> Reply:
        """One turn with a model that plays the script."""
        env = {**self._env, "WEBBEE_CALL_SECONDS": str(self.call_seconds)}
        env["WEBBEE_CONFIRM"] = "destructive"  # what travels, not what is asked about before
        kernel: Kernel = make_kernel(
            bootstrap(Settings.from_env(env), llm=ScriptedModel(script)),
            dispatch=LambdaDispatch("tool", lambda _: self.client),
        )
        ask = Ask(User("alice", tenant_id="acme"), "s1", message, request_id)
        return self._loop.run(kernel.turn(ask))


@pytest.fixture
def chat() -> Iterator[Chat]:
    with deployed() as stack:
        yield Chat(stack, FunctionClient(stack))


def broken() -> dict[str, Any]:
    payload = {
        "errorType": "Runtime.ExitError",
        "errorMessage": "RequestId: 1 Error: Runtime exited",
    }
    return {
        "StatusCode": 200,
        "FunctionError": "Unhandled",
        "Payload": io.BytesIO(json.dumps(payload).encode()),
    }


def refused(status: int, code: str) -> dict[str, Any]:
    """Lambda's answer instead of running the function."""
    answer = {
        "Error": {"Code": code, "Message": code},
        "ResponseMetadata": {"HTTPStatusCode": status},
    }
    raise ClientError(answer, "Invoke")  # type: ignore[arg-type]


def throttled() -> dict[str, Any]:
    return refused(429, "TooManyRequestsException")


def forbidden() -> dict[str, Any]:
    return refused(403, "AccessDeniedException")


def failing() -> dict[str, Any]:
    return refused(500, "ServiceException")


def unreachable() -> dict[str, Any]:
    raise EndpointConnectionError(endpoint_url="https://lambda.example")


def silent() -> dict[str, Any]:
    raise ReadTimeoutError(endpoint_url="https://lambda.example")


FAILURES = pytest.mark.parametrize("failure", [broken, silent, failing], ids=lambda f: f.__name__)
REFUSALS = pytest.mark.parametrize(
    "refusal", [throttled, forbidden, unreachable], ids=lambda f: f.__name__
)


@pytest.mark.parametrize("failure", [silent, failing], ids=lambda f: f.__name__)
def test_a_read_that_the_function_did_not_answer_can_be_retried(chat: Chat, failure: Any) -> None:
    chat.client.fail = failure
    with pytest.raises(DispatchUnanswered):
        chat.say(call("probe.look"))
    assert rows(chat.client.stack, "sessions") == []
    chat.client.fail = None
    assert chat.say(call("probe.look"), say("0 texts.")).body["turn"] == 1


def test_a_read_that_ended_its_process_failed_and_the_turn_says_so(chat: Chat) -> None:
    chat.client.fail = broken
    failed = say("The texts could not be read.")
    reply = chat.say(call("probe.look"), *[failed] * 3)
    assert [(c["app_id"], c["error_code"]) for c in reply.body["calls"]] == [("probe", "INTERNAL")]
    assert reply.body["status"] == "error"
    assert len([r for r in rows(chat.client.stack, "audit") if r["sk"].startswith("call#")]) == 1


@FAILURES
def test_a_write_that_the_function_did_not_answer_is_not_called_done_nor_undone(
    chat: Chat, failure: Any
) -> None:
    chat.client.fail = failure
    reply = chat.say(
        call("probe.save", text="x"),
        say("It is not known whether it was saved."),
        say('Saved "x".'),
        say('Saved "x".'),
    )
    assert reply.body["status"] == "error"
    (receipt,) = reply.body["receipts"]
    assert receipt["status"] == "unknown"
    assert as_text(reply.body).index(receipt["text"]) < as_text(reply.body).index("Saved")
    assert [c["error_code"] for c in reply.body["calls"]] == ["BACKEND_5XX"]
    assert background.wait(60)
    chat.client.stack.hasten(OPEN_S)
    batch = chat.client.stack.drain()
    assert batch >= 1  # somebody looks after its record


@REFUSALS
def test_a_write_that_was_refused_was_not_run_and_the_same_request_runs_it_later(
    chat: Chat, refusal: Any
) -> None:
    chat.client.fail = refusal
    chat.call_seconds = 1  # so long it is repeated
    with pytest.raises(DispatchRefused, match=r"was not run \(\w+\): retry"):
        chat.say(call("probe.save", text="x"))
    chat.call_seconds = 120
    assert rows(chat.client.stack, "sessions") == []
    claim, told = (json.loads(r["body"]) for r in rows(chat.client.stack, "audit"))
    assert {claim["status"], told["status"]} == {"started", "error"}  # and was not run
    chat.client.fail = None
    reply = chat.say(call("probe.save", text="x"), say('Saved "x".'))
    assert (reply.body["status"], reply.text) == ("ok", 'Saved "x".')


def test_a_throttled_invocation_is_repeated_until_it_is_let_through(chat: Chat) -> None:
    chat.client.refusals = {"catalogue": 2, "function": 2}
    reply = chat.say(call("probe.save", text="x"), say('Saved "x".'))
    assert (reply.body["status"], reply.text) == ("ok", 'Saved "x".')
    kinds = [e["kind"] for e in chat.client.invocations]
    assert kinds == ["catalogue"] * 3 + ["function"] * 3
    given = [e["deadline_s"] for e in chat.client.invocations if e["kind"] == "function"]
    assert given[0] > given[1] > given[2]  # each has what is left of the call's time
    assert len([r for r in rows(chat.client.stack, "store") if r["sk"].startswith("texts#")]) == 1


def test_a_refusal_that_will_not_pass_is_not_repeated(chat: Chat) -> None:
    chat.client.fail = forbidden
    with pytest.raises(DispatchRefused):
        chat.say(call("probe.look"))
    assert [e["kind"] for e in chat.client.invocations] == ["catalogue", "function"]


def test_after_something_ran_a_refused_call_is_told_as_not_run(chat: Chat) -> None:
    chat.say(call("probe.look"), say("0 texts."))
    first = call("probe.save", text="x").tool_calls
    chat.client.fail_from = 2
    reply = chat.say(
        ModelResponse(tool_calls=(*first, *call("probe.save", text="y").tool_calls)),
        say("One was saved, one was not run."),
        say("One was saved, one was not run."),
        say("One was saved, one was not run."),
        request_id="r2",
    )
    assert [c["status"] for c in reply.body["calls"]] == ["ok", "error"]
    assert "check whether it was done" not in reply.text


def test_an_integer_beyond_64_bits_is_exact_on_both_ways(chat: Chat) -> None:
    chat.say(call("probe.rubbish", kind="huge integer"), say("A huge integer."))
    kept = unpack(rows(chat.client.stack, "sessions")[0]["packed"])
    assert '"n":1180591620717411303424' in kept.replace("\\", "").replace(": ", ":")
    answer = ModelResponse(tool_calls=(ToolCall("probe__save", {"text": 2**70}),))
    reply = chat.say(
        answer, call("probe.save", text="mended"), say('Saved "mended".'), request_id="r2"
    )
    assert reply.text == 'Saved "mended".'


def test_during_a_deployment_a_newer_chat_turn_may_say_more(stack: Stack) -> None:
    user = {"imperal_id": "alice", "tenant_id": "acme"}
    event = {
        "kind": "function",
        "user": user,
        "app_id": "probe",
        "name": "look",
        "request_id": "r1",
        "said_since_the_next_version": 1,
    }
    assert stack.invoke("tool_dispatch", event)["status"] == "ok"


def test_ten_calls_are_on_their_way_at_once() -> None:
    all_of_them = threading.Barrier(10, timeout=30)

    class Client:
        def invoke(self, **_: Any) -> dict[str, Any]:
            all_of_them.wait()  # none is answered before the tenth was sent
            return {"Payload": io.BytesIO(b"{}")}

    async def ten() -> list[Any]:
        invoked = Invoked("cell", lambda _: Client())
        return await asyncio.gather(*(invoked.invoke({}) for _ in range(10)))

    assert asyncio.run(ten()) == [{}] * 10


def test_a_new_process_takes_the_catalogue_that_another_kept_for_this_deployment(
    chat: Chat,
) -> None:
    """The next process answers although the function that knows it is away; another deployment asks
    its own."""
    settings = Settings.from_env(
        {**chat.client.stack.env, "WEBBEE_DISPATCH": "cell", "WEBBEE_DISPATCH_VERSION": "cell:7"}
    )
    app = bootstrap(settings, llm=ScriptedModel([]))
    loop = LoopThread("kept-catalogue")

    def dispatch(version: str, client: FunctionClient | None) -> LambdaDispatch:
        def made(_: str) -> FunctionClient:
            assert client, "nobody is there"
            return client

        kept = CachedCatalogue(app.stores.deployed, version, app.clock)
        return LambdaDispatch("cell", made, kept=kept)

    first = loop.run(dispatch("cell:7", chat.client).catalogue())
    assert background.wait(60)
    assert first.apps
    assert loop.run(dispatch("cell:7", None).catalogue()) == first
    assert background.wait(60)
    kept = CachedCatalogue(app.stores.deployed, "cell:7", app.clock)
    found, told = loop.run(kept.find()), json.loads(json.dumps(first.to_dict()))
    assert kept.made(told) is found
    loop.run(kept.find())
    assert kept.made({"apps": told["apps"][:1]}) == Catalogue.from_dict({"apps": told["apps"][:1]})
    assert loop.run(dispatch("cell:8", None).catalogue.known()) is None
