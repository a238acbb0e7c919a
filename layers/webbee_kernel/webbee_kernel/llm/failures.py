"""Why a model's server gave no answer, read from its status, code and words. Pure.

Servers word the same failure in many ways, and some with another status than one expects: what
cannot pass is looked for in the words first. Seen of OpenAI, Azure, Gemini, Mistral, Groq,
OpenRouter, vLLM, llama.cpp, Ollama, LM Studio, TGI and Amazon Bedrock (November 2026).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from ..errors import ModelUnavailable

MODEL_SETTING: Final = "WEBBEE_MODEL (on your own machine: MODEL= or --model)"
"""What names the model, as whoever reads of its failure may have typed it."""

_IDENTIFIER: Final = re.compile(r"[A-Za-z0-9_.\[\]-]{1,80}")
_I: Final = re.I | re.S


class Passing(Exception):
    """This try failed in a way that may pass. `error` is what the kernel hears when there is no
    other; `pause_s` what the service asked for."""

    def __init__(self, error: ModelUnavailable, pause_s: float = 0.0) -> None:
        super().__init__(str(error))
        self.error = error
        self.pause_s = pause_s


@dataclass(frozen=True, slots=True)
class Failure:
    """`cause` as a language's `causes` know it; `text` for whoever runs the deployment, with what
    to do; `passing`: another try may better it."""

    cause: str
    text: str
    passing: bool = False


_BY_WORDS: Final = (
    (
        re.compile(
            r"context.{0,30}(length|window|size|limit|exceed)"
            r"|(prompt|input|request)\b.{0,40}\btoo (long|large|many)"
            r"|too many (input )?tokens|maximum.{0,30}(context|tokens)"
            r"|exceed\w*.{0,60}(context|tokens|(input|prompt) length)"
            r"|(input|prompt)s?\W.{0,40}(length|tokens).{0,60}(must be|should be|longer|larger|<=)"
            r"|n_ctx|num_ctx|reduce (the|your) (length|prompt|input)|string_above_max_length"
            r"|too long for",
            _I,
        ),
        Failure(
            "window",
            "The prompt is too long for the model {model}: give it a larger context window, or"
            " install fewer apps.",
        ),
    ),
    (
        re.compile(
            r"(loading|starting|warming).{0,30}(model|up)|model.{0,60}(is )?(currently )?loading"
            r"|not ready|estimated_time|unloaded while",
            _I,
        ),
        Failure(
            "loading", "The model {model} is not ready yet: try again in a minute.", passing=True
        ),
    ),
    (
        re.compile(
            r"content.?(management|filter|policy)|safety|blocked by|prohibited|moderation|guardrail"
            r"|responsible.?ai|inappropriate|flagged|data_inspection",
            _I,
        ),
        Failure("refused", "The service's safety filter refused the request to {model}."),
    ),
    (
        re.compile(
            r"insufficient.{0,20}(quota|credit|balance|fund)|billing|out of credit|in arrears"
            r"|(credit|balance)\b.{0,30}(too low|exhausted|used up)",
            _I,
        ),
        Failure(
            "credit", "The model server's account has no credit left: the operator must top it up."
        ),
    ),
    (
        re.compile(
            r"(not|n't|no|un)\s*(support|have|allow|enabl|accept)\w*.{0,60}\btools?\b"
            r"|\btools?\b.{0,60}(not|isn't|aren't|un)\s*(support|enabl|allow|availab)"
            r"|enable-auto-tool-choice|tool.?use",
            _I,
        ),
        Failure(
            "no_tools",
            "The model server does not take tools for {model}: choose a model with tool use, or"
            " switch it on in the server.",
        ),
    ),
    (
        re.compile(
            r"(?:model|deployment).{0,80}(not.found|does not exist|doesn't exist|not exist|unknown|"
            r"not available|not a valid|invalid|isn't loaded|not loaded)|not a valid model"
            r"|(unknown|no such|invalid|no) models?\b"
            r"|try pulling|no models? loaded",
            _I,
        ),
        Failure(
            "no_model",
            "The model server has no model {model} (HTTP {status}): install it there, or check the"
            f" name in {MODEL_SETTING}.",
        ),
    ),
    (
        re.compile(r"api.?key|unauthori[sz]ed|authenticat|invalid.{0,12}(token|credential)", _I),
        Failure(
            "key",
            "The model server refused the key (HTTP {status}): check WEBBEE_MODEL_KEY, or the"
            " parameter that WEBBEE_MODEL_KEY_SECRET names.",
        ),
    ),
    (
        re.compile(r"rate.?limit|too many requests|quota|overloaded|capacity|again later|busy", _I),
        Failure(
            "rate_limit", "The model server is over its limit: try again in a minute.", passing=True
        ),
    ),
)
_KEY: Final = next(f for _, f in _BY_WORDS if f.cause == "key")
_NO_COMPLETION: Final = Failure(
    "no_completion",
    "The model server has no chat completions at this address (HTTP {status}), or no model"
    " {model}: check base URL, which usually ends in /v1, and name, in"
    f" {MODEL_SETTING}.",
)
_CREDIT: Final = next(f for _, f in _BY_WORDS if f.cause == "credit")
_LIMIT: Final = next(f for _, f in _BY_WORDS if f.cause == "rate_limit")
_REFUSED: Final = Failure(
    "parameter", "The model server did not accept the request (HTTP {status})."
)
_FAILED: Final = Failure(
    "server_error", "The model server failed (HTTP {status}): try again.", passing=True
)


_OVERLOADED: Final = 529


def failure_of(status: int, code: str, words: str) -> Failure:
    """What an error answer means. `status` 200 is an error inside an answer."""
    said = f"{code} {words}"
    found = _by_words(said)
    if status in (401, 403, 407):
        return _unauthorised(found)
    if status == 402:
        return _CREDIT
    if status == 429:
        return _limited(said, found)
    if status in (404, 405) or 300 <= status < 400:
        return _not_there(found)
    if status >= 500 or status in (408, 409, 425):
        return _failed(status, found)
    return found or (_FAILED if status < 300 else _REFUSED)


def _by_words(said: str) -> Failure | None:
    """The failure that an error's code and words tell of, if any."""
    return next((failure for pattern, failure in _BY_WORDS if pattern.search(said)), None)


def _unauthorised(found: Failure | None) -> Failure:
    """What a refused key means, unless the words tell of more than the key."""
    return found if found and found.cause in ("refused", "no_model", "credit") else _KEY


def _not_there(found: Failure | None) -> Failure:
    """What an address without an answer means: no model of this name, or none at all."""
    return found if found and found.cause in ("no_tools", "no_model") else _NO_COMPLETION


def _limited(said: str, found: Failure | None) -> Failure:
    """What too many requests mean: a limit, or that nothing is left to pay with."""
    is_credit = found is not None and found.cause == "credit" and "rate" not in said.lower()
    return _CREDIT if is_credit else _LIMIT


def _failed(status: int, found: Failure | None) -> Failure:
    """What a server's own failure means; its words count where they tell one that lasts."""
    if status == _OVERLOADED:
        return found or _LIMIT
    return found if found and found.cause in ("window", "no_tools", "loading") else _FAILED


def _first(value: Any) -> Any:
    """The first item of a list that has one; all else as it is."""
    return value[0] if isinstance(value, list) and value else value


def error_of(body: Any) -> tuple[str, str]:
    """The error's code where it is one (never free text), and its words, the parameter it names
    first."""
    body = _first(body)  # Gemini's is a list
    error = (body.get("error") or body.get("errors") or body) if isinstance(body, dict) else body
    error = _first(error)
    if not isinstance(error, dict):
        return "", str(error or "")
    code = next(_told(error, "code", "type", "status"), "")
    words = " ".join(_told(error, "param", "type", "message", "detail", "metadata"))
    return (code if _IDENTIFIER.fullmatch(code) else ""), words


def _told(error: dict[str, Any], *fields: str) -> Iterator[str]:
    """What stands in those of the fields that say anything."""
    return (str(error[name]) for name in fields if error.get(name))


def status_of(body: Any, status: int) -> int:
    """The status that an error inside an answer of 200 names, where it names one."""
    error = (body.get("error") or body) if isinstance(body, dict) else None
    code = error.get("code") if isinstance(error, dict) else None
    try:
        named = int(str(code or ""))
    except ValueError:
        return status
    return named if 300 <= named < 600 else status
