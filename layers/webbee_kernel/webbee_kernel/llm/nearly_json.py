"""JSON as models write it: quotes of another kind or unescaped within a text, Python's literals,
bare keys, trailing commas, comments, brackets left out, doubled or too many, the same value twice,
markup or a sentence around it. Pure, one pass a value."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from ..types import JSON

MAX_DEPTH: Final = 40
_EMPTY: Final[tuple[JSON, ...]] = ({}, [], "", None)
_QUOTES: Final = {'"': '"', "'": "'", "“": "”", "‘": "’"}
_WORD: Final = re.compile(r"[^\s,:{}\[\]\"'()]+")
_SKIP: Final = re.compile(r"(?:[\s\x00-\x1f\ufeff]+|//[^\n]*|/\*.*?\*/|#[^\n]*)+", re.DOTALL)
_NOISE: Final = re.compile(
    r"(?:[\s\x00-\x1f\ufeff;,}\])]|</?[\w:.\-]{1,40}>|<[|｜][^<>\n]{1,60}[|｜]>|\[/?[A-Z_]{3,40}\])+"
)
"""What may stand behind a value and says nothing: brackets too many, special tokens, closing
tags."""
_PREFACE: Final = re.compile(r"[^{}\[\]\"]{0,200}?[\s:](?=\{)")
_STRUCTURAL: Final = re.compile(
    r"""[^\S\n]*(?:[,:}\])=;\n]|//|/\*|\#|\Z|["'“‘]?[\w.\-]+["'”’]?\s*[:=])""", re.X
)
"""What follows the quote that ends a string, where others stand within it unescaped."""
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "0": "\0"}
_LITERALS: Final[dict[str, JSON]] = {
    "true": True, "false": False, "null": None, "none": None, "undefined": None,
}  # fmt: skip


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
    at = _skip(text, 0)
    if preface := _PREFACE.match(text, at):
        at = preface.end()
    elif re.compile(r"\w+\s*[:=]").match(text, at):  # the outer brackets are missing
        text, at = f"{{{text[at:].rstrip()}}}", 0
    found: list[JSON] = []
    while at < len(text):
        value, at = first_value(text, at)
        if value not in found:
            found.append(value)
        if len(found) > len(_EMPTY) + 1:
            raise Unreadable("several values")
        noise = _NOISE.match(text, at)
        at = _skip(text, noise.end() if noise else at)
    return found


def _only(values: list[JSON]) -> JSON:
    """The one value among several of which the others hold nothing."""
    said = [v for v in values if v not in _EMPTY] or values[:1]
    if len(said) != 1:
        raise Unreadable("no value, or several")
    return said[0]


def first_value(text: str, at: int) -> tuple[JSON, int]:
    """The value that begins at `at`, and where it ends. Raises Unreadable."""
    return _value(text, at, 0)


def _skip(text: str, at: int) -> int:
    found = _SKIP.match(text, at)
    return found.end() if found else at


def _value(text: str, at: int, depth: int) -> tuple[JSON, int]:
    at = _skip(text, at)
    if at >= len(text) or depth > MAX_DEPTH:
        raise Unreadable("no value")
    if text[at] == "{":
        return _object(text, at + 1, depth)
    if text[at] in "[(":
        return _array(text, at + 1, depth)
    if text[at] in _QUOTES:
        return _string(text, at)
    return _word(text, at)


def _object(text: str, at: int, depth: int) -> tuple[JSON, int]:
    made: dict[str, JSON] = {}
    while True:
        at = _skip(text, at)
        if at >= len(text) or text[at] == "}":
            return made, min(at + 1, len(text))
        if text[at] == ",":
            at += 1
            continue
        if text[at] == "{" and not made:  # brackets in pairs, as in a template
            inner, at = _object(text, at + 1, depth + 1)
            at = _skip(text, at)
            return inner, at + (text[at : at + 1] == "}")
        key, at = _string(text, at) if text[at] in _QUOTES else _bare(text, at)
        at = _skip(text, at)
        if text[at : at + 1] not in (":", "="):
            raise Unreadable("a key without a value")
        made[key], at = _value(text, at + (2 if text[at : at + 2] == "=>" else 1), depth + 1)


def _array(text: str, at: int, depth: int) -> tuple[JSON, int]:
    made: list[JSON] = []
    while True:
        at = _skip(text, at)
        if at >= len(text) or text[at] in "])":
            return made, min(at + 1, len(text))
        if text[at] == ",":
            at += 1
            continue
        value, at = _value(text, at, depth + 1)
        made.append(value)


def _string(text: str, at: int) -> tuple[str, int]:
    """A string, to the first of its quotes that something of the structure follows; Unreadable
    where it has no end: what is missing is not known."""
    closing = _QUOTES[text[at]]
    if text.startswith('"""', at) and (end := text.find('"""', at + 3)) > 0:
        return text[at + 3 : end], end + 3
    made: list[str] = []
    at += 1
    while at < len(text):
        sign = text[at]
        if sign == closing and _STRUCTURAL.match(text, at + 1):
            return "".join(made), at + 1
        if sign == "\\" and at + 1 < len(text):
            piece, at = _escape(text, at)
            made.append(piece)
            continue
        made.append(sign)
        at += 1
    raise Unreadable("a string without its end")


def _escape(text: str, at: int) -> tuple[str, int]:
    sign = text[at + 1]
    if sign == "u" and (code := re.compile(r"(?:\\u[0-9a-fA-F]{4})+").match(text, at)):
        try:
            return str(json.loads(f'"{code.group()}"')), code.end()
        except ValueError:
            return code.group(), code.end()
    return _ESCAPES.get(sign, sign), at + 2


def _bare(text: str, at: int) -> tuple[str, int]:
    found = re.compile(r"[^\s:=,{}\[\]\"']+").match(text, at)
    if not found:
        raise Unreadable("no key")
    return found.group(), found.end()


def _word(text: str, at: int) -> tuple[Any, int]:
    """A literal or a number; other words are none: a name is a value only within quotes."""
    found = _WORD.match(text, at)
    if not found:
        raise Unreadable("no value")
    word = found.group()
    if word.lower() in _LITERALS:
        return _LITERALS[word.lower()], found.end()
    try:
        return json.loads(word.replace("_", "").lstrip("+")), found.end()
    except ValueError:
        raise Unreadable("a bare word") from None
