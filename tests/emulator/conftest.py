"""The deployment these tests drive: `sam build`'s artefacts under Lambda's runtime emulator, tables
by CloudFormation in moto."""

import json
import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from local.aws import CREDENTIALS, aws_server, client, lambda_api
from tests.deployment import Deployment, deploy
from tests.emulator.runtime import Built, Emulator, lay_out
from tests.functions.support import event

LOGICAL_IDS = {
    "chat_turn": "ChatTurnFunction",
    "tool_dispatch": "ToolDispatchFunction",
    "skeleton_refresh": "SkeletonRefreshFunction",
}
CLAIMS = {
    "sub": "alice",
    "custom:tenant_id": "acme",
    "custom:role": "developer",
    "locale": "en",
    "email": "alice@acme.example",
    "scope": "chat",
}


@dataclass(frozen=True, slots=True)
class Cloud:
    """A deployment whose functions run as built."""

    built: Built
    url: str
    stack: Deployment
    functions: Mapping[str, Emulator]

    def client(self, service: str) -> Any:
        return client(self.url, service)

    def invoke(self, function: str, event: Any) -> Any:
        return self.functions[function].invoke(event)

    def http(self, event: Mapping[str, Any]) -> Any:
        """The body of the answer to a request that is served."""
        answer = self.invoke("chat_turn", event)
        assert answer["statusCode"] == 200, answer
        is_json = "json" in answer["headers"]["content-type"]
        return json.loads(answer["body"]) if is_json else answer["body"]

    def items(self, table: str) -> list[dict[str, Any]]:
        asked = {"TableName": self.stack.names[table], "ConsistentRead": True}
        return list(self.client("dynamodb").scan(**asked)["Items"])

    def messages(self) -> list[dict[str, Any]]:
        """Take what waits on the refresh queue, in the form in which Lambda's poller hands it
        over."""
        sqs, queue = self.client("sqs"), self.stack.outputs["RefreshQueueUrl"]
        found = []
        while batch := sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=10).get("Messages"):
            for message in batch:
                sqs.delete_message(QueueUrl=queue, ReceiptHandle=message["ReceiptHandle"])
                sent = {"messageId": message["MessageId"], "body": message["Body"]}
                found.append({**sent, "eventSource": "aws:sqs"})
        return found

    def drain(self) -> list[dict[str, Any]]:
        """Hand what waits to the function, as Lambda's poller does: what a batch reports comes
        again. Returns what waited."""
        batch = waiting = self.messages()
        for _ in range(5):
            answer = self.invoke("skeleton_refresh", {"Records": waiting})
            failed = {f["itemIdentifier"] for f in answer["batchItemFailures"]}
            waiting = [m for m in waiting if m["messageId"] in failed]
            if not waiting:
                return batch
        raise AssertionError(f"{len(waiting)} refreshes never succeed")


class Asked(NamedTuple):
    """One request to AWS: whose key signed it, the operation, the body."""

    key: str
    target: str
    body: bytes


def recorded(name: str) -> dict[str, Any]:
    """An event of tests/events.json, with this suite's user where it has one."""
    found = event(name)
    if jwt := found.get("requestContext", {}).get("authorizer", {}).get("jwt"):
        jwt["claims"] = CLAIMS
    return found


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The artefacts outside the checkout, laid out as in Lambda."""
    if not sys.platform.startswith("linux"):
        pytest.skip("Lambda's runtime emulator is a Linux program")
    if "WEBBEE_BUILT" not in os.environ:
        pytest.skip("nothing was built: run these tests with `make test-built`")
    found = lay_out(Path(os.environ["WEBBEE_BUILT"]), tmp_path_factory.mktemp("lambda"))
    shutil.copytree(
        Path(__file__).parent / "extensions", found.opt / "webbee_extensions", dirs_exist_ok=True
    )
    return found


@pytest.fixture(scope="session")
def asked() -> list[Asked]:
    return []


@pytest.fixture(scope="session")
def aws(asked: list[Asked]) -> Iterator[str]:
    with aws_server(record=lambda *request: asked.append(Asked(*request))) as url:
        yield url


@pytest.fixture(scope="session")
def stack(aws: str) -> Deployment:
    return deploy(lambda service: client(aws, service), AwsEndpoint=aws)


@pytest.fixture(scope="session")
def environment(built: Built, stack: Deployment) -> Callable[[str], dict[str, str]]:
    """A function's variables: what CloudFormation gave it, and what only a real Lambda has in its
    place."""

    def of(function: str) -> dict[str, str]:
        variables = dict(stack.environments[function])
        # All tests are one person's, and on a quiet machine they come within a minute.
        variables["WEBBEE_USER_REQUESTS_PER_MINUTE"] = "10000"
        if "WEBBEE_EXTENSIONS_DIR" in variables:
            assert variables["WEBBEE_EXTENSIONS_DIR"] == "/opt/webbee_extensions"
            variables["WEBBEE_EXTENSIONS_DIR"] = str(built.opt / "webbee_extensions")
        # the key tells who asked
        return {**CREDENTIALS, "AWS_ACCESS_KEY_ID": function, **variables}

    return of


class Served(dict[str, Emulator]):
    """Functions by name; one asked for as `name#tenant` has an environment of its own for each
    tenant, as with Lambda's tenant isolation. The first tenant's is the function's own."""

    def __init__(self, start: Callable[[], Emulator]) -> None:
        super().__init__()
        self._start = start
        self._starting = threading.Lock()

    def get(self, name: str, default: Any = None) -> Any:
        function, _, tenant = name.partition("#")
        if not tenant or function not in self:
            return super().get(name, default)
        if tenant == CLAIMS["custom:tenant_id"]:
            return self[function]
        with self._starting:
            if name not in self:
                self[name] = self._start()
            return self[name]


@pytest.fixture(scope="session")
def cloud(
    built: Built,
    aws: str,
    stack: Deployment,
    environment: Callable[[str], dict[str, str]],
    asked: list[Asked],
) -> Iterator[Cloud]:
    with ExitStack() as running:
        functions: dict[str, Emulator] = {}
        served = Served(lambda: running.enter_context(another("tool_dispatch")))
        noted = lambda_api(served, lambda *request: asked.append(Asked(*request)))
        api = running.enter_context(noted)
        door = environment("chat_turn")

        def another(name: str) -> Emulator:
            variables = environment(name) | {"AWS_ENDPOINT_URL_LAMBDA": api}
            return Emulator(built, LOGICAL_IDS[name], variables)

        for name in ("tool_dispatch", "skeleton_refresh", "chat_turn"):
            functions[name] = running.enter_context(another(name))
        served[door["WEBBEE_DISPATCH"]] = functions["tool_dispatch"]
        served[door["WEBBEE_CLOCK"]] = functions["skeleton_refresh"]
        yield Cloud(built, aws, stack, functions)
