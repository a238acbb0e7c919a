"""Chat Completions with tools over HTTP: OpenAI, Ollama, vLLM and other compatible servers.

A request is first sent with `temperature: 0` and `max_tokens`; if a server refuses one of them, it
is repeated without the first or with `max_completion_tokens`, and this process remembers it.
"""

from __future__ import annotations

import asyncio
import logging
import weakref
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from ..aws.clients import ClientFactory, aws_client, error_code, in_thread
from ..config import ModelOptions
from ..errors import ModelUnavailable, SettingsError
from ..types import JSONObject
from .adapter import REFUSALS, Adapter, Listener, fixed_parts
from .assembly import require_content
from .failures import MODEL_SETTING, Retryable, error_of, failure_of, pause_of, slow, status_of
from .openai_chat import CHAT_PARTS, ChatAnswer, completion_request
from .options import PLAIN
from .protocol import ModelRequest, ModelResponse

if TYPE_CHECKING:
    from ssl import SSLContext

    import httpx2

MAX_ANSWER_BYTES: Final = 4 * 1024 * 1024
CONNECT_S: Final = 3.0
TRAILER_S: Final = 1.0
"""Seconds to wait for usage after the end of a streamed answer."""
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


_clients: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, httpx2.AsyncClient] = (
    weakref.WeakKeyDictionary()
)


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
        _tls()  # a fifth of a second and more, which no first turn should wait for
        super().__init__(f"openai:{model}", options)
        self._model = model
        self._url = base_url.rstrip("/") + "/chat/completions"
        self._key = key or ModelKey()

    async def _ask(
        self, request: ModelRequest, left: float, sink: Listener | None = None
    ) -> ModelResponse:
        is_renewed = False
        while True:
            refused = frozenset(self.refused_parts)
            # a server that cannot stream is asked for the whole
            is_streamed = sink is not None and "stream" not in refused
            body = completion_request(
                self._model, request, refused, is_streamed=is_streamed, options=self._options
            )
            answer = ChatAnswer(request, sink)
            status, headers = await self._post(body, left, answer, is_streamed=is_streamed)
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

    async def _post(
        self, body: JSONObject, left: float, answer: ChatAnswer, *, is_streamed: bool
    ) -> tuple[int, Any]:
        """Send the request and feed the response to `answer`; returns status and headers. Redirects
        are not followed, so that the key is not sent elsewhere."""
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
                is_events = response.status_code == 200 and kind.startswith("text/event-stream")
                if is_streamed and is_events:
                    await _read_stream(response, answer)
                    return 200, response.headers
                content = bytearray()
                async for chunk in response.aiter_bytes():
                    content += chunk
                    _check_size(len(content))
        except (httpx2.ReadTimeout, httpx2.WriteTimeout):
            raise slow(left) from None
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise Retryable(ModelUnavailable(self._unreachable(error), cause="unreached")) from None
        answer.read_body(bytes(content), response.status_code)
        return response.status_code, response.headers

    def _unreachable(self, error: Exception) -> str:
        """The message for a failed connection, with the server's address."""
        where, said = urlsplit(self._url).netloc, str(error)
        if "connection attempts failed" in said or "refused" in said:
            return f"Nothing listens at {where}: start the server, or check {MODEL_SETTING}."
        why = ": ".join(filter(None, (type(error).__name__, said)))
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


async def _read_stream(response: httpx2.Response, answer: ChatAnswer) -> None:
    """Feed a streamed answer line by line, to its end or until nothing useful follows."""
    size, draft = 0, answer.draft
    lines = response.aiter_lines()
    with suppress(TimeoutError, StopAsyncIteration):
        while not (answer.is_done or answer.error is not None):
            # behind its finish reason comes the usage, where a server tells it, or nothing at all
            async with asyncio.timeout(TRAILER_S if draft.stop else None):
                line = await anext(lines)
            size += len(line)
            _check_size(size)
            answer.line(line)


def _check_size(size: int) -> None:
    if size > MAX_ANSWER_BYTES:
        raise ModelUnavailable(
            "The model server's answer is larger than 4 MB: check the base URL in"
            f" {MODEL_SETTING}.",
            cause="no_completion",
        )


@cache
def _tls() -> SSLContext:
    """The TLS context of this process; also loads what a client needs."""
    import httpx2

    context = httpx2.create_ssl_context()
    httpx2.AsyncHTTPTransport(verify=context)
    return context


def _client() -> httpx2.AsyncClient:
    """The client of the running loop, shared by all models; connections are bound to their loop."""
    import httpx2

    # a turn's loop may be another one after a thaw
    loop = asyncio.get_running_loop()
    client = _clients.get(loop)
    if client is None:
        limits = httpx2.Limits(max_connections=20, keepalive_expiry=60.0)
        client = _clients[loop] = httpx2.AsyncClient(limits=limits, verify=_tls())
    return client


async def close() -> None:
    """Close the running loop's connections; only needed for temporary loops."""
    if client := _clients.pop(asyncio.get_running_loop(), None):
        await client.aclose()


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
