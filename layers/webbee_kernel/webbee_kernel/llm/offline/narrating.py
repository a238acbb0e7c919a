"""The reply from results, word for word: nothing in it that the tools did not say."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from ... import language
from ...language import Language, fold
from ...values.plain import JSONObject
from ..protocol import ModelRequest, ModelResponse
from . import recall
from .matching import spoken, telling
from .reading import Result, read_prompt
from .schema import keys, parts
from .words import Word, any_has, words

ITEMS = 5
"""List items shown."""
MORE = "- …"
"""Stands under a list of which not every item is shown."""

_HIDDEN = re.compile(r"(?:^|_)(?:id|ids|etag|uid|uuid)$")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2})?(?:Z|\+00:00)?")
_BETWEEN = " — "
_VALUES = 3
_LENGTH = 120
_BEGINNING = 40  # characters by which a text is known again
_SENTENCE = re.compile(r".+?(?:[.!?…](?=\s|$)|$)", re.DOTALL)
_EXTRACT = 400


def narrate(request: ModelRequest) -> ModelResponse:
    """Summaries and errors in order, then up to five items of a list as lines, of more a mark that
    there are. Of several results those that answer the message. After a correction, without the
    values that were corrected."""
    reading = read_prompt(request.prompt)
    tag = language.detect(reading.message, request.language)
    told = [v for p in reading.problems for v in p.values() if isinstance(v, list)]
    wrong = [str(token) for tokens in told for token in tokens]
    shown = _shown(reading.results, reading.message, tag)
    lines = [line for r, rows in shown for line in _told(r, rows, language.of(tag), wrong)]
    return ModelResponse(text="\n".join(dict.fromkeys(lines)))


_Shown = list[tuple[Result, list[JSONObject]]]


def _shown(results: Sequence[Result], message: str, tag: str) -> _Shown:
    """The results, each with the rows to show. Where one thing was asked for: no list that was only
    looked through for what was done or read then, none that is empty beside others, and where rows
    hold words of the message, these alone."""
    listed = [(r, _rows(r)) for r in results]
    said = words(message, tag)
    if len(listed) < 2 or any_has(spoken(message, tag), tag, "and_", "sequence"):
        return listed
    last = max((n for n, r in enumerate(results) if r.ok and not _is_list(r)), default=0)
    told = [(r, rows) for n, (r, rows) in enumerate(listed) if n >= last or not _is_list(r)]
    kept = [(r, rows) for r, rows in told if rows or not _is_list(r)] or listed
    return _telling(kept, telling(said, tag))


def _telling(kept: _Shown, named: Sequence[Word]) -> _Shown:
    """Of several lists, the rows that hold most of the words."""
    most = max((_held(row, named) for _, rows in kept for row in rows), default=0)
    if not most:
        return kept
    mine = [(r, [row for row in rows if _held(row, named) == most]) for r, rows in kept]
    return [(r, rows) for r, rows in mine if rows or not _rows(r)]


def _held(row: JSONObject, named: Sequence[Word]) -> int:
    return sum(recall.holds(row, [w]) for w in named)


def _id(data: Any) -> Any:
    return data.get("id") if isinstance(data, dict) else None


def _is_list(result: Result) -> bool:
    """Whether a call lists things, also where it found none."""
    values = result.data.values() if isinstance(result.data, dict) else [result.data]
    return result.ok and any(isinstance(v, list) for v in values) and _id(result.data) is None


def _rows(result: Result) -> list[JSONObject]:
    """What a list holds; nothing for a single thing."""
    return next(_lists(result.data), []) if _is_list(result) else []


def _told(result: Result, rows: list[JSONObject], spoken: Language, wrong: list[str]) -> list[str]:
    """The lines of one result, less the values that hold a wrong token."""
    said = [_sentence(result.text)] if result.text else []
    if not result.ok:
        return said
    items = _items(rows, spoken) or (
        _unsaid(result, spoken) if said else _fields(result.data, spoken)
    )
    kept = (_less(item, wrong) for item in items)
    return said + [item for item in kept if item]


def _items(rows: list[JSONObject], spoken: Language) -> list[str]:
    """A list's first items as lines, each once."""
    lines = (_row(row, spoken) for row in rows[:ITEMS])
    shown = list(dict.fromkeys(f"- {line}" for line in lines if line))
    return [*shown, MORE] if shown and len(rows) > len(shown) else shown


def _unsaid(result: Result, spoken: Language) -> list[str]:
    """Of one thing, whom it is from or to and what it says, where its summary leaves that out."""
    if not isinstance(result.data, dict):
        return []
    known = {**result.arguments, **result.data}
    said = [_plain(result.text), *(_plain(str(known[k])) for k in known if _HIDDEN.search(k))]
    told = [_short(v, spoken) for k, v in known.items() if _tells(k, v)]
    new = [v for v in dict.fromkeys(told) if not _stands(_plain(v)[:_BEGINNING], said)]
    return [f"- {_BETWEEN.join(new)}"] if new else []


def _stands(part: str, texts: Sequence[str]) -> bool:
    return any(part in text for text in texts)


def _tells(key: str, value: Any) -> bool:
    """Whether it names somebody or is what somebody says."""
    telling = keys("party_keys") | keys("address_keys") | keys("body_keys")
    text = isinstance(value, str) and value != "" and "@" not in value
    return text and not telling.isdisjoint(parts(key))


def _plain(text: str) -> str:
    return " ".join(fold(text).split())


def _less(item: str, wrong: list[str]) -> str:
    """A line without the values that hold a wrong token; empty where that is all of it."""
    values = item.removeprefix("- ").split(_BETWEEN)
    kept = [v for v in values if not any(token in v for token in wrong)]
    return f"- {_BETWEEN.join(kept)}" if kept else ""


def extract(request: ModelRequest) -> ModelResponse:
    """What `ctx.ai` gets offline: the first two sentences of the prompt, at most 400 characters. No
    model's judgement in it."""
    sentences = [m[0].strip() for m in _SENTENCE.finditer(request.prompt) if m[0].strip()]
    text = " ".join(" ".join(sentences[:2]).split())
    return ModelResponse(
        text=text if len(text) <= _EXTRACT else text[: _EXTRACT - 1].rstrip() + "…"
    )


def _sentence(text: str) -> str:
    text = text.strip()
    text = text[:1].upper() + text[1:]
    return text if text[-1:] in ".!?…:)»" else f"{text}."


def _lists(value: Any) -> Iterator[list[JSONObject]]:
    """Lists of dicts, outermost and first."""
    if isinstance(value, list):
        if rows := [item for item in value if isinstance(item, dict)]:
            yield rows
    elif isinstance(value, dict):
        for item in value.values():
            yield from _lists(item)


def _row(row: JSONObject, spoken: Language) -> str:
    """The title-like value, then up to three more short ones; ids, flags, empty and repeated values
    stay out."""
    shown = {k: v for k, v in row.items() if _is_shown(k, v)}
    label = next((k for k in language.title_keys() if k in shown), None)
    order = sorted(shown, key=lambda k: k != label)
    return _BETWEEN.join(
        list(dict.fromkeys(_short(shown[k], spoken) for k in order))[: _VALUES + 1]
    )


def _is_shown(key: str, value: Any) -> bool:
    plain = isinstance(value, str | int | float) and not isinstance(value, bool)
    return plain and value != "" and not _HIDDEN.search(key)


def _fields(data: Any, spoken: Language) -> list[str]:
    return (
        [
            f"- {k}: {_short(v, spoken)}"
            for k, v in data.items()
            if isinstance(v, str | int | float)
        ][:ITEMS]
        if isinstance(data, dict)
        else []
    )


def _short(value: Any, spoken: Language) -> str:
    """On one line; days and moments as people write them."""
    text = " ".join(str(value).split())
    if _DAY.fullmatch(text):
        return spoken.date(text)
    if _MOMENT.fullmatch(text):
        return f"{spoken.date(text)}, {spoken.time(text)}"
    return text if len(text) <= _LENGTH else text[: _LENGTH - 1].rstrip() + "…"
