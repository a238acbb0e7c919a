"""Parses the prompt: message and time, remembered facts with their records and addresses, this
turn's results and refusals."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from ... import language
from ...sdk.result import AMBIGUOUS
from ...text import BREAKS_NOTE, dumps, restore_breaks
from ...types import JSONObject
from .message import root_part

_BLOCK = re.compile(r"\[([A-Z]+)\]\s*$")
_MESSAGE = re.compile(r"\[(\d{4}-\d\d-\d\dT\S+) user\] ?(.*)$")
_TURN = re.compile(r"\[\d{4}-\d\d-\d\dT\S+ user \w+ apps=\[[^\]]*\]\] (.*?) → ")
_RESULT = re.compile(r'RESULT: app=(\S+) fn=(\S+) .*?summary="(?:[^"\\]|\\.)*" data=(.*)$')
_FACTS = re.compile(r"FACTS: app=(\S+) fn=(\S+) data=(.*)$")
_ARGUMENTS = re.compile(r"ARGS: app=(\S+) fn=(\S+) args=(.*)$")
_AMBIGUOUS = f' code="{AMBIGUOUS}" '
_CUT = re.compile(r"…\[\d+ chars\]$")
_SECTION = re.compile(r"- ([^\s(]+) \([^)]*\): (.*)$")
_LISTED = re.compile(r"[\[,] ?([^\[\]]+?) \(#([^)]+)\)(?=[,\]])")
_NAMES = re.compile(r"^NOTE: the new message writes out (\{.*\})$", re.MULTILINE)
_PARTS = re.compile(r"[@.]")
_HIDDEN = re.compile(r"<[A-Z]+_\d+>")
_ADDRESS = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}|<EMAIL_\d{1,9}>")


@dataclass(frozen=True, slots=True)
class Fact:
    """The data of one successful call, the message of its turn, and arguments that the data does
    not repeat."""

    app_id: str
    fn_name: str
    data: Any
    message: str = ""
    arguments: JSONObject = field(default_factory=dict)

    @property
    def texts(self) -> dict[str, str]:
        """The text fields of a single record; truncated ones are empty."""
        is_one = isinstance(self.data, dict) and (records_of(self.data) or []) in ([], [self.data])
        fields = {**self.data, **self.arguments} if is_one else {}
        texts = {k: v for k, v in fields.items() if isinstance(v, str)}
        return {k: "" if _CUT.search(v) else v for k, v in texts.items()}

    @property
    def lists(self) -> list[list[object]]:
        """The lists of the data."""
        values = self.data.values() if isinstance(self.data, dict) else ()
        return [value for value in values if isinstance(value, list)]

    @property
    def is_whole(self) -> bool:
        """Whether no count in the data exceeds its number of rows."""
        rows = sum(map(len, self.lists))
        counts = self.data.values() if isinstance(self.data, dict) else ()
        return not any(isinstance(n, int) and n > rows for n in counts)

    @property
    def is_all_told(self) -> bool:
        """Whether the data has all rows, and no name or address in it is masked."""
        return self.is_whole and not _HIDDEN.search(dumps(self.data))


@dataclass(slots=True)
class ParsedPrompt:
    """A parsed prompt. `facts` are newest first, `skeleton_rows` are (section, record).
    `ended` is how many calls of this turn have ended; `is_refused`: the previous answer had a
    problem; `is_ambiguous`: an app found several records for one call.
    `seek_new`: a name that no shown record has may be an unknown record. `is_item`: the message is
    for one line of a list. `is_listed`: the facts have this turn's results, too. `found`: what the
    app's own search found for a name that no shown record has, by the name's stems."""

    message: str = ""
    default_tag: str = "en"
    now: str = "2026-01-01T00:00:00Z"
    facts: list[Fact] = field(default_factory=list)
    skeleton_rows: list[tuple[str, JSONObject]] = field(default_factory=list)
    ended: int = 0
    results: list[Fact] = field(default_factory=list)
    is_refused: bool = False
    is_ambiguous: bool = False
    seek_new: bool = False
    is_item: bool = False
    is_listed: bool = False
    found: Mapping[str, list[JSONObject]] = field(default_factory=dict)


def read_prompt(prompt: str, default_tag: str) -> ParsedPrompt:
    """Parse the classifier's prompt; unknown lines are skipped."""
    reading, messages = ParsedPrompt(default_tag=default_tag), list[str]()
    block = ""
    lines = _restore_names(prompt).splitlines()
    for line in lines:
        if header := _BLOCK.fullmatch(line):
            block = header[1]
        elif block == "SKELETON" and (section := _SECTION.match(line)):
            rows = ({"id": i, "title": t} for t, i in _LISTED.findall(section[2]))
            reading.skeleton_rows += [(section[1], row) for row in rows]
        elif block in ("HISTORY", ""):
            _read_history(line, reading, messages)
        if line.startswith("RESULT:"):
            reading.ended += 1
            reading.is_ambiguous |= _AMBIGUOUS in line
        reading.results += _facts(_RESULT, line)
        reading.is_refused |= line.startswith("PROBLEM:")
    # of two messages: one short one may seem to be in a neighbouring language
    reading.default_tag = language.detect(" ".join(messages[-2:]), default_tag)
    reading.facts.reverse()
    if BREAKS_NOTE in lines:
        reading.message = restore_breaks(reading.message)
    return reading


def _restore_names(prompt: str) -> str:
    """The prompt with placeholders replaced by the message's own words."""
    for note in _NAMES.finditer(prompt):
        for hidden, name in json.loads(note[1]).items():
            prompt = prompt.replace(hidden, name)
    return prompt


def _facts(pattern: re.Pattern[str], line: str) -> list[Fact]:
    """The fact in a line that matches `pattern`; empty for other lines."""
    with suppress(ValueError):
        if match := pattern.match(line):
            return [Fact(match[1], match[2], json.JSONDecoder().raw_decode(match[3])[0])]
    return []


def _read_history(line: str, reading: ParsedPrompt, messages: list[str]) -> None:
    if facts := _facts(_FACTS, line):
        reading.facts += [replace(fact, message=(messages or [""])[-1]) for fact in facts]
    elif calls := _facts(_ARGUMENTS, line):
        [call], last = calls, reading.facts[-1:]
        is_same = [(f.app_id, f.fn_name) for f in last] == [(call.app_id, call.fn_name)]
        base = reading.facts.pop() if is_same else replace(call, data={})
        reading.facts.append(replace(base, arguments=call.data, message=(messages or [""])[-1]))
    elif turn := _TURN.match(line):
        messages.append(turn[1])
    elif found := _MESSAGE.match(line):
        reading.now, reading.message = found[1], found[2]


class Records:
    """The shown records, newest result first, as (app, is_list, rows). `last_write_app` is the app
    of the newest result if it was a write; `write_facts` are the results of writes."""

    def __init__(self, reading: ParsedPrompt, writes: Collection[tuple[str, str]] = ()) -> None:
        self._writes = writes
        self.is_after_write = any((f.app_id, f.fn_name) in writes for f in reading.facts[:1])
        found = ((f, records_of(f.data)) for f in reading.facts)
        results = [(fact, rows) for fact, rows in found if rows is not None]
        self._by_id = {str(row["id"]): row for _, rows in results for row in rows}
        self._former = _renumbered(reading.facts, writes, self._by_id)
        self.deleted_ids = _deleted(reading.facts).union(self._former.values())
        self._results = [self._of(fact, rows) for fact, rows in results]
        self._skeleton, self._facts = reading.skeleton_rows, reading.facts
        self.texts = reading.facts[0].texts if reading.facts else {}
        self._addresses = [_addresses_of(f.data) for f in reading.facts]

    def _of(self, fact: Fact, rows: list[JSONObject]) -> tuple[str, bool, list[JSONObject]]:
        """A result as (app, is_list, rows); results of writes are not lists."""
        is_list = fact.data not in rows and (fact.app_id, fact.fn_name) not in self._writes
        left = [self._whole(r) for r in rows if str(r["id"]) not in self.deleted_ids]
        return fact.app_id, is_list, left

    def _whole(self, row: JSONObject) -> JSONObject:
        """A record with the fields that it had under its former ids."""
        former = self._by_id.get(self._former.get(str(row["id"]), ""))
        return {**self._whole(former), **row} if former else row

    def is_newest(self, app_id: str) -> bool:
        """Whether the newest result is the app's, so that "it" refers to it."""
        return not self._results or self._results[0][0] == app_id

    def newest(self, app_id: str) -> list[JSONObject]:
        """The records of the app's newest result, without deleted ones."""
        return next((rows for app, _, rows in self._results if app == app_id), [])

    def listed(self, app_id: str) -> list[JSONObject]:
        """The app's newest list."""
        return next((rows for app, is_list, rows in self._results if app == app_id and is_list), [])

    def only_listed(self) -> tuple[str, str]:
        """App and id of the one record of the newest result, if that is a list; else empty."""
        [(app_id, is_list, rows), *_] = self._results or [("", False, [])]
        return (app_id, str(rows[0]["id"])) if is_list and len(rows) == 1 else ("", "")

    def rows(self, app_id: str) -> list[JSONObject]:
        """All shown records of an app, each once."""
        found = [r for app, _, rows in self._results if app == app_id for r in rows]
        return list({str(r["id"]): r for r in reversed(found)}.values())[::-1]

    def has(self, ident: str) -> bool:
        """Whether a shown record of any app has this id."""
        return any(str(r["id"]) == ident for _, _, rows in self._results for r in rows)

    def known(self, app_id: str) -> list[JSONObject]:
        """The records of an app: shown ones, then those in its skeleton sections."""
        rows = self.rows(app_id)
        skip = self.deleted_ids.union(str(r["id"]) for r in rows)
        prefixes = (app_id, f"{app_id}.", f"{app_id}_")
        return rows + [
            r
            for section, r in self._skeleton
            if (section == app_id or section.startswith(prefixes[1:])) and str(r["id"]) not in skip
        ]

    def has_words(self, stems: Collection[str], tag: str) -> bool:
        """Whether one result, or one line of the skeleton, has all of these words."""
        texts = [{"": " ".join(t for _, t in _texts(fact.data, ""))} for fact in self._facts]
        return bool(rows_with([*texts, *(row for _, row in self._skeleton)], stems, tag))

    def address(self, *, is_only: bool) -> str:
        """The address shown last; `is_only`: only if the newest result has a single address."""
        newest = {*self._addresses[0]} if self._addresses else set()
        if is_only:
            return newest.pop() if len(newest) == 1 else ""
        return next((own[0] for own in self._addresses if own), "")

    def addresses(self, stems: Sequence[str], tag: str) -> list[str]:
        """The first address of each record that contains all of these words, without
        duplicates."""
        rows = rows_with([row for _, _, rows in self._results for row in rows], stems, tag)
        return [*dict.fromkeys(a for row in rows for a in _addresses_of(row)[:1])]


def _deleted(facts: Sequence[Fact]) -> set[str]:
    """The ids of deleted records."""
    results = (fact.data for fact in facts if isinstance(fact.data, dict))
    return {str(data["id"]) for data in results if data.get("deleted") and "id" in data}


def _renumbered(
    facts: Iterable[Fact], writes: Collection[tuple[str, str]], known: Mapping[str, JSONObject]
) -> dict[str, str]:
    """The former id of each record that a write took by one id and gave back by another, under the
    same name, as a mail server does that moves a message."""
    former = dict[str, str]()
    for fact in (f for f in facts if (f.app_id, f.fn_name) in writes):
        rows = {str(row["id"]): row for row in records_of(fact.data) or ()}
        took = sorted({*_given(fact)} & known.keys() - rows.keys())
        pairs = [(new, old) for new in rows for old in took]
        former |= {new: old for new, old in pairs if name_of(rows[new]) == name_of(known[old])}
    return former


def _given(fact: Fact) -> list[str]:
    """The values of a call's arguments, those of lists one by one."""
    values = (v if isinstance(v, list) else [v] for v in fact.arguments.values())
    return [str(one) for value in values for one in value]


def rows_with(rows: Sequence[JSONObject], stems: Collection[str], tag: str) -> list[JSONObject]:
    """The records whose texts contain all of these stems."""
    texts = [(row, _stems(" ".join(str(v) for v in row.values()))) for row in rows]
    # the stemmer leaves a letter more of a Russian name in one case than in another
    forms = [{stem, language.stem(stem, tag)} for stem in stems]
    whole = [row for row, own in texts if own.issuperset(stems)]
    return whole or [row for row, own in texts if not any(own.isdisjoint(form) for form in forms)]


def words_of_name(row: JSONObject, tag: str) -> set[str]:
    """The stems of a record's name in one language."""
    return {language.stem(w.text, tag) for w in language.tokens(name_of(row))}


def name_of(row: JSONObject) -> str:
    """The name of a record, or its id."""
    known = {language.key_fold(k): v for k, v in row.items()}
    name = next((known[k] for k in language.title_keys() if known.get(k)), row["id"])
    return " ".join(str(name).split())


def _stems(text: str) -> set[str]:
    """The stems of a text's words, in every language."""
    tags, words = language.tags(), {w.text for w in language.tokens(text)}
    words |= {root_part(word) for word in words}
    words |= {part for word in words for part in _PARTS.split(word)}  # of an address
    return {language.stem(word, tag) for word in words for tag in tags}


def records_of(data: Any) -> list[JSONObject] | None:
    """The records of a result: itself if it has an id, else its lists' rows; None for neither."""
    if isinstance(data, dict) and data.get("id"):
        return [data]
    values = data.values() if isinstance(data, dict) else [data]
    lists = [value for value in values if isinstance(value, list)]
    rows = [row for row in chain(*lists) if isinstance(row, dict) and row.get("id")]
    return rows if lists else None


def _addresses_of(data: Any) -> list[str]:
    """The addresses in a result in order, without those of its accounts."""
    pairs = [(key, a) for key, text in _texts(data, "") for a in _ADDRESS.findall(text)]
    own = {a for key, a in pairs if key == "account"}
    return [a for _, a in pairs if a not in own]


def _texts(value: Any, key: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _texts(item, name)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item, key)
