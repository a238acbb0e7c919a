"""What the tests of whole turns share: a model that does as it is told, an extension that
misbehaves on request, a user of the API."""

import asyncio
import io
import json
import os
import re
import time
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ClientError
from moto.core import DEFAULT_ACCOUNT_ID as ACCOUNT_ID
from moto.dynamodb.models import dynamodb_backends
from moto.sqs.models import sqs_backends

from local.stack import Stack, http_event, local_stack
from webbee_kernel.api.chat_turn import ChatService
from webbee_kernel.api.function import Function
from webbee_kernel.api.skeleton_refresh import RefreshService
from webbee_kernel.api.tool_dispatch import ToolService
from webbee_kernel.aws.clients import aws_client
from webbee_kernel.aws.invoke import LambdaDispatch, LambdaInstalls
from webbee_kernel.bootstrap import App, bootstrap, make_kernel
from webbee_kernel.clock import Clock
from webbee_kernel.config import Settings
from webbee_kernel.llm.protocol import Model, ModelRequest, ModelResponse, ToolCall
from webbee_kernel.llm.scripted import FunctionModel
from webbee_kernel.stores import Stores
from webbee_kernel.stores.dynamodb import Tables, dynamodb_stores

EXTENSIONS = Path(__file__).parent / "extensions"
EVENTS = Path(__file__).parent.parent / "events.json"
PROBE = EXTENSIONS / "probe"

_CALL = re.compile(r"([a-z0-9_-]+)\.(\w+) (?=\{)")
_MESSAGE = re.compile(r"^\[[^\]\n]* user\] (.*)$", re.MULTILINE)
_SUMMARY = re.compile(r'^RESULT: .*? (?:summary|error)=("(?:[^"\\]|\\.)*")', re.MULTILINE)

SHARDS = 4  # of the index of users who are due, behind `stores_of`
ALICE = {
    "sub": "alice",
    "tenant_id": "acme",
    "role": "user",
    "language": "en",
    "email": "alice@acme.example",
    "scope": "chat",
}
BOB = {**ALICE, "sub": "bob", "email": "bob@acme.example"}
OTHER_ALICE = {**ALICE, "tenant_id": "umbrella"}


def obey(request: ModelRequest) -> ModelResponse:
    """Calls what the message names, `probe.save {"text": "a"}`, and narrates with the tools' own
    words."""
    if request.role == "narrator":
        told = "\n".join(json.loads(s) for s in _SUMMARY.findall(request.prompt))
        return ModelResponse(text=told or "Done.")
    message = _MESSAGE.findall(request.prompt)[-1]
    given = json.JSONDecoder().raw_decode
    found = ((m, given(message[m.end() :])[0]) for m in _CALL.finditer(message))
    calls = tuple(ToolCall(f"{m[1]}__{m[2]}", arguments) for m, arguments in found)
    return ModelResponse(tool_calls=calls) if calls else ModelResponse(text="I am listening.")


class Held:
    """A model that answers, or fails, when it is let: `asked` says that somebody waits for it."""

    name = "held"

    def __init__(self, answer: ModelResponse | Exception) -> None:
        self.answer = answer
        self.requests: list[ModelRequest] = []
        self.let = Event()

    async def complete(self, request: ModelRequest) -> ModelResponse:
        self.requests.append(request)
        await asyncio.to_thread(self.let.wait, 60)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def call(function: str, /, **arguments: Any) -> ModelResponse:
    return ModelResponse(tool_calls=(ToolCall(function.replace(".", "__"), arguments),))


def say(text: str) -> ModelResponse:
    return ModelResponse(text=text)


def functions(
    *,
    model: Model | None = None,
    clock: Clock | None = None,
    stores: Callable[[Stores], Stores] = lambda stores: stores,
) -> dict[str, Any]:
    """The three functions with a model, a clock or store doubles of the test's own plugged into the
    real services."""
    model = model or FunctionModel(obey)

    handlers: dict[str, Any] = {}
    lambda_ = LocalLambda(handlers)

    def app(settings: Settings, given: Clock) -> App:
        plain = bootstrap(settings, llm=model, clock=clock or given)
        return bootstrap(settings, llm=model, clock=clock or given, stores=stores(plain.stores))

    def door(settings: Settings, given: Clock) -> ChatService:
        plugged = app(settings, given)
        kernel = make_kernel(plugged, dispatch=lambda_.dispatch())
        return ChatService(settings, app=plugged, kernel=kernel, installs=lambda_.installs())

    def cell(settings: Settings, given: Clock) -> ToolService:
        return ToolService(settings, app=app(settings, given))

    def refreshing(settings: Settings, given: Clock) -> RefreshService:
        return RefreshService(settings, app=app(settings, given), dispatch=lambda_.dispatch())

    services: Any = {"chat_turn": door, "tool_dispatch": cell, "skeleton_refresh": refreshing}
    for role, build in services.items():
        handlers[role] = SimpleNamespace(lambda_handler=Function(role, build))
    return handlers


def stores_of(client: Callable[..., Any]) -> Callable[[Any], Stores]:
    """Store doubles of `functions`: the tables' own, behind a client of the test's."""

    def made(_: Any) -> Stores:
        tables = Tables.from_variables(os.environ)
        return dynamodb_stores(
            tables, shards=SHARDS, secrets_prefix="/webbee/local", client_factory=client
        )

    return made


def throttled() -> Exception:
    code = "ProvisionedThroughputExceededException"
    return ClientError({"Error": {"Code": code, "Message": "slow down"}}, "PutItem")


class Outage:
    """A DynamoDB client that fails the next requests which fit `operation` and `table`, `times` of
    them."""

    def __init__(self) -> None:
        self.plan: tuple[str, str, int, Exception, bool] | None = None

    def next(
        self, operation: str, table: str, *, times: int = 1, error: Any = None, after: bool = False
    ) -> None:
        """Fail them before they reach the table, or `after` they did, when only the answer is
        lost."""
        self.plan = (operation, table, times, error or throttled(), after)

    def over(self) -> bool:
        return self.plan is None

    def client(self, service: str) -> Any:
        return _Client(aws_client(service), self)


class _Client:
    def __init__(self, client: Any, outage: Outage) -> None:
        self._client, self._outage = client, outage

    def __getattr__(self, operation: str) -> Any:
        def send(**request: Any) -> Any:
            plan = self._outage.plan
            if plan is None or not operation.startswith(plan[0]) or plan[1] not in str(request):
                return getattr(self._client, operation)(**request)
            wanted, table, times, error, after = plan
            self._outage.plan = (wanted, table, times - 1, error, after) if times > 1 else None
            if after:
                getattr(self._client, operation)(**request)
            raise error

        return send


class LocalLambda:
    """Lambda's Invoke, as far as it goes between the functions of this process: what crosses is
    JSON."""

    def __init__(self, handlers: Mapping[str, Any]) -> None:
        self._handlers = handlers

    def dispatch(self) -> LambdaDispatch:
        return LambdaDispatch("tool_dispatch", lambda service: self)

    def installs(self) -> LambdaInstalls:
        return LambdaInstalls("skeleton_refresh", lambda service: self)

    def invoke(self, FunctionName: str, Payload: str, **_: Any) -> dict[str, Any]:  # noqa: N803 - boto3's own names
        """One invocation, synchronous; an exception comes back as Lambda reports it."""
        try:
            answer = self._handlers[FunctionName].lambda_handler(json.loads(Payload), None)
        except Exception as error:
            failed = json.dumps({"errorType": type(error).__name__, "errorMessage": str(error)})
            return {"FunctionError": "Unhandled", "Payload": io.BytesIO(failed.encode())}
        return {"StatusCode": 200, "Payload": io.BytesIO(json.dumps(answer).encode())}


@contextmanager
def deployed(
    *, extensions: Path = EXTENSIONS, env: Mapping[str, str] | None = None, **doubles: Any
) -> Iterator[Stack]:
    """The local deployment with the doubles of `functions` in it."""
    with local_stack(extensions_dir=extensions, env=env) as stack:
        yield replace(stack, handlers=functions(**doubles))


def one_for_all(**options: Any) -> Any:
    """The fixture `stack` of a module whose tests share a deployment, each with a user of its own."""

    @pytest.fixture(scope="module")
    def stack() -> Iterator[Stack]:
        with deployed(**options) as running:
            yield running

    return stack


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: Any
    headers: Mapping[str, str]

    @property
    def error(self) -> dict[str, Any]:
        found = self.body["error"]
        assert found["code"]
        assert found["message"]
        return dict(found)

    def __getitem__(self, name: str) -> Any:
        return self.body[name]


@dataclass(frozen=True, slots=True)
class Person:
    """A user of the API: sends HTTP API events to the handlers."""

    stack: Stack
    claims: Mapping[str, Any]

    def chat(self, message: Any, **body: Any) -> Answer:
        return self.send("POST", "/v1/chat", body={"message": message, "session_id": "s1", **body})

    def confirm(self, confirmation_id: str, accept: Any = True, **body: Any) -> Answer:
        path = f"/v1/confirmations/{confirmation_id}"
        return self.send("POST", path, body={"accept": accept, **body})

    def call(self, app_id: str, function: str, /, **params: Any) -> Answer:
        return self.send(
            "POST", f"/v1/extensions/{app_id}/call", body={"function": function, "params": params}
        )

    def complete(self, *texts: str, headers: Any = None, **body: Any) -> Answer:
        """A chat completion: what the user and the assistant said, in turn."""
        roles = ("user", "assistant") * len(texts)
        said = [{"role": r, "content": t} for r, t in zip(roles, texts, strict=False)]
        path = "/v1/openai/v1/chat/completions"
        return self.send("POST", path, body={"messages": said, **body}, headers=headers or {})

    def turns(self, session_id: str = "s1") -> list[dict[str, Any]]:
        """The remembered turns; none for a session that is not there."""
        answer = self.send("GET", f"/v1/sessions/{session_id}")
        return list(answer["turns"]) if answer.status == 200 else []

    def install(self, app_id: str) -> Answer:
        return self.send("PUT", f"/v1/extensions/{app_id}/installation")

    def uninstall(self, app_id: str) -> Answer:
        return self.send("DELETE", f"/v1/extensions/{app_id}/installation")

    def prompt(self, message: str = "next", session_id: str = "s1") -> str:
        """What the classifier would be shown with this message, as a developer inspects it."""
        developer = Person(self.stack, {**self.claims, "role": "developer"})
        query = {"session_id": session_id, "message": message}
        return str(developer.send("GET", "/v1/inspect", query=query)["prompt"])

    def events(self, kind: str = "", after: str = "") -> list[dict[str, Any]]:
        """The events of one kind since an id, each with its id."""
        headers = {"last-event-id": after} if after else {}
        found = read_stream(self.send("GET", "/v1/events", headers=headers).body)
        return [{**json.loads(e["data"]), "id": e["id"]} for e in found if kind in ("", e["event"])]

    def send(self, method: str, path: str, **parts: Any) -> Answer:
        """Any request; the answer's body parsed where it is JSON."""
        sent = http_event(method, path, claims=self.claims, **parts)
        answer = self.stack.invoke("chat_turn", sent)
        body, headers = answer["body"], answer["headers"]
        is_json = headers["content-type"] == "application/json"
        return Answer(answer["statusCode"], json.loads(body) if is_json else body, headers)


def read_stream(text: str) -> list[dict[str, str]]:
    """The events of a text/event-stream, by the rules a browser follows."""
    blocks = [block for block in text.split("\n\n") if "data: " in block]
    return [dict(line.partition(": ")[::2] for line in block.splitlines()) for block in blocks]


def until(found: Callable[[], Any]) -> Any:
    """What becomes true, however slow the machine is; pytest's own timeout ends what never does."""
    while not (there := found()):
        time.sleep(0.01)
    return there


def settle(work: Callable[[], int]) -> None:
    """What waits is done, and what waits because of that: `settle(stack.drain)`."""
    while work():
        pass


def waiting(queue: str) -> list[Any]:
    """The messages of a queue, those that are delayed too, as moto keeps them."""
    queues = sqs_backends[ACCOUNT_ID][os.environ["AWS_DEFAULT_REGION"]]
    return list(queues.get_queue(queue.rpartition("/")[2])._messages)


def event(name: str) -> dict[str, Any]:
    recorded: dict[str, Any] = json.loads(EVENTS.read_text("utf-8"))[name]
    return recorded


def items(table: str) -> list[dict[str, dict[str, Any]]]:
    """The items of a table as moto keeps them, in DynamoDB's JSON: a Scan takes far longer."""
    database = dynamodb_backends[ACCOUNT_ID][os.environ["AWS_DEFAULT_REGION"]]
    partitions = list(database.tables[table].items.values())
    kept = [item for partition in partitions for item in list(partition.values())]
    return [{name: value.to_json() for name, value in list(item.attrs.items())} for item in kept]


def tables(stack: Stack) -> dict[str, list[Any]]:
    """Every item of every table, but for what is counted against limits."""
    named = {k: v for k, v in stack.env.items() if k.startswith("WEBBEE_TABLE_")}
    names = sorted(named[k] for k in named.keys() - {"WEBBEE_TABLE_LIMITS"})
    return {name: items(name) for name in names}


def rows(stack: Stack, table: str, begins: str = "") -> list[dict[str, Any]]:
    """The items of one table, `rows(stack, "audit", "call#")`, attributes in plain strings."""
    found = [
        {name: b64decode(v["B"]) if "B" in v else next(iter(v.values())) for name, v in i.items()}
        for i in items(stack.env[f"WEBBEE_TABLE_{table.upper()}"])
    ]
    return [row for row in found if row["sk"].startswith(begins)]
