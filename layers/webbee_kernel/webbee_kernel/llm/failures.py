"""Classifies errors of model services by status, code and message. Pure.

Services word the same failure differently, some with an unexpected status, so permanent failures
are matched by message first. Collected from OpenAI, Azure, Gemini, Mistral, Groq, OpenRouter, vLLM,
llama.cpp, Ollama, LM Studio, TGI and Amazon Bedrock (November 2026).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from ..errors import ModelUnavailable

MODEL_SETTING: Final = "WEBBEE_MODEL (on your own machine: MODEL= or --model)"
"""The setting that selects the model, as error messages name it."""

_IDENTIFIER: Final = re.compile(r"[A-Za-z0-9_.\[\]-]{1,80}")


class Retryable(Exception):
    """A transient failure. `error` is raised when there is no further attempt."""

    def __init__(self, error: ModelUnavailable) -> None:
        super().__init__(str(error))
        self.error = error


@dataclass(frozen=True, slots=True)
class Failure:
    """`cause` is a key of a language's `causes`; `text` is for the operator, with a remedy;
    `pattern` matches the service's code or message."""

    cause: str
    text: str
    pattern: str = ""
    can_retry: bool = False

    def error(
        self, service: str, model: str, status: str, words: str = "", wait_s: float = 0.0
    ) -> Exception:
        """ModelUnavailable, or Retryable."""
        text = self.text.format(service=service, model=model, status=status)
        error = ModelUnavailable(text, cause=self.cause, words=words, wait_s=wait_s)
        return Retryable(error) if self.can_retry else error


_FAILURES: Final = (
    Failure(
        "key",
        "{service} refused {model}: the account needs access to the model, and the template's"
        " parameter BedrockModelArns must name it.",
        r"^AccessDeniedException",
    ),
    Failure(
        "key",
        "{service} did not accept the credentials: check the function's role or, on one machine,"
        " the AWS profile.",
        r"^(UnrecognizedClient|InvalidSignature|ExpiredToken|IncompleteSignature)",
    ),
    Failure(
        "no_model",
        "The model {model} is only served through an inference profile: name that in"
        f" {MODEL_SETTING}.",
        r"on-demand throughput",
    ),
    Failure(
        "slow",
        "The model {model} took too long: try again, or let the operator choose a faster model.",
        r"^ModelTimeoutException",
    ),
    Failure(
        "window",
        "The prompt is too long for the model {model}: give it a larger context window, or"
        " install fewer apps.",
        r"context.{0,30}(length|window|size|limit|exceed)"
        r"|(prompt|input|request)\b.{0,40}\btoo (long|large|many)"
        r"|too many (input )?tokens|maximum.{0,30}(context|tokens)"
        r"|exceed\w*.{0,60}(context|tokens|(input|prompt) length)"
        r"|(input|prompt)s?\W.{0,40}(length|tokens).{0,60}(must be|should be|longer|larger|<=)"
        r"|n_ctx|num_ctx|reduce (the|your) (length|prompt|input)|string_above_max_length"
        r"|too long for",
    ),
    Failure(
        "loading",
        "The model {model} is not ready yet: try again in a minute.",
        r"(loading|starting|warming).{0,30}(model|up)|model.{0,60}(is )?(currently )?loading"
        r"|not.?ready|estimated_time|unloaded while",
        can_retry=True,
    ),
    Failure(
        "refused",
        "The service's safety filter refused the request to {model}.",
        r"content.?(management|filter|policy)|safety|blocked by|prohibited|moderation|guardrail"
        r"|responsible.?ai|inappropriate|flagged|data_inspection",
    ),
    Failure(
        "credit",
        "The model server's account has no credit left: the operator must top it up.",
        r"insufficient.{0,20}(quota|credit|balance|fund)|billing|out of credit|in arrears"
        r"|(credit|balance)\b.{0,30}(too low|exhausted|used up)",
    ),
    Failure(
        "no_tools",
        "{service} does not take tools for {model}: choose a model with tool use, or switch it on"
        " in the server.",
        r"(not|n't|no|un)\s*(support|have|allow|enabl|accept)\w*.{0,60}\btools?\b"
        r"|\btools?\b.{0,60}(not|isn't|aren't|un)\s*(support|enabl|allow|availab)"
        r"|enable-auto-tool-choice|tool.?use",
    ),
    Failure(
        "no_model",
        "{service} has no model {model} ({status}): install it there, or check the name in"
        f" {MODEL_SETTING}.",
        r"(?:model|deployment).{0,80}(not.found|does not exist|doesn't exist|not exist|unknown|"
        r"not available|not a valid|invalid|isn't loaded|not loaded)|not a valid model"
        r"|(unknown|no such|invalid|no) models?\b|try pulling|no models? loaded"
        r"|^ResourceNotFoundException",
    ),
    Failure(
        "key",
        "{service} refused the key ({status}): check WEBBEE_MODEL_KEY, or the parameter that"
        " WEBBEE_MODEL_KEY_SECRET names.",
        r"api.?key|unauthori[sz]ed|authenticat|invalid.{0,12}(token|credential)",
    ),
    Failure(
        "rate_limit",
        "{service} is over its limit: try again in a minute. If it happens often, raise the quota.",
        r"rate.?limit|too many requests|quota|throttl|overloaded|capacity|again later|busy",
        can_retry=True,
    ),
)
"""Failures by code and message; the first match counts."""
_PATTERNS: Final = tuple((re.compile(f.pattern, re.I | re.S), f) for f in _FAILURES)
_KEY, _LIMIT = _FAILURES[-2:]
_CREDIT: Final = next(f for f in _FAILURES if f.cause == "credit")
_NO_COMPLETION: Final = Failure(
    "no_completion",
    "{service} has no chat completions at this address ({status}), or no model {model}: check base"
    f" URL, which usually ends in /v1, and name, in {MODEL_SETTING}.",
)
_INVALID_REQUEST: Final = Failure("parameter", "{service} did not accept the request ({status}).")
_SERVER: Final = Failure("server_error", "{service} failed ({status}): try again.", can_retry=True)

_BY_STATUS: Final = {
    401: (_KEY, "refused no_model credit key"),
    402: (_CREDIT, ""),
    404: (_NO_COMPLETION, "no_tools no_model"),
    429: (_LIMIT, "credit loading"),
    500: (_SERVER, "window no_tools loading slow"),
    529: (_LIMIT, "window no_tools loading"),
}
"""The failure of a status, and the causes that a message may name instead."""
_ALIASES: Final = {403: 401, 407: 401, 405: 404, 408: 500, 409: 500, 424: 500, 425: 500, 529: 529}


def failure_of(status: int, code: str, words: str) -> Failure:
    """The failure of an error response. `status` 200 is an error inside an answer."""
    text = f"{code} {words}"
    found = next((failure for pattern, failure in _PATTERNS if pattern.search(text)), None)
    if found is _CREDIT and status == 429 and "rate" in text.lower():
        return _LIMIT
    alias = _ALIASES.get(status, {3: 404, 5: 500}.get(status // 100, status))
    default, others = _BY_STATUS.get(alias, (None, ""))
    if default is None:
        return found or (_SERVER if status < 300 else _INVALID_REQUEST)
    return found if found and found.cause in others.split() else default


def slow(timeout_s: float) -> ModelUnavailable:
    """The error for a model that did not answer within the turn's remaining time."""
    return ModelUnavailable(
        f"The model did not answer within {max(timeout_s, 0):.1f} s: try again, or let the operator"
        f" choose a faster model, {MODEL_SETTING}, or give a turn more time (WEBBEE_TURN_SECONDS).",
        cause="slow",
    )


def pause_of(retry_after: object) -> float:
    """Seconds of a `retry-after` header; 0 where it is missing or a date."""
    try:
        return max(0.0, float(str(retry_after)))
    except ValueError:
        return 0.0


def _first(value: Any) -> Any:
    """The first item of a list that has one; all else as it is."""
    return value[0] if isinstance(value, list) and value else value


def error_of(body: Any) -> tuple[str, str]:
    """The error's code (never free text) and its message, led by the parameter's name."""
    error = _first(body)  # Gemini's is a list
    if isinstance(error, dict):
        error = _first(error.get("error") or error.get("errors") or error)
    if not isinstance(error, dict):
        return "", str(error or "")
    code = next(_field_texts(error, "code", "type", "status"), "")
    words = " ".join(_field_texts(error, "param", "type", "message", "detail", "metadata"))
    return (code if _IDENTIFIER.fullmatch(code) else ""), words


def _field_texts(error: dict[str, Any], *fields: str) -> Iterator[str]:
    """The non-empty values of these fields."""
    return (str(error[name]) for name in fields if error.get(name))


def status_of(body: Any, status: int) -> int:
    """The status that an error inside a 200 response names, else `status`."""
    error = (body.get("error") or body) if isinstance(body, dict) else None
    code = error.get("code") if isinstance(error, dict) else None
    try:
        embedded = int(str(code or ""))
    except ValueError:
        return status
    return embedded if 300 <= embedded < 600 else status
