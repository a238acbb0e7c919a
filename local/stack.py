"""Everything a deployment has, on one machine: tables and queue from template.yaml on moto, the
three real handlers; and the local cell, where extension code runs in processes of its own, one for
each tenant, with an environment of their own.

A process serves all calls of its tenant side by side, where Lambda has one for each call at a time:
a crash takes the calls beside it along.
"""

from __future__ import annotations

import asyncio
import base64
import functools
import importlib.util
import os
import secrets
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from types import ModuleType
from typing import Any

import orjson
from moto.dynamodb.models import dynamodb_backends
from moto.sqs.models import sqs_backends

from webbee_kernel.api.process_pool import ProcessPool
from webbee_kernel.aws.clients import aws_client, forget_clients
from webbee_kernel.config import GROUPS, Settings, variable_of
from webbee_kernel.llm.options import BrokerService

from .aws import account, account_tables, lambda_api, local_aws
from .loopback import served
from .project import ROOT, child_environment
from .template import Template, environment, load_template
from .terminal import CliError

FUNCTIONS = ("chat_turn", "tool_dispatch", "skeleton_refresh")

NAME = "cell"
"""What callers invoke (`WEBBEE_DISPATCH`)."""
BROKER = "model_broker"
"""What the cell invokes for `ctx.ai`."""
FUNCTION = "ToolDispatchFunction"

ORDINARY = (
    *("PATH", "HOME", "USER", "LANG", "LANGUAGE", "TZ", "TERM", "NO_COLOR", "TMPDIR", "TEMP"),
    *("SYSTEMROOT", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "PYTHONUTF8"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
)
"""Variables of this machine that a program needs to run; of the rest the cell sees what the
template gives its function."""
BEYOND = ("WEBBEE_DEVELOP", "WEBBEE_CALL_SECONDS", "WEBBEE_HTTP_ALLOW_PRIVATE")
"""Settings that only a local cell has."""


@dataclass(frozen=True, slots=True)
class Stack:
    """A running local deployment."""

    template: Mapping[str, Any]
    handlers: Mapping[str, ModuleType]
    env: Mapping[str, str]
    queue_url: str
    cell: ProcessPool | None = None

    def invoke(self, function: str, event: Mapping[str, Any]) -> Any:
        """Call a function's real `lambda_handler`; its answer passes through JSON, as in Lambda."""
        answer = self.handlers[function].lambda_handler(orjson.loads(orjson.dumps(event)), None)
        return orjson.loads(orjson.dumps(answer))

    def ask(self, method: str, path: str, claims: Mapping[str, str], body: Any = None) -> Any:
        """What the API answers to somebody, straight through its function: it need not listen yet.
        CliError where it refuses."""
        answer = self.invoke("chat_turn", http_event(method, path, claims=claims, body=body))
        if answer["statusCode"] >= 400:
            raise CliError(f"{method} {path}: {orjson.loads(answer['body'])['error']['message']}")
        return orjson.loads(answer["body"])

    def tick(self) -> int:
        """What the schedule does once a minute; how many shards it had looked through."""
        tick = {"source": "aws.events", "detail-type": "Scheduled Event"}
        return int(self.invoke("skeleton_refresh", tick)["queued"])

    def hasten(self, seconds: float) -> None:
        """Bring what waits delayed in the queue so much nearer: moto's queue knows real time only,
        and the handlers' clock was moved."""
        for message in self._queue()._messages:
            message.delayed_until -= seconds * 1000

    def waiting(self) -> int:
        """Messages in the refresh queue, the delayed ones too."""
        return len(self._queue()._messages)

    def _queue(self) -> Any:
        """The refresh queue in moto."""
        queues = sqs_backends["123456789012"][os.environ["AWS_DEFAULT_REGION"]]
        return queues.get_queue(self.queue_url.rpartition("/")[2])

    def stream(self) -> EventStream:
        """The stream of the events table from now on, as Lambda's poller reads it."""
        return EventStream(self.env["WEBBEE_TABLE_EVENTS"], self.invoke)

    def drain(self) -> int:
        """Take one batch of the refresh queue to its function, as Lambda's poller does; how many
        messages it had."""
        if not self._queue().messages:
            return 0
        sqs = aws_client("sqs")
        found = sqs.receive_message(QueueUrl=self.queue_url, MaxNumberOfMessages=10)
        batch = found.get("Messages", [])
        if not batch:
            return 0
        records = [
            {"messageId": m["MessageId"], "body": m["Body"], "eventSource": "aws:sqs"}
            for m in batch
        ]
        answer = self.invoke("skeleton_refresh", {"Records": records})
        failed = {f["itemIdentifier"] for f in answer["batchItemFailures"]}
        for message in batch:
            if message["MessageId"] not in failed:
                sqs.delete_message(QueueUrl=self.queue_url, ReceiptHandle=message["ReceiptHandle"])
        return len(batch)


_template = functools.cache(load_template)  # nobody changes it


@contextmanager
def local_stack(
    *,
    extensions_dir: Path | None = None,
    model: str = "offline",
    env: Mapping[str, str] | None = None,
    apart: bool = False,
) -> Iterator[Stack]:
    """A fresh deployment for the time of the block; the environment is put back afterwards.

    Extension code runs in this process, or, `apart`, in one of its own (`cell`).
    """
    around = {**os.environ, **(env or {}), "WEBBEE_MODEL": model}
    models = [value for name, value in around.items() if name.startswith("WEBBEE_MODEL")]
    with local_aws(bedrock=any("bedrock:" in name for name in models)):
        saved = dict(os.environ)
        template = _template()
        forget_clients(is_lazy=True)  # those of a stack in another region
        queue: Any = {"QueueName": "webbee-refresh", "Attributes": {"VisibilityTimeout": "30"}}
        queue_url = aws_client("sqs").create_queue(**queue)["QueueUrl"]
        os.environ.update(
            account_tables(aws_client("dynamodb"), template)
            | {
                "WEBBEE_EXTENSIONS_DIR": str(extensions_dir or ROOT / "extensions"),
                "WEBBEE_MODEL": model,
                "WEBBEE_DISPATCH": "inline",
                "WEBBEE_REFRESH_QUEUE_URL": queue_url,
                "WEBBEE_SECRETS_PREFIX": "/webbee/local",
                "WEBBEE_WEBHOOK_KEY": secrets.token_urlsafe(32),
                "POWERTOOLS_LOG_LEVEL": os.environ.get("POWERTOOLS_LOG_LEVEL", "WARNING"),
            }
            | dict(env or {})
        )
        try:
            with ExitStack() as running:
                cell = running.enter_context(local_cell(template)) if apart else None
                here = [name for name in FUNCTIONS if not (apart and name == "tool_dispatch")]
                handlers = {name: load_handler(name) for name in here}
                yield Stack(template, handlers, dict(os.environ), queue_url, cell)
        finally:
            for name in os.environ.keys() - saved.keys():
                del os.environ[name]  # no thread that reads the others finds them missing
            os.environ.update(saved)


def load_handler(function: str) -> ModuleType:
    """Import `functions/<name>/handler.py` afresh under a name of its own."""
    name, file = f"webbee_function_{function}", ROOT / "functions" / function / "handler.py"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def http_event(
    method: str,
    path: str,
    *,
    claims: Mapping[str, Any] | None = None,
    body: Any = None,
    query: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    request_id: str = "",
) -> dict[str, Any]:
    """An API Gateway HTTP API event (payload 2.0), with a JWT authoriser's claims where given."""
    context: dict[str, Any] = {
        "accountId": "123456789012",
        "apiId": "local",
        "http": {
            "method": method,
            "path": path,
            "protocol": "HTTP/1.1",
            "sourceIp": "127.0.0.1",
            "userAgent": (headers or {}).get("user-agent", ""),
        },
        "requestId": request_id,
        "routeKey": "$default",
        "stage": "$default",
    }
    if claims is not None:
        context["authorizer"] = {"jwt": {"claims": dict(claims), "scopes": None}}
    event: dict[str, Any] = {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": "",
        "headers": dict(headers or {}),
        "requestContext": context,
        "isBase64Encoded": False,
    }
    if isinstance(body, bytes):  # text as it is, anything else as base64
        try:
            body = body.decode()
        except UnicodeDecodeError:
            body, event["isBase64Encoded"] = base64.b64encode(body).decode(), True
    if body is not None:
        event["body"] = body if isinstance(body, str) else orjson.dumps(body).decode()
    if query:
        event["queryStringParameters"] = dict(query)
    return event


ATTEMPTS, BATCH = 4, 100
"""Times that a record is handed over before it is given up, and records taken at once."""


class EventStream:
    """Reads one table's stream, from its creation on, in order, and hands over again what comes
    back: from the first record that the function reports on, or all where it fails."""

    def __init__(self, table: str, invoke: Callable[[str, Mapping[str, Any]], Any]) -> None:
        self._invoke = invoke
        region = aws_client("dynamodb").meta.region_name
        # moto's own list, oldest first: asking for it twenty times a second through the API of
        # streams would cost a twentieth of a processor.
        shard = dynamodb_backends["123456789012"][region].tables[table].stream_shard
        self._written: list[Any] = shard.items
        self._seen = len(self._written)
        self._again: list[dict[str, Any]] = []
        self._tries = 0

    def hand_over(self) -> int:
        """Take what came since the last time to `chat_turn`, behind what has to come again; how
        many records there were."""
        new = [_plain(record.to_json()) for record in self._written[self._seen :][:BATCH]]
        self._seen += len(new)
        records = left = [*self._again, *(r for r in new if r["eventName"] == "INSERT")]
        if not records:
            return 0
        try:
            answer = self._invoke("chat_turn", {"Records": records}) or {}
            failed = {str(f["itemIdentifier"]) for f in answer.get("batchItemFailures", ())}
            numbers = [str(record["dynamodb"]["SequenceNumber"]) for record in records]
            left = records[next((i for i, n in enumerate(numbers) if n in failed), len(records)) :]
        finally:
            self._tries = self._tries + 1 if left[:1] == records[:1] else 0
            given_up = int(self._tries == ATTEMPTS)
            self._again, self._tries = left[given_up:], self._tries * (not given_up)
        return len(records)


def _plain(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record as JSON carries it: its time is in seconds."""
    change = record["dynamodb"]
    at = change["ApproximateCreationDateTime"].replace(tzinfo=UTC).timestamp()
    return {**record, "dynamodb": {**change, "ApproximateCreationDateTime": at}}


class Broker(BrokerService):
    """What `model_broker` is in the cloud: asks the model of this process's settings."""

    def invoke(self, event: Any) -> Any:
        """Its answer."""
        return asyncio.run(self.handle(event))


@contextmanager
def local_cell(template: Template) -> Iterator[ProcessPool]:
    """A cell of this process's deployment for the time of the block, loading when this yields, and
    from then on what is invoked."""
    env = dict(os.environ)
    broker = Broker(Settings.from_env(env, "model_broker"))
    with (
        served(account(), "aws-port", secret=True) as aws,
        lambda_api({BROKER: broker}, secret=True) as models,
    ):
        cell = ProcessPool(cell_environment(env, template, aws, models))
        with lambda_api({NAME: cell}, secret=True) as url:
            os.environ |= {"WEBBEE_DISPATCH": NAME, "AWS_ENDPOINT_URL_LAMBDA": url}
            cell.start()
            try:
                yield cell
            finally:
                cell.stop()


def cell_environment(
    env: Mapping[str, str], template: Template, aws: str, models: str
) -> dict[str, str]:
    """What the cell's processes see: what the template gives its function, and what a program needs
    to run here. No key of a model, no value of an app's secret, no credentials: `ctx.ai` asks at
    `models`, and the rest comes with a call.
    """
    named = environment(template, FUNCTION)
    inside = [variable_of(n) for group in GROUPS if group in named for n in GROUPS[group]]
    given = {*named, *inside, *ORDINARY, *BEYOND}
    seen = {k: v for k, v in env.items() if k in given or k.startswith("LC_")}
    seen |= {"PYTHONPATH": child_environment()["PYTHONPATH"], "PYTHONUTF8": "1"}
    region = env["AWS_DEFAULT_REGION"]
    return {
        **seen,
        "AWS_ACCESS_KEY_ID": "cell",
        "AWS_SECRET_ACCESS_KEY": "cell",
        "AWS_DEFAULT_REGION": region,
        "AWS_REGION": region,
        "AWS_ENDPOINT_URL": aws,
        "AWS_ENDPOINT_URL_LAMBDA": models,
        "WEBBEE_MODEL_BROKER": BROKER,
    }
