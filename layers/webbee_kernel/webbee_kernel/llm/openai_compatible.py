"""Chat Completions with tools over HTTP: OpenAI, Ollama, vLLM and whatever else speaks the same
protocol.

Models differ in what they take. A request is first sent with `temperature: 0` and `max_tokens`; a
server that refuses either is asked again without the one, or with `max_completion_tokens` for the
other, and this process remembers it.
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
from ..errors import ModelUnavailable, SettingsError
from ..types import JSONObject
from .adapter import PARTS, Adapter, Listener, unanswerable
from .assembly import usable
from .failures import MODEL_SETTING, Passing, error_of, failure_of, pause_of, slow, status_of
from .openai_chat import CHAT_PARTS, ChatAnswer, completion_request
from .options import PLAIN, ModelOptions
from .protocol import ModelRequest, ModelResponse

if TYPE_CHECKING:
    from ssl import SSLContext

    import httpx2

MAX_ANSWER_BYTES: Final = 4 * 1024 * 1024
CONNECT_S: Final = 3.0
BEHIND_S: Final = 1.0
"""Seconds that a stream is read on behind the end of its answer."""
_log = logging.getLogger("webbee.model.openai")

_HELP: Final = {
    "ParameterNotFound": "it does not exist in this account and region",
    "AccessDeniedException": "the function's role may not read it",
}


class ModelKey:
    """The key of a model's server: given outright, or read from the parameter store when it is
    first needed, and again where the server refuses it, so that a new key takes over without a
    deployment. Empty for a server that wants none. Its value is in no repr, message or log."""

    def __init__(
        self, value: str = "", *, parameter: str = "", client_factory: ClientFactory = aws_client
    ) -> None:
        self._value = value
        # a key that is given outright wins
        self._parameter = "" if value else parameter
        self._client_factory = client_factory

    async def get(self) -> str:
        """The key; ModelUnavailable, and another try with the next request, where it cannot be
        read."""
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

    async def replaced(self) -> bool:
        """The server refused the key: whether its parameter holds another one by now, which is
        taken."""
        refused = self._value
        if self._parameter:
            with suppress(ModelUnavailable):
                self._value = await in_thread(self._read)
        return self._value != refused

    def hidden(self, text: str) -> str:
        """A text of the server's without the key, which some quote."""
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

    def __repr__(self) -> str:
        return f"ModelKey(parameter={self._parameter!r})"


_clients: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, httpx2.AsyncClient] = (
    weakref.WeakKeyDictionary()
)


class OpenAICompatibleModel(Adapter):
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
        self, request: ModelRequest, left: float, to: Listener | None = None
    ) -> ModelResponse:
        renewed = False
        while True:
            refused = frozenset(self.learnt.refused)
            # a server that cannot stream is asked for the whole
            streamed = to is not None and "stream" not in refused
            body = completion_request(
                self._model, request, refused, streamed=streamed, options=self._options
            )
            answer = ChatAnswer(request, to)
            status, headers = await self._post(body, left, answer, streamed=streamed)
            if answer.error is None:
                return usable(answer.response(), request, self._model)
            status = status_of(answer.error, status)
            # the key was exchanged since it was read
            if status in (401, 403) and not renewed and await self._key.replaced():
                renewed = True
                continue
            already = unanswerable(request, refused)
            words = _refusal(status, answer.error, already)
            if not self.learnt.goes_without(CHAT_PARTS, words, already):
                raise self._failed(status, headers, answer.error)

    async def _post(
        self, body: JSONObject, left: float, answer: ChatAnswer, *, streamed: bool
    ) -> tuple[int, Any]:
        """Status and headers; what comes is told to `answer`. Redirects are not followed: the key
        stays here."""
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
                if streamed and in_pieces:
                    await _hear(response, answer)
                    return 200, response.headers
                content = bytearray()
                async for chunk in response.aiter_bytes():
                    content += chunk
                    _limit(len(content))
        except (httpx2.ReadTimeout, httpx2.WriteTimeout):
            raise slow(left) from None
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise Passing(ModelUnavailable(self._unreached(error), cause="unreached")) from None
        answer.whole(bytes(content), response.status_code)
        return response.status_code, response.headers

    def _unreached(self, error: Exception) -> str:
        """What kept a request from the server, with the address that was asked."""
        where, said = urlsplit(self._url).netloc, str(error)
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
        told = " ".join(filter(None, (f"HTTP {status}", code)))
        return failure_of(status, code, words).error(
            "The model server",
            self._model,
            told,
            self._key.hidden(words),
            pause_of(headers.get("retry-after")),
        )

    def __repr__(self) -> str:
        return f"OpenAICompatibleModel({self._model!r})"


async def _hear(response: httpx2.Response, answer: ChatAnswer) -> None:
    """Tell a streamed answer line by line, to its end or where nothing of use comes any more."""
    size, made = 0, answer.made
    lines = response.aiter_lines()
    with suppress(TimeoutError, StopAsyncIteration):
        while not (answer.done or made.endless or answer.error is not None):
            # behind its finish reason comes the usage, where a server tells it, or nothing at all
            async with asyncio.timeout(BEHIND_S if made.stop else None):
                line = await anext(lines)
            size += len(line)
            _limit(size)
            answer.line(line)
    if made.endless:
        made.stop = made.stop or "length"


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


def _refusal(status: int, error: Any, already: frozenset[str]) -> str:
    """The words of a refusal of a part of the request; none for other errors."""
    if status not in (400, 422, 500, 501):
        return ""
    code, words = error_of(error)
    if "output_tokens" not in already and PARTS["output_tokens"].search(words):
        return words  # some speak of the window there
    # these are mended by nothing that we leave out
    is_other = failure_of(status, code, words).cause in ("window", "no_model", "key")
    return "" if is_other or "context" in code else words
