"""A request as routes see it, what they answer, how a method is marked as one, and what an error
is answered with."""

from __future__ import annotations

import base64
import json
import logging
import re
import sys
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple, TypeVar
from urllib.parse import parse_qsl

import orjson
from pydantic import BaseModel, ValidationError

from .. import language
from ..catalogue import AppInfo
from ..clock import new_id
from ..errors import BadInput, KernelError, ModelUnavailable
from ..sdk.records import User
from ..types import JSONObject

MAX_BODY_BYTES = 128 * 1024
IDENTITY = "who you are comes from the token alone: send Authorization: Bearer <token>"
REQUEST_ID = re.compile(r"[A-Za-z0-9_.:-]{1,128}")
LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8}){0,3}\b")
B = TypeVar("B", bound=BaseModel)
ROUTES = "_routes"
"""Attribute of a method that holds its routes."""


class Request(NamedTuple):
    """A request as routes see it. `user` is None on public routes only."""

    event: Mapping[str, Any]
    user: User | None
    path: Mapping[str, str]
    query: Mapping[str, str]
    headers: Mapping[str, str]

    @property
    def caller(self) -> User:
        """The authenticated user."""
        assert self.user is not None
        return self.user

    @property
    def reader(self) -> User:
        """The caller, to be answered in the first language of `Accept-Language` where it names
        one: how he is spoken to, which is no part of who he is; else in his own."""
        first = LANGUAGE.match(self.headers.get("accept-language", ""))
        return replace(self.caller, language=first[0]) if first else self.caller

    def raw(self) -> bytes:
        """The body's bytes; BadInput over 128 KB or for broken base64."""
        body = self.event.get("body") or ""
        try:
            raw = (
                base64.b64decode(body, validate=True)
                if self.event.get("isBase64Encoded")
                else str(body).encode("utf-8", "surrogatepass")
            )
        except ValueError:
            raise BadInput("the body is not valid base64", field="body") from None
        if len(raw) > MAX_BODY_BYTES:
            raise BadInput(
                f"the body has {len(raw)} bytes; the limit is {MAX_BODY_BYTES}",
                field="body",
                limit=MAX_BODY_BYTES,
            )
        return raw

    def body(self, model: type[B]) -> B:
        """The body as a wire model; BadInput naming the field and its limit."""
        try:
            data = orjson.loads(self.raw())
        except orjson.JSONDecodeError as error:
            raise BadInput(f"the body is not JSON in UTF-8: {error.msg}", field="body") from None
        if not isinstance(data, dict):
            raise BadInput("the body must be a JSON object", field="body")
        return checked(model, data)

    def key(self, given: str | None = None) -> str:
        """The id that makes a retry safe: the body's own, else the header Idempotency-Key, else a
        new one; BadInput for a header that is no request id."""
        if given:
            return given
        named = self.headers.get("idempotency-key", "")
        if named and not REQUEST_ID.fullmatch(named):
            raise BadInput(
                "Idempotency-Key takes 1 to 128 letters, digits and . : _ -",
                field="Idempotency-Key",
                limit=REQUEST_ID.pattern,
            )
        return named or new_id()

    def form(self, model: type[B]) -> B:
        """The body of an HTML form as a wire model, every field a text, the last of each name;
        BadInput as for `body`."""
        text = self.raw().decode("utf-8", "replace")
        return checked(model, dict(parse_qsl(text, keep_blank_values=True)))


class Answer(NamedTuple):
    """A response: JSON unless `content_type` says otherwise; bytes travel as base64."""

    body: Any
    status: int = 200
    content_type: str = "application/json"
    headers: Mapping[str, str] = {}


Handler = Callable[[Request], Coroutine[Any, Any, Answer]]
H = TypeVar("H", bound=Callable[..., Coroutine[Any, Any, Answer]])


@dataclass(frozen=True, slots=True, eq=False)
class Route:
    """A method that answers requests, told by decorating it. `key` is API Gateway's route key,
    `POST /v1/chat`. The rest describes it in the OpenAPI document.

    `body` is the wire model of the request and `body_type` how it travels, `answer` the shape
    of a 200 of `content_type`, or its name among those of `local`, `accepted` that of a 202,
    `params` the types of query and path parameters. A route that is not public refuses other
    query parameters. `errors` gives an error of this status and body another form, `failure` is
    that form's shape.
    """

    key: str
    public: bool = False
    body: type[BaseModel] | None = None
    answer: Any = None
    accepted: Any = None
    params: Mapping[str, Any] = field(default_factory=dict)
    content_type: str = "application/json"
    body_type: str = "application/json"
    errors: Callable[[int, JSONObject], JSONObject] | None = None
    failure: Any = None

    def __call__(self, method: H) -> H:
        """The method, served by this route too."""
        vars(method)[ROUTES] = (self, *vars(method).get(ROUTES, ()))
        return method


def checked(model: type[B], data: Any) -> B:
    """Validate; the first problem becomes BadInput with its field and limit."""
    try:
        return model.model_validate(data, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        name = ".".join(str(p) for p in first["loc"]) or "body"
        context = first.get("ctx") or {}
        kinds = ("max_length", "min_length", "le", "ge", "pattern")
        limit = next((context[k] for k in kinds if k in context), None)
        told = IDENTITY if name in ("user_id", "tenant_id") else first["msg"]
        if told == "Extra inputs are not permitted" and "." not in name:
            told = f"there is no such field; known are {', '.join(model.model_fields)}"
        raise BadInput(f"{name}: {told}", field=name, limit=limit) from None


def rendered(answer: Answer) -> JSONObject:
    """The HTTP API's response form (payload 2.0)."""
    is_json = answer.content_type == "application/json"
    headers = {
        "content-type": answer.content_type + ("" if is_json else "; charset=utf-8"),
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
    } | dict(answer.headers)
    if isinstance(answer.body, bytes):
        return {
            "statusCode": answer.status,
            "headers": headers,
            "body": base64.b64encode(answer.body).decode(),
            "isBase64Encoded": True,
        }
    body = json_text(answer.body) if is_json else str(answer.body)
    return {"statusCode": answer.status, "headers": headers, "body": body, "isBase64Encoded": False}


def json_text(value: Any) -> str:
    """Compact JSON, also of integers and broken surrogates that orjson refuses: extensions may
    return both."""
    try:
        return orjson.dumps(value).decode()
    except TypeError:
        return json.dumps(value, separators=(",", ":"))


SAID: Final = {"dispatch_unavailable": "unanswered", "being_answered": "being_answered"}
"""What people are told of a 503 by its code, where more is known than that something is down."""


def to_response(error: KernelError, user: User | None, message: str = "") -> JSONObject:
    """The error's body. What is down is for the log, and for developers and operators, who also
    read what a model's server said: others read that something is, why a model gave no answer, and
    what to do, in the language of their `message`, else their own. What was told stays so."""
    if isinstance(error, ModelUnavailable) and not error.told:
        return _of_model(error, user, message)
    if error.status == 503 and not error.told and (user is None or user.role == "user"):
        error.told = _speaks(user, message).say(SAID.get(error.code, "unavailable"))
    return error.body()


def _of_model(error: ModelUnavailable, user: User | None, message: str) -> JSONObject:
    if user is not None and user.role != "user":
        said = f" The server said: “{error.words}”" if error.words else ""
        error.told = f"{error}{said}"
    else:
        speaks = _speaks(user, message)
        error.told = speaks.cause(error.cause, error.wait_s) or speaks.say("unavailable")
    return error.body()


def unavailable_reason(app: AppInfo, user: User) -> str:
    """Why an app offers nothing, empty where it works. The text of its error may hold what it read
    when it was imported: it is for the log, and for developers and operators."""
    return app.error and (app.error if user.role != "user" else _speaks(user, "").say("app_away"))


def internal_error(
    log: logging.Logger, what: str, user: User | None, message: str = ""
) -> JSONObject:
    """What a defect looks like from outside: a number that stands in the log with its frames."""
    number = new_id()
    log.error("incident=%s | %s failed", number, what, exc_info=sys.exception())
    text = _speaks(user, message).say("incident", n=number)
    return {"error": {"code": "internal", "message": text}}


def _speaks(user: User | None, message: str) -> language.Language:
    own = user.language if user else "en"
    return language.of(language.detect(message, own) if message else own)
