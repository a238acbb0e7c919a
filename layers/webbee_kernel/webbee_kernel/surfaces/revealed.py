"""The secrets that a call has read: what its log and its errors leave out
(I-SECRETS-NEVER-LOGGED)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Set
from contextlib import contextmanager, suppress
from contextvars import ContextVar

TELLING = 4
"""Characters from which on a secret is hidden inside of other words, too."""

_seen: ContextVar[set[str] | None] = ContextVar("webbee_revealed", default=None)


@contextmanager
def one_call() -> Iterator[None]:
    """What is read inside belongs to one call, whatever contexts it makes on its way."""
    token = _seen.set(set())
    try:
        yield
    finally:
        with suppress(ValueError):  # a call whose loop was closed ends where the collector runs
            _seen.reset(token)


def seen() -> set[str]:
    """The values that this call has read so far; a set of its own outside a call."""
    known = _seen.get()
    return set() if known is None else known


def hidden(value: object, revealed: Set[str]) -> str:
    """The value as text without the secrets, also as Python and JSON spell them."""
    text = str(value)
    for secret in sorted(revealed, key=len, reverse=True):
        for spelling in (
            secret,
            repr(secret)[1:-1],
            json.dumps(secret)[1:-1],
            json.dumps(secret, ensure_ascii=False)[1:-1],
        ):
            text = _without(text, spelling)
    return text


def _without(text: str, spelling: str) -> str:
    """Of a text of one to three characters only where it stands alone: the key `k` of a test would
    leave of an error nothing that can be read."""
    if len(spelling) >= TELLING:
        return text.replace(spelling, "[secret]")
    return re.sub(rf"(?<!\w){re.escape(spelling)}(?!\w)", "[secret]", text) if spelling else text
