"""A request as the messages of its conversation: what the user said, what the model answered, what
its calls returned, and the reasoning that it came with. Pure."""

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
    """A call as it is sent back to the service that asked for it, and what it returned.

    `call_id` is the kernel's own, nine letters and digits: services repeat theirs or leave them
    out, and the strictest takes no other form. `name` is one that services accept, whatever the
    model made up; arguments that were no JSON object are left out.
    """

    call_id: str
    name: str
    arguments: JSONObject
    result: str


@dataclass(frozen=True, slots=True)
class Message:
    """A message of the user, or an answer of the model with what its calls returned and the
    reasoning that it came with."""

    role: Literal["user", "assistant"]
    text: str = ""
    calls: tuple[SentCall, ...] = ()
    reasoning: Reasoning | None = field(default=None, repr=False)


def conversation(request: ModelRequest, without: Collection[str]) -> tuple[str, list[Message]]:
    """The system part and the messages; the first is the user's, and no two of the user's follow
    each other but behind results. A later round's are the earlier one's with more behind them.

    `without` holds `system` where a model has no such part: it reads it first. It holds
    `tool_messages` where it takes no results: the prompt has them as text.
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
