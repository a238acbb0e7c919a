"""Reference resolution: the record that words name, number or point at, a person's address, and the
nouns of each app's records."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from typing import Final

from ... import language
from ...types import JSONObject
from ..protocol import ToolSpec
from .examples import Span, Unclear, Value, example_words
from .message import COLON, Message, lexicon, root_part, word_key, word_keys
from .prompt_reader import ParsedPrompt, Records, name_of, rows_with, words_of_name

MAX_ROWS: Final = 50
MAX_SEARCH: Final = 5
"""Maximum words of a search."""
MAX_NAMES: Final = 20
"""Maximum words of several names."""
MAX_NAME: Final = 3
"""Maximum words of a person's name."""

DAY: Final = len("2026-12-01")
_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\d(?:T|$)")


class ReferenceResolver:
    """Resolves the references of one message to earlier results."""

    def __init__(self, message: Message, reading: ParsedPrompt, tools: Sequence[ToolSpec]) -> None:
        # results of writes are not lists for ordinals
        writes = {(t.app_id, t.fn_name) for t in tools if t.action_type != "read"}
        self.message, self.records = message, Records(reading, writes)
        self._tools, self._seek_new, self._found = tools, reading.seek_new, reading.found
        self._is_listed = reading.is_listed
        self._now = datetime.fromisoformat(reading.now)
        self._nouns: dict[tuple[str, str], frozenset[str]] = {}

    def nouns(self, app_id: str, tag: str) -> frozenset[str]:
        """The nouns of an app's records: words that the examples of most of its functions share."""
        key = (app_id, tag)
        if key not in self._nouns:
            mine = [t for t in self._tools if t.app_id == app_id]
            used = Counter(stem for tool in mine for stem in example_words(tool, tag))
            most, small = max(2, len(mine) * 3 // 4), lexicon(tag).fillers | lexicon(tag).question
            self._nouns[key] = frozenset(
                s for s, count in used.items() if count >= most and s not in small and s != COLON
            )
        return self._nouns[key]

    def has_noun(self, app_id: str, tag: str, span: Span | None = None) -> bool:
        """Whether one of these words, or of all, is a noun of the app's records."""
        stems = self.message.stems(tag)
        return not self.nouns(app_id, tag).isdisjoint(stems[slice(*span)] if span else stems)

    def all_nouns(self, tag: str) -> frozenset[str]:
        """The nouns of all apps."""
        return frozenset[str]().union(*(self.nouns(t.app_id, tag) for t in self._tools))

    def is_other_app(self, app_id: str, tag: str, span: Span | None = None) -> bool:
        """Whether these words are another app's id, or have its noun, and the message has none of
        this app's."""
        others = {t.app_id for t in self._tools} - {app_id}
        said = self._content(span, tag) if span else ()
        if "_".join(self.message.words[n] for n in said) in others:  # "to the cellar"
            return True
        for known_tag in {tag, self.message.tag}:  # an example may be of no language
            stems, own = self.message.stems(known_tag), self.nouns(app_id, known_tag)
            found = self.all_nouns(known_tag).intersection(stems[slice(*span)] if span else stems)
            if found and own.isdisjoint(stems):
                return True
        return False

    def merge_time(self, new: str, old: str, span: Span, tag: str) -> str:
        """A new moment combined with the record's day or time, if the message gives only one of
        them: "move it to 7pm"."""
        if not _MOMENT.match(old):
            return new
        text, tags = self.message.slice(*span), (tag, self.message.tag)
        kinds = {m.kind for each in tags for m in language.dates(text, each, self._now)}
        if kinds == {"time"}:
            return old[:DAY] + new[DAY:]
        return new if "T" in new else new + old[DAY:]

    def _address(self, span: Span, app_id: str, tag: str) -> Value | Unclear | None:
        """An address in the message, or of the person it names; "the same address" and "to her" are
        the one shown last."""
        at = self._content(span, tag)
        if len(at) == 1 and self.message.tokens[at[0]].kind == "email":
            return Value(self.message.tokens[at[0]].text)
        known = lexicon(tag)
        stems = {self.message.stems(tag)[n] for n in at}
        has_email = any(t.kind == "email" for t in self.message.tokens)
        if known.reference.isdisjoint(stems):
            return self._address_of(at, span, app_id, tag)
        is_noun = not known.address.isdisjoint(stems)
        is_ref = (known.address | known.reference if is_noun else known.toward).issuperset(stems)
        found = self.records.address(is_only=not is_noun) if is_ref and not has_email else ""
        return Value(found) if found else None

    def _address_of(
        self, at: Sequence[int], span: Span, app_id: str, tag: str
    ) -> Value | Unclear | None:
        """The single address of the records with a name; an unknown record if there are none."""
        words, stems = self.message.words[slice(*span)], self.message.stems(tag)[slice(*span)]
        text = self.message.slice(*span)  # no "Tom the"
        if (
            not all(words)
            or not len(at) == len(words) <= MAX_NAME
            or text not in (text.lower(), text.title())
        ):
            return None
        found = self.records.addresses(stems, tag)
        if len(found) == 1:
            return Value(found[0], len(stems))
        has_email = any(t.kind == "email" for t in self.message.tokens)
        may_search = self._seek_new and not (found or has_email)
        is_unknown = may_search and self.nouns(app_id, tag).isdisjoint(stems)
        return Unclear((), span, is_named=True) if is_unknown else None

    def _record(self, kind: str, span: Span, tool: ToolSpec, tag: str) -> Value | Unclear | None:
        """The id of the record that the words name, number, or point at. Without the app's noun,
        only words of its own name a record, or it is the app's that was shown last."""
        app_id = tool.app_id
        if self.is_limited(span, tag):
            return self._all_but(kind, span, tool, tag)
        at, known, nouns = self._content(span, tag), lexicon(tag), self.nouns(app_id, tag)
        if exact := self.called(span, app_id):
            return self._single(kind, exact, span, is_named=True)
        if len(at) == 1 and (own_id := self._by_id(kind, app_id, span)):
            return own_id
        if any(self.message.tokens[n].kind not in ("word", "quote", "colon") for n in at):
            return None
        words = [w.text for n in at for w in language.tokens(self.message.tokens[n].text)]
        words = [root_part(word) for word in words]  # "Sarah's mail"
        stems = [language.stem(w, tag) for w in words if word_key(w, tag) not in nouns]
        has_noun = len(stems) < len(words)
        app = app_id if has_noun or self.records.is_newest(app_id) else ""
        rows, unknown = self.records.rows(app), self._unknown(span, app_id, tag)
        small = known.reference | known.plural | known.ordinals.keys()
        name = [s for s in stems if s not in small]
        if not known.every.isdisjoint(stems) and known.pronouns.isdisjoint(stems):
            return self._every(name, span, tool, tag) if has_noun or not name else None
        if name:
            # older results may hold what is gone by now
            listed = tuple(self.records.listed(app) or rows)
            any_of = Unclear(listed, span) if has_noun and len(listed) > 1 else None
            return self._named(kind, name, span, tool, tag) or unknown or any_of
        if ordinals := [known.ordinals[s] for s in stems if s in known.ordinals]:
            placed = self._by_place(kind, ordinals, span, app_id)
            return placed or (Unclear((), span) if rows else unknown)
        return self._by_pronoun(kind, stems, span, app, tag) if rows or has_noun else None

    def names(self, span: Span, tag: str) -> list[list[str]]:
        """The words of each name here: neither an app's nouns nor what only points."""
        known, nouns = lexicon(tag), self.all_nouns(tag)
        small = known.reference | known.plural | known.ordinals.keys() | nouns
        texts = [
            [self.message.tokens[n].text for n in self._content(part, tag)]
            for part in self.parts(span, tag)
        ]
        words = [[*map(root_part, own)] for own in texts]
        return [
            [w for w in own if small.isdisjoint((word_key(w, tag), language.stem(w, tag)))]
            for own in words
        ]

    def lacking(self, span: Span, app_id: str, tag: str) -> list[str]:
        """The names of one word here that no record of the app has."""
        known, names = self.records.known(app_id), self.names(span, tag)
        words = [own[0] for own in names if len(own) == 1]
        return [w for w in words if not rows_with(known, [language.stem(w, tag)], tag)]

    def called(self, span: Span, app_id: str) -> list[JSONObject]:
        """The records whose whole name these words are."""
        title = self.message.slice(*span).rstrip("?!.… ").casefold()
        return [r for r in self.records.known(app_id) if name_of(r).casefold() == title]

    def is_limited(self, span: Span, tag: str) -> bool:
        """Whether these words deny something or leave something out: "not done", "all but the
        first"."""
        stems = self.message.stems(tag)[slice(*span)]
        is_all = not lexicon(tag).every.isdisjoint(stems)
        is_part = is_all and not language.of(tag).words.limits.isdisjoint(stems)
        return is_part or self.message.has_negation(tag, *span)

    def _named(
        self, kind: str, naming: Sequence[str], span: Span, tool: ToolSpec, tag: str
    ) -> Value | Unclear | None:
        """What these words name: records by their whole names, one with all of the words, or each
        one of several. "The milk" may be a part of "milk and eggs", "the milk task" is whole."""
        found = (
            self._each(span, tool, tag, is_exact=True)
            or self._by_name(kind, naming, span, tool.app_id, tag)
            or self._each(span, tool, tag)
        )
        is_sure = tool.action_type != "write" or isinstance(found, Unclear)
        is_sure = is_sure or self.has_noun(tool.app_id, tag, span)
        part = None if is_sure else self._part_of(naming, span, tool.app_id, tag)
        return part or found

    def _part_of(self, naming: Sequence[str], span: Span, app_id: str, tag: str) -> Unclear | None:
        """The one record with these words whose name lists more things than they name."""
        rows, joints = rows_with(self.records.known(app_id), naming, tag), lexicon(tag).conjunctions
        words = re.split(r"(\W+)", name_of(rows[0])) if len(rows) == 1 else []
        listed = "".join("," if language.stem(w, tag) in joints else w for w in words).split(",")
        parts = [{"": part} for part in listed if part.strip()]
        left = [part for part in parts if not any(rows_with([part], [s], tag) for s in naming)]
        return Unclear(tuple(rows), span, is_named=True) if 0 < len(left) < len(parts) else None

    def _each(
        self, span: Span, tool: ToolSpec, tag: str, *, is_exact: bool = False
    ) -> Unclear | None:
        """The records that the words name one by one: "milk and eggs"; with `is_exact` by their
        whole names. Of some those to choose from, once the app's list was read."""
        spans = self.parts(span, tag)
        if is_exact and not all(self.called(own, tool.app_id) for own in spans):
            return None
        found = [self._record("id", own, tool, tag) for own in spans] if len(spans) > 1 else []
        ids = [one.value for one in found if isinstance(one, Value)]
        rows = [row for row in self.records.known(tool.app_id) if row["id"] in ids]
        is_each = len(rows) > 1 and len(rows) == len(found)
        if is_each or is_exact or not rows:
            return Unclear(tuple(rows), span, is_all=True) if is_each else None
        choices = tuple(rows) if self._is_listed else ()
        return Unclear(choices, span, is_named=not self._is_listed)

    def parts(self, span: Span, tag: str) -> list[Span]:
        """What commas and conjunctions join in these words, without articles."""
        stems, joints = self.message.stems(tag), lexicon(tag).conjunctions
        text, tokens = self.message.text, self.message.tokens
        inner = range(span[0] + 1, span[1])
        marks = {n for n in inner if "," in text[tokens[n - 1].end : tokens[n].start]}
        bounds = sorted({*span, *marks, *(n for n in inner if stems[n] in joints)})
        pairs = [(a + (stems[a] in joints), b) for a, b in pairwise(bounds)]
        return [(self.message.skip_articles(tag, a, b - 1), b) for a, b in pairs if a < b]

    def _all_but(self, kind: str, span: Span, tool: ToolSpec, tag: str) -> Unclear | None:
        """All records without those that the words behind "but" name, or these words if none has
        one of them; None for another limit."""
        stems, limits = self.message.stems(tag), language.of(tag).words.limits
        at = next((n for n in range(*span) if stems[n] in limits), span[0])
        every = self._record(kind, (span[0], at), tool, tag) if at > span[0] else None
        if not isinstance(every, Unclear) or not every.rows:
            return every if isinstance(every, Unclear) else None
        small = lexicon(tag).fillers | lexicon(tag).conjunctions | self.nouns(tool.app_id, tag)
        said = {*stems[at + 1 : span[1]]} - small
        names = [word_keys(name_of(row), tag) for row in every.rows]
        if not said or said.difference(*names):
            return Unclear((), (at + 1, span[1]), is_named=True)
        left = (row for row, name in zip(every.rows, names, strict=True) if said.isdisjoint(name))
        return every._replace(rows=tuple(left))

    def _unknown(self, span: Span, app_id: str, tag: str) -> Unclear | None:
        """A record that these words may name and that was not shown yet."""
        # of several each may have as many words, behind a verb
        is_several = self._seek_new and span[0] > 0 and span[1] - span[0] <= MAX_NAMES
        parts = self.parts(span, tag) if is_several else [span]
        is_short = self._seek_new and all(last - first <= MAX_SEARCH for first, last in parts)
        is_name = is_short and not self.is_other_app(app_id, tag, span)
        return Unclear((), span, is_named=True) if is_name else None

    def _by_name(
        self, kind: str, naming: Sequence[str], span: Span, app_id: str, tag: str
    ) -> Value | Unclear | None:
        """The record that these words name."""
        rows = self._rows_with(self.records.known(app_id), naming, tag)
        ignored = lexicon(tag).fillers | self.nouns(app_id, tag)
        exact = [row for row in rows if words_of_name(row, tag) - ignored <= {*naming}]
        return self._single(kind, exact or rows, span, is_named=True)  # no "Milk for Bob"

    def _rows_with(
        self, rows: Sequence[JSONObject], naming: Sequence[str], tag: str
    ) -> list[JSONObject]:
        """The records with these words, else those that the app's own search has found for them."""
        return rows_with(rows, naming, tag) or self._found.get(" ".join(naming), [])

    def _by_place(
        self, kind: str, ordinals: Sequence[int], span: Span, app_id: str
    ) -> Value | Unclear | None:
        """The record at an ordinal position of the newest list."""
        listed, place = self.records.listed(app_id), ordinals[0] - (ordinals[0] > 0)
        is_inside = len(ordinals) == 1 and -len(listed) <= place < len(listed)
        return self._single(kind, [listed[place]], span) if is_inside else None

    def _by_pronoun(
        self, kind: str, stems: Sequence[str], span: Span, app_id: str, tag: str
    ) -> Value | Unclear | None:
        """The record or records shown last: "it", "them", "all notes"."""
        known, newest = lexicon(tag), self.records.newest(app_id)
        is_plural = not known.plural.isdisjoint(stems)
        if kind == "ids" and is_plural:
            return Value([r["id"] for r in newest[:MAX_ROWS]]) if newest else None
        if is_plural and len(newest) > 1:
            return Unclear(tuple(newest), span, is_all=True)
        return self._single(kind, newest, span) or Unclear((), span)

    def _every(self, name: Sequence[str], span: Span, tool: ToolSpec, tag: str) -> Unclear | None:
        """All records of the app, or those that these words name, which its list tells; without the
        app's noun all of the list that was shown last, and never what is destroyed."""
        listed = self.records.listed(tool.app_id)
        if not self.has_noun(tool.app_id, tag, span):
            is_list = listed and listed == self.records.newest(tool.app_id)
            if not is_list or tool.action_type == "destructive":
                return None
        rows = self._rows_with(listed, name, tag) if name else listed
        is_pair = not language.of(tag).words.pair.isdisjoint(self.message.stems(tag)[slice(*span)])
        is_all = not (rows and is_pair and len(rows) != 2) and bool(rows or not name)
        return Unclear(tuple(rows), span, is_named=True, is_all=is_all)

    def _by_id(self, kind: str, app_id: str, span: Span) -> Value | None:
        """A single word as an id: of a known record, or with digits and letters and unknown to
        other apps."""
        text = self.message.slice(*span).rstrip("?!.… ")
        if not any(str(r["id"]) == text for r in self.records.rows(app_id)):
            is_id = any(map(str.isdigit, text)) and not text.isdigit()
            is_id = is_id and self.message.tokens[span[0]].kind == "word"  # a quoted title
            if not is_id or self.records.has(text):
                return None
        return Value([text] if kind == "ids" else text)

    def _single(
        self, kind: str, rows: Sequence[JSONObject], span: Span, *, is_named: bool = False
    ) -> Value | Unclear | None:
        if len(rows) != 1:
            return Unclear(tuple(rows), span, is_named) if rows else None
        return Value([rows[0]["id"]] if kind == "ids" else rows[0]["id"])

    def _content(self, span: Span, tag: str) -> list[int]:
        """The content tokens, including pronouns."""
        known, stems, words = lexicon(tag), self.message.stems(tag), self.message.words
        content = (n for n in range(*span) if stems[n] not in known.bare)
        return [n for n in content if words[n] not in known.articles]
