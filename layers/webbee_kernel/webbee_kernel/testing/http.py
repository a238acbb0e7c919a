"""`ctx.http` in a test: answered by a function, nothing leaves the machine."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from ..extensions.context.http_client import HttpClient, HttpResponse
from ..types import JSON


@dataclass(frozen=True, slots=True)
class HttpCall:
    """What the extension sent: `json`, `data`, `params` and `headers` as it gave them."""

    method: str
    url: str
    params: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    json: JSON = None
    data: JSON = None


Answering: TypeAlias = Callable[[HttpCall], JSON | tuple[int, JSON] | HttpResponse]
"""Takes what was sent; gives a body (dicts and lists as JSON, status 200), `(status, body)` or a
whole response. What it raises, the extension meets."""


def client_of(
    answer: Answering | None, sent: list[HttpCall], *, allow_private: bool = True
) -> Callable[[], HttpClient]:
    """What makes `ctx.http` of a test. TypeError for an answer that is no function."""
    if answer is None:
        return lambda: LocalHttp(allow_private=allow_private)
    if not callable(answer):
        raise TypeError(
            f"http= is a function of the request, not {type(answer).__name__}:"
            " lambda request: {…} answers with JSON, (404, {…}) with a status"
        )
    return lambda: AnsweredHttp(answer, sent)


class LocalHttp(HttpClient):
    """Reaches servers by address, as tests start them, and none by name: a test that forgot to
    answer says so."""

    async def _resolve(self, url: str) -> str:
        host = urlsplit(url).hostname or ""
        if host and host != "localhost" and not _is_address(host):
            raise ConnectionError(
                f"a test does not leave this machine: answer {host} with http=lambda request: {{…}}"
            )
        return await super()._resolve(url)


def _is_address(host: str) -> bool:
    try:
        return bool(ip_address(host))
    except ValueError:
        return False


class AnsweredHttp(HttpClient):
    """Hands requests to a function and remembers them in `sent`."""

    def __init__(self, answer: Answering, sent: list[HttpCall]) -> None:
        super().__init__(allow_private=True)
        self._answer = answer
        self._sent = sent

    async def request(self, method: str, url: str, **kwargs: Any) -> HttpResponse:
        """The function's answer."""
        given = {k: v for k, v in kwargs.items() if k in HttpCall.__dataclass_fields__ and v}
        call = HttpCall(method.upper(), url, **given)
        self._sent.append(call)
        answer = self._answer(call)
        if isinstance(answer, HttpResponse):
            return answer
        status, body = answer if isinstance(answer, tuple) else (200, answer)
        raw = body if isinstance(body, str) else json.dumps(body)
        kind = "text/plain" if isinstance(body, str) else "application/json"
        return HttpResponse(status, {"content-type": kind}, raw.encode(), url)
