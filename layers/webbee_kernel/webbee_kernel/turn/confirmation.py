"""Confirmation: calls that wait for the user's yes, and how a yes is recognised. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from typing import Any

from .. import language
from ..base.ids import confirmation_id
from ..base.text import one_line
from ..values import PendingConfirmation, Step

LIFETIME_S = 300
"""Seconds a confirmation waits (the platform's figure)."""

_MAX_WORDS = 6


def answer(message: str) -> bool | None:
    """True for a plain yes ("yes, delete it"), False for a plain no, in any of the languages; None
    for anything that says more than that."""
    words = [language.fold(token.text) for token in language.tokens(message)]
    if not words or len(words) > _MAX_WORDS:
        return None
    said = set(words)
    yes, no = _forms("yes"), _forms("no")
    beside_yes = yes | _forms("yes_filler")
    if said & no:
        return False if said <= no | _forms("no_filler") | beside_yes else None
    return True if said & yes and said <= beside_yes else None


@lru_cache(maxsize=8)
def _forms(role: str) -> frozenset[str]:
    """The words of a role in all languages together: a yes need not be in the user's own."""
    forms = (language.of(tag).words.forms(role) for tag in language.tags())
    return frozenset(language.fold(word) for words in forms for word in words)


def pending(
    steps: Sequence[Step],
    *,
    session: str,
    message: str,
    request_id: str,
    now: float,
    titles: Mapping[str, str],
) -> PendingConfirmation:
    """A record of exactly these calls, arguments already real, valid for 300 seconds. `titles`
    names what ids stand for."""
    return PendingConfirmation(
        confirmation_id=confirmation_id(session, request_id),
        expires_at=int(now) + LIFETIME_S,
        message=message,
        request_id=request_id,
        steps=tuple(asdict(s) for s in steps),
        summary="; ".join(describe(s, titles) for s in steps),
    )


def steps(record: PendingConfirmation) -> tuple[Step, ...]:
    """The calls of a record."""
    return tuple(Step(**s) for s in record.steps)


def describe(step: Step, titles: Mapping[str, str]) -> str:
    """`delete – id: Lisbon launch (notes)`, for the person who decides: titles in place of the ids
    that have one."""
    shown = ", ".join(f"{name}: {_shown(value, titles)}" for name, value in step.arguments.items())
    return one_line(
        (
            f"{step.fn_name.replace('_', ' ')} – {shown} ({step.app_id})"
            if shown
            else f"{step.fn_name} ({step.app_id})"
        ),
        400,
    )


def titles_in(facts: Iterable[Any]) -> dict[str, str]:
    """What ids stand for in these facts: every dict with an `id` and a title-like field."""
    found: dict[str, str] = {}
    for value in facts:
        if isinstance(value, dict):
            title = next(
                (
                    value[k]
                    for k in (*language.title_keys(), "email")
                    if isinstance(value.get(k), str) and value[k]
                ),
                None,
            )
            if title and isinstance(value.get("id"), str | int):
                found[str(value["id"])] = title
            found |= titles_in(value.values())
        elif isinstance(value, list):
            found |= titles_in(value)
    return found


def _shown(value: Any, titles: Mapping[str, str]) -> str:
    if isinstance(value, list):
        return ", ".join(_shown(v, titles) for v in value)
    text = str(value)
    return f"“{titles[text]}”" if text in titles else text


def question(record: PendingConfirmation, tag: str) -> str:
    """What the user reads, in the language `tag`."""
    minutes = LIFETIME_S // 60
    return language.of(tag).say("waits_for_yes", summary=record.summary, n=minutes)
