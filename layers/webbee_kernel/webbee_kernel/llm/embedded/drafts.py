"""What a form holds before a person sees it."""

from __future__ import annotations

from ...types import JSONObject
from ..protocol import ToolSpec
from .examples import Pattern, parameters, text_wanted
from .message import Message
from .slot_values import SlotValues


def draft(message: Message, values: SlotValues, pattern: Pattern) -> JSONObject:
    """What a form of the function can be filled with beforehand: quotations, addresses, links
    and dates that one parameter takes, and for its text what stands behind the example's
    words."""
    arguments: JSONObject = dict(pattern.fixed)
    taken = _fill(message, arguments, pattern.tool)
    stems, end = message.stems(pattern.tag), len(message.tokens)
    at = max((n for n, s in enumerate(stems) if s in pattern.literals), default=-1) + 1
    colon = next((n for n, t in enumerate(message.tokens) if t.kind == "colon"), end)
    if not pattern.literals.isdisjoint(stems[:colon]):  # what stands behind it is no command
        at = min(at, colon)
    wanted = text_wanted(pattern.tool, arguments)
    free = at < end and taken.isdisjoint(range(at, end))
    if wanted and free and not values.points((at, end), pattern.tag):
        arguments[wanted] = message.slice(at, end)
    return arguments


def _fill(message: Message, arguments: JSONObject, tool: ToolSpec) -> set[int]:
    """Fill in the values of the message that a parameter of their kind takes; the places of
    those."""
    taken: set[int] = set()
    for n, token in enumerate(message.tokens):
        kind = "text" if token.kind == "quote" else token.kind
        free = (p.name for p in parameters(tool).values() if p.kind == kind)
        name = next((name for name in free if name not in arguments), "")
        if token.kind != "word" and name:
            arguments[name] = token.text
            taken.add(n)
    return taken
