"""Requests and answers of a few AWS operations as they go over the wire; pure.

Arguments, answers and errors have boto3's shapes: `{"TableName": …}` in, `{"Items": […],
"ResponseMetadata": …}` out.
"""

from __future__ import annotations

import base64
import io
import json
import uuid
import zlib
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple
from urllib.parse import quote

import orjson

from ..values.plain import JSON, JSONObject
from . import query


class Operation(NamedTuple):
    """How one operation goes over the wire: JSON under a target header, REST with a path, or a
    form."""

    name: str
    target: str = ""
    path: str = "/"
    form: bool = False
    """A form instead of JSON, and XML for an answer."""
    token: str = ""
    """Argument that makes a repeat harmless; made here when the caller gives none."""


def _json(
    prefix: str, *names: str, tokens: Mapping[str, str] | None = None
) -> dict[str, Operation]:
    return {
        _snake(n): Operation(n, f"{prefix}.{n}", token=(tokens or {}).get(n, "")) for n in names
    }


def _snake(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")


OPERATIONS: Final[Mapping[str, Mapping[str, Operation]]] = {
    "dynamodb": _json(
        "DynamoDB_20120810",
        *("GetItem", "PutItem", "UpdateItem", "DeleteItem", "Query"),
        *("BatchGetItem", "BatchWriteItem", "TransactWriteItems", "TransactGetItems"),
        tokens={"TransactWriteItems": "ClientRequestToken"},
    ),
    "sqs": _json("AmazonSQS", "SendMessage", "SendMessageBatch"),
    "ssm": _json("AmazonSSM", "GetParameter", "GetParameters", "GetParametersByPath"),
    "lambda": {
        "invoke": Operation("Invoke", path="/2015-03-31/functions/{FunctionName}/invocations")
    },
    "sts": {"assume_role": Operation("AssumeRole", form=True)},
    "bedrock-runtime": {"converse": Operation("Converse", path="/model/{modelId}/converse")},
}
_SIGNING_NAMES: Final = {"bedrock-runtime": "bedrock"}
_JSON_VERSIONS: Final = {"ssm": "1.1"}
_INVOKE_HEADERS: Final = {
    "InvocationType": "x-amz-invocation-type",
    "LogType": "x-amz-log-type",
    "ClientContext": "x-amz-client-context",
    "TenantId": "x-amz-tenant-id",
}


class Answer(NamedTuple):
    """An HTTP answer: lower-case header names, the body whole."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def intact(self) -> bool:
        """Whether the body is what the service summed up, where it did."""
        told = self.headers.get("x-amz-crc32")
        return not told or int(told) == zlib.crc32(self.body)


def signing_name(service: str) -> str:
    """What signatures call a service."""
    return _SIGNING_NAMES.get(service, service)


def written(
    service: str, operation: Operation, request: JSONObject
) -> tuple[str, dict[str, str], bytes]:
    """Path, headers and body of a request."""
    if operation.target:
        if operation.token:
            request = {operation.token: str(uuid.uuid4()), **request}
        kind = f"application/x-amz-json-{_JSON_VERSIONS.get(service, '1.0')}"
        return "/", {"content-type": kind, "x-amz-target": operation.target}, _dumped(request)
    if operation.form:
        return "/", {"content-type": query.FORM}, query.form(operation.name, request)
    request = dict(request)
    before, named, after = operation.path.replace("}", "{").split("{")
    path = f"{before}{quote(request.pop(named), safe='-._~')}{after}"
    if operation.name != "Invoke":
        return path, {"content-type": "application/json"}, _dumped(request)
    payload = request.pop("Payload", b"")
    headers = {_INVOKE_HEADERS[name]: value for name, value in request.items()}
    return path, headers, payload.encode() if isinstance(payload, str) else bytes(payload)


def read(operation: Operation, answer: Answer, attempts: int) -> JSONObject:
    """A success as boto3 gives it."""
    meta = {"ResponseMetadata": _metadata(answer, attempts)}
    if operation.name == "Invoke":
        headers = answer.headers
        told = {"FunctionError": headers.get("x-amz-function-error")}
        return {
            "StatusCode": answer.status,
            "Payload": io.BytesIO(answer.body),
            **{k: v for k, v in told.items() if v},
            **meta,
        }
    if operation.form:
        return {**query.result(answer.body), **meta}
    if operation.name == "Converse":  # a model may write an integer beyond 64 bits
        return {**json.loads(answer.body), **meta}
    found = orjson.loads(answer.body) if answer.body else {}
    if b'"B' in answer.body or b'"LastModifiedDate"' in answer.body:
        found = _typed(found)
    return {**found, **meta}


def code_of(answer: Answer) -> str:
    """The service's name of an error, empty for a success."""
    if 200 <= answer.status < 300:
        return ""
    if told := answer.headers.get("x-amzn-query-error"):  # SQS keeps its older names here
        return told.split(";")[0]
    body = _parsed(answer)
    told = answer.headers.get("x-amzn-errortype") or body.get("__type") or body.get("code") or ""
    return str(told).split(":")[0].rsplit("#", 1)[-1] or str(answer.status)


def refusal(operation: Operation, answer: Answer, attempts: int, *, last: bool) -> Exception:
    """An error answer as botocore raises it, with what a refused condition met; `last` where no
    further attempt was allowed."""
    from botocore.exceptions import ClientError

    body = _typed(_parsed(answer))
    text = body.get("message") or body.get("Message") or ""
    more = {k: v for k, v in body.items() if k in ("Item", "CancellationReasons", "Reason")}
    response: Any = {
        "Error": {"Code": code_of(answer), "Message": text},
        "ResponseMetadata": {
            **_metadata(answer, attempts),
            **({"MaxAttemptsReached": True} if last else {}),
        },
        **more,
    }
    return ClientError(response, operation.name)


def _metadata(answer: Answer, attempts: int) -> JSONObject:
    headers = answer.headers
    return {
        "RequestId": headers.get("x-amzn-requestid", ""),
        "HTTPStatusCode": answer.status,
        "HTTPHeaders": dict(headers),
        "RetryAttempts": attempts - 1,
    }


def _parsed(answer: Answer) -> JSONObject:
    try:
        body = orjson.loads(answer.body)
    except orjson.JSONDecodeError:
        return query.error(answer.body) if answer.body.startswith(b"<Error") else {}
    return body if isinstance(body, dict) else {}


def _dumped(request: JSONObject) -> bytes:
    try:
        return orjson.dumps(request, default=_binary)
    except TypeError:  # an integer beyond 64 bits, a lone surrogate
        return json.dumps(request, default=_binary).encode()


def _binary(value: object) -> str:
    if isinstance(value, bytes | bytearray | memoryview):
        return base64.b64encode(value).decode()
    raise TypeError(f"AWS takes no {type(value).__name__}")


def _typed(value: JSON) -> JSON:
    """Binary attributes as bytes, times as datetimes, in place. `{"B": "…"}` with a string inside
    is nothing else in these answers."""
    if isinstance(value, list):
        value[:] = map(_typed, value)
        return value
    if not isinstance(value, dict):
        return value
    match value:
        case {"B": str(text)} if len(value) == 1:
            return {"B": base64.b64decode(text)}
        case {"BS": [str(), *_] as texts} if len(value) == 1:
            return {"BS": [base64.b64decode(text) for text in texts]}
    for key, item in value.items():
        if isinstance(item, dict | list):
            value[key] = _typed(item)
    if isinstance(changed := value.get("LastModifiedDate"), int | float):
        value["LastModifiedDate"] = datetime.fromtimestamp(changed, UTC)
    return value
