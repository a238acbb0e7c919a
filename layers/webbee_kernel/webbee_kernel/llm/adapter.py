"""The common part of the model adapters: a request as chat messages, at most two attempts inside
the time limit, dropping request parts that a model refuses, and streaming to a listener."""

from __future__ import annotations

import asyncio
import logging
import random
import re
import time
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from ..config import ModelOptions
from ..errors import ModelUnavailable
from ..types import JSONObject
from .failures import Retryable, slow
from .protocol import OUTPUT_TOKENS, Exchange, Hear, ModelRequest, ModelResponse, Reasoning
from .tools import clean

MAX_TRIES: Final = 2
MIN_PAUSE_S: Final = 0.3
"""Shortest pause before the second attempt; jitter makes it up to twice as long."""

MAX_PAUSE_S: Final = 3.0
"""Longest pause; a service that asks for more is not retried in this turn."""

MIN_RETRY_S: Final = 1.0
"""Seconds that must remain for a second attempt."""

MIN_REQUEST_S: Final = 0.1
"""With fewer seconds the model is not called."""

_NOT: Final = r"(?:\bnot\b|n't|\bun\w+)"
REFUSALS: Final = {
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
"""Parts of a request that a model may refuse → pattern of the error message, in the order in which
they are dropped."""


_log = logging.getLogger("webbee.model")


def output_tokens(request: ModelRequest, without: Collection[str]) -> int:
    """The output token limit: the setting, or every model's minimum if it was refused."""
    short = "output_tokens" in without
    return min(request.max_tokens, OUTPUT_TOKENS) if short else request.max_tokens


def optional_parts(parts: Mapping[str, tuple[str, Any]], without: Collection[str]) -> JSONObject:
    """Optional request fields: part name → (field name, value), without empty values and the parts
    in `without`."""
    allowed = (given for part, given in parts.items() if part not in without)
    return {name: value for name, value in allowed if value not in ("", [], {})}


def fixed_parts(request: ModelRequest, refused: frozenset[str]) -> frozenset[str]:
    """The parts that cannot be dropped any further."""
    return refused if request.max_tokens > OUTPUT_TOKENS else refused | {"output_tokens"}


_NOT_IN_A_NAME: Final = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(frozen=True, slots=True)
class SentCall:
    """A call and its result, as sent back to the service.

    `call_id` is the kernel's own, nine letters and digits, which the strictest service requires;
    services repeat or omit theirs. `name` is sanitised; arguments that are no object are dropped.
    """

    call_id: str
    name: str
    arguments: JSONObject
    result: str


@dataclass(frozen=True, slots=True)
class Message:
    """A user message, or an assistant message with its calls, results and reasoning."""

    role: Literal["user", "assistant"]
    text: str = ""
    calls: tuple[SentCall, ...] = ()
    reasoning: Reasoning | None = field(default=None, repr=False)


def conversation(request: ModelRequest, without: Collection[str]) -> tuple[str, list[Message]]:
    """The system part and the messages, which begin with the user and alternate. A later round only
    appends.

    If `without` holds `system`, the system part is put before the first message; with
    `tool_messages` results are sent as text of the prompt.
    """
    is_flat = "tool_messages" in without or not request.exchanges
    messages = [Message("user", clean(request.prompt if is_flat else request.opening))]
    number = 0
    for exchange in () if is_flat else request.exchanges:
        for message in _messages(exchange, number):
            last = messages[-1]
            if last.role == message.role == "user":
                messages[-1] = Message("user", f"{last.text}\n{message.text}")
            else:
                messages.append(message)
        number += len(exchange.calls)
    system = clean(request.system).strip()
    if system and "system" in without:
        messages[0] = Message("user", f"{system}\n\n{messages[0].text}")
        system = ""
    return system, messages


def _messages(exchange: Exchange, number: int) -> Iterator[Message]:
    text = clean(exchange.text).strip()
    if not exchange.calls:
        if text:
            yield Message("assistant", text, reasoning=exchange.reasoning)
        yield Message("user", clean(exchange.note))
        return
    results = list(exchange.results)
    if exchange.note:  # behind results some services take no message of the user's
        results[-1] += f"\n{exchange.note}"
    calls = tuple(
        SentCall(
            f"call{n:05d}",
            _NOT_IN_A_NAME.sub("_", call.name)[:64] or "_",
            call.arguments if isinstance(call.arguments, dict) else {},
            clean(result),
        )
        for n, (call, result) in enumerate(zip(exchange.calls, results, strict=True), number)
    )
    yield Message("assistant", text, calls, exchange.reasoning)


class Listener:
    """Passes on streamed text until it is closed; a buffered one only at the end."""

    def __init__(self, hear: Hear, *, is_buffered: bool = False) -> None:
        self._hear = hear
        self._is_buffered = is_buffered
        self.sent = 0
        self.is_closed = False

    def __call__(self, piece: str) -> None:
        """The next piece."""
        if not (self.is_closed or self._is_buffered):
            self.sent += len(piece)
            self._hear(piece)

    def finish(self, text: str) -> None:
        """The answer is complete: pass on what was not sent yet."""
        if not self.is_closed and len(text) > self.sent:
            self._hear(text[self.sent :])


class Adapter:
    """One model of a service, which learns from its answers what the model accepts.

    `refused_parts` are left out of requests. `is_buffered`: answers are shown only when complete,
    because some models write reasoning as text and mark only its end; true until an answer proves
    otherwise, and for good once one confirms it.
    """

    def __init__(self, name: str, options: ModelOptions) -> None:
        self.name = name
        self._options = options
        self.refused_parts = set(options.refuses)
        self.thinks_aloud = bool(options.thinks_aloud)
        self.is_buffered = options.thinks_aloud is not False

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """Answer within `request.timeout_s` or raise ModelUnavailable."""
        return self._observe(
            await with_retry(lambda left: self._ask(request, left), request.timeout_s)
        )

    async def stream(self, request: ModelRequest, hear: Hear) -> ModelResponse:
        """As `complete`, streamed. After the first piece of text it is not retried; no text is
        passed on after it returns."""
        sink = Listener(hear, is_buffered=self.is_buffered)

        async def once(left: float) -> ModelResponse:
            try:
                return await self._ask(request, left, sink)
            except Retryable as failure:
                raise failure.error if sink.sent else failure from None

        try:
            response = await with_retry(once, request.timeout_s)
            sink.finish(response.text)
        finally:
            sink.is_closed = True
        return self._observe(response)

    def _observe(self, answer: ModelResponse) -> ModelResponse:
        self.thinks_aloud |= answer.orphan
        self.is_buffered = self.thinks_aloud or (self.is_buffered and not answer.text)
        return answer

    def _drop_refused(self, parts: Collection[str], words: str, skip: Collection[str]) -> bool:
        """Whether an error message is about one of `parts` that is not in `skip`; that part is left
        out from now on."""
        hits = (p for p in REFUSALS if p in parts and p not in skip and REFUSALS[p].search(words))
        part = next(hits, "") if words else ""
        if part:
            self.refused_parts.add(part)
            _log.info("model=%s part=%s | refused, asked again without", self.name, part)
        return bool(part)

    async def _ask(
        self, request: ModelRequest, left: float, sink: Listener | None = None
    ) -> ModelResponse:
        """One attempt within `left` seconds, its text streamed to `sink`. Raises Retryable for
        transient failures."""
        raise NotImplementedError


async def with_retry(
    ask: Callable[[float], Awaitable[ModelResponse]], timeout_s: float
) -> ModelResponse:
    """Await `ask(seconds left)`, once more after Retryable if pause and answer fit `timeout_s`.

    Never lasts longer than `timeout_s`. A request that timed out is not repeated: it is still
    charged. Raises ModelUnavailable.
    """
    if timeout_s < MIN_REQUEST_S:
        raise ModelUnavailable(
            "The turn's time was used up before the model could be asked: try again, or ask for"
            " less at once.",
            cause="slow",
        )
    deadline = time.monotonic() + timeout_s
    try:
        async with asyncio.timeout(timeout_s):
            for attempt in range(1, MAX_TRIES + 1):
                try:
                    return await ask(deadline - time.monotonic())
                except Retryable as failure:
                    jitter = random.random()  # noqa: S311 - no secret
                    pause = max(failure.error.wait_s, MIN_PAUSE_S * (1 + jitter))
                    is_late = time.monotonic() + pause + MIN_RETRY_S > deadline
                    if attempt == MAX_TRIES or pause > MAX_PAUSE_S or is_late:
                        raise failure.error from None
                await asyncio.sleep(pause)
    except TimeoutError:
        raise slow(timeout_s) from None
    raise AssertionError("unreachable")
