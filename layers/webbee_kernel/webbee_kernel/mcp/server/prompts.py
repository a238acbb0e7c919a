"""Reads as prompts: what a person picks from a client's menu puts the result of a read into his
conversation. Pure.

A prompt's arguments are texts; the function's schema says what they stand for.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Final

from ...catalogue import AppInfo, FunctionInfo
from ...types import JSON, JSONObject
from .tools import titled

MAX_COMPLETIONS: Final = 100
"""Values of one completion; the protocol's limit."""

_TYPED: Final = frozenset({"integer", "number", "boolean", "array", "object", "null"})


def prompts(functions: Iterable[FunctionInfo]) -> list[FunctionInfo]:
    """Those that may be picked: reads."""
    return [f for f in functions if f.action_type == "read"]


def prompt(function: FunctionInfo, app: AppInfo) -> JSONObject:
    """A read as a prompt."""
    title = titled(function, app)
    required = function.input_schema.get("required") or ()
    asked = [
        {"name": name, "description": _told(rules), "required": name in required}
        for name, rules in _properties(function)
    ]
    return {
        "name": function.tool_name,
        "title": title,
        "description": function.description or title,
        **({"arguments": asked} if asked else {}),
    }


def messages(blocks: Iterable[JSONObject]) -> list[JSONObject]:
    """What the user is taken to have said: one message a block."""
    return [{"role": "user", "content": block} for block in blocks]


def typed(function: FunctionInfo, given: JSONObject) -> JSONObject:
    """The arguments of a prompt as the function takes them: a text that is JSON of a type which the
    schema names, where it names no text."""
    properties = dict(_properties(function))
    return {name: _typed(value, properties.get(name)) for name, value in given.items()}


def completions(function: FunctionInfo, name: str, begun: str) -> JSONObject:
    """The values that an argument may have, as far as its schema tells: those that begin with what
    has been typed, then those that hold it."""
    rules = dict(_properties(function)).get(name)
    known = dict.fromkeys(_choices(rules)) if rules else {}
    typed, places = begun.casefold(), [(v.casefold(), v) for v in known]
    first = [v for low, v in places if low.startswith(typed)]
    then = [v for low, v in places if typed in low and not low.startswith(typed)]
    found = first + then
    shown = found[:MAX_COMPLETIONS]
    return {"values": shown, "total": len(found), "hasMore": len(found) > len(shown)}


def _properties(function: FunctionInfo) -> Iterator[tuple[str, JSONObject]]:
    properties = function.input_schema.get("properties") or {}
    return ((n, r) for n, r in properties.items() if isinstance(r, dict))


def _told(rules: JSONObject) -> str:
    return str(rules.get("description") or rules.get("title") or "")


def _types(rules: JSONObject) -> set[str]:
    """The types that a schema names, in its alternatives too."""
    named = rules.get("type")
    found = {named} if isinstance(named, str) else set(named or ())
    for key in ("anyOf", "oneOf"):
        found |= {t for one in rules.get(key) or () if isinstance(one, dict) for t in _types(one)}
    return found


def _typed(value: JSON, rules: JSONObject | None) -> JSON:
    types = _types(rules or {})
    if not isinstance(value, str) or "string" in types or not types & _TYPED:
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


def _choices(rules: JSONObject) -> Iterator[str]:
    """What a schema lists: its values, its examples, its default."""
    if rules.get("type") == "boolean":
        yield from ("true", "false")
    listed = [*(rules.get("enum") or ()), *(rules.get("examples") or ())]
    listed += [rules[key] for key in ("const", "default") if key in rules]
    yield from map(_text, listed)
    for one in (*(rules.get("anyOf") or ()), *(rules.get("oneOf") or ())):
        yield from _choices(one) if isinstance(one, dict) else ()


def _text(value: JSON) -> str:
    return value if isinstance(value, str) else json.dumps(value)
