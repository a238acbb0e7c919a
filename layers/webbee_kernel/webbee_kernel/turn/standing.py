"""Standing: which functions of a large catalogue a session has been shown, and so shows on. Pure.

Services read a request's beginning from their cache where it is the same bytes as before. So what a
turn has shown stands in the next one too, in the same words and order, and what the next message
needs besides is added behind it. A session keeps its list in its turns, as a few bytes a function:
another request of the same session, wherever it is served, shows the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ..base.per_object import PerObject
from ..catalogue import AppInfo, FunctionInfo
from ..llm.protocol import ToolSpec
from ..llm.tools import forms
from ..values import RING_SIZE, Turn

_KEY_BYTES = 4
_MORE = 0x80


@dataclass(frozen=True, slots=True)
class Place:
    """A function by its number in the catalogue of the installed apps; whole, or in few words."""

    number: int
    whole: bool


@dataclass(frozen=True, slots=True)
class Standing:
    """What a turn has shown, in its order. The first `base` were chosen for the session's first
    message and stay for as long as its catalogue does; what was added behind them may make room."""

    places: tuple[Place, ...]
    base: int

    @property
    def first(self) -> Standing:
        """The same without what was added."""
        return Standing(self.places[: self.base], self.base)


def key_of(apps: Iterable[AppInfo]) -> bytes:
    """What tells one list of functions from another: the names, in their order."""
    return hashlib.sha256(b"".join(map(_names, apps))).digest()[:_KEY_BYTES]


def _named(app: AppInfo) -> bytes:
    names = "\n".join((app.app_id, *(f.fn_name for f in app.functions)))
    return hashlib.sha256(names.encode()).digest()


_names = PerObject(_named)


def tool(function: FunctionInfo, place: Place) -> ToolSpec:
    """A function as its place shows it."""
    return forms(function).whole if place.whole else forms(function).brief


def standing(tools: Iterable[ToolSpec], functions: Sequence[FunctionInfo], base: int) -> Standing:
    """The places of what was shown."""
    numbers = {f.tool_name: n for n, f in enumerate(functions)}
    found = [numbers[t.name] for t in tools]
    whole = [t is not forms(functions[n]).brief for t, n in zip(tools, found, strict=True)]
    return Standing(tuple(map(Place, found, whole)), base)


def kept(text: str, turns: Sequence[Turn], seq: int) -> str:
    """What turn `seq` keeps of its list: nothing where an earlier turn that will still be there
    when the next one reads says the same. A turn that asked no model keeps the list there was."""
    said = _said(turns)
    if said is None or (text and text != said.listed):
        return text
    return "" if said.seq > seq - RING_SIZE else said.listed


def _said(turns: Sequence[Turn]) -> Turn | None:
    return next((t for t in reversed(turns) if t.listed), None)


def before(turns: Sequence[Turn], key: bytes) -> Standing | None:
    """What the session has shown of this catalogue up to its last turn; None where that was
    another one, or nothing."""
    said = _said(turns)
    return read(said.listed, key) if said else None


def text(listed: Standing, key: bytes) -> str:
    """The list as hexadecimal digits: key, how many are its base, then a step from each number to
    the next, mostly one byte."""
    steps = [_step(b.number - a.number, b.whole) for a, b in _pairs(listed.places)]
    return (key + b"".join(map(_bytes, (listed.base, *steps)))).hex()


def read(text: str, key: bytes) -> Standing | None:
    """The inverse of `text`; None for a list of another catalogue."""
    packed = bytes.fromhex(text)
    if packed[:_KEY_BYTES] != key:
        return None
    base, *steps = _numbers(packed[_KEY_BYTES:])
    places: list[Place] = []
    number = 0
    for step in steps:
        number += (step >> 2) * (-1 if step & 2 else 1)
        places.append(Place(number, bool(step & 1)))
    return Standing(tuple(places), base)


def _pairs(places: Sequence[Place]) -> Iterator[tuple[Place, Place]]:
    return zip((Place(0, False), *places), places, strict=False)


def _step(by: int, whole: bool) -> int:
    return abs(by) << 2 | (by < 0) << 1 | whole


def _bytes(number: int) -> bytes:
    """Seven bits a byte, the lowest first."""
    packed = bytearray()
    while number >= _MORE:
        packed.append(number % _MORE | _MORE)
        number //= _MORE
    return bytes((*packed, number))


def _numbers(packed: bytes) -> Iterator[int]:
    number = shift = 0
    for byte in packed:
        number |= (byte % _MORE) << shift
        shift += 7
        if byte < _MORE:
            yield number
            number = shift = 0
