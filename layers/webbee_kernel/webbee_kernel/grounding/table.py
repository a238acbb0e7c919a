"""The reply of last resort, where no model gave one: the data itself as a table people can read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from .. import language
from ..base.cuts import more_of
from ..base.text import cut, one_line
from ..language import Language
from .evidence import Call, Evidence
from .places import DATE, key_words
from .receipts import receipts

ROWS, COLUMNS, LONGEST = 12, 6, 60
"""Rows of a list and columns that are shown; characters of a cell."""

Row = Mapping[str, Any]


def render(evidence: Evidence, tag: str = "") -> str:
    """What the calls of the turn gave, one paragraph a call, in the language `tag`: a list as its
    size and a table with column names, those that the question names first; one record as lines;
    the call's own summary where it is in that language; a failure as its receipt."""
    spoken = language.of(tag or evidence.language)
    asked = {spoken.stem(t.text) for t in language.tokens(evidence.message)}
    asked |= {language.of("en").stem(t.text.lower()) for t in language.tokens(evidence.message)}
    told = {r.call: r.text(spoken.tag) for r in receipts(evidence.calls)}
    parts = []
    for number, call in enumerate(evidence.calls):
        shown = "\n\n".join(_call(call, spoken, asked)) if call.ok else ""
        done = call.ok and (call.summary or (call.has_effect and told.get(number, "")))
        parts += [shown or done or told.get(number, "") or spoken.say("nothing_found")]
    return "\n\n".join(dict.fromkeys(parts))


def _call(call: Call, spoken: Language, asked: set[str]) -> Iterator[str]:
    has_summary = bool(call.summary) and language.detect(call.summary, spoken.tag) == spoken.tag
    if has_summary:
        yield call.summary
    name, rows, more = _rows(call.data, "")
    if rows:
        title = " ".join(key_words(call.fn_name)[1:]) if not name else name.replace("_", " ")
        size = f"{title or call.app}: {spoken.number(len(rows) + more)}"
        held = call.data if isinstance(call.data, Mapping) else {}
        yield f"{size}\n\n{_table(rows, spoken, asked, held)}"
    elif isinstance(call.data, Mapping):
        fields = _fields(call.data, spoken, asked)
        yield from filter(None, ["\n".join(f for f, named in fields if named or not has_summary)])


def _rows(data: Any, name: str) -> tuple[str, Sequence[Row], int]:
    """The first list of records in a result, or the records of a map, with its name and how many
    more it has."""
    if isinstance(data, Mapping):
        for key, value in data.items():
            if (found := _rows(value, str(key)))[1]:
                return found
        rows = [v for v in data.values() if isinstance(v, Mapping)]
        if len(rows) > 1 and len(rows) == len(data):
            return name, [{"name": k, **v} for k, v in data.items()], 0
    if isinstance(data, list | tuple):
        said = more_of(data)
        return name, [row for row in data if isinstance(row, Mapping)], said.gone if said else 0
    return name, [], 0


def _table(rows: Sequence[Row], spoken: Language, asked: set[str], held: Row) -> str:
    columns = _columns(rows, asked)
    lines = ["| " + " | ".join(_named(c) for c in columns) + " |", "|---" * len(columns) + "|"]
    for row in rows[:ROWS]:
        currency = _currency(row) or _currency(held)
        cells = (_value(c, row.get(c), currency, spoken) for c in columns)
        lines.append("| " + " | ".join(cell.replace("|", "/") for cell in cells) + " |")
    if len(rows) > ROWS:
        lines.append(f"\n\u2026 {spoken.say('and_more', n=len(rows) - ROWS)}")
    return "\n".join(lines)


def _columns(rows: Sequence[Row], asked: set[str]) -> list[str]:
    """The columns that are shown: the record's title first, then what the question names, what
    differs between the rows, and the rest; ids only where there is no title."""
    keys = dict.fromkeys(k for row in rows[:ROWS] for k, v in row.items() if _is_told(k, v))
    titles = [k for k in language.title_keys() if k in keys][:1]
    plain = _without_ids(keys, asked)
    plain = plain if titles or len(plain) > 1 else list(keys)
    same = {k for k in plain if len({str(row.get(k)) for row in rows}) <= 1}
    ranked = sorted(plain, key=lambda k: (not _is_asked(k, asked), k in same))
    return list(dict.fromkeys([*titles, *ranked]))[:COLUMNS] or list(keys)[:COLUMNS]


def _without_ids(keys: Iterable[str], asked: set[str]) -> list[str]:
    """The fields that are no ids, or that the question names."""
    return [k for k in keys if "id" not in language.key_roles(k) or _is_asked(k, asked)]


def _fields(record: Row, spoken: Language, asked: set[str]) -> Iterator[tuple[str, bool]]:
    """The fields of one record, a line each, and whether the question names it: those first."""
    told = _told_fields(record)
    shown = _without_ids(told, asked) or list(told)
    for key in sorted(shown, key=lambda k: not _is_asked(k, asked)):
        line = f"- {_named(key)}: {_value(key, told[key], _currency(record), spoken)}"
        yield line, _is_asked(key, asked)


def _told_fields(record: Row) -> dict[str, Any]:
    """The fields of the objects in a record, and its own, which win."""
    inner = {k: v for one in record.values() if isinstance(one, Mapping) for k, v in one.items()}
    return {k: v for part in (inner, record) for k, v in part.items() if _is_told(k, v)}


def _is_told(key: str, value: Any) -> bool:
    plain = isinstance(value, str | int | float) and value != ""
    return plain and not key.startswith("_") and not language.key_roles(key) & {"paging"}


def _is_asked(key: str, asked: set[str]) -> bool:
    return not asked.isdisjoint(key_words(key))


def _named(key: str) -> str:
    return one_line(key.replace("_", " ")).replace("|", "/")


def _currency(record: Row) -> str:
    code = record.get("currency")
    return code if isinstance(code, str) and len(code) == 3 else ""


def _value(key: str, value: Any, currency: str, spoken: Language) -> str:
    if value is None:
        return "\u2013"
    if isinstance(value, bool):
        return spoken.say("said_yes" if value else "said_no")
    if isinstance(value, int | float):
        return _figure(key, value, currency, spoken)
    if isinstance(value, str) and DATE.fullmatch(value[:19]):
        try:
            return spoken.date(value) + (f", {spoken.time(value)}" if len(value) > 10 else "")
        except ValueError:
            return value
    if isinstance(value, Mapping):
        value = next((value[k] for k in language.title_keys() if isinstance(value.get(k), str)), "")
    return cut(one_line(value), LONGEST) if isinstance(value, str) else ""


def _figure(key: str, value: float, currency: str, spoken: Language) -> str:
    """A number as the amount, the id or the plain figure that its key says it is."""
    roles = language.key_roles(key)
    if currency and "minor" in roles:
        return spoken.money(value / 100, currency)
    if currency and "money" in roles:
        return spoken.money(value, currency)
    return str(value) if roles & {"id", "moment"} else spoken.number(value)
