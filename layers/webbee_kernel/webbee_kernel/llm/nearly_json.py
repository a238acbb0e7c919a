"""JSON as models write it: quotes of another kind or unescaped within a text, Python's literals,
bare keys, trailing commas, line breaks in texts, brackets left out at the end or too many, the same
value twice, markup behind it; and arguments in round brackets, as Python writes them. Pure, one
pass a value."""

from __future__ import annotations

import json
import re
from typing import Final

from ..types import JSON

MAX_DEPTH: Final = 40
_EMPTY: Final[tuple[JSON, ...]] = ({}, [], "", None)
_QUOTES: Final = {'"': '"', "'": "'", "“": "”"}
_CLOSING: Final = {"{": "}", "[": "]", "(": ")"}
MARKUP: Final = (
    r"</?[A-Za-z][\w:.\-]{0,40}>|<[|｜][^<>\n]{0,80}[|｜]?>|<[^<>\n|｜]{1,80}[|｜]>"
    r"|\[/?[A-Z_]{3,40}\]|```[\w-]*\n?"
)
"""Tags, special tokens, words in brackets and fences that may stand round values."""
_SPACE: Final = re.compile(r"[\s\x00-\x1f\ufeff]*")
_BEFORE: Final = re.compile(r"(?:[\s\x00-\x1f\ufeff]|```[\w-]*\n?)*")
_BETWEEN: Final = re.compile(rf"(?:[\s\x00-\x1f\ufeff,]|{MARKUP})*")
_BEHIND: Final = re.compile(rf"(?:[\s\x00-\x1f\ufeff,;}}\])]|{MARKUP})*")
_ENDS: Final = re.compile(r"[^\S\n]*(?:[,:}\])\n]|\Z)")
"""What follows the quote that ends a text, where others stand within it unescaped."""
_KEY: Final = re.compile(r"[^\s:=,{}\[\]()\"']+")
_WORD: Final = re.compile(r"[^\s,:{}\[\]\"'()]+")
_CODES: Final = re.compile(r"(?:\\u[0-9a-fA-F]{4})+")
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_LITERALS: Final[dict[str, JSON]] = {"true": True, "false": False, "null": None, "none": None}


class Unreadable(ValueError):
    """The text is no value, or its end is missing where that could mean several things."""


def nearly_json(text: str) -> JSON:
    """The one value that the text is. Raises Unreadable for anything else."""
    try:
        exact: JSON = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return _only(_values(text))
    return exact


def _values(text: str) -> list[JSON]:
    """The different values that stand behind each other, with nothing but noise around them."""
    found: list[JSON] = []
    at = _skip(_BEFORE, text, 0)
    while at < len(text):
        value, at = first_value(text, at)
        if value not in found:
            found.append(value)
        if len(found) > len(_EMPTY) + 1:
            raise Unreadable("several values")
        at = _skip(_BEHIND, text, at)
    return found


def _only(values: list[JSON]) -> JSON:
    """The one value among several of which the others hold nothing."""
    said = [v for v in values if v not in _EMPTY] or values[:1]
    if len(said) != 1:
        raise Unreadable("no value, or several")
    return said[0]


def first_value(text: str, at: int, depth: int = 0) -> tuple[JSON, int]:
    """The value that begins at `at`, and where it ends; of round brackets the arguments by name, or
    the one object that stands in them. Raises Unreadable."""
    at = _skip(_SPACE, text, at)
    if at >= len(text) or depth > MAX_DEPTH:
        raise Unreadable("no value")
    sign = text[at]
    if sign == "[":
        return _array(text, at + 1, depth)
    if sign in _CLOSING:
        return _object(text, at + 1, _CLOSING[sign], depth)
    return _string(text, at) if sign in _QUOTES else _word(text, at)


def _skip(what: re.Pattern[str], text: str, at: int) -> int:
    found = what.match(text, at)
    return found.end() if found else at


def _object(text: str, at: int, closing: str, depth: int) -> tuple[JSON, int]:
    """Pairs up to the bracket that closes them, or to the end where that is missing."""
    made: dict[str, JSON] = {}
    while (at := _skip(_BETWEEN, text, at)) < len(text) and text[at] != closing:
        if closing == ")" and text[at] == "{" and not made:
            inner, at = first_value(text, at, depth + 1)
            return inner, _skip(_BEHIND, text, at)
        key, at = _string(text, at) if text[at] in _QUOTES else _bare(text, at)
        at = _skip(_SPACE, text, at)
        if text[at : at + 1] not in (":", "="):
            raise Unreadable("a key without a value")
        made[key], at = first_value(text, at + 1, depth + 1)
    return made, min(at + 1, len(text))


def _array(text: str, at: int, depth: int) -> tuple[JSON, int]:
    made: list[JSON] = []
    while (at := _skip(_BETWEEN, text, at)) < len(text) and text[at] != "]":
        value, at = first_value(text, at, depth + 1)
        made.append(value)
    return made, min(at + 1, len(text))


def _string(text: str, at: int) -> tuple[str, int]:
    """A text, to the first of its quotes that something of the structure follows; Unreadable where
    it has no end: what is missing is not known."""
    closing = _QUOTES[text[at]]
    made: list[str] = []
    at += 1
    while at < len(text):
        piece, end = text[at], at + 1
        if piece == closing and _ENDS.match(text, end):
            return "".join(made), end
        if piece == "\\" and end < len(text):
            piece, end = _escape(text, at)
        made.append(piece)
        at = end
    raise Unreadable("a text without its end")


def _escape(text: str, at: int) -> tuple[str, int]:
    if codes := _CODES.match(text, at):
        return str(json.loads(f'"{codes.group()}"')), codes.end()
    return _ESCAPES.get(text[at + 1], text[at + 1]), at + 2


def _bare(text: str, at: int) -> tuple[str, int]:
    found = _KEY.match(text, at)
    if not found:
        raise Unreadable("no key")
    return found.group(), found.end()


def _word(text: str, at: int) -> tuple[JSON, int]:
    """A literal or a number; other words are none: a name is a value only within quotes."""
    found = _WORD.match(text, at)
    if not found:
        raise Unreadable("no value")
    word = found.group()
    if word.lower() in _LITERALS:
        return _LITERALS[word.lower()], found.end()
    try:
        number: JSON = json.loads(word)
    except ValueError:
        raise Unreadable("a bare word") from None
    return number, found.end()
