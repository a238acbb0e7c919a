"""What is the same in the adapters of all model services: at most two tries of a request, both
inside its time limit; the parts of a request that a model may refuse; and who hears an answer while
it comes."""

from __future__ import annotations

import asyncio
import logging
import random
import re
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any, Final, TypeVar

from ..errors import ModelUnavailable
from ..types import JSONObject
from .failures import Passing, slow
from .options import ModelOptions
from .protocol import OUTPUT_TOKENS, Hear, ModelRequest, ModelResponse

T = TypeVar("T")

TRIES: Final = 2
PAUSE_S: Final = 0.3
"""Shortest pause before the second try; up to twice as long, so that clients do not come back in
step."""

MAX_PAUSE_S: Final = 3.0
"""Longest pause that a user should wait for; a service that asks for more is not asked again in
this turn."""

WORTHWHILE_S: Final = 1.0
"""Seconds that must be left for a second try."""

LEAST_S: Final = 0.1
"""Seconds below which a model is not asked at all."""

_NOT: Final = r"(?:\bnot\b|n't|\bun\w+)"
PARTS: Final = {
    part: re.compile(said, re.I | re.S)
    for part, said in {
        # models and windows differ, and the refusal is often the only place that tells
        "output_tokens": (
            r"max\w*[ _.-]tokens\b.{0,80}"
            r"(too (large|big|high)|exceed|at most|less than|lower than|> ?\d)"
            r"|in the completion|\bcompletion tokens|input length and .{0,3}max_tokens"
        ),
        "stop": rf"stop.?sequences|\bstop\b.{{0,40}}{_NOT}|(unknown|{_NOT}).{{0,40}}\bstop\b",
        # the smaller part of a cache goes first
        "cache_ttl": r"\bttl\b|prompt_cache_retention",
        "tool_cache": r"tool.{0,80}(cache.?point|description)|cache.?point.{0,80}tool",
        "cache_point": r"cache.?point|prompt.cach",
        "no_reasoning": (
            r"reasoning_content.{0,80}\b(must|missing|required|passed back)\b"
            r"|missing.{0,20}reasoning_content"
        ),
        "reasoning": (
            rf"(reasoning.?(content|text|details)|extra_content).{{0,80}}({_NOT}|extra|forbidden)"
            rf"|(extra|{_NOT}).{{0,80}}(reasoning.?(content|text|details)|extra_content)"
            r"|invalid.{0,5}signature"
        ),
        "temperature": r"\btemperature\b|top_p.{0,30}both",
        "max_tokens": r"max_tokens|max_completion_tokens",
        "stream_options": r"stream_options|include_usage",
        "effort": r"\beffort\b|reasoning_effort|outputConfig|output_config",
        "tool_choice": r"tool.?choice",
        "schema": (
            r"function_declarations|(input|json).?schema"
            rf"|schema.{{0,60}}(invalid|{_NOT})|(invalid|{_NOT}).{{0,40}}(schema|keyword)"
        ),
        "null_content": r"content.{0,80}(null|none|required|empty|string|str\b|expected)",
        "system": (
            rf"(system|developer).{{0,30}}(role|message|prompt|instruction|field).{{0,80}}{_NOT}"
            rf"|{_NOT}.{{0,20}}\bsystem\b|only \W?user\W?.{{0,30}}assistant|role.{{0,40}}system"
        ),
        "tool_messages": (
            r"alternat|roles? must|tool_call_id|role.{0,30}\btool\b|\btool\b.{0,30}role"
            r"|expected.{0,30}role|signature|reasoning_content"
        ),
        "stream": (
            rf"WithResponseStream|\bstream(ing)?\b.{{0,60}}({_NOT}|disabled)"
            rf"|(unsupported|support\w*|{_NOT}).{{0,30}}\bstream"
        ),
    }.items()
}
"""Parts of a request that a model may refuse, and how its refusal is told from others, in the order
in which they are left out."""


class Learnt:
    """What a process knows of a model: what its options say, and what its answers have shown since.

    `refused` are the parts of a request that it is asked without. `is_held`: nothing of an answer
    is shown before its end, for some models think aloud and only the end of the thoughts says so.
    It is so until one answer has shown that this one does not, and for good once one has shown that
    it does.
    """

    def __init__(self, name: str, options: ModelOptions) -> None:
        self._name = name
        self.refused = set(options.refuses)
        self.thinks_aloud = bool(options.thinks_aloud)
        self.is_held = options.thinks_aloud is not False

    def hear(self, answer: ModelResponse) -> ModelResponse:
        self.thinks_aloud |= answer.orphan
        self.is_held = self.thinks_aloud or (self.is_held and not answer.text)
        return answer

    def goes_without(self, parts: Collection[str], words: str, already: Collection[str]) -> bool:
        """Whether a refusal in these words is about one of the parts that the model can be asked
        without, and has not been `already`: from now on it is."""
        about = (p for p in PARTS if p in parts and p not in already and PARTS[p].search(words))
        part = next(about, "") if words else ""
        if part:
            self.refused.add(part)
            _log.info("model=%s part=%s | refused, asked again without", self._name, part)
        return bool(part)


_log = logging.getLogger("webbee.model")


def output_tokens(request: ModelRequest, without: Collection[str]) -> int:
    """Tokens that the answer may have: those of the setting, or, of a model that has refused so
    many, those that every one takes."""
    short = "output_tokens" in without
    return min(request.max_tokens, OUTPUT_TOKENS) if short else request.max_tokens


def wished(parts: Mapping[str, tuple[str, Any]], without: Collection[str]) -> JSONObject:
    """What is asked for beyond the request itself: by the part that a model may refuse, the
    service's own name for it and a value, which says nothing where it is empty."""
    named = (given for part, given in parts.items() if part not in without)
    return {name: value for name, value in named if value not in ("", [], {})}


def unanswerable(request: ModelRequest, refused: frozenset[str]) -> frozenset[str]:
    """The parts that asking again without would change nothing."""
    return refused if request.max_tokens > OUTPUT_TOKENS else refused | {"output_tokens"}


class Listener:
    """Hands on what people may read of an answer, until it is closed; of a `held` one nothing
    before its end."""

    def __init__(self, hear: Hear, *, held: bool = False) -> None:
        self._hear = hear
        self._held = held
        self.heard = 0
        self.closed = False

    def __call__(self, piece: str) -> None:
        """The next piece."""
        if not (self.closed or self._held):
            self.heard += len(piece)
            self._hear(piece)

    def finish(self, text: str) -> None:
        """The answer is there, and this is its text: say what of it was not heard yet."""
        if not self.closed and len(text) > self.heard:
            self._hear(text[self.heard :])


class Adapter:
    """One model of a service, which learns from the answers what it takes."""

    def __init__(self, name: str, options: ModelOptions) -> None:
        self.name = name
        self._options = options
        self.learnt = Learnt(name, options)

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """Answer within `request.timeout_s` or raise ModelUnavailable."""
        return self.learnt.hear(
            await attempts(lambda left: self._ask(request, left), request.timeout_s)
        )

    async def stream(self, request: ModelRequest, hear: Hear) -> ModelResponse:
        """The same, heard while it comes, or whole where it came so: once anything was heard it is
        not asked for again, and nobody hears more when this has ended."""
        to = Listener(hear, held=self.learnt.is_held)

        async def once(left: float) -> ModelResponse:
            try:
                return await self._ask(request, left, to)
            except Passing as failure:
                raise failure.error if to.heard else failure from None

        try:
            response = await attempts(once, request.timeout_s)
            to.finish(response.text)
        finally:
            to.closed = True
        return self.learnt.hear(response)

    async def _ask(
        self, request: ModelRequest, left: float, to: Listener | None = None
    ) -> ModelResponse:
        """One try with so many seconds left, its text heard by `to` while it comes. Passing where
        another one may better it."""
        raise NotImplementedError


async def attempts(ask: Callable[[float], Awaitable[T]], timeout_s: float) -> T:
    """Await `ask(seconds left)`, once more after a Passing failure if the pause is short and an
    answer fits into `timeout_s`.

    Never lasts longer than `timeout_s`. A request that was not answered in time is not repeated: it
    was, or will be, paid for. Raises ModelUnavailable.
    """
    if timeout_s < LEAST_S:
        raise ModelUnavailable(
            "The turn's time was used up before the model could be asked: try again, or ask for"
            " less at once.",
            cause="slow",
        )
    deadline = time.monotonic() + timeout_s
    try:
        async with asyncio.timeout(timeout_s):
            for tried in range(1, TRIES + 1):
                try:
                    return await ask(deadline - time.monotonic())
                except Passing as failure:
                    jitter = random.random()  # noqa: S311 - no secret
                    pause = max(failure.error.wait_s, PAUSE_S * (1 + jitter))
                    is_late = time.monotonic() + pause + WORTHWHILE_S > deadline
                    if tried == TRIES or pause > MAX_PAUSE_S or is_late:
                        raise failure.error from None
                await asyncio.sleep(pause)
    except TimeoutError:
        raise slow(timeout_s) from None
    raise AssertionError("unreachable")
