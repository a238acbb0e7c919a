"""AWS on this machine: moto behind one lock, in this process and on a port. `python -m local.aws`
serves the tables and the queue of template.yaml for `sam local invoke`.

moto is not thread-safe. Of 1,500 concurrent ADDs 1,371 survive, and of 100 conditional puts on
absent keys some have two winners; no error is raised. One lock round every request makes all of it
exact. It is installed once, for good.
"""

from __future__ import annotations

import argparse
import copy
import importlib
import json
import os
import re
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any, Protocol

import boto3
from botocore.awsrequest import AWSPreparedRequest
from botocore.compat import HTTPHeaders
from moto import mock_aws
from moto.backends import get_backend
from moto.core import DEFAULT_ACCOUNT_ID
from moto.core.botocore_stubber import BotocoreStubber
from moto.core.models import RESPONSES_METHODS, botocore_stubber
from moto.core.responses import ActionContext
from moto.dynamodb.models.utilities import dynamo_json_dump
from moto.dynamodb.responses import DynamoResult
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from webbee_kernel.api.process_pool import ProcessEnded

from .loopback import served
from .template import Template, create_tables, load_template

REGION = "eu-central-1"
Record = Callable[[str, str, bytes], None]
"""Told of every request: the access key it was signed with, its target such as
`DynamoDB_20120810.PutItem`, its body."""

_SIGNED = re.compile(r"(?<=Credential=)([^/]+)/(\d{8})/[^/]+/([^/]+)")
"""Access key, day, region and service of a request's signature."""

_REGION_VARIABLE = "AWS_DEFAULT_REGION"
# Not resetting boto3's default session cuts a start from 174 to 14 ms; nothing here uses that
# session.
_CORE: dict[str, Any] = {"reset_boto3_session": False}
# moto only remembers functions; nothing here runs them through it.
_NO_DOCKER = {"use_docker": False}
_REAL_BEDROCK: dict[str, Any] = {
    "passthrough": {"services": [], "urls": [r"https://bedrock-runtime[.-]"]}
}

_unlocked = BotocoreStubber.__call__
_lock = threading.RLock()


def _locked(self: BotocoreStubber, *args: Any, **kwargs: Any) -> Any:
    with _lock:
        return _unlocked(self, *args, **kwargs)


def _answered(self: DynamoResult, context: ActionContext) -> tuple[int, dict[str, str], str]:
    """What DynamoDB answers, from values that are in its own JSON already: moto looks for every
    part of each under a dozen of names, which is five sixths of a Query's time."""
    members = context.operation_model.output_shape.members
    body = {name: self.result[name] for name in members if self.result.get(name) is not None}
    return 200, {"Content-Type": "application/x-amz-json-1.0"}, dynamo_json_dump(body)


DynamoResult.execute_result = _answered
# 1,300 patterns of addresses for `requests`, laid anew at each start: nothing here sends with it.
RESPONSES_METHODS.clear()


def _install() -> None:
    """Put the lock round moto, and load its parameter store without EC2, of which a parameter
    knows nothing: the table of all instances and regions would cost most of a second."""
    BotocoreStubber.__call__ = _locked
    if not {"moto.ssm.models", "moto.ec2"} & sys.modules.keys():
        sys.modules["moto.ec2"] = without = ModuleType("moto.ec2")
        without.__dict__["ec2_backends"] = {}
        try:
            importlib.import_module("moto.ssm.models")
        finally:
            del sys.modules["moto.ec2"]


@contextmanager
def local_aws(*, bedrock: bool = False) -> Iterator[None]:
    """An empty AWS account for the time of the block; it may be nested, the innermost shares the
    outer one's state.

    Credentials are fake, and the region is eu-central-1 unless the environment names one. With
    `bedrock`, models are the real account's: requests to Bedrock leave this machine, with the
    credentials that boto3 finds; nothing else does.
    """
    _install()
    had_region = _REGION_VARIABLE in os.environ
    os.environ.setdefault(_REGION_VARIABLE, REGION)
    try:
        config: Any = {"core": dict(_CORE), "lambda": _NO_DOCKER}
        if bedrock:
            has_none = boto3.Session().get_credentials() is None
            config["core"] |= {"mock_credentials": has_none, **_REAL_BEDROCK}
        with mock_aws(config=config):
            yield
    finally:
        if not had_region:
            del os.environ[_REGION_VARIABLE]


_made: dict[tuple[str, str], tuple[Template, Any, dict[str, str]]] = {}


def account_tables(client: Any, template: Template, prefix: str = "") -> dict[str, str]:
    """`create_tables` in the account of `local_aws`, where it is empty: the first time through the
    API, then as copies of what that made. Deployments of one process, as tests have hundreds of
    them, begin in a millisecond instead of sixty."""
    region = client.meta.region_name
    database = get_backend("dynamodb")[DEFAULT_ACCOUNT_ID][region]
    known, tables, names = _made.get((region, prefix), (None, None, {}))
    if known == template and not database.tables:
        database.tables.update(copy.deepcopy(tables))
        return dict(names)
    was_empty = not database.tables
    names = create_tables(client, template, prefix)
    if was_empty:
        kept = copy.deepcopy(template), copy.deepcopy(database.tables), dict(names)
        _made[region, prefix] = kept
    return names


def signed(authorization: str) -> tuple[str, str]:
    """Who signed a request, and for which service; empty where nobody did."""
    found = _SIGNED.search(authorization)
    return (found[1], found[3]) if found else ("", "")


CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "local",
    "AWS_SECRET_ACCESS_KEY": "local",
    "AWS_DEFAULT_REGION": REGION,
    "AWS_REGION": REGION,
}
"""Environment of whatever talks to it."""


def client(url: str, service: str, **options: Any) -> Any:
    """A boto3 client of the account at `url`."""
    made: Any = boto3.client
    return made(
        service,
        region_name=REGION,
        endpoint_url=url,
        aws_access_key_id="local",
        aws_secret_access_key="local",  # noqa: S106
        **options,
    )


METHODS = ("GET", "POST", "PUT", "DELETE", "HEAD")


def account(*, record: Record | None = None) -> Starlette:
    """The account of `local_aws` as an ASGI application, which checks no signature. `record` is
    told of every request."""

    async def answer(request: Request) -> Response:
        path, body = f"/{request.path_params['path']}", await request.body()
        if record:
            who, _ = signed(request.headers.get("authorization", ""))
            record(who, request.headers.get("x-amz-target", ""), body)
        return await run_in_threadpool(_answer, request, path, body)

    return Starlette(routes=[Route("/{path:path}", answer, methods=METHODS)])


def _answer(request: Request, path: str, body: bytes) -> Response:
    """What moto answers, as if the request had gone to AWS's own address, signed for the account's
    one region: whoever comes, a container of `sam local` or a shell with a profile, finds the same
    tables whatever region it believes in."""
    authorization = request.headers.get("authorization", "")
    _, service = signed(authorization)
    region = os.environ.get(_REGION_VARIABLE, REGION)
    sent = HTTPHeaders()
    for key, value in request.headers.items():
        if key not in ("host", "authorization"):  # to set one again would add another
            sent[key] = value
    sent["authorization"] = _SIGNED.sub(rf"\g<1>/\g<2>/{region}/\g<3>", authorization)
    url = f"https://{service}.{region}.amazonaws.com{path}?{request.url.query}".rstrip("?")
    prepared = AWSPreparedRequest(request.method, url, sent, body, stream_output=False)
    found = botocore_stubber("before-send", prepared)
    if found is None:
        told = f"{service or 'an unsigned request'}: not on this machine"
        refused = {"__type": "com.amazon.coral.service#AccessDeniedException", "message": told}
        return JSONResponse(refused, 400, media_type="application/x-amz-json-1.0")
    return Response(found.content, found.status_code, dict(found.headers))


@contextmanager
def aws_server(
    host: str = "127.0.0.1", port: int = 0, *, record: Record | None = None
) -> Iterator[str]:
    """An empty AWS account at the address this yields, for the time of the block; one per
    process. The environment of this process stays as it is."""
    _install()
    config: Any = {"core": {**_CORE, "mock_credentials": False}, "lambda": _NO_DOCKER}
    with mock_aws(config=config):
        listener = socket.create_server((host, port))
        with served(account(record=record), "aws", listener=listener):
            yield f"http://{host}:{listener.getsockname()[1]}"


class Invocable(Protocol):
    """A function."""

    def invoke(self, event: Any) -> Any:
        """Its answer; ProcessEnded where it raised, or its process ended."""
        ...


@contextmanager
def lambda_api(
    functions: Mapping[str, Invocable], record: Record | None = None, *, secret: bool = False
) -> Iterator[str]:
    """Serve Invoke for functions by name at the address this yields (`AWS_ENDPOINT_URL_LAMBDA`).
    One under `name#tenant` takes that tenant's, as with Lambda's tenant isolation mode. Where it is
    `secret`, only whoever was told the address can invoke."""

    async def invoke(request: Request) -> Response:
        name, payload = request.path_params["name"], await request.body()
        if record:
            who, _ = signed(request.headers.get("authorization", ""))
            record(who, "Lambda.InvokeFunction", name.encode())
        whose = request.headers.get("x-amz-tenant-id", "")
        function = functions.get(f"{name}#{whose}") or functions.get(name)
        if function is None:
            told = {"Type": "User", "Message": f"Function not found: {name}"}
            return JSONResponse(told, 404, {"x-amzn-errortype": "ResourceNotFoundException"})
        headers = {"x-amz-executed-version": "$LATEST"}
        try:
            answer = await run_in_threadpool(function.invoke, json.loads(payload))
        except ProcessEnded as error:
            answer = {"errorType": error.kind, "errorMessage": error.message}
            headers = {"x-amz-function-error": "Unhandled"}
        body = json.dumps(answer)  # not orjson: integers beyond 64 bits stay exact
        return Response(body, headers=headers, media_type="application/json")

    path = "/2015-03-31/functions/{name}/invocations"
    application = Starlette(routes=[Route(path, invoke, methods=["POST"])])
    with served(application, "lambda-api", secret=secret) as address:
        yield address


def main(arguments: list[str] | None = None) -> int:
    """Serve tables and queue until interrupted."""
    told = "Serve the tables and the queue of template.yaml on moto."
    parser = argparse.ArgumentParser(prog="make aws", description=told)
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen at (127.0.0.1)")
    parser.add_argument("--port", type=int, default=4566)
    options = parser.parse_args(arguments)
    with aws_server(options.host, options.port) as url:
        create_tables(client(url, "dynamodb"), load_template())
        queue = client(url, "sqs").create_queue(QueueName="RefreshQueue")["QueueUrl"]
        print(
            f"AWS (moto) listens on {url}; queue {queue}; Ctrl-C stops it and forgets everything",
            flush=True,
        )
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            print("\nstopped; nothing of this run is kept")
    return 0


if __name__ == "__main__":
    sys.exit(main())
