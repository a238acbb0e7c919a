"""One HTTP API event in, one answer out; every error becomes a status code here and nowhere
else."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from ..errors import (
    BadInput,
    KernelError,
    LimitReached,
    NotAuthenticated,
    NotFound,
)
from ..observability import answered, bind, hashed
from ..sdk.records import User
from ..types import JSONObject
from .endpoint import (
    ROUTES,
    Answer,
    Handler,
    Request,
    Route,
    internal_error,
    rendered,
    to_response,
)
from .identity import user_of

_log = logging.getLogger("webbee.api")


class LazyGroup:
    """Groups of routes that are imported and made when a path under one of its prefixes is first
    asked for: the cold start of a turn does not pay for them."""

    def __init__(self, make: Callable[[], tuple[object, ...]], *prefixes: str) -> None:
        self.make = make
        self._prefixes = prefixes

    def serves(self, path: str) -> bool:
        """Whether a path may be one of theirs."""
        return any(path == p or path.startswith(p + "/") for p in self._prefixes)


class Router:
    """The routes of several groups. API Gateway tells the route only where it has one of its own;
    all others come as `ANY /v1/{proxy+}`, so the path is matched here."""

    def __init__(self, *groups: object | LazyGroup) -> None:
        self.groups = groups
        self._tables: dict[int, list[_Entry]] = {}

    @property
    def handlers(self) -> dict[Route, Handler]:
        """Every route with its handler: this imports all groups."""
        tables = [self._table(place) for place in range(len(self.groups))]
        return {entry.route: entry.handler for table in tables for entry in table}

    async def serve(self, event: Mapping[str, Any]) -> JSONObject:
        """Answer one event; never raises. Counted, reads only where they fail: a page polls twenty
        times for each turn, which would hide that every turn fails."""
        if _method(event) == "OPTIONS":  # a browser asks first; API Gateway adds what it may do
            return {"statusCode": 204, "body": ""}
        failed, route = False, None
        try:
            entry, path = self._find(event)
            route = entry.route
            answer = await entry.handler(entry.request(event, path))
        except KernelError as error:
            answer, failed = _refusal(error, _reader(event), route), error.status >= 500
        except Exception:
            answer = _formed(Answer(internal_error(_log, "request", _reader(event)), 500), route)
            failed = True
        if failed or _method(event) != "GET":
            answered(failed=failed)
        return rendered(answer)

    def _find(self, event: Mapping[str, Any]) -> tuple[_Entry, Mapping[str, str]]:
        http = (event.get("requestContext") or {}).get("http") or {}
        path = str(event.get("rawPath") or http.get("path", ""))
        method, parts = _method(event), path.split("/")
        for place, group in enumerate(self.groups):
            if isinstance(group, LazyGroup) and not group.serves(path):
                continue
            for entry in self._table(place):
                parameters = entry.match(method, parts)
                if parameters is not None:
                    return entry, parameters
        raise NotFound(f"there is no route {method} {path}", field="path")

    def _table(self, place: int) -> list[_Entry]:
        if place not in self._tables:
            group = self.groups[place]
            made = group.make() if isinstance(group, LazyGroup) else (group,)
            self._tables[place] = [entry for one in made for entry in _entries(one)]
        return self._tables[place]


class _Entry:
    """A route, its handler, and the parts of its path."""

    def __init__(self, route: Route, handler: Handler) -> None:
        self.route = route
        self.handler = handler
        self._method, _, path = route.key.partition(" ")
        self._parts = path.split("/")
        self._greedy = path.endswith("+}")

    def match(self, method: str, parts: list[str]) -> dict[str, str] | None:
        """The path's parameters, decoded; None where it is another route's. `{name}` takes one
        part, `{name+}` at the end all that are left, neither takes an empty text."""
        if method != self._method:
            return None
        if self._greedy:
            last = len(self._parts) - 1
            parts = [*parts[:last], "/".join(parts[last:])]
        if len(parts) != len(self._parts):
            return None
        parameters = {}
        for own, part in zip(self._parts, parts, strict=True):
            if own.startswith("{") and part:
                parameters[own.strip("{+}")] = unquote(part)
            elif own != part:
                return None
        return parameters

    def request(self, event: Mapping[str, Any], path: Mapping[str, str]) -> Request:
        """The event as this route's handler sees it; BadInput for a query parameter that the route
        does not know."""
        query = event.get("queryStringParameters") or {}
        user = None if self.route.public else user_of(event)
        if user:
            bind(user=hashed(user.tenant_id, user.imperal_id))
            self._refuse_unknown(query, path)
        headers = {k.lower(): v for k, v in (event.get("headers") or {}).items()}
        return Request(event=event, user=user, path=path, query=query, headers=headers)

    def _refuse_unknown(self, query: Mapping[str, str], path: Mapping[str, str]) -> None:
        known = self.route.params.keys() - path.keys()
        if other := sorted(query.keys() - known):
            takes = f"takes {', '.join(sorted(known))}" if known else "takes none"
            raise BadInput(
                f"there is no query parameter {other[0][:64]!r}; {self.route.key} {takes}",
                field=other[0][:64],
            )


def _entries(group: object) -> Iterator[_Entry]:
    for name, method in vars(type(group)).items():
        for route in getattr(method, ROUTES, ()):
            yield _Entry(route, getattr(group, name))


def _method(event: Mapping[str, Any]) -> str:
    http = (event.get("requestContext") or {}).get("http") or {}
    return str(http.get("method", ""))


def _reader(event: Mapping[str, Any]) -> User | None:
    """Who reads the answer, where the authoriser knows."""
    try:
        return user_of(event)
    except NotAuthenticated:
        return None


def _formed(answer: Answer, route: Route | None) -> Answer:
    """An error in the form of its route."""
    if route is None or route.errors is None:
        return answer
    return answer._replace(body=route.errors(answer.status, answer.body))


def _refusal(error: KernelError, reader: User | None, route: Route | None) -> Answer:
    if error.status >= 500:
        _log.error("code=%s | %s", error.code, error)
    wait = error.retry_after if isinstance(error, LimitReached) else 1
    headers = {"retry-after": str(wait)} if error.status in (429, 503) else {}
    return _formed(Answer(to_response(error, reader), error.status, headers=headers), route)
