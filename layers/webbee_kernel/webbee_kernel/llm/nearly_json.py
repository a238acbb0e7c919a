"""A lenient JSON parser for model output: other or unescaped quotes, Python literals, bare keys,
trailing commas, line breaks in strings, missing or extra closing brackets, repeated values, markup
around them, and Python call arguments. Pure, linear."""

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
"""Tags, special tokens, bracketed words and fences that may surround values."""
_SPACE: Final = re.compile(r"[\s\x00-\x1f\ufeff]*")
_BEFORE: Final = re.compile(r"(?:[\s\x00-\x1f\ufeff]|```[\w-]*\n?)*")
_BETWEEN: Final = re.compile(rf"(?:[\s\x00-\x1f\ufeff,]|{MARKUP})*")
_AFTER: Final = re.compile(rf"(?:[\s\x00-\x1f\ufeff,;}}\])]|{MARKUP})*")
_ENDS: Final = re.compile(r"[^\S\n]*(?:[,:}\])\n]|\Z)")
"""What must follow a quote for it to end the string, which may hold unescaped quotes."""
_KEY: Final = re.compile(r"[^\s:=,{}\[\]()\"']+")
_WORD: Final = re.compile(r"[^\s,:{}\[\]\"'()]+")
_CODES: Final = re.compile(r"(?:\\u[0-9a-fA-F]{4})+")
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_LITERALS: Final[dict[str, JSON]] = {"true": True, "false": False, "null": None, "none": None}


class Unreadable(ValueError):
    """The text is not one value, or it is truncated ambiguously."""


def nearly_json(text: str) -> JSON:
    """Parse a text that is one value. Raises Unreadable."""
    try:
        exact: JSON = json.loads(text, strict=False)
        return exact
    except (ValueError, RecursionError):
        pass
    values: list[JSON] = []
    at = skip(_BEFORE, text, 0)
    while at < len(text) and len(values) <= len(_EMPTY) + 1:
        value, at = first_value(text, at)
        values += [value] if value not in values else []
        at = skip(_AFTER, text, at)
    said = [v for v in values if v not in _EMPTY] or values[:1]
    if len(said) != 1:
        raise Unreadable("no value, or several")
    return said[0]


def first_value(text: str, at: int, depth: int = 0) -> tuple[JSON, int]:
    """The value that begins at `at`, and its end; round brackets give the keyword arguments, or the
    single object inside. Raises Unreadable."""
    at = skip(_SPACE, text, at)
    if at >= len(text) or depth > MAX_DEPTH:
        raise Unreadable("no value")
    sign = text[at]
    if sign == "[":
        return _array(text, at + 1, depth)
    if sign in _CLOSING:
        return _object(text, at + 1, _CLOSING[sign], depth)
    return _string(text, at) if sign in _QUOTES else _word(text, at)


def skip(what: re.Pattern[str], text: str, at: int) -> int:
    """The end of what matches here, if anything does."""
    found = what.match(text, at)
    return found.end() if found else at


def _object(text: str, at: int, closing: str, depth: int) -> tuple[JSON, int]:
    """Pairs up to the closing bracket, or to the end of the text without one."""
    pairs: dict[str, JSON] = {}
    while (at := skip(_BETWEEN, text, at)) < len(text) and text[at] != closing:
        if closing == ")" and text[at] == "{" and not pairs:
            inner, at = first_value(text, at, depth + 1)
            return inner, skip(_AFTER, text, at)
        key, at = _string(text, at) if text[at] in _QUOTES else _found(_KEY, text, at)
        at = skip(_SPACE, text, at)
        if text[at : at + 1] not in (":", "="):
            raise Unreadable("a key without a value")
        pairs[key], at = first_value(text, at + 1, depth + 1)
    return pairs, min(at + 1, len(text))


def _array(text: str, at: int, depth: int) -> tuple[JSON, int]:
    made: list[JSON] = []
    while (at := skip(_BETWEEN, text, at)) < len(text) and text[at] != "]":
        value, at = first_value(text, at, depth + 1)
        made.append(value)
    return made, min(at + 1, len(text))


def _string(text: str, at: int) -> tuple[str, int]:
    """A string, up to the first quote followed by JSON structure. Unreadable if truncated."""
    closing = _QUOTES[text[at]]
    chars: list[str] = []
    at += 1
    while at < len(text):
        piece, end = text[at], at + 1
        if piece == closing and _ENDS.match(text, end):
            return "".join(chars), end
        if piece == "\\" and end < len(text):
            piece, end = _escape(text, at)
        chars.append(piece)
        at = end
    raise Unreadable("a text without its end")


def _escape(text: str, at: int) -> tuple[str, int]:
    if codes := _CODES.match(text, at):
        return str(json.loads(f'"{codes.group()}"')), codes.end()
    return _ESCAPES.get(text[at + 1], text[at + 1]), at + 2


def _found(what: re.Pattern[str], text: str, at: int) -> tuple[str, int]:
    if found := what.match(text, at):
        return found.group(), found.end()
    raise Unreadable("no key, or no value")


def _word(text: str, at: int) -> tuple[JSON, int]:
    """A literal or a number; other bare words raise Unreadable."""
    word, end = _found(_WORD, text, at)
    if word.lower() in _LITERALS:
        return _LITERALS[word.lower()], end
    try:
        return json.loads(word), end
    except ValueError:
        raise Unreadable("a bare word") from None
