"""Chat Completions with tools over HTTP: OpenAI, Ollama, vLLM and whatever else speaks the same
protocol.

Models differ in what they take. A request is first sent with `temperature: 0` and `max_tokens`; a
server that refuses either is asked again without the one, or with `max_completion_tokens` for the
other, and this process remembers it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import weakref
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from ..errors import ModelUnavailable, SettingsError
from ..values.plain import JSONObject
from .attempts import Passing, aloud, attempts, pause_of, slow
from .chat_completions import completion_request, read
from .key import ModelKey
from .manner import PLAIN, Manner
from .pieces import Aloud, ChatPieces
from .protocol import ModelRequest, ModelResponse
from .streaming import Hear
from .strict import without_nulls

if TYPE_CHECKING:
    import httpx2

MAX_ANSWER_BYTES: Final = 4 * 1024 * 1024
CONNECT_S: Final = 3.0
_OPTIONAL: Final = {
    "temperature": re.compile("temperature"),
    "max_tokens": re.compile("max_tokens|max_completion_tokens"),
    "stream_options": re.compile("stream_options|include_usage"),
    "effort": re.compile("reasoning_effort"),
    "cache_ttl": re.compile("prompt_cache_retention"),
    "strict": re.compile(r"\bstrict\b"),
}
_IDENTIFIER: Final = re.compile(r"[A-Za-z0-9_.\[\]-]{1,80}")
_INVALID: Final = (
    (
        re.compile(r"context.{0,20}(length|window)|too long|maximum.{0,20}tokens", re.I),
        "The prompt is too long for the model {model}.",
    ),
    (
        re.compile(r"tool", re.I),
        (
            "The model server does not take tools for {model}: choose a model with tool use, or"
            " switch it on in the server."
        ),
    ),
)
_log = logging.getLogger("webbee.model.openai")


_clients: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, httpx2.AsyncClient] = (
    weakref.WeakKeyDictionary()
)


class OpenAICompatibleModel:
    """One model of one server. `base_url` is what stands before `/chat/completions`, usually ending
    in `/v1`."""

    def __init__(
        self, base_url: str, model: str, key: ModelKey | None = None, manner: Manner = PLAIN
    ) -> None:
        if problem := _unusable(base_url):
            raise SettingsError(
                f"environment variable WEBBEE_MODEL: {problem}", field="WEBBEE_MODEL"
            )
        self.name = f"openai:{model}"
        self._model = model
        self._url = base_url.rstrip("/") + "/chat/completions"
        self._key = key or ModelKey()
        self._manner = manner
        self._refused: set[str] = set()

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """Answer within `request.timeout_s` or raise ModelUnavailable."""
        return await attempts(lambda left: self._ask(request, left), request.timeout_s)

    async def stream(self, request: ModelRequest, hear: Hear) -> ModelResponse:
        """The same, heard while it comes."""
        return await aloud(hear, request.timeout_s, lambda left, to: self._ask(request, left, to))

    async def _ask(
        self, request: ModelRequest, left: float, to: Aloud | None = None
    ) -> ModelResponse:
        renewed = False
        while True:
            refused = frozenset(self._refused)
            asked = completion_request(
                self._model, request, refused, streamed=to is not None, manner=self._manner
            )
            status, headers, body = await self._post(asked, left, to)
            if status == 200:
                answer = read(body)
                if not self._manner.strict:
                    return answer
                return replace(answer, tool_calls=without_nulls(answer.tool_calls, request.tools))
            if status in (401, 403) and not renewed and await self._key.replaced():
                renewed = True
                continue
            part = _refused_part(status, body, refused)
            if part is None:
                raise self._failed(status, headers, body)
            self._refused.add(part)
            _log.info(
                "model=%s part=%s | server refuses it, asked again without", self._model, part
            )

    async def _post(self, body: JSONObject, left: float, to: Aloud | None) -> tuple[int, Any, Any]:
        """Status, headers and the parsed body (None where it is no JSON), its text heard by `to`
        where it is streamed. Redirects are not followed: the key stays here."""
        import httpx2  # imported late: other models need none of it

        key = await self._key.get()
        headers = {"authorization": f"Bearer {key}"} if key else {}
        timeout = httpx2.Timeout(left, connect=min(left, CONNECT_S))
        try:
            async with _client().stream(
                "POST", self._url, json=body, headers=headers, timeout=timeout
            ) as response:
                if to is not None and _is_stream(response):
                    return 200, response.headers, await _heard(response, to)
                content = bytearray()
                async for chunk in response.aiter_bytes():
                    content += chunk
                    _limit(len(content))
        except (httpx2.ReadTimeout, httpx2.WriteTimeout):
            raise slow(left) from None
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            why = (
                f"The model server did not answer ({type(error).__name__}): try again, or check"
                " that it runs where WEBBEE_MODEL says."
            )
            raise Passing(ModelUnavailable(why)) from None
        try:
            return response.status_code, response.headers, json.loads(content)
        except (ValueError, RecursionError):
            return response.status_code, response.headers, None

    def _failed(self, status: int, headers: Any, body: Any) -> Exception:
        """What the kernel hears instead of an error answer; the server's own words, which may quote
        the request, stay behind."""
        code, words = _error_of(body)
        _log.warning(
            "model=%s status=%d code=%s | chat completion failed", self._model, status, code or "-"
        )
        if status in (401, 403):
            self._key.forget()
        if passing := _passing(status, code):
            return Passing(ModelUnavailable(passing), pause_of(headers.get("retry-after")))
        text = _lasting(status) or _why_refused(words)
        return ModelUnavailable(text.format(model=self._model, status=status, code=code))

    def __repr__(self) -> str:
        return f"OpenAICompatibleModel({self._model!r})"


def _is_stream(response: httpx2.Response) -> bool:
    """Whether the answer comes in pieces: servers that cannot stream answer in one."""
    kind = response.headers.get("content-type", "")
    return response.status_code == 200 and kind.startswith("text/event-stream")


async def _heard(response: httpx2.Response, to: Aloud) -> JSONObject:
    """A streamed answer, heard while it comes, as if it had come in one piece. Passing where it
    ends in the middle."""
    pieces, size = ChatPieces(to), 0
    async for line in response.aiter_lines():
        size += len(line)
        _limit(size)
        pieces.take(line)
    if not pieces.ended:
        raise Passing(ModelUnavailable("The model server broke off its answer: try again."))
    return pieces.body()


def _limit(size: int) -> None:
    if size > MAX_ANSWER_BYTES:
        raise ModelUnavailable(
            "The model server's answer is larger than 4 MB: check the base URL in WEBBEE_MODEL."
        )


def _passing(status: int, code: str) -> str:
    """What to say of an answer that another try may better; empty for others."""
    if status == 429 and code != "insufficient_quota":
        return "The model server is over its limit: try again in a minute."
    if status in (408, 409) or status >= 500:
        return f"The model server failed (HTTP {status}): try again."
    return ""


def _lasting(status: int) -> str:
    """What to say of an answer that only the operator can better; empty for others."""
    if status == 429:
        return "The model server's account has no credit left: the operator must top it up."
    if status in (401, 403):
        return (
            "The model server refused the key (HTTP {status}): check WEBBEE_MODEL_KEY, or the"
            " parameter that WEBBEE_MODEL_KEY_SECRET names."
        )
    if status == 404 or 300 <= status < 400:
        return (
            "The model server has no model {model}, or no chat completions at this address (HTTP"
            " {status}): check name and base URL, which usually ends in /v1, in WEBBEE_MODEL."
        )
    return ""


def _why_refused(words: str) -> str:
    return next(
        (told for pattern, told in _INVALID if pattern.search(words)),
        "The model server did not accept the request (HTTP {status} {code}).",
    )


def _client() -> httpx2.AsyncClient:
    """The one client of the running loop, which all models share: connections must not be used from
    another loop."""
    import httpx2

    loop = asyncio.get_running_loop()
    client = _clients.get(loop)
    if client is None:
        limits = httpx2.Limits(max_connections=20, keepalive_expiry=60.0)
        client = _clients[loop] = httpx2.AsyncClient(limits=limits)
    return client


async def close() -> None:
    """Close the running loop's connections. A process that ends, or a loop that runs for good, need
    not."""
    if client := _clients.pop(asyncio.get_running_loop(), None):
        await client.aclose()


def _unusable(base_url: str) -> str:
    """Why this base URL cannot be used; empty where it can."""
    unreadable = "the base URL has no host and port that can be read"
    try:
        parts = urlsplit(base_url)
        _ = parts.port  # read for its ValueError
    except ValueError:
        return unreadable
    if "@" in parts.netloc:
        return "the base URL must hold no credentials; use WEBBEE_MODEL_KEY"
    return "" if parts.hostname else unreadable


def _refused_part(status: int, body: Any, already: frozenset[str]) -> str | None:
    """The optional part that this model does not take; None for any other error."""
    if status not in (400, 422):
        return None
    code, words = _error_of(body)
    if "context" in code:
        return None
    return next(
        (part for part, name in _OPTIONAL.items() if part not in already and name.search(words)),
        None,
    )


def _error_of(body: Any) -> tuple[str, str]:
    """The error's code where it is one (never free text), and its words, the parameter it names
    first."""
    error = body.get("error", body) if isinstance(body, dict) else body
    if not isinstance(error, dict):
        return "", str(error or "")
    found = next((str(error[k]) for k in ("code", "type") if error.get(k)), "")
    words = " ".join(str(error[k]) for k in ("param", "message", "detail") if error.get(k))
    return (found if _IDENTIFIER.fullmatch(found) else ""), words
