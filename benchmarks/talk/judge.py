"""The judge: what happened in a turn against what was expected of it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .cases import Call, Expectation, Wanted, folded
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
        (_unasked(e, happened.effects) for e in expected), key=len, default=happened.effects
    )
    if unasked:
        return Judgement("wrong", unasked)
    if any(_holds(e, happened) for e in expected):
        return Judgement("right")
    return Judgement("question" if _fair_question(expected, happened) else "wrong")


def awaited(expected: Sequence[Expectation], happened: Happened) -> bool:
    """Whether what waits for a yes is just what the user asked for, where no question was due."""
    return bool(happened.waiting) and any(
        e.effect and _all_wanted(e.effect, happened.waiting) for e in expected
    )


def is_question(happened: Happened) -> bool:
    """Whether the reply asks something."""
    return bool(happened.waiting) or bool(QUESTION.search(happened.reply))


def matches(wanted: Call, ran: Ran) -> bool:
    """Whether it is this call with these values."""
    told = " ".join(map(folded, _all_values([ran.arguments, ran.data])))
    return (
        ran.call == wanted.call
        and _has(wanted.arguments_contain, ran)
        and all(folded(text) in told for text in wanted.tells)
    )


def _fair_question(expected: Sequence[Expectation], happened: Happened) -> bool:
    """A question stands for a write, and where who wrote the case said so; one about a write that
    nobody wants does not."""
    if happened.effects or not is_question(happened):
        return False
    writes = [call for e in expected for call in (*e.effect, *([e.asks] if e.asks else []))]
    if happened.waiting:
        return all(any(matches(w, r) for w in writes) for r in happened.waiting)
    return bool(writes) or any(e.may_ask for e in expected)


def _holds(expected: Expectation, happened: Happened) -> bool:
    return (
        (not expected.call or _was_read(expected, happened))
        and len(expected.effect) == len(happened.effects)
        and (expected.asks is None or _all_wanted([expected.asks], happened.waiting))
        and all(_says(text, happened.reply) for text in expected.answer_contains)
        and (
            not expected.ask
            or (is_question(happened) and not happened.effects and not happened.waiting)
        )
        and (not (expected.no_effect or expected.effect) or not happened.waiting)
    )


def _was_read(expected: Expectation, happened: Happened) -> bool:
    wanted = Call(call=expected.call, arguments_contain=expected.arguments_contain)
    return any(r.ok and matches(wanted, r) for r in happened.ran)


def _all_wanted(wanted: Sequence[Call], ran: Sequence[Ran]) -> bool:
    """Whether these are the wanted calls and no others."""
    return len(wanted) == len(ran) and not _left(wanted, ran)


def _unasked(expected: Expectation, effects: Sequence[Ran]) -> tuple[Ran, ...]:
    """The writes that this alternative does not want; each wanted one may run once."""
    return _left(expected.effect, effects)


def _left(wanted: Sequence[Call], ran: Sequence[Ran]) -> tuple[Ran, ...]:
    open_ = list(wanted)
    left = []
    for one in ran:
        match = next((w for w in open_ if matches(w, one)), None)
        if match is None:
            left.append(one)
        else:
            open_.remove(match)
    return tuple(left)


def _has(wanted: dict[str, Wanted], ran: Ran) -> bool:
    """A value may stand among the arguments or, as a title does for an id, in the result."""
    return all(
        _value(v, [ran.arguments.get(k)]) or _value(v, list(_values(k, ran.data)))
        for k, v in wanted.items()
    )


def _values(key: str, data: Any) -> Iterator[Any]:
    if isinstance(data, dict):
        if key in data:
            yield data[key]
        for name, value in data.items():
            if name != key:
                yield from _values(key, value)
    elif isinstance(data, list):
        for value in data:
            yield from _values(key, value)


def _all_values(data: Any) -> Iterator[Any]:
    if isinstance(data, dict | list):
        for value in data.values() if isinstance(data, dict) else data:
            yield from _all_values(value)
    else:
        yield data


def _value(wanted: Wanted, found: list[Any]) -> bool:
    """Whether every value found is as wanted; for `all`, whether they are these and no others."""
    if isinstance(wanted, dict):
        return sorted(map(folded, wanted["all"])) == sorted(folded(v) for v in found)
    options = wanted if isinstance(wanted, list) else [wanted]
    return bool(found) and all(any(_equal(option, value) for option in options) for value in found)


def _equal(wanted: str | bool | int, value: Any) -> bool:
    if isinstance(wanted, str) and wanted.startswith("~"):
        return folded(wanted[1:]) in folded(value)
    return folded(wanted) == folded(value)


def _says(text: str, reply: str) -> bool:
    """`a|b`: either stands in the reply, as whole words; `a*`, `*a`: as a part of one."""
    said = folded(reply)
    return any(re.search(_pattern(option), said) for option in text.split("|"))


def _pattern(option: str) -> str:
    before = "" if option.startswith("*") else r"(?<!\w)"
    behind = "" if option.endswith("*") else r"(?!\w)"
    return before + re.escape(folded(option.strip("*"))) + behind
