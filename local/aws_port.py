"""This process's AWS (moto, `aws.py`) on a port, for the local cell: as much of it as the cell's
role reaches."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from botocore.awsrequest import AWSPreparedRequest
from botocore.compat import HTTPHeaders
from moto.core.models import botocore_stubber

from .aws import REGION, service
from .loopback import Quiet, loopback

OTHERS = ("sqs", "sts", "lambda")
"""Services of the deployment that its role does not reach either."""

Response = tuple[int, Mapping[str, str], bytes]


@contextmanager
def aws_port(tables: Collection[str], prefix: str) -> Iterator[str]:
    """Answer requests to AWS at the address this yields. Of DynamoDB only these tables are there;
    `prefix` is a path that nobody can guess, since nothing here checks a signature."""

    class Handler(Quiet):
        def do_POST(self) -> None:  # noqa: N802 - the server's own name
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
