"""Values that were shown before: the record that words name, number or point at, the address of
somebody; and what each app calls its records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from ... import language
from ...types import JSONObject
from ..protocol import ToolSpec
from .examples import Span, Unclear, Value, speech
from .message import COLON, Message, bare, lexicon, sense
from .prompt_reader import Reading, Records, holding, name_of, words_of_name

MOST_ROWS: Final = 50
MOST_SOUGHT: Final = 5
"""Words that are looked for."""
MOST_NAMED: Final = 3
"""Words of a person's name."""


class ShownValues:
    """What one message says of what was shown before."""

    def __init__(self, message: Message, reading: Reading, tools: Sequence[ToolSpec]) -> None:
        # what a write gave back is no list to count places in
        writes = {(t.app_id, t.fn_name) for t in tools if t.action_type != "read"}
        self.message, self.records = message, Records(reading, writes)
        self._tools, self._seeks = tools, reading.seeks
        self._now = datetime.fromisoformat(reading.at)
        self._nouns: dict[tuple[str, str], frozenset[str]] = {}

    def nouns(self, app_id: str, tag: str) -> frozenset[str]:
        """What an app calls its records: the literal words that examples of most of its functions
        share."""
        key = (app_id, tag)
        if key not in self._nouns:
            mine = [t for t in self._tools if t.app_id == app_id]
            used = Counter(stem for tool in mine for stem in speech(tool, tag))
            most, small = max(2, len(mine) * 3 // 4), lexicon(tag).small | lexicon(tag).question
            self._nouns[key] = frozenset(
                s for s, count in used.items() if count >= most and s not in small and s != COLON
            )
        return self._nouns[key]

    def every_noun(self, tag: str) -> frozenset[str]:
        """What any app calls its records."""
        return frozenset[str]().union(*(self.nouns(t.app_id, tag) for t in self._tools))

    def is_anothers(self, app_id: str, tag: str, span: Span | None = None) -> bool:
        """Whether these words hold what another app calls its records, and none of the message is
        what this one does."""
        for told in {tag, self.message.tag}:  # an example may be of no language
            stems, own = self.message.stems(told), self.nouns(app_id, told)
            held = self.every_noun(told).intersection(stems[slice(*span)] if span else stems)
            if held and own.isdisjoint(stems):
                return True
        return False

    def _address(self, span: Span, app_id: str, tag: str) -> Value | Unclear | None:
        """An address of the message, or of the one that the words name; "the same address" and
        "to her" are the one shown last."""
        at = self._telling(span, tag)
        if len(at) == 1 and self.message.tokens[at[0]].kind == "email":
            return Value(self.message.tokens[at[0]].text)
        known = lexicon(tag)
        stems = {self.message.stems(tag)[n] for n in at}
        is_told = any(t.kind == "email" for t in self.message.tokens)
        if known.reference.isdisjoint(stems):
            return self._address_of(at, span, app_id, tag)
        named = not known.address.isdisjoint(stems)
        points = (known.address | known.reference if named else known.toward).issuperset(stems)
        found = self.records.address(is_only=not named) if points and not is_told else ""
        return Value(found) if found else None

    def _address_of(
        self, at: Sequence[int], span: Span, app_id: str, tag: str
    ) -> Value | Unclear | None:
        """The one address of the records that hold a name; where none does, one that nobody was
        shown may."""
        words, naming = self.message.words[slice(*span)], self.message.stems(tag)[slice(*span)]
        text = self.message.slice(*span)  # no "Tom the"
        if (
            not all(words)
            or not len(at) == len(words) <= MOST_NAMED
            or text not in (text.lower(), text.title())
        ):
            return None
        found = self.records.addresses(naming, tag)
        if len(found) == 1:
            return Value(found[0], len(naming))
        is_told = any(t.kind == "email" for t in self.message.tokens)
        is_sought = self._seeks and not (found or is_told)
        unseen = is_sought and self.nouns(app_id, tag).isdisjoint(naming)
        return Unclear((), span, named=True) if unseen else None

    def _record(self, kind: str, span: Span, app_id: str, tag: str) -> Value | Unclear | None:
        """The id of the record that the words name, number, or point at. Without the app's noun,
        only words of its own name a record, or it is the app's that was shown last."""
        if self.message.denies(tag, *span):  # "not done"
            return None
        at, known, nouns = self._telling(span, tag), lexicon(tag), self.nouns(app_id, tag)
        called = self.message.slice(*span).rstrip("?!.… ").casefold()
        if exact := [r for r in self.records.known(app_id) if name_of(r).casefold() == called]:
            return self._chosen(kind, exact, span)
        if len(at) == 1 and (own_id := self._own_id(kind, app_id, span)):
            return own_id
        if any(self.message.tokens[n].kind not in ("word", "quote", "colon") for n in at):
            return None
        words = [w.text for n in at for w in language.tokens(self.message.tokens[n].text)]
        words = [bare(word) for word in words]  # "Sarah's mail"
        stems = [language.stem(w, tag) for w in words if sense(w, tag) not in nouns]
        has_noun = len(stems) < len(words)
        here = app_id if has_noun or self.records.is_newest(app_id) else ""
        rows, unseen = self.records.rows(here), self._unseen(span, app_id, tag)
        small = known.reference | known.plural | known.ordinals.keys()
        if naming := [s for s in stems if s not in small]:
            # older results may hold what is gone by now
            listed = tuple(self.records.listed(here) or rows)
            any_of = Unclear(listed, span) if has_noun and len(listed) > 1 else None
            return self._named(kind, naming, span, app_id, tag) or unseen or any_of
        if ordinals := [known.ordinals[s] for s in stems if s in known.ordinals]:
            placed = self._placed(kind, ordinals, span, app_id)
            return placed or (Unclear((), span) if rows else unseen)
        return self._pointed(kind, stems, span, here, tag) if rows or has_noun else None

    def _unseen(self, span: Span, app_id: str, tag: str) -> Unclear | None:
        """What these words may name that nobody was shown."""
        is_short = self._seeks and span[1] - span[0] <= MOST_SOUGHT
        is_sought = is_short and not self.is_anothers(app_id, tag, span)
        return Unclear((), span, named=True) if is_sought else None

    def _named(
        self, kind: str, naming: Sequence[str], span: Span, app_id: str, tag: str
    ) -> Value | Unclear | None:
        """The record that these words name."""
        held = holding(self.records.known(app_id), naming, tag)
        aside = lexicon(tag).small | self.nouns(app_id, tag)
        exact = [row for row in held if words_of_name(row, tag) - aside <= {*naming}]
        held = exact or held  # "Milk", and not "Milk for Bob"
        several = Unclear(tuple(held), span, True) if len(held) > 1 else None
        return several or self._chosen(kind, held, span)

    def _placed(
        self, kind: str, ordinals: Sequence[int], span: Span, app_id: str
    ) -> Value | Unclear | None:
        """The record of this place in the newest list."""
        listed, place = self.records.listed(app_id), ordinals[0] - (ordinals[0] > 0)
        inside = len(ordinals) == 1 and -len(listed) <= place < len(listed)
        return self._chosen(kind, [listed[place]], span) if inside else None

    def _pointed(
        self, kind: str, stems: Sequence[str], span: Span, app_id: str, tag: str
    ) -> Value | Unclear | None:
        """The record that was shown last, or all of them: "it", "them", "all notes"."""
        known, newest = lexicon(tag), self.records.newest(app_id)
        several = not known.plural.isdisjoint(stems)
        if kind == "ids" and several:
            return Value([r["id"] for r in newest[:MOST_ROWS]]) if newest else None
        if not (known.plural - known.reference).isdisjoint(stems):  # "all", and not "them"
            return Unclear(tuple(self.records.listed(app_id)), span, named=True, every=True)
        if several and len(newest) > 1:
            return Unclear(tuple(newest), span, every=True)
        return self._chosen(kind, newest, span) or Unclear((), span)

    def _own_id(self, kind: str, app_id: str, span: Span) -> Value | None:
        """The one word as an id: a record's that is known, or what has the form of one and is no
        other app's."""
        text = self.message.slice(*span).rstrip("?!.… ")
        if not any(str(r["id"]) == text for r in self.records.rows(app_id)):
            shaped = any(map(str.isdigit, text)) and not text.isdigit()
            shaped = shaped and self.message.tokens[span[0]].kind == "word"  # a quoted title
            if not shaped or self.records.has(text):
                return None
        return Value([text] if kind == "ids" else text)

    def _chosen(self, kind: str, rows: Sequence[JSONObject], span: Span) -> Value | Unclear | None:
        if len(rows) != 1:
            return Unclear(tuple(rows), span) if rows else None
        return Value([rows[0]["id"]] if kind == "ids" else rows[0]["id"])

    def _telling(self, span: Span, tag: str) -> list[int]:
        """The tokens that are no articles and no other small words, unless they point at
        something."""
        known, stems = lexicon(tag), self.message.stems(tag)
        small = known.function - known.reference - known.plural
        return [
            n
            for n in range(*span)
            if stems[n] not in small and self.message.words[n] not in known.articles
        ]
