"""The reply from results, word for word: nothing in it that the tools did not say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ... import language
from ...language import Language
from ...types import JSONObject
from ..protocol import ModelRequest, ModelResponse
from .prompt_reader import Result, read_prompt

ITEMS = 5
"""List items shown; the page has all of them with the call."""
MORE = "- …"
"""Stands under a list of which not every item is shown."""

_HIDDEN = re.compile(r"(?:^|_)(?:id|ids|etag|uid|uuid)$")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2})?(?:Z|\+00:00)?")
_BETWEEN = " — "
_VALUES, _LENGTH, _EXTRACT = 3, 120, 400
_SENTENCE = re.compile(r"[^.!?…]{0,2000}(?:[.!?…]|$)")


def narrate(request: ModelRequest) -> ModelResponse:
    """Each result's summary or error, then up to five items of a list as lines. After a correction,
    without the values that were corrected."""
    reading = read_prompt(request.prompt)
    spoken = language.of(language.detect(reading.message, request.language))
    named = [v for p in reading.problems for v in p.values() if isinstance(v, list)]
    wrong = [str(token) for tokens in named for token in tokens]
    lines = [line for result in reading.results for line in _told(result, spoken, wrong)]
    return ModelResponse(text="\n".join(dict.fromkeys(lines)))


def extract(request: ModelRequest) -> ModelResponse:
    """What `ctx.ai` gets: the first two sentences of the prompt, at most 400 characters. No model's
    judgement in it."""
    found = (m[0].strip() for m in _SENTENCE.finditer(request.prompt[: 5 * _EXTRACT]))
    return ModelResponse(text=_cut(" ".join([s for s in found if s][:2]), _EXTRACT))


def _told(result: Result, spoken: Language, wrong: list[str]) -> list[str]:
    """The lines of one result, less the values that hold a wrong token."""
    said = [_sentence(result.text)] if result.text else []
    if not result.ok:
        return said
    items = _items(next(_lists(result.data), []), spoken)
    if not items and not said:
        items = _fields(result.data, spoken)
    return said + [item for item in (_less(item, wrong) for item in items) if item]


def _items(rows: list[JSONObject], spoken: Language) -> list[str]:
    lines = (_row(row, spoken) for row in rows[:ITEMS])
    shown = list(dict.fromkeys(f"- {line}" for line in lines if line))
    return [*shown, MORE] if shown and len(rows) > len(shown) else shown


def _less(item: str, wrong: list[str]) -> str:
    """A line without the values that hold a wrong token; empty where that is all of it."""
    kept = [v for v in item.removeprefix("- ").split(_BETWEEN) if not any(w in v for w in wrong)]
    return f"- {_BETWEEN.join(kept)}" if kept else ""


def _sentence(text: str) -> str:
    text = text.strip()
    text = text[:1].upper() + text[1:]
    return text if text[-1:] in ".!?…:)»" else f"{text}."


def _lists(value: Any) -> Iterator[list[JSONObject]]:
    """Lists of records, the outermost and first ones first."""
    if isinstance(value, list):
        if rows := [item for item in value if isinstance(item, dict)]:
            yield rows
    elif isinstance(value, dict):
        for item in value.values():
            yield from _lists(item)


def _row(row: JSONObject, spoken: Language) -> str:
    """The value that names the record, then up to three more short ones; ids, flags, empty and
    repeated values stay out."""
    shown = {k: v for k, v in row.items() if _is_shown(k, v)}
    label = next((k for k in language.title_keys() if k in shown), None)
    order = sorted(shown, key=lambda k: k != label)
    values = dict.fromkeys(_short(shown[k], spoken) for k in order)
    return _BETWEEN.join(list(values)[: _VALUES + 1])


def _is_shown(key: str, value: Any) -> bool:
    plain = isinstance(value, str | int | float) and not isinstance(value, bool)
    return plain and value != "" and not _HIDDEN.search(key)


def _fields(data: Any, spoken: Language) -> list[str]:
    pairs = data.items() if isinstance(data, dict) else ()
    told = [f"- {k}: {_short(v, spoken)}" for k, v in pairs if isinstance(v, str | int | float)]
    return told[:ITEMS]


def _short(value: Any, spoken: Language) -> str:
    """On one line; days and moments as people write them."""
    text = str(value)
    if _DAY.fullmatch(text):
        return spoken.date(text)
    if _MOMENT.fullmatch(text):
        return f"{spoken.date(text)}, {spoken.time(text)}"
    return _cut(text, _LENGTH)


def _cut(text: str, length: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"
