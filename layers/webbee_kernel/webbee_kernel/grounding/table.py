"""Renders the data as text and tables, if no model gives a reply."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from .. import language
from ..language import Language
from ..text import cut, more_of, one_line
from .evidence import Call, Evidence
from .places import DATE, key_words
from .receipts import receipts, title_of

_IDS = re.compile(r"(?i)(?:^|_)ids?$|(?-i:Ids?)$")
ROWS, MAX_COLUMNS, MAX_CELL = 12, 6, 60
"""Maximum rows, columns, and characters of a cell."""

Row = Mapping[str, Any]


def render(evidence: Evidence, tag: str = "") -> str:
    """The results of a turn, one paragraph per call, in the language `tag`: a list as size and
    table, with the columns that the question names first; a record as summary or lines; a failure
    as its receipt."""
    lang = language.of(tag or evidence.language)
    question = _question_stems(evidence.message, lang)
    by_call = {r.call: r.text(lang.tag) for r in receipts(evidence.calls, lang.tag)}
    parts = []
    for number, call in enumerate(evidence.calls):
        shown = "\n\n".join(_call(call, lang, question)) if call.ok else ""
        parts.append(shown or by_call.get(number, "") or lang.say("nothing_found"))
    # calls that gave the same are told once
    return "\n\n".join(dict.fromkeys(parts))


def _question_stems(message: str, lang: Language) -> set[str]:
    """The stems of the question's words, in its language and in English (for keys)."""
    words = [token.text for token in language.tokens(message)]
    english = language.of("en")
    return {lang.stem(w) for w in words} | {english.stem(w.lower()) for w in words}


def _call(call: Call, lang: Language, question: set[str]) -> Iterator[str]:
    """The summary of a call, in its author's language, and its data as table or lines."""
    if call.summary:
        yield _sentence(call.summary)
    name, rows, more = _rows(call.data, "")
    if rows:
        holder, size = call.data if isinstance(call.data, Mapping) else {}, len(rows) + more
        is_told = size <= ROWS or str(size) in re.findall(r"\d+", call.summary)
        if not (call.summary and is_told):
            yield f"{_title(call, name)}: {lang.number(size)}"
        yield _table(rows, lang, question, holder, call.columns)
    elif isinstance(call.data, Mapping):
        yield from filter(None, ["\n".join(_fields(call, call.data, lang, question))])


def _sentence(text: str) -> str:
    """A text with an initial capital and a final full stop."""
    text = text.strip()
    ends = not text or text[-1] in ".!?…:)»"
    return text[:1].upper() + text[1:] + ("" if ends else ".")


def _title(call: Call, name: str) -> str:
    """The name of a call's rows: their key, else the noun of the function."""
    title = name.replace("_", " ") if name else " ".join(key_words(call.fn_name)[1:])
    return title or call.app


def _rows(data: Any, name: str) -> tuple[str, Sequence[Row], int]:
    """The first list of records in a result, or a map of records, as (name, rows, omitted)."""
    if isinstance(data, Mapping):
        for key, value in data.items():
            if (found := _rows(value, str(key)))[1]:
                return found
        return name, _records_of(data), 0
    if isinstance(data, list | tuple):
        said = more_of(data)
        return name, [row for row in data if isinstance(row, Mapping)], said.omitted if said else 0
    return name, [], 0


def _records_of(data: Row) -> Sequence[Row]:
    """The rows of a map of at least two records, with the key as `name`."""
    if len(data) > 1 and all(isinstance(value, Mapping) for value in data.values()):
        return [{"name": key, **value} for key, value in data.items()]
    return []


def _table(
    rows: Sequence[Row], lang: Language, question: set[str], holder: Row, names: Mapping[str, str]
) -> str:
    columns = _columns(rows, question)
    lines = [
        "| " + " | ".join(_column_name(c, names, lang) for c in columns) + " |",
        "|---" * len(columns) + "|",
    ]
    for row in rows[:ROWS]:
        currency = _currency(row) or _currency(holder)
        cells = (_value(c, row.get(c), currency, lang, names) for c in columns)
        lines.append("| " + " | ".join(cell.replace("|", "/") for cell in cells) + " |")
    if left := _more(rows, lang):
        lines.append(f"\n{left.strip()}")
    return "\n".join(lines)


def _columns(rows: Sequence[Row], question: set[str]) -> list[str]:
    """The columns to show: title, columns that the question names, varying ones, the rest; ids only
    without a title."""
    keys = dict.fromkeys(k for row in rows[:ROWS] for k, v in row.items() if _is_visible(k, v))
    titles = [k for k in language.title_keys() if k in keys][:1]
    plain = _without_ids(keys, question)
    plain = plain if titles or len(plain) > 1 else list(keys)
    same = _constant_columns(plain, rows)
    ranked = sorted(plain, key=lambda k: (not _is_in_question(k, question), k in same))
    return list(dict.fromkeys([*titles, *ranked]))[:MAX_COLUMNS] or list(keys)[:MAX_COLUMNS]


def _constant_columns(keys: Sequence[str], rows: Sequence[Row]) -> set[str]:
    return {key for key in keys if len({str(row.get(key)) for row in rows}) <= 1}


def _without_ids(keys: Iterable[str], question: set[str]) -> list[str]:
    """The fields except ids, unless the question names them."""
    return [k for k in keys if "id" not in language.key_roles(k) or _is_in_question(k, question)]


def _fields(call: Call, record: Row, lang: Language, question: set[str]) -> Iterator[str]:
    """The fields of one record, a line each, those that the question names first; if there is a
    summary, only named ones that it lacks."""
    fields, summary, names = _visible_fields(record), call.summary, call.columns
    plain = _without_given_ids(fields, call)
    keys = _without_ids(plain, question) or plain
    for key in sorted(keys, key=lambda k: not _is_in_question(k, question)):
        name, currency = _column_name(key, names, lang), _currency(record)
        values = [_value(key, item, currency, lang, names) for item in _as_list(fields[key])]
        marks = [name] if fields[key] is True else values  # "Deleted …" says "deleted"
        is_in_summary = all(re.search(rf"(?i)(?<!\w){re.escape(m)}(?!\w)", summary) for m in marks)
        if not summary or (_is_in_question(key, question) and not is_in_summary):
            yield f"- {name}: {', '.join(values[:ROWS])}{_more(values, lang)}"


def _without_given_ids(told: Row, call: Call) -> list[str]:
    """The fields without those that repeat an id argument under another name: `in_reply_to`."""
    given = {str(v) for k, ids in call.arguments.items() if _IDS.search(k) for v in _as_list(ids)}
    return [k for k, v in told.items() if "id" in language.key_roles(k) or str(v) not in given]


def _more(shown: Sequence[Any], lang: Language) -> str:
    """The note on omitted rows, or empty."""
    return f" \u2026 {lang.say('and_more', n=len(shown) - ROWS)}" if len(shown) > ROWS else ""


def _visible_fields(record: Row) -> dict[str, Any]:
    """The visible fields of a record and of its nested objects; its own take precedence."""
    inner = {k: v for one in record.values() if isinstance(one, Mapping) for k, v in one.items()}
    fields = (field for part in (inner, record) for field in part.items())
    return {k: v for k, v in fields if all(_is_visible(k, item) for item in _as_list(v) or [None])}


def _as_list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else [value]


def _is_visible(key: str, value: Any) -> bool:
    plain = isinstance(value, str | int | float) and value != ""
    return plain and not key.startswith("_") and not language.key_roles(key) & {"paging"}


def _is_in_question(key: str, question: set[str]) -> bool:
    return not question.isdisjoint(key_words(key))


def _column_name(key: str, names: Mapping[str, str], lang: Language) -> str:
    """The author's title of a field in the user's language, else its translated name."""
    name = names.get(key) or lang.field_name(key.replace("_", " "))
    return one_line(name).replace("|", "/")


def _currency(record: Row) -> str:
    code = record.get("currency")
    return code if isinstance(code, str) and len(code) == 3 else ""


def _value(key: str, value: Any, currency: str, lang: Language, names: Mapping[str, str]) -> str:
    """A value as cell text: an object by its title, a value by its author's title if given."""
    if value is None:
        return "\u2013"
    if isinstance(value, bool):
        return lang.say("said_yes" if value else "said_no")
    if isinstance(value, int | float):
        return _figure(key, value, currency, lang)
    text = title_of(value) if isinstance(value, Mapping) else value
    return _text(key, text, lang, names) if isinstance(text, str) else ""


def _text(key: str, text: str, lang: Language, names: Mapping[str, str]) -> str:
    """A text as cell text; dates are formatted."""
    is_date = DATE.fullmatch(text[:19].rstrip("Z"))
    return names.get(f"{key}.{text}") or (
        _date(text, lang) if is_date else cut(one_line(text), MAX_CELL)
    )


def _date(value: str, lang: Language) -> str:
    """A formatted date, with its time if any. A moment with a zone keeps it (`2026-11-29 00:13
    UTC+09:00`); the page converts UTC to local time."""
    try:
        at = datetime.fromisoformat(value)
        if at.tzinfo:
            return f"{at:%Y-%m-%d %H:%M %Z}"
        return lang.date(value) + (f", {lang.time(value)}" if len(value) > 10 else "")
    except (ValueError, OverflowError):
        return value


def _figure(key: str, value: float, currency: str, lang: Language) -> str:
    """A number formatted as amount, id or plain figure, by its key."""
    roles = language.key_roles(key)
    if currency and "minor" in roles:
        return lang.money(value / 100, currency)
    if currency and "money" in roles:
        return lang.money(value, currency)
    return str(value) if roles & {"id", "moment"} else lang.number(value)
