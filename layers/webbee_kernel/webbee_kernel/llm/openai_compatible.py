"""Chat Completions with tools over HTTP: OpenAI, Ollama, vLLM and other compatible servers.

A request is first sent with `temperature: 0` and `max_tokens`; if a server refuses one of them, it
is repeated without the first or with `max_completion_tokens`, and this process remembers it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import cache, partial
from ssl import create_default_context
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from ..aws.clients import (
    ClientFactory,
    aws_client,
    environment_proxy,
    error_code,
    in_thread,
    threads,
)
from ..config import ModelOptions
from ..errors import ModelUnavailable, SettingsError
from ..text import json_text
from ..types import JSONObject
from .adapter import REFUSALS, Adapter, Listener, fixed_parts
from .assembly import require_content
from .failures import MODEL_SETTING, Retryable, error_of, failure_of, pause_of, slow, status_of
from .openai_chat import CHAT_PARTS, ChatAnswer, completion_request
from .options import PLAIN
from .protocol import ModelRequest, ModelResponse

if TYPE_CHECKING:
    from urllib3 import HTTPResponse, PoolManager

MAX_ANSWER_BYTES: Final = 4 * 1024 * 1024
CHUNK_BYTES: Final = 64 * 1024
THREADS: Final = 16
_POOL: Final = threads(THREADS, "openai")
CONNECT_S: Final = 3.0
TRAILER_S: Final = 1.0
"""Seconds to wait for usage after the end of a streamed answer."""
DRAIN_S: Final = 0.1
"""Seconds to wait for the end of a body whose last event was read."""
IDLE_S: Final = 60.0
"""Seconds without a request after which the next one opens a new connection."""
_last_request_at: dict[str, float] = {}
_log = logging.getLogger("webbee.model.openai")

_HELP: Final = {
    "ParameterNotFound": "it does not exist in this account and region",
    "AccessDeniedException": "the function's role may not read it",
}


class ModelKey:
    """The API key of a model server: given directly, or read from Parameter Store on first use and
    again when the server refuses it (rotation without deployment). Empty if none is needed; never
    in a repr, message or log."""

    def __init__(
        self, value: str = "", *, parameter: str = "", client_factory: ClientFactory = aws_client
    ) -> None:
        self._value = value
        # a key that is given outright wins
        self._parameter = "" if value else parameter
        self._client_factory = client_factory

    async def get(self) -> str:
        """The key. Raises ModelUnavailable if it cannot be read; the next request tries again."""
        if self._parameter and not self._value:
            self._value = await in_thread(self._read)
        # a pasted key often brings a line break along
        key = self._value.strip()
        if not (key.isascii() and key.isprintable()):
            self._value = "" if self._parameter else self._value
            raise ModelUnavailable(
                "The model's key holds characters that no header can carry: check WEBBEE_MODEL_KEY"
                " or its parameter."
            )
        return key

    async def refresh(self) -> bool:
        """Read the parameter again after the server refused the key; whether it has changed."""
        refused = self._value
        if self._parameter:
            with suppress(ModelUnavailable):
                self._value = await in_thread(self._read)
        return self._value != refused

    def redact(self, text: str) -> str:
        """A server message without the key, which some quote."""
        return text.replace(self._value, "…") if self._value else text

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


class OpenAICompatibleModel(Adapter):
    """One model of one server. `base_url` is the part before `/chat/completions`, usually ending in
    `/v1`."""

    def __init__(
        self, base_url: str, model: str, key: ModelKey | None = None, options: ModelOptions = PLAIN
    ) -> None:
        if problem := _url_problem(base_url):
            raise SettingsError(
                f"environment variable WEBBEE_MODEL: {problem}", field="WEBBEE_MODEL"
            )
        super().__init__(f"openai:{model}", options)
        self._model = model
        self._url = base_url.rstrip("/") + "/chat/completions"
        _connections(self._url)  # certificates are read at init, and not in the first turn
        self._key = key or ModelKey()

    async def _ask(
        self, request: ModelRequest, left: float, sink: Listener | None = None
    ) -> ModelResponse:
        loop = asyncio.get_running_loop()
        # the stream is read in a thread, and heard on the loop
        hear = sink and (lambda piece: loop.call_soon_threadsafe(sink, piece))
        is_renewed = False
        while True:
            refused = frozenset(self.refused_parts)
            # a server that cannot stream is asked for the whole
            is_streamed = sink is not None and "stream" not in refused
            body = completion_request(
                self._model, request, refused, is_streamed=is_streamed, options=self._options
            )
            answer = ChatAnswer(request, hear)
            listener = sink if is_streamed else None
            status, headers = await self._exchange(body, left, answer, listener)
            if answer.error is None:
                return require_content(answer.response(), request, self._model)
            status = status_of(answer.error, status)
            # the key was exchanged since it was read
            if status in (401, 403) and not is_renewed and await self._key.refresh():
                is_renewed = True
                continue
            fixed = fixed_parts(request, refused)
            words = _refusal(status, answer.error, fixed)
            if not self._drop_refused(CHAT_PARTS, words, fixed):
                raise self._service_error(status, headers, answer.error)

    async def _exchange(
        self, body: JSONObject, left: float, answer: ChatAnswer, sink: Listener | None
    ) -> tuple[int, Any]:
        """Send the request and feed the response to `answer`, streamed where there is a `sink`;
        returns status and headers. Where nobody waits for it any more, the connection is closed,
        so that the server can stop."""
        key = await self._key.get()
        opened: list[HTTPResponse] = []
        post = partial(self._post, body, key, left, answer, opened, sink)
        try:
            result: tuple[int, Any] = await in_thread(post, pool=_POOL)
        except asyncio.CancelledError:
            with suppress(ValueError, RuntimeError, OSError):  # it has ended by itself
                for response in opened:
                    response.shutdown()
            raise
        return result

    def _post(
        self,
        body: JSONObject,
        key: str,
        left: float,
        answer: ChatAnswer,
        opened: list[HTTPResponse],
        sink: Listener | None,
    ) -> tuple[int, Any]:
        """The blocking half, with its response in `opened` as soon as there is one. Redirects are
        not followed, so that the key is not sent elsewhere."""
        from urllib3 import Timeout, exceptions

        headers = {"content-type": "application/json"}
        headers |= {"authorization": f"Bearer {key}"} if key else {}
        timeout = Timeout(connect=min(left, CONNECT_S), read=left)
        try:
            _close_idle(self._url)
            response: Any = _connections(self._url).urlopen(
                "POST",
                self._url,
                body=json_text(body).encode(),
                headers=headers,
                timeout=timeout,
                redirect=False,
                preload_content=False,
            )
            opened.append(response)
            with response:
                kind = response.headers.get("content-type", "")
                # some answer whole though a stream was asked for
                if sink and response.status == 200 and kind.startswith("text/event-stream"):
                    _read_stream(response, answer, sink)
                else:
                    answer.read_body(_read_whole(response), response.status)
                return response.status, response.headers
        except exceptions.ReadTimeoutError:
            raise slow(left) from None
        except exceptions.HTTPError as error:
            raise Retryable(ModelUnavailable(self._unreachable(error), cause="unreached")) from None

    def _unreachable(self, error: Exception) -> str:
        """The message for a failed connection, with the server's address."""
        where, said = urlsplit(self._url).netloc, str(error)
        if "connection attempts failed" in said or "refused" in said:
            return f"Nothing listens at {where}: start the server, or check {MODEL_SETTING}."
        # urllib3 puts its own objects before what the system said
        why = ": ".join(filter(None, (type(error).__name__, str(error.__cause__ or said))))
        return (
            f"The model server at {where} did not answer ({why}): try again, or check"
            f" {MODEL_SETTING}."
        )

    def _service_error(self, status: int, headers: Any, body: Any) -> Exception:
        """The kernel's error for an error response; the server's message may quote the request and
        is not logged."""
        code, words = error_of(body)
        _log.warning(
            "model=%s status=%d code=%s | chat completion failed", self._model, status, code or "-"
        )
        label = " ".join(filter(None, (f"HTTP {status}", code)))
        return failure_of(status, code, words).error(
            "The model server",
            self._model,
            label,
            self._key.redact(words),
            pause_of(headers.get("retry-after")),
        )


def _read_stream(response: HTTPResponse, answer: ChatAnswer, sink: Listener) -> None:
    """Feed a streamed answer line by line, to its end, until nothing useful follows, or until the
    sink is closed."""
    from urllib3.exceptions import ReadTimeoutError

    draft, size = answer.draft, 0
    sock = getattr(response.connection, "sock", None)
    lines = _lines(response)
    while not (answer.is_done or answer.error is not None or sink.is_closed):
        if draft.stop and sock:  # the usage follows, where a server tells it, or nothing at all
            sock.settimeout(TRAILER_S)
        try:
            line = next(lines, None)
        except ReadTimeoutError:
            if draft.stop:
                return
            raise
        if line is None:
            return
        size += len(line)
        _check_size(size)
        answer.line(line.decode("utf-8", "replace"))
    if answer.is_done and sock:  # read to its end, the connection serves the next request, too
        sock.settimeout(DRAIN_S)
        response.drain_conn()
        with suppress(OSError):  # where it was closed instead
            sock.settimeout(None)


def _lines(response: HTTPResponse) -> Iterator[bytes]:
    """The lines of a body as they arrive."""
    pieces: list[bytes] = []
    while chunk := response.read1(CHUNK_BYTES, decode_content=True):
        pieces.append(chunk)
        if b"\n" in chunk or b"\r" in chunk:
            *lines, last = b"".join(pieces).splitlines(keepends=True)
            pieces = [] if last.endswith((b"\n", b"\r")) else [last]
            yield from lines if pieces else (*lines, last)
    yield b"".join(pieces)


def _read_whole(response: HTTPResponse) -> bytes:
    """The whole body."""
    content = bytearray()
    while chunk := response.read1(CHUNK_BYTES, decode_content=True):
        content += chunk
        _check_size(len(content))
    return bytes(content)


def _check_size(size: int) -> None:
    if size > MAX_ANSWER_BYTES:
        raise ModelUnavailable(
            "The model server's answer is larger than 4 MB: check the base URL in"
            f" {MODEL_SETTING}.",
            cause="no_completion",
        )


@cache
def _connections(url: str) -> PoolManager:
    """The connections to a server, through the environment's proxy where boto3 would take one."""
    import urllib3  # imported late: other models need none of it

    options: dict[str, Any] = {"maxsize": THREADS, "retries": False}
    if url.startswith("https:"):
        options["ssl_context"] = create_default_context()
    proxy, headers = environment_proxy(url)
    if proxy:
        return urllib3.ProxyManager(proxy, proxy_headers=headers, **options)
    return urllib3.PoolManager(**options)


def _close_idle(url: str) -> None:
    """Close connections that were idle for long: a server or router between may have dropped them
    while this environment was frozen, and a request on one would wait for its timeout."""
    now = time.time()
    if now - _last_request_at.get(url, now) > IDLE_S:
        _connections(url).clear()
    _last_request_at[url] = now


def _url_problem(base_url: str) -> str:
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


def _refusal(status: int, error: Any, fixed: frozenset[str]) -> str:
    """The error message if it may refuse a part of the request, else empty."""
    if status not in (400, 422, 500, 501):
        return ""
    code, words = error_of(error)
    if "output_tokens" not in fixed and REFUSALS["output_tokens"].search(words):
        return words  # some speak of the window there
    # these are mended by nothing that we leave out
    is_other = failure_of(status, code, words).cause in ("window", "no_model", "key")
    return "" if is_other or "context" in code else words
