"""Amazon Bedrock: the Converse API through boto3, each request in a thread of its own pool.

Time: the turn never waits longer than `request.timeout_s`; the client's read timeout is the next
step of `read_timeout_for`, so few clients exist and a thread that nobody waits for ends soon after.
Retries are those of `attempts`, which know the deadline; botocore's own are off.

Models differ in what they take. A request is first sent with a cache point and temperature 0, and
streamed where somebody listens; a model that refuses any of it is asked again without, and this
process remembers it.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable
from typing import Any, Final

from ..aws.clients import (
    aws_client,
    error_code,
    failure_kind,
    in_thread,
    read_timeout_for,
    threads,
)
from ..errors import ModelUnavailable
from ..types import JSONObject
from .attempts import aloud, attempts, pause_of, slow
from .completions import FEWER_KEYWORDS, NO_SYSTEM, TOO_LONG_AN_ANSWER, unanswerable, usable
from .converse import converse_request, read
from .failures import MODEL_SETTING, Passing, failure_of
from .options import PLAIN, Learnt, ModelOptions
from .pieces import Aloud, ConversePieces
from .protocol import Hear, ModelRequest, ModelResponse

THREADS: Final = 16
_POOL: Final = threads(THREADS, "bedrock")
_OPTIONAL: Final = {
    "output_tokens": TOO_LONG_AN_ANSWER,
    "stop": re.compile(r"stop.?sequences", re.I),
    "cache_ttl": re.compile(r"\bttl\b", re.I),
    "tool_cache": re.compile(
        r"tool.{0,80}(cache.?point|description)|cache.?point.{0,80}tool", re.I | re.S
    ),
    "cache_point": re.compile(r"cache.?point|prompt.cach", re.I),
    "temperature": re.compile(r"\btemperature\b", re.I),
    "effort": re.compile(r"\beffort\b|outputConfig|output_config", re.I),
    "reasoning": re.compile(r"reasoning.?(content|text)|invalid.{0,5}signature", re.I),
    "tool_choice": re.compile(r"tool.?choice", re.I),
    "system": NO_SYSTEM,
    "schema": FEWER_KEYWORDS,
    "stream": re.compile(
        r"WithResponseStream|streaming.{0,40}\bnot\b|(unsupported|support\w*).{0,30}streaming", re.I
    ),
}
"""Parts a model may refuse, and how its refusal is told from others."""

_BY_CODE: Final = {
    "ThrottlingException": (
        "rate_limit",
        (
            "Amazon Bedrock is over its quota for {model}: try again in a minute. If it happens"
            " often, raise the quota."
        ),
    ),
    "ServiceQuotaExceededException": (
        "rate_limit",
        "The account's quota for {model} is used up: the operator must raise it.",
    ),
    "ModelNotReadyException": (
        "loading",
        "The model {model} is not ready yet: try again in a minute.",
    ),
    "ServiceUnavailableException": (
        "server_error",
        "Amazon Bedrock is down or overloaded: try again.",
    ),
    "InternalServerException": ("server_error", "Amazon Bedrock failed: try again."),
    "ModelErrorException": ("server_error", "The model {model} failed: try again."),
    "ModelStreamErrorException": (
        "server_error",
        "The model {model} failed while it answered: try again.",
    ),
    "ModelTimeoutException": (
        "slow",
        "The model {model} took too long: try again, or let the operator choose a faster model.",
    ),
    "ResourceNotFoundException": (
        "no_model",
        f"Amazon Bedrock has no model {{model}} in this region: check {MODEL_SETTING}.",
    ),
    "AccessDeniedException": (
        "key",
        (
            "Amazon Bedrock refused {model}: the account needs access to the model, and the"
            " template's parameter BedrockModelArns must name it."
        ),
    ),
}
_MAY_PASS: Final = frozenset(
    {
        "ThrottlingException",
        "ModelNotReadyException",
        "ServiceUnavailableException",
        "InternalServerException",
        "ModelErrorException",
        "ModelStreamErrorException",
    }
)
_CREDENTIALS: Final = (
    "Amazon Bedrock did not accept the credentials: check the function's role or, on one machine,"
    " the AWS profile."
)
_INVALID: Final = (
    (
        re.compile(r"on-demand throughput", re.I),
        "no_model",
        "The model {model} is only served through an inference profile: name that in "
        + MODEL_SETTING
        + ".",
    ),
    (
        re.compile(r"model identifier|provided model", re.I),
        "no_model",
        f"Amazon Bedrock knows no model {{model}}: check {MODEL_SETTING}.",
    ),
    (
        re.compile(r"tool", re.I),
        "no_tools",
        (
            "The model {model} does not take tools as the kernel sends them: choose a model with"
            " tool use."
        ),
    ),
)
_log = logging.getLogger("webbee.model.bedrock")


class BedrockModel:
    """One model or inference profile, by id or ARN."""

    def __init__(
        self,
        model_id: str,
        *,
        client_factory: Callable[..., Any] = aws_client,
        options: ModelOptions = PLAIN,
    ) -> None:
        self.name = f"bedrock:{model_id}"
        self._model_id = model_id
        self._client_factory = client_factory
        self._options = options
        self.learnt = Learnt(options)

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """Answer within `request.timeout_s` or raise ModelUnavailable."""
        return self.learnt.hear(
            await attempts(lambda left: self._in_pool(request, left), request.timeout_s)
        )

    async def stream(self, request: ModelRequest, hear: Hear) -> ModelResponse:
        """The same, heard while it comes."""
        held = self.learnt.is_held
        return self.learnt.hear(
            await aloud(hear, request, lambda left, to: self._in_pool(request, left, to), held=held)
        )

    async def _in_pool(
        self, request: ModelRequest, left: float, to: Aloud | None = None
    ) -> ModelResponse:
        heard = _Across(asyncio.get_running_loop(), to) if to else None
        answer: ModelResponse = await in_thread(self._send, request, left, heard, pool=_POOL)
        return answer

    def _send(self, request: ModelRequest, left: float, to: _Across | None) -> ModelResponse:
        read_timeout = read_timeout_for(left)
        while True:
            refused = frozenset(self.learnt.refused)
            try:
                client = self._client_factory(
                    "bedrock-runtime", read_timeout=read_timeout, attempts=1
                )
                body = converse_request(self._model_id, request, refused, self._options)
                if to and "stream" not in refused:
                    found = to.listen(client.converse_stream(**body)["stream"])
                else:
                    found = client.converse(**body)
                return usable(read(found, request), request, self._model_id)
            except (Passing, ModelUnavailable):
                raise
            except Exception as error:
                part = _refused_part(error, unanswerable(request, refused))
                if part is None:
                    failure = _translate(error, self._model_id, left)
                    if failure is None:
                        raise
                    raise failure from None  # the original may quote the request
            self.learnt.refused.add(part)
            _log.info(
                "model=%s part=%s | model refuses it, asked again without", self._model_id, part
            )


class _Across:
    """Hands a stream that is read in a thread to whoever listens on the loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, to: Aloud) -> None:
        self._loop = loop
        self._to = to

    def _hand_over(self, piece: str) -> None:
        self._loop.call_soon_threadsafe(self._to, piece)

    def listen(self, stream: Any) -> JSONObject:
        """Read it to its end, or until nobody listens any more; the answer as Converse gives it."""
        pieces = ConversePieces(self._hand_over)
        from urllib3.exceptions import HTTPError, ReadTimeoutError  # botocore lets them through

        try:
            for event in stream:
                if self._to.closed or self._to.endless:
                    pieces.stop = pieces.stop or "max_tokens"
                    break
                pieces.take(event)
        except ReadTimeoutError:
            raise ModelUnavailable(
                "Amazon Bedrock fell silent in the middle of its answer: try again.",
                cause="slow",
            ) from None
        except HTTPError:
            pieces.stop = ""
        finally:
            stream.close()
        if not pieces.stop:
            why = "Amazon Bedrock broke off its answer: try again."
            raise Passing(ModelUnavailable(why, cause="server_error"))
        return pieces.answer()


def _refused_part(error: Exception, already: frozenset[str]) -> str | None:
    """The optional part that this model does not take; None for any other error."""
    if error_code(error) not in ("ValidationException", "AccessDeniedException"):
        return None
    return next(
        (
            part
            for part, words in _OPTIONAL.items()
            if part not in already and words.search(str(error))
        ),
        None,
    )


def _translate(error: Exception, model_id: str, left: float) -> Exception | None:
    """What the kernel hears; None for defects, which stay as they are."""
    match failure_kind(error):
        case "answered":
            return _answered(error, model_id)
        case "silent":
            return slow(left)
        case "unsigned":
            return ModelUnavailable(_CREDENTIALS, cause="key")
        case "unreached":
            name = type(error).__name__
            why = f"Amazon Bedrock did not answer ({name}): try again."
            return Passing(ModelUnavailable(why, cause="unreached"))
    return None


def _answered(error: Any, model_id: str) -> Exception:
    code, meta = error_code(error), error.response.get("ResponseMetadata", {})
    code = code[:1].upper() + code[1:]  # a stream spells its errors `throttlingException`
    status = meta.get("HTTPStatusCode", 0)
    _log.warning("model=%s code=%s status=%s | Converse failed", model_id, code, status)
    words = str(error.response.get("Error", {}).get("Message", ""))
    pause = pause_of(meta.get("HTTPHeaders", {}).get("retry-after"))
    cause, text = _told(code, status, words)
    failure = ModelUnavailable(
        text.format(model=model_id, code=code), cause=cause, words=words, wait_s=pause
    )
    may_pass = code in _MAY_PASS or (status >= 500 and code not in _BY_CODE)
    return Passing(failure, pause) if may_pass else failure


def _told(code: str, status: int, words: str) -> tuple[str, str]:
    """Cause and text of an answered error."""
    if code in (
        "UnrecognizedClientException",
        "InvalidSignatureException",
        "ExpiredTokenException",
        "IncompleteSignatureException",
    ):
        return "key", _CREDENTIALS
    if told := _BY_CODE.get(code):
        return told
    if status >= 500:
        return _BY_CODE["InternalServerException"]
    found = failure_of(400, "", words)
    if found.cause in ("window", "refused"):
        return found.cause, found.text
    for pattern, cause, text in _INVALID:
        if pattern.search(words):
            return cause, text
    return "parameter", "Amazon Bedrock did not accept the request for {model} ({code})."
