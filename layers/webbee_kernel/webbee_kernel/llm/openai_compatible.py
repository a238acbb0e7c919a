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
import time
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from ..aws.clients import ClientFactory, aws_client, error_code, in_thread
from ..errors import ModelUnavailable, SettingsError
from ..types import JSONObject
from .attempts import LearningModel, pause_of, slow
from .completions import FEWER_KEYWORDS, NO_SYSTEM, TOO_LONG_AN_ANSWER, unanswerable, usable
from .failures import MODEL_SETTING, Passing, error_of, failure_of, status_of
from .openai_chat import completion_request, error_in, no_completion, read, served
from .options import PLAIN, ModelOptions
from .pieces import Aloud, ChatPieces
from .protocol import ModelRequest, ModelResponse

if TYPE_CHECKING:
    from ssl import SSLContext

    import httpx2

MAX_ANSWER_BYTES: Final = 4 * 1024 * 1024
CONNECT_S: Final = 3.0
BEHIND_S: Final = 1.0
"""Seconds that a stream is read on behind the end of its answer."""
_OPTIONAL: Final = {
    "no_reasoning": re.compile(
        r"reasoning_content.{0,80}\b(must|missing|required|passed back)\b"
        r"|missing.{0,20}reasoning_content",
        re.I | re.S,
    ),
    "reasoning": re.compile(
        r"(reasoning_(content|details)|extra_content).{0,80}\b(not|\w+n't|un\w+|extra|forbidden)\b"
        r"|\b(extra|un\w+|not)\b.{0,80}(reasoning_(content|details)|extra_content)",
        re.I | re.S,
    ),
    "temperature": re.compile("temperature|top_p.{0,30}both"),
    "max_tokens": re.compile("max_tokens|max_completion_tokens"),
    "limit": re.compile("max_tokens|max_completion_tokens|completion tokens"),
    "stream_options": re.compile("stream_options|include_usage"),
    "effort": re.compile("reasoning_effort|reasoning.effort"),
    "cache_ttl": re.compile("prompt_cache_retention"),
    "tool_choice": re.compile("tool_choice"),
    "schema": FEWER_KEYWORDS,
    "stop": re.compile(
        r"\bstop\b.{0,40}(not|n't|un)|(unknown|unsupported|unexpected).{0,40}\bstop\b"
    ),
    "null_content": re.compile(
        r"content.{0,80}(null|none|required|empty|string|str\b|nonetype|expected)", re.I | re.S
    ),
    "system": NO_SYSTEM,
    "tool_messages": re.compile(
        r"alternat|roles? must|tool_call_id|role.{0,30}\btool\b|\btool\b.{0,30}role"
        r"|expected.{0,30}role"
        r"|thought_signature|signature|reasoning_content",
        re.I | re.S,
    ),
    "stream": re.compile(
        r"\bstream(ing)?\b.{0,60}(not|n't|un|disabled)|(not|un)\w*.{0,30}stream", re.I
    ),
}
"""Parts of a request that a server may refuse, and how its refusal is told from others."""

_EMPTY: Final = "The model {model} gave an empty answer: try again, or choose another model."
_log = logging.getLogger("webbee.model.openai")


_HELP: Final = {
    "ParameterNotFound": "it does not exist in this account and region",
    "AccessDeniedException": "the function's role may not read it",
}


KEPT_S: Final = 300.0
"""Seconds after which a key is read anew: for so long the one before it must stay valid."""


class ModelKey:
    """The key of a model's server: given outright, or read from the parameter store when it is
    first needed, and again every few minutes: a new key takes over without a deployment, and
    without a failed turn where the old one still holds for so long. Empty for a server that wants
    none. Its value is in no repr, message or log."""

    def __init__(
        self,
        value: str = "",
        *,
        parameter: str = "",
        client_factory: ClientFactory = aws_client,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._value = value
        self._now = now
        self._read_at = 0.0
        # a key that is given outright wins
        self._parameter = "" if value else parameter
        self._client_factory = client_factory

    async def get(self) -> str:
        """The key; ModelUnavailable, and another try with the next request, where it cannot be
        read. One that is held stays until it can be read anew."""
        if self._parameter and not self._value:
            await self._renew()
        # a new key takes over without a deployment
        elif self._parameter and self._now() - self._read_at >= KEPT_S:
            with suppress(ModelUnavailable):
                await self._renew()
        key = self._value.strip()
        # a pasted key often brings a line break along
        if not (key.isascii() and key.isprintable()):
            self.forget()
            raise ModelUnavailable(
                "The model's key holds characters that no header can carry: check WEBBEE_MODEL_KEY"
                " or its parameter."
            )
        return key

    async def replaced(self) -> bool:
        """The server refused the key: whether its parameter holds another one by now, which is
        taken."""
        refused = self._value
        if self._parameter:
            with suppress(ModelUnavailable):
                await self._renew()
        return self._value != refused

    async def _renew(self) -> None:
        self._read_at = self._now()
        self._value = await in_thread(self._read)

    def hidden(self, text: str) -> str:
        """A text of the server's without the key, which some quote."""
        return text.replace(self._value, "…") if self._value else text

    def forget(self) -> None:
        """The server refused the key: if it came from a parameter, read it anew next time, it may
        have been replaced."""
        if self._parameter:
            self._value = ""

    def _read(self) -> str:
        try:
            answer = self._client_factory("ssm").get_parameter(
                Name=self._parameter, WithDecryption=True
            )
            return str(answer["Parameter"]["Value"])
        except Exception as error:  # the original may quote the value: it stays behind
            code = error_code(error)
            why = _HELP.get(code, code or type(error).__name__)
            raise ModelUnavailable(
                "The model's key cannot be read from the parameter that WEBBEE_MODEL_KEY_SECRET"
                f" names: {why}."
            ) from None

    def __repr__(self) -> str:
        return f"ModelKey(parameter={self._parameter!r})"


_clients: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, httpx2.AsyncClient] = (
    weakref.WeakKeyDictionary()
)


class OpenAICompatibleModel(LearningModel):
    """One model of one server. `base_url` is what stands before `/chat/completions`, usually ending
    in `/v1`."""

    def __init__(
        self, base_url: str, model: str, key: ModelKey | None = None, options: ModelOptions = PLAIN
    ) -> None:
        if problem := _unusable(base_url):
            raise SettingsError(
                f"environment variable WEBBEE_MODEL: {problem}", field="WEBBEE_MODEL"
            )
        _tls()  # a fifth of a second and more, which no first turn should wait for
        super().__init__(f"openai:{model}", options)
        self._model = model
        self._url = base_url.rstrip("/") + "/chat/completions"
        self._key = key or ModelKey()

    async def _ask(
        self, request: ModelRequest, left: float, to: Aloud | None = None
    ) -> ModelResponse:
        renewed = False
        while True:
            refused = frozenset(self.learnt.refused)
            # a server that cannot stream is asked for the whole
            listener = None if "stream" in refused else to
            asked = completion_request(
                self._model,
                request,
                refused,
                streamed=listener is not None,
                options=self._options,
            )
            status, headers, body = await self._post(asked, left, listener)
            if (answer := served(status, body)) is not None:
                return self._read(answer, request)
            body = error_in(body) or body
            status = status_of(body, status)
            # the key was exchanged since it was read
            if status in (401, 403) and not renewed and await self._key.replaced():
                renewed = True
                continue
            already = unanswerable(request, refused)
            if not self.learnt.goes_without(*_refusal(status, body, already), already):
                raise self._failed(status, headers, body)

    def _read(self, body: Any, request: ModelRequest) -> ModelResponse:
        if not body or (isinstance(body, dict) and not body.get("choices", True)):
            raise Passing(ModelUnavailable(_EMPTY.format(model=self._model), cause="empty"))
        return usable(read(body, request), request, self._model)

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
                kind = response.headers.get("content-type", "")
                # some answer whole though a stream was asked for
                in_pieces = response.status_code == 200 and kind.startswith("text/event-stream")
                if to is not None and in_pieces:
                    return 200, response.headers, await _heard(response, to)
                content = bytearray()
                async for chunk in response.aiter_bytes():
                    content += chunk
                    _limit(len(content))
        except (httpx2.ReadTimeout, httpx2.WriteTimeout):
            raise slow(left) from None
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise Passing(ModelUnavailable(self._unreached(error), cause="unreached")) from None
        return response.status_code, response.headers, _body(bytes(content), response.status_code)

    def _unreached(self, error: Exception) -> str:
        """What kept a request from the server, with the address that was asked."""
        where, said = urlsplit(self._url).netloc, str(error)
        # the commonest mistake of a first day has a sentence of its own
        if "connection attempts failed" in said or "refused" in said:
            return f"Nothing listens at {where}: start the server, or check {MODEL_SETTING}."
        why = ": ".join(filter(None, (type(error).__name__, said)))
        return (
            f"The model server at {where} did not answer ({why}): try again, or check"
            f" {MODEL_SETTING}."
        )

    def _failed(self, status: int, headers: Any, body: Any) -> Exception:
        """What the kernel hears instead of an error answer; the server's own words, which may quote
        the request, stay behind."""
        code, words = error_of(body)
        _log.warning(
            "model=%s status=%d code=%s | chat completion failed", self._model, status, code or "-"
        )
        words = self._key.hidden(words)
        if status in (401, 403):
            self._key.forget()
        failure = failure_of(status, code, words)
        pause = pause_of(headers.get("retry-after"))
        told = " ".join(filter(None, (str(status), code)))
        text = failure.text.format(model=self._model, status=told)
        error = ModelUnavailable(text, cause=failure.cause, words=words, wait_s=pause)
        return Passing(error, pause) if failure.passing else error

    def __repr__(self) -> str:
        return f"OpenAICompatibleModel({self._model!r})"


async def _heard(response: httpx2.Response, to: Aloud) -> JSONObject:
    """A streamed answer, heard while it comes, as if it had come in one piece. Passing where it
    ends in the middle."""
    pieces, size = ChatPieces(to), 0
    lines = response.aiter_lines()
    with suppress(TimeoutError, StopAsyncIteration):
        while not (pieces.done or to.endless):
            # behind its finish reason comes the usage, where a server tells it, or nothing at all
            async with asyncio.timeout(BEHIND_S if pieces.finish else None):
                line = await anext(lines)
            size += len(line)
            _limit(size)
            if error := pieces.take(line):
                return error
    if to.endless:
        pieces.finish = pieces.finish or "length"
    return pieces.body() if pieces.ended else _broken_off(pieces)


def _broken_off(pieces: ChatPieces) -> JSONObject:
    """A stream that has ended in the middle, or with nothing."""
    if pieces.is_foreign:
        raise no_completion()
    if pieces.text or pieces.calls:
        why = "The model server broke off its answer: try again."
        raise Passing(ModelUnavailable(why, cause="server_error"))
    return {}


def _body(content: bytes, status: int) -> Any:
    """The parsed body: JSON, or the events of a stream that nobody announced; None where there is
    nothing, the text where it is no JSON."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        text = content.decode("utf-8", "replace").strip("\0\ufeff \t\r\n")
    with suppress(ValueError, RecursionError):
        return json.loads(text)
    if status == 200 and text.startswith(("data:", ":", "event:", "{")):
        # a stream that nobody announced
        pieces = ChatPieces(lambda _: None)
        for line in text.splitlines():
            if error := pieces.take(line):
                return error
        return pieces.body() if pieces.ended else {}
    return text or None


def _limit(size: int) -> None:
    if size > MAX_ANSWER_BYTES:
        raise ModelUnavailable(
            "The model server's answer is larger than 4 MB: check the base URL in"
            f" {MODEL_SETTING}.",
            cause="no_completion",
        )


@cache
def _tls() -> SSLContext:
    """What connections of this process trust, with all that a client is made of loaded."""
    import httpx2

    context = httpx2.create_ssl_context()
    httpx2.AsyncHTTPTransport(verify=context)
    return context


def _client() -> httpx2.AsyncClient:
    """The one client of the running loop, which all models share: connections must not be used from
    another loop."""
    import httpx2

    # a turn's loop may be another one after a thaw
    loop = asyncio.get_running_loop()
    client = _clients.get(loop)
    if client is None:
        limits = httpx2.Limits(max_connections=20, keepalive_expiry=60.0)
        client = _clients[loop] = httpx2.AsyncClient(limits=limits, verify=_tls())
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
    # it would stand in logs and errors
    if "@" in parts.netloc:
        return "the base URL must hold no credentials; use WEBBEE_MODEL_KEY"
    return "" if parts.hostname else unreadable


def _refusal(
    status: int, body: Any, already: frozenset[str]
) -> tuple[Mapping[str, re.Pattern[str]], str]:
    """What a refusal may be about, and its words; none for an error that is no refusal of a
    part."""
    if status not in (400, 422, 500, 501):
        return _OPTIONAL, ""
    code, words = error_of(body)
    if "output_tokens" not in already and TOO_LONG_AN_ANSWER.search(words):
        return {"output_tokens": TOO_LONG_AN_ANSWER}, words  # some speak of the window there
    # these are mended by nothing that we leave out
    is_other = failure_of(status, code, words).cause in ("window", "no_model", "key")
    return _OPTIONAL, "" if is_other or "context" in code else words
