"""The judge: what happened in a turn against what was expected of it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .cases import Expectation, Write
from .world import Happened, Ran

Verdict = Literal["right", "question", "honest", "wrong"]
QUESTION = re.compile(
    r"\?|\b(which|whom?|need|кому|как(ую|ое|ой|ие|их|ого)|укажите|уточните|назовите)\b"
    r"|\bнужн[оы] ещ[её]\b|\bне хватает\b",
    re.IGNORECASE,
)
"""How a reply asks back, also without a question mark. “I did not understand” asks nothing."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on a turn, and its unasked writes. `after_yes`: what was wanted took a yes."""

    verdict: Verdict
    wrong_effects: tuple[Ran, ...] = ()
    after_yes: bool = False


def judge(expected: Sequence[Expectation], happened: Happened) -> Judgement:
    """Right: an alternative holds. Question: it asks where a write was due or asking is as good.
    Wrong: all else.

    A turn with a write that nobody asked for is wrong whatever else it does.
    """
    unasked = min(
        (_left(e.effects, happened.effects) for e in expected), key=len, default=happened.effects
    )
    if unasked:
        return Judgement("wrong", unasked)
    if any(_holds(e, happened) for e in expected):
        return Judgement("right")
    return Judgement("question" if _is_fair_question(expected, happened) else "wrong")


def awaited(expected: Sequence[Expectation], happened: Happened) -> bool:
    """Whether what waits for a yes is just what the user asked for, where no question was due."""
    return bool(happened.waiting) and any(
        len(e.effects) == len(happened.waiting) and not _left(e.effects, happened.waiting)
        for e in expected
    )


def matches(wanted: Write, ran: Ran) -> bool:
    """Whether it is this call with these texts among its values."""
    told = " ".join(map(folded, _values([ran.arguments, ran.data])))
    return ran.call == wanted.call and all(folded(text) in told for text in wanted.tells)


def _is_fair_question(expected: Sequence[Expectation], happened: Happened) -> bool:
    """A question stands for a write, and where who wrote the case said so; one about a write that
    nobody wants does not."""
    writes = [write for e in expected for write in e.effects]
    if happened.effects:
        return False
    if happened.waiting:
        return all(any(matches(w, r) for w in writes) for r in happened.waiting)
    asks = bool(QUESTION.search(happened.reply))
    return asks and (bool(writes) or any(e.may_ask for e in expected))


def _holds(expected: Expectation, happened: Happened) -> bool:
    reply = folded(happened.reply)
    return (
        (not expected.read or any(r.ok and r.call == expected.read for r in happened.ran))
        and len(expected.effects) == len(happened.effects)
        and all(folded(text) in reply for text in expected.says)
        and not happened.waiting
    )


def _left(wanted: Sequence[Write], ran: Sequence[Ran]) -> tuple[Ran, ...]:
    """The calls that are not wanted; each wanted one may run once."""
    open_ = list(wanted)
    left = []
    for one in ran:
        match = next((w for w in open_ if matches(w, one)), None)
        if match is None:
            left.append(one)
        else:
            open_.remove(match)
    return tuple(left)


def folded(value: Any) -> str:
    """For comparing: no letter case, no yo, single spaces, no quotes or stops at the ends."""
    return " ".join(str(value).casefold().replace("\u0451", "\u0435").split()).strip(
        " .!,;:'\"\u00ab\u00bb\u201c\u201d"
    )


def _values(data: Any) -> Iterator[Any]:
    if isinstance(data, dict | list):
        for value in data.values() if isinstance(data, dict) else data:
            yield from _values(value)
    else:
        yield data
