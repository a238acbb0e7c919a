"""The reply of last resort: the data itself, as people read it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from .. import language
from ..language import Language
from .deeds import sentence_for
from .evidence import Call, Evidence
from .places import DATE

FIRST = 8
"""Rows of a list that are shown."""
INNER = 3
"""Rows of a list inside a row."""
FIELDS = 4
"""Fields of a row beside its title."""


def render(evidence: Evidence, tag: str = "") -> str:
    """What the calls of the turn gave, one paragraph a call, in the language `tag`.

    A call's own summary where it is in that language, else its first records as a short list with
    titles, amounts and dates as that language writes them. Never a function's name.
    """
    spoken = language.of(tag or evidence.language)
    parts = [part for call in evidence.calls if (part := _call(call, spoken))]
    return "\n".join(dict.fromkeys(parts))


def _call(call: Call, spoken: Language) -> str:
    if not call.ok:
        return sentence_for(call, spoken.tag)
    if call.summary and language.detect(call.summary, spoken.tag) == spoken.tag:
        return call.summary
    rows = _rows(call.data)
    if rows:
        return "\n".join(_listed(rows, spoken))
    if isinstance(call.data, Mapping) and (line := _row(call.data, spoken)):
        return line
    if call.has_effect:
        return spoken.say("call_done", app=call.app)
    return call.summary or spoken.say("nothing_found")


def _listed(
    rows: Sequence[Mapping[str, object]], spoken: Language, most: int = FIRST, indent: str = ""
) -> Iterator[str]:
    """The first rows as list items; the records inside a row as a shorter list below it."""
    for row in rows[:most]:
        if line := _row(row, spoken):
            yield f"{indent}- {line}"
            for value in () if indent else row.values():
                inner = value if isinstance(value, list | tuple) else ()
                yield from _listed(
                    [one for one in inner if isinstance(one, Mapping)], spoken, INNER, "  "
                )
    if len(rows) > most:
        yield f"{indent}\u2026 {spoken.say('and_more', n=len(rows) - most)}"


def _rows(data: object) -> list[Mapping[str, object]]:
    """The first list of records in a result, or the records of a map."""
    if isinstance(data, Mapping):
        for value in data.values():
            if found := _rows(value):
                return found
        rows = [v for v in data.values() if isinstance(v, Mapping)]
        return rows if len(rows) > 1 and len(rows) == len(data) else []
    return (
        [row for row in data if isinstance(row, Mapping)] if isinstance(data, list | tuple) else []
    )


def _row(row: Mapping[str, object], spoken: Language) -> str:
    """A record on one line: its title, then its other telling fields."""
    title_key = next((k for k in language.title_keys() if isinstance(row.get(k), str)), "")
    others = []
    for key, value in row.items():
        roles = language.key_roles(key)
        if key != title_key and not key.startswith("_") and not roles & {"id", "rank", "paging"}:
            if text := _value(value, roles, row, spoken):
                others.append(text)
    head = [str(row[title_key])] if title_key else []
    return ", ".join([*head, *others[:FIELDS]])


def _value(
    value: object, roles: frozenset[str], row: Mapping[str, object], spoken: Language
) -> str:
    if isinstance(value, bool) or value is None:
        return ""
    if isinstance(value, int | float):
        code = str(row.get("currency", ""))
        return (
            spoken.money(value, code)
            if "money" in roles and len(code) == 3
            else spoken.number(value)
        )
    if isinstance(value, str) and DATE.fullmatch(value[:19]):
        try:
            return spoken.date(value) + (f", {spoken.time(value)}" if len(value) > 10 else "")
        except ValueError:
            return value
    return value if isinstance(value, str) and 0 < len(value) <= 60 else ""
