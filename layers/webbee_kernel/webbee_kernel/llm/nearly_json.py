"""Reads JSON and Python literals in model output: other quotes, `None`, bare keys, trailing commas,
markup around them, and the arguments of a call in round brackets. Pure."""

from __future__ import annotations

import ast
import json
import re
import warnings
from typing import Final

from ..types import JSON

MARKUP: Final = (
    r"</?[A-Za-z][\w:.\-]{0,40}>|<[|｜][^<>\n]{0,80}[|｜]?>|<[^<>\n|｜]{1,80}[|｜]>"
    r"|\[/?[A-Z_]{3,40}\]|```[\w-]*\n?"
)
"""Tags, special tokens, bracketed words and fences that may surround values."""
_AROUND: Final = re.compile(rf"(?:[\s;]|{MARKUP})*")
_DECODER: Final = json.JSONDecoder(strict=False)
_LITERALS: Final[dict[str, JSON]] = {"true": True, "false": False, "null": None, "none": None}
_STRUCTURE: Final = re.compile(r"[\"'{}\[\]()\\]")


class Unreadable(ValueError):
    """The text is not one value."""


def nearly_json(text: str) -> JSON:
    """Parse a text that is one value. Raises Unreadable."""
    value, end = first_value(text, skip(_AROUND, text, 0))
    if skip(_AROUND, text, end) < len(text):
        raise Unreadable("several values")
    return value


def first_value(text: str, at: int) -> tuple[JSON, int]:
    """The value that begins at `at`, and its end; round brackets give the keyword arguments, or the
    single object inside. Raises Unreadable."""
    try:
        value, end = _DECODER.raw_decode(text, at)
        return value, end
    except (ValueError, RecursionError):
        pass
    closed = end_of_brackets(text, at) if text[at : at + 1] in ("{", "[", "(") else None
    if closed is None:
        raise Unreadable("no value")
    inside = text[at:closed]
    try:
        with warnings.catch_warnings(action="ignore"):  # of escapes that Python does not know
            tree = ast.parse(f"_{inside}" if inside[0] == "(" else inside, mode="eval")
        return _evaluate(tree.body), closed
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise Unreadable("no literal") from None


def skip(what: re.Pattern[str], text: str, at: int) -> int:
    """The end of what matches here, if anything does."""
    found = what.match(text, at)
    return found.end() if found else at


def end_of_brackets(text: str, at: int) -> int | None:
    """The end of the first balanced brackets at or after `at`; None if not closed."""
    depth, quote, place = 0, "", at
    while found := _STRUCTURE.search(text, place):
        sign, place = found.group(), found.end()
        if sign == "\\":
            place += 1
        elif quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            is_apostrophe = sign == "'" and text[place - 2 : place - 1].isalnum()
            quote = "" if is_apostrophe else sign
        elif sign in "{[(":
            depth += 1
        else:
            depth -= 1
            if depth <= 0:
                return place
    return None


def _evaluate(node: ast.expr) -> JSON:
    """The value of a literal, without running anything. Raises ValueError."""
    match node:
        case ast.Dict(keys=keys, values=values):
            return {_key(k): _evaluate(v) for k, v in zip(keys, values, strict=True)}
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [*map(_evaluate, items)]
        case ast.Name(id=word) if word.lower() in _LITERALS:
            return _LITERALS[word.lower()]
        case ast.Call(func=ast.Name(id="_"), args=[], keywords=pairs):
            return {str(pair.arg): _evaluate(pair.value) for pair in pairs}
        case ast.Call(func=ast.Name(id="_"), args=[ast.Dict() as only], keywords=[]):
            return _evaluate(only)
    value = ast.literal_eval(node)
    if not isinstance(value, str | int | float | None):
        raise ValueError("no JSON")
    return value


def _key(node: ast.expr | None) -> str:
    return node.id if isinstance(node, ast.Name) else str(node and ast.literal_eval(node))
