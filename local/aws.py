"""AWS on this machine: moto behind one lock, in this process and on a port.

- `local_aws`   an empty account in this process, for the local run and for tests
- `aws_port`    the same account on a port, as much of it as the local cell's role reaches
- `aws_server`  an account for what does not run in this process; `python -m local.aws` serves the
  tables and the queue of template.yaml for `sam local invoke`
- `lambda_api`  Invoke, the one call of Lambda's API that the kernel makes

moto is not thread-safe. Of 1,500 concurrent ADDs 1,371 survive, and of 100 conditional puts on
absent keys some have two winners; no error is raised. One lock round every request makes all of it
exact. It is installed once, for good.
"""

from __future__ import annotations

import argparse
import copy
import io
import json
import logging
import os
import re
import ssl
import sys
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol
from urllib.parse import unquote

import boto3
from botocore.awsrequest import AWSPreparedRequest
from botocore.compat import HTTPHeaders
from moto import mock_aws
from moto.backends import get_backend
from moto.core import DEFAULT_ACCOUNT_ID
from moto.core.botocore_stubber import BotocoreStubber
from moto.core.config import default_user_config
from moto.core.models import botocore_stubber

from .template import Template, create_tables, load_template

REGION = "eu-central-1"
Record = Callable[[str, str, bytes], None]
"""Told of every request: the access key it was signed with, its target such as
`DynamoDB_20120810.PutItem`, its body."""

_SCOPE = re.compile(r"(Credential=[^/]+/\d{8}/)[^/]+(/)")
_SIGNED = re.compile(r"Credential=([^/]+)/\d{8}/[^/]+/([^/]+)/")

_REGION_VARIABLE = "AWS_DEFAULT_REGION"
# Not resetting boto3's default session cuts a start from 174 to 14 ms; nothing here uses that
# session.
_CORE: dict[str, Any] = {"reset_boto3_session": False}
_REAL_BEDROCK: dict[str, Any] = {
    "passthrough": {"services": [], "urls": [r"https://bedrock-runtime[.-]"]}
}

_unlocked = BotocoreStubber.__call__
_lock = threading.RLock()


def _locked(self: BotocoreStubber, *args: Any, **kwargs: Any) -> Any:
    with _lock:
        return _unlocked(self, *args, **kwargs)


@contextmanager
def local_aws(*, bedrock: bool = False) -> Iterator[None]:
    """An empty AWS account for the time of the block; it may be nested, the innermost shares the
    outer one's state.

    Credentials are fake, and the region is eu-central-1 unless the environment names one. With
    `bedrock`, models are the real account's: requests to Bedrock leave this machine, with the
    credentials that boto3 finds; nothing else does.
    """
    BotocoreStubber.__call__ = _locked
    had_region = _REGION_VARIABLE in os.environ
    os.environ.setdefault(_REGION_VARIABLE, REGION)
    try:
        own = (
            {"mock_credentials": boto3.Session().get_credentials() is None, **_REAL_BEDROCK}
            if bedrock
            else {}
        )
        config: Any = {"core": {**_CORE, **own}}
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


def in_region(authorization: str) -> str:
    """A request's signature as if it were for the account's one region. Whoever comes, a container
    of `sam local` or a shell with a profile, finds the same tables whatever region it believes in.
    """
    return _SCOPE.sub(rf"\g<1>{REGION}\g<2>", authorization)


def access_key(authorization: str) -> str:
    """Who signed a request; empty for nobody."""
    found = _SIGNED.search(authorization)
    return found[1] if found else ""


def service(authorization: str) -> str:
    """The service a request was signed for, such as `dynamodb`; empty where nobody signed it."""
    found = _SIGNED.search(authorization)
    return found[2] if found else ""


CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "local",
    "AWS_SECRET_ACCESS_KEY": "local",
    "AWS_DEFAULT_REGION": REGION,
    "AWS_REGION": REGION,
}
"""Environment of whatever talks to it."""


_SERVICES = (
    "dynamodb",
    "sqs",
    "ssm",
    "s3",
    "cloudformation",
    "awslambda",
    "iam",
    "logs",
    "events",
)


class _OneAtATime:
    """moto as a WSGI application behind the lock."""

    def __init__(self, record: Record | None) -> None:
        from moto.server import DomainDispatcherApplication, create_backend_app  # Flask comes along

        self._record = record
        self._application = DomainDispatcherApplication(create_backend_app)

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        if self._record:
            body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
            environ["wsgi.input"] = io.BytesIO(body)
            self._record(
                access_key(environ.get("HTTP_AUTHORIZATION", "")),
                environ.get("HTTP_X_AMZ_TARGET", ""),
                body,
            )
        environ["HTTP_AUTHORIZATION"] = in_region(environ.get("HTTP_AUTHORIZATION", ""))
        with _lock:
            return list(self._application(environ, start_response))


@contextmanager
def aws_server(
    host: str = "127.0.0.1", port: int = 0, *, record: Record | None = None
) -> Iterator[str]:
    """An empty AWS account at the address this yields, for the time of the block; one per
    process."""
    from werkzeug.serving import make_server

    # It only remembers functions; nothing here runs them through it.
    default_user_config["lambda"] = {"use_docker": False}
    _forget()  # another account of this process may have left its tables behind
    server = make_server(host, port, _OneAtATime(record), threaded=True)
    thread = threading.Thread(target=server.serve_forever, name="aws", daemon=True)
    thread.start()
    try:
        yield f"http://{host}:{server.server_port}"
    finally:
        server.shutdown()
        thread.join(timeout=5)
        _forget()


def account() -> Any:
    """The account as a WSGI application, for another server than this module's."""
    return _OneAtATime(None)


def _forget() -> None:
    for name in _SERVICES:
        get_backend(name).reset()


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


OTHERS = ("sqs", "sts", "lambda")
"""Services of the deployment that its role does not reach either."""

Response = tuple[int, Mapping[str, str], bytes]


@contextmanager
def aws_port(tables: Collection[str], prefix: str) -> Iterator[str]:
    """Answer requests to AWS at the address this yields. Of DynamoDB only these tables are there;
    `prefix` is a path that nobody can guess, since nothing here checks a signature."""

    class Handler(Quiet):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            if not self.path.startswith(prefix):
                self._answer((404, {}, b""))
                return
            path = self.path.removeprefix(prefix) or "/"
            self._answer(_answer(self.command, path, dict(self.headers), body, tables))

        do_GET = do_PUT = do_DELETE = do_HEAD = do_POST  # noqa: N815 - the server's own names

        def _answer(self, response: Response) -> None:
            status, headers, body = response
            self.send_response_only(status)
            for name, value in headers.items():
                if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                    self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                with suppress(ConnectionError):  # who asked has given up: its own timeout says so
                    self.wfile.write(body)

    with loopback(Handler, "aws-port") as address:
        yield f"{address}{prefix}"


def _answer(
    method: str, path: str, headers: dict[str, str], body: bytes, tables: Collection[str]
) -> Response:
    """What moto answers, as if the request had gone to AWS's own address."""
    name = service(headers.get("Authorization") or headers.get("authorization") or "")
    if name in OTHERS or (name == "dynamodb" and not _tables_of(body) <= set(tables)):
        return _refused(f"the cell's role does not reach this: {name}")
    region = os.environ.get("AWS_DEFAULT_REGION", REGION)
    host = f"{name}.{region}.amazonaws.com"
    sent = HTTPHeaders()
    for key, value in headers.items():
        if key.lower() != "host":
            sent[key] = value
    request = AWSPreparedRequest(method, f"https://{host}{path}", sent, body, stream_output=False)
    answer = botocore_stubber("before-send", request)
    if answer is None:
        return _refused(f"{name or 'an unsigned request'}: not on this machine")
    return answer.status_code, dict(answer.headers), answer.content


def _tables_of(body: bytes) -> set[str]:
    """Tables that a request to DynamoDB names, parts of transactions and batches included."""
    asked: dict[str, Any] = json.loads(body or b"{}")
    parts = [part for item in asked.get("TransactItems", ()) for part in item.values()]
    named = {str(one["TableName"]) for one in (asked, *parts) if "TableName" in one}
    return named | set(asked.get("RequestItems", {}))


def _refused(why: str) -> Response:
    body = {"__type": "com.amazon.coral.service#AccessDeniedException", "message": why}
    return 400, {"content-type": "application/x-amz-json-1.0"}, json.dumps(body).encode()


_INVOKE = re.compile(r"/2015-03-31/functions/([^/]+)/invocations")


class FunctionError(Exception):
    """The function raised, or its init did: the error's class and message as Lambda reports
    them."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind = kind
        self.message = message


class Invocable(Protocol):
    """A function."""

    def invoke(self, event: Any) -> Any:
        """Its answer; FunctionError where it raised or ended."""
        ...


@contextmanager
def lambda_api(
    functions: Mapping[str, Invocable], record: Record | None = None, *, prefix: str = ""
) -> Iterator[str]:
    """Serve Invoke for functions by name at the address this yields (`AWS_ENDPOINT_URL_LAMBDA`).
    One under `name#tenant` takes that tenant's, as with Lambda's tenant isolation mode. With a
    `prefix`, a path that nobody can guess, only whoever was told it can invoke."""

    class Handler(Quiet):
        def do_POST(self) -> None:
            payload = self.rfile.read(int(self.headers.get("content-length") or 0))
            found = _INVOKE.fullmatch(self.path.removeprefix(prefix))
            if not self.path.startswith(prefix):
                found = None
            if record and found:
                record(
                    access_key(self.headers.get("authorization", "")),
                    "Lambda.InvokeFunction",
                    unquote(found[1]).encode(),
                )
            function = self._asked(unquote(found[1])) if found else None
            if function is None:
                self._answer(
                    404,
                    {"Type": "User", "Message": f"Function not found: {self.path}"},
                    "x-amzn-errortype",
                    "ResourceNotFoundException",
                )
                return
            try:
                self._answer(200, function.invoke(json.loads(payload)))
            except FunctionError as error:
                self._answer(
                    200,
                    {"errorType": error.kind, "errorMessage": error.message},
                    "x-amz-function-error",
                    "Unhandled",
                )

        def _asked(self, name: str) -> Invocable | None:
            whose = self.headers.get("x-amz-tenant-id", "")
            return functions.get(f"{name}#{whose}") or functions.get(name)

        def _answer(
            self,
            status: int,
            body: object,
            header: str = "x-amz-executed-version",
            value: str = "$LATEST",
        ) -> None:
            raw = json.dumps(body).encode()  # not orjson: integers beyond 64 bits stay exact
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(raw)))
            self.send_header(header, value)
            self.end_headers()
            self.wfile.write(raw)

    with loopback(Handler, "lambda-api") as address:
        yield f"{address}{prefix}"


class Quiet(BaseHTTPRequestHandler):
    """A handler that keeps connections open and says nothing on the terminal."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Whoever only opens a connection keeps it, as with AWS."""
        self.send_response(404)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Silence."""


@contextmanager
def loopback(
    handler: type[BaseHTTPRequestHandler], name: str, trust: ssl.SSLContext | None = None
) -> Iterator[str]:
    """Serve a handler on a free port of 127.0.0.1, at the address this yields, over TLS where a
    server's context is given; `name` is the thread's. A request still being answered does not hold
    up the end."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    if trust:
        server.socket = trust.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
    thread = threading.Thread(target=server.serve_forever, name=name, daemon=True)
    thread.start()
    try:
        yield f"http{'s' * bool(trust)}://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(timeout=5)


def main(arguments: list[str] | None = None) -> int:
    """Serve tables and queue until interrupted."""
    parser = argparse.ArgumentParser(
        prog="make aws", description="Serve the tables and the queue of template.yaml on moto."
    )
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=4566)
    options = parser.parse_args(arguments)
    logging.getLogger("werkzeug").setLevel(logging.WARNING)  # a line a request, which tells nothing
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
