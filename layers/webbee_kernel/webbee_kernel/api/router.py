"""The HTTP API: requests, answers, the decorator `Route`, the router; errors as status codes."""

from __future__ import annotations

import base64
import logging
import re
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar
from urllib.parse import unquote

import orjson
from pydantic import BaseModel, ValidationError

from .. import language
from ..catalogue import AppInfo
from ..clock import new_id
from ..errors import (
    BadInput,
    KernelError,
    LimitReached,
    ModelUnavailable,
    NotAuthenticated,
    NotFound,
)
from ..observability import bind, count_request, user_hash
from ..sdk.result import User
from ..text import json_text
from ..types import CallOutcome, CallRequest, JSONObject, user_dict
from .identity import user_of

if TYPE_CHECKING:
    from ..bootstrap import App, Installs
    from ..refresh.refresh_queue import RefreshQueue
    from ..turn.kernel import Kernel

MAX_BODY_BYTES = 128 * 1024
IDENTITY = "who you are comes from the token alone: send Authorization: Bearer <token>"
REQUEST_ID = re.compile(r"[A-Za-z0-9_.:-]{1,128}")
LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8}){0,3}\b")
B = TypeVar("B", bound=BaseModel)
ROUTES = "_routes"
"""Attribute of a method that holds its routes."""


class Request(NamedTuple):
    """A request. `user` is None on public routes only."""

    event: Mapping[str, Any]
    user: User | None
    path: Mapping[str, str]
    query: Mapping[str, str]
    headers: Mapping[str, str]

    @property
    def caller(self) -> User:
        assert self.user is not None
        return self.user

    @property
    def reader(self) -> User:
        """The caller with the first language of `Accept-Language`, if it names one."""
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
        return validate(model, json_object(self.raw()))

    def query_model(self, model: type[B]) -> B:
        """Path and query as a wire model; BadInput as `body`."""
        return validate(model, {**self.query, **self.path}, strict=False)

    def key(self, body_key: str | None = None) -> str:
        """The request's id: the body's own, else the header Idempotency-Key, else a new one;
        BadInput for an invalid header."""
        if body_key:
            return body_key
        header = self.headers.get("idempotency-key", "")
        if header and not REQUEST_ID.fullmatch(header):
            raise BadInput(
                "Idempotency-Key takes 1 to 128 letters, digits and . : _ -",
                field="Idempotency-Key",
                limit=REQUEST_ID.pattern,
            )
        return header or new_id()


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
    """Decorates the method that serves a route. `key` is API Gateway's route key, `POST /v1/chat`.
    The rest describes it in the OpenAPI document.

    `body` is the wire model of the request and `body_type` its media type, `answer` the shape of a
    200 of `content_type` or its name in `local/answers.py`, `accepted` that of a 202, `params` the
    wire model of query and path; a route that is not public refuses other query parameters.
    `errors` formats an error of a status and body, `failure` is the shape of that.
    """

    key: str
    public: bool = False
    body: type[BaseModel] | None = None
    answer: Any = None
    accepted: Any = None
    params: type[BaseModel] | None = None
    content_type: str = "application/json"
    body_type: str = "application/json"
    errors: Callable[[int, JSONObject], JSONObject] | None = None
    failure: Any = None

    def __call__(self, method: H) -> H:
        # in front, since Python applies the lowest decorator first
        vars(method)[ROUTES] = (self, *vars(method).get(ROUTES, ()))
        return method

    def match(self, method: str, path: str) -> dict[str, str] | None:
        """The path's parameters, decoded; None for another route's path. `{name}` takes one part,
        `{name+}` at the end all that are left; neither is empty."""
        route_method, _, pattern = self.key.partition(" ")
        if method != route_method:
            return None
        if "{" not in pattern:
            return {} if path == pattern else None
        found = _expression(pattern).fullmatch(path)
        # decoded after the split: an encoded slash stays within its part
        return {n: unquote(part) for n, part in found.groupdict().items()} if found else None


@cache
def _expression(path: str) -> re.Pattern[str]:
    parts = re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", path)
    return re.compile(re.sub(r"\{(\w+)\+\}", r"(?P<\1>(?s:.+))", parts))


def json_object(body: bytes | str) -> JSONObject:
    """The body of a request or a frame; BadInput for anything but a JSON object."""
    try:
        data = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise BadInput(f"the body is not JSON in UTF-8: {error.msg}", field="body") from None
    if not isinstance(data, dict):
        raise BadInput("the body must be a JSON object", field="body")
    return data


def validate(model: type[B], data: Any, *, strict: bool = True) -> B:
    """Validate; the first problem becomes BadInput with its field and limit."""
    try:
        return model.model_validate(data, strict=strict)
    except ValidationError as error:
        # without the input, since errors are logged
        first = error.errors(include_url=False, include_input=False)[0]
        name = ".".join(str(p) for p in first["loc"]) or "body"
        context = first.get("ctx") or {}
        kinds = ("max_length", "min_length", "le", "ge", "pattern")
        limit = next((context[k] for k in kinds if k in context), None)
        problem = IDENTITY if name in ("user_id", "tenant_id") else first["msg"]
        if problem == "Extra inputs are not permitted" and "." not in name:
            problem = f"there is no such field; known are {', '.join(model.model_fields)}"
        raise BadInput(f"{name}: {problem}", field=name, limit=limit) from None


def to_http(answer: Answer) -> JSONObject:
    """The HTTP API's response form (payload 2.0)."""
    is_json = answer.content_type == "application/json"
    has_charset = is_json or "charset" in answer.content_type.lower()
    headers = {
        "content-type": answer.content_type + ("" if has_charset else "; charset=utf-8"),
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


UNAVAILABLE_TEXTS: Final = {
    "dispatch_unavailable": "unanswered",
    "being_answered": "being_answered",
}
"""Texts of 503s by code; another code has a general text."""


def to_response(error: KernelError, user: User | None, message: str = "") -> JSONObject:
    """The error's body. Of a 503, users get a general text in the language of their `message`, else
    their own; developers and operators what is down, with the words of a model's server. The text
    stays the same when it is asked for again."""
    if error.status == 503 and not error.public_message:
        of_model = error if isinstance(error, ModelUnavailable) else None
        if user is None or user.role == "user":
            language_ = _language_of(user, message)
            cause = of_model and language_.cause(of_model.cause, of_model.wait_s)
            error.public_message = cause or language_.say(
                UNAVAILABLE_TEXTS.get(error.code, "unavailable")
            )
        elif of_model and of_model.words:
            error.public_message = f"{error} The server said: “{of_model.words}”"
    return error.body()


def unavailable_reason(app: AppInfo, user: User) -> str:
    """Why an app cannot be used, empty where it can. The text of its error may hold what it read
    when it was imported: it is for developers and operators."""
    return app.error and (
        app.error if user.role != "user" else _language_of(user, "").say("app_away")
    )


def kernel_error(error: Exception, what: str, user: User | None, message: str = "") -> KernelError:
    """The error itself, or for an unexpected one an error with a number, under which the log has
    the frames; its language is as in `to_response`."""
    if isinstance(error, KernelError):
        return error
    number = new_id()
    _log.error("incident=%s | %s failed", number, what, exc_info=error)
    return KernelError(_language_of(user, message).say("incident", n=number))


def log_outage(error: KernelError) -> None:
    """Log a 5xx; an unexpected error has been logged with its number."""
    if error.status >= 500 and error.code != KernelError.code:
        _log.error("code=%s | %s", error.code, error)


def _language_of(user: User | None, message: str) -> language.Language:
    tag = user.language if user else "en"
    return language.of(language.detect(message, tag) if message else tag)


_log = logging.getLogger("webbee.api")


class Services(NamedTuple):
    """The collaborators of routes."""

    app: App
    kernel: Kernel
    queue: RefreshQueue
    installs: Installs

    async def call(
        self,
        kind: str,
        user: User,
        app_id: str,
        name: str,
        arguments: JSONObject | None = None,
        **more: Any,
    ) -> CallOutcome:
        """Call an app, by default for the deployment's time of a call; `more` are further fields of
        the request."""
        seconds = {"deadline_s": self.app.settings.call_seconds}
        request = CallRequest(
            kind, user_dict(user), app_id, name, arguments or {}, **{**seconds, **more}
        )
        return await self.kernel.dispatch.call(request)


class Group:
    """An object with routes, created at the first request for a path under one of its prefixes, so
    that a cold start imports only what a turn needs."""

    def __init__(self, create: Callable[[], object], *prefixes: str) -> None:
        """Without prefixes it may serve any path."""
        self._create = create
        self._prefixes = prefixes or ("",)

    @cached_property
    def routes(self) -> list[tuple[Route, Handler]]:
        """In the order of the source; the first match serves a path."""
        group = self._create()
        methods = vars(type(group)).items()
        return [(route, getattr(group, n)) for n, m in methods for route in getattr(m, ROUTES, ())]

    def serves(self, path: str) -> bool:
        """Whether a path may be one of its routes'."""
        return any(path == p or path.startswith(p + "/") for p in self._prefixes)


class Router:
    """The routes of several groups, matched by path: most come as API Gateway's one route
    `ANY /v1/{proxy+}`."""

    def __init__(self, *groups: Group) -> None:
        self.groups = groups

    @property
    def handlers(self) -> dict[Route, Handler]:
        """Every route with its handler: this imports all groups."""
        return {route: handler for group in self.groups for route, handler in group.routes}

    async def serve(self, event: Mapping[str, Any]) -> JSONObject:
        """Answer one event; never raises. Counts requests, but reads only if they fail: pages poll
        so often that failing turns would not show."""
        http = (event.get("requestContext") or {}).get("http") or {}
        method, path = http.get("method", ""), str(event.get("rawPath") or http.get("path", ""))
        if method == "OPTIONS":  # a browser asks first; API Gateway adds what it may do
            return {"statusCode": 204, "body": ""}
        route, failed = None, False
        try:
            route, handler, parameters = self._find(method, path)
            answer = to_http(await handler(_request(route, event, parameters)))
        except Exception as error:
            answer = to_http(_refusal(error, _reader(event), route))
            failed = answer["statusCode"] >= 500
        if failed or method != "GET":
            count_request(failed=failed)
        return answer

    def _find(self, method: str, path: str) -> tuple[Route, Handler, Mapping[str, str]]:
        for group in self.groups:
            for route, handler in group.routes if group.serves(path) else ():
                parameters = route.match(method, path)
                if parameters is not None:
                    return route, handler, parameters
        raise NotFound(f"there is no route {method} {path}", field="path")


def _request(route: Route, event: Mapping[str, Any], path: Mapping[str, str]) -> Request:
    """The event as a request; BadInput for an unknown query parameter."""
    query = event.get("queryStringParameters") or {}
    user = None if route.public else user_of(event)
    if user:
        bind(user=user_hash(user.tenant_id, user.imperal_id))
        known = set(route.params.model_fields if route.params else ()) - path.keys()
        if other := sorted(query.keys() - known):
            takes = f"takes {', '.join(sorted(known))}" if known else "takes none"
            raise BadInput(
                f"there is no query parameter {other[0][:64]!r}; {route.key} {takes}",
                field=other[0][:64],
            )
    # API Gateway lowers the names of headers, local servers may not
    headers = {k.lower(): v for k, v in (event.get("headers") or {}).items()}
    return Request(event=event, user=user, path=path, query=query, headers=headers)


def _reader(event: Mapping[str, Any]) -> User | None:
    """The caller, if the authoriser knows one."""
    try:
        return user_of(event)
    except NotAuthenticated:
        return None


def _refusal(error: Exception, reader: User | None, route: Route | None) -> Answer:
    """The answer to a request that failed, in the form of its route."""
    told = kernel_error(error, "request", reader)
    log_outage(told)
    # an outage has no known end: clients may retry soon
    wait = told.retry_after if isinstance(told, LimitReached) else 1
    headers = {"retry-after": str(wait)} if told.status in (429, 503) else {}
    answer = Answer(to_response(told, reader), told.status, headers=headers)
    if route is None or route.errors is None:
        return answer
    return answer._replace(body=route.errors(answer.status, answer.body))
