"""A request as chat messages: user, assistant with calls and reasoning, results. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

from ..types import JSONObject
from .protocol import Exchange, ModelRequest, Reasoning
from .tools import clean

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
