"""Secrets in what an extension returns, where nobody said that they belong there: fields that look
like one by their name or by their form."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from ..errors import ResultError
from ..sdk.definitions import FunctionDef
from ..types import CallOutcome, Unread
from .schemas import pii_of

SECRET = "secret"  # noqa: S105
MASK = "[secret]"
SHORTEST, LONGEST = 16, 4096
"""Characters of what may be a secret by its form alone."""

_log = logging.getLogger("webbee.extension")


def checked(outcome: CallOutcome, function: FunctionDef | None, *, develop: bool) -> CallOutcome:
    """The outcome, its data without secrets. On an author's machine one is refused: ResultError
    with the place and what to do; elsewhere it is masked and the log has the place. Of data that
    nobody has read yet it is the part that models could be shown that is looked at first."""
    raw = vars(outcome)["data"]
    if not without_secrets(raw.near if isinstance(raw, Unread) else raw, set())[1]:
        return outcome
    own = {p for p, kind in pii_of(function).items() if kind == SECRET} if function else set()
    data, places = without_secrets(outcome.data, own)
    if not places:
        return outcome
    if develop:
        raise ResultError(
            f"{places[0]} looks like a secret, which models and memory would get: leave it out, or"
            ' declare it in the data_model, with json_schema_extra={"x-pii": "secret"}'
        )
    told = "masked, as they look like secrets: the extension should not return them"
    _log.warning(
        "app=%s function=%s fields=%s | %s", outcome.app_id, outcome.fn_name, ",".join(places), told
    )
    return outcome.but(data=data)


def without_secrets(value: Any, declared: set[str]) -> tuple[Any, list[str]]:
    """A JSON value without what looks like a secret, and where that stood. `declared` are the last
    two keys of paths at which a secret belongs, as `x-pii` tells them."""
    places: list[str] = []

    def walk(part: Any, path: str, key: str, parent: str) -> Any:
        if isinstance(part, dict):
            items = part.items()
            return {k: walk(v, f"{path}.{k}" if path else k, k, key) for k, v in items}
        if isinstance(part, list):
            return [walk(v, f"{path}[{n}]", key, parent) for n, v in enumerate(part)]
        if not isinstance(part, str) or declared & {key, f"{parent}.{key}"}:
            return part
        if not _is_secret(part, key):
            return part
        places.append(path)
        return MASK

    return walk(value, "", "", ""), places


def secret_fields(fields: Mapping[str, Any]) -> list[str]:
    """Those of a log line's fields that look like a secret."""
    return [name for name, value in fields.items() if _is_secret(str(value), name)]


def _is_secret(text: str, key: str) -> bool:
    """Whether the whole of a text is a secret, by the key it stands under or by its form."""
    if text in ("", MASK) or not (_is_keyed(key) or SHORTEST <= len(text) <= LONGEST):
        return False
    if not _is_keyed(key) and " " in text[:64] and not text.startswith("-----BEGIN"):
        return False
    from ..pii.secrets import find_secrets  # at the first text that may be one

    value = text.strip()
    found = ((start, end) for start, end, *_ in find_secrets(value, key))
    return (0, len(value)) in found


@lru_cache(maxsize=2048)
def _is_keyed(key: str) -> bool:
    from ..pii.secrets import is_secret_key

    return is_secret_key(key)
