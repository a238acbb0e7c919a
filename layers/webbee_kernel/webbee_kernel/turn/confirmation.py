"""Confirmation: calls that wait for the user's yes, and how a yes is recognised. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ..base.ids import confirmation_id
from ..base.text import one_line
from ..values import PendingConfirmation, Step

LIFETIME_S = 300
"""Seconds a confirmation waits (the platform's figure)."""

_YES_CORE = frozenset(
    "yes y yep yeah sure ok okay confirm confirmed accept proceed go do да ага угу давай ок окей"
    " хорошо подтверждаю подтвердить согласен согласна конечно удаляй делай сделай верно".split()
)
_YES_FILLER = frozenset(
    "it please them that ahead delete пожалуйста это их его ее её удали удалить".split()
)
_NO_CORE = frozenset(
    "no nope n cancel stop don't dont abort refuse reject not never нет не отмена отмени отменить"
    " стоп отставить отказ отказываюсь".split()
)
_NO_FILLER = frozenset("now wait keep сейчас надо нужно стоит подожди оставь".split())
_MAX_WORDS = 6


def answer(message: str) -> bool | None:
    """True for a plain yes («да, удаляй»), False for a plain no, None for anything that says more
    than that."""
    words = re.findall(r"[^\W\d_]+(?:'[^\W\d_]+)?", message.lower().replace("’", "'"))
    if not words or len(words) > _MAX_WORDS:
        return None
    said = set(words)
    if said & _NO_CORE:
        return False if said <= _NO_CORE | _NO_FILLER | _YES_CORE | _YES_FILLER else None
    if said & _YES_CORE and said <= _YES_CORE | _YES_FILLER:
        return True
    return None


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
                    for k in ("title", "subject", "name", "label", "email")
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


def question(record: PendingConfirmation, language: str) -> str:
    """What the user reads."""
    if language.lower().startswith("ru"):
        return f"Нужно подтверждение: {record.summary}. Ответьте «да» или «нет» в течение 5 минут."
    return f"Please confirm: {record.summary}. Answer yes or no within 5 minutes."
