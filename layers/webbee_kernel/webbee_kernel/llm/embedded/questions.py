"""Questions that are not commands: about a shown record, an app's list, or for a search."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from itertools import islice
from typing import Final

from ... import language
from ...language.search import SearchWords
from ...types import JSONObject
from ..function_form import parameters
from ..protocol import ToolSpec
from .commands import Commands
from .examples import Command, Pattern, Value, free_names
from .message import Message, lexicon, word_key
from .prompt_reader import Fact, name_of, rows_with

_NUMBER: Final = re.compile(r"(?<![\d.:-])\d{3,}(?![\d:-])")
"""More than two digits: neither a day nor an hour."""

MAX_TOPIC: Final = 3
"""Maximum content words of a question that a list answers."""

MAX_SEARCH: Final = 4
"""Maximum words of a search."""

MAX_NAMES: Final = 2
"""Maximum words of a language for one kind of thing."""

MAX_LETTERS: Final = 40
"""Maximum letters of a search word."""


class Questions:
    """One message interpreted as a question or as "find …"."""

    def __init__(self, commands: Commands) -> None:
        self._commands, self._values = commands, commands.values
        self._message, self._tag = commands.message, commands.message.tag
        self._lexicon = lexicon(self._tag)
        stems, bounds = self._message.stems(self._tag), self._message.bounds(self._tag, ask=True)
        is_led = self._message.is_question or not self._lexicon.question.isdisjoint(stems[:1])
        self.is_question = is_led and not self._message.has_negation(self._tag)
        self._is_led = self.is_question or bounds.is_question
        self._first = stems[bounds.first :][:1]

    def record_read(self) -> Command | None:
        """The call that reads the only record with all content words, or the one referred to; None
        for several."""
        reads = self._reads if self.is_question else {}
        matches = [(app_id, i) for app_id, read in reads.items() for i in self._matching_ids(*read)]
        newest = [one for one in matches if self._values.records.is_newest(one[0])]
        matches = newest or matches
        return self.reading(*matches[0]) if len(matches) == 1 else None

    def reading(self, app_id: str, ident: str) -> Command | None:
        """The call that reads a record of an app."""
        if app_id not in self._reads:
            return None
        tool, name = self._reads[app_id]
        return self._commands.calls([(tool.name, {name: ident})])[0]

    @cached_property
    def _reads(self) -> dict[str, tuple[ToolSpec, str]]:
        """The function of each app that reads one record, with its id parameter."""
        reads = (t for t in reversed(self._commands.tools) if t.action_type == "read")
        return {t.app_id: (t, name) for t in reads for name in free_names(t, "id", ())[:1]}

    def _matching_ids(self, tool: ToolSpec, name: str) -> list[str]:
        """The ids of the app's records that the message is about."""
        tag, rows = self._tag, self._values.records.known(tool.app_id)
        wanted = {language.stem(word, tag) for word in self._message.keywords(tag)}
        if not self._message.keywords(tag, fields=True):  # "and the second one?"
            known = self._lexicon
            references = language.of(tag).words.reference | known.ordinals.keys() | known.plural
            if references.isdisjoint(self._message.stems(tag)):
                return []  # "how are you?"
            span = self._message.bounds(tag, ask=True)[:2]
            value = self._values.of("id", parameters(tool)[name], span, tool, tag)
            # and no "what is 2+2?"
            ident = value.value if isinstance(value, Value) else None
            return [row["id"] for row in rows if row["id"] == ident][:1]
        return [row["id"] for row in rows if self._matches(row, wanted)]

    def _matches(self, row: JSONObject, wanted: set[str]) -> bool:
        """Whether a record contains all of these words, or they contain its whole name."""
        name = Message.of(name_of(row)).keywords(self._tag)
        name_stems = {language.stem(word, self._tag) for word in name}
        has_all = rows_with([row], wanted, self._tag) or (name_stems and name_stems <= wanted)
        return bool(wanted and has_all)

    def unknown_words(self) -> list[str]:
        """The content words that no example has."""
        known = frozenset[str]().union(*(p.literals for p in self._own))
        words = self._message.keywords(self._tag)
        return self._dateless(word for word in words if word_key(word, self._tag) not in known)

    def _dateless(self, words: Iterable[str]) -> list[str]:
        """The first of these words, without days."""
        short = islice((word for word in words if len(word) <= MAX_LETTERS), 2 * MAX_SEARCH)
        return [w for w in short if not self._values.is_day(w, self._tag)][:MAX_SEARCH]

    @cached_property
    def _own(self) -> list[Pattern]:
        return [p for p in self._commands.examples if p.tag == self._tag]

    @property
    def is_order(self) -> bool:
        """Whether it begins like a write, so that its words are nothing to look for."""
        writes = (p for p in self._own if p.tool.action_type != "read")
        return any(p.pieces[0].stem in self._first for p in writes)

    # What is looked for

    @cached_property
    def _is_find(self) -> bool:
        """Whether it begins like searches only: "find …"."""
        tools = {p.tool.name for p in self._own if p.pieces[0].stem in self._first}
        return bool(tools) and tools <= {p.tool.name for p in self._own if p.looks_up == "search"}

    @cached_property
    def _search_words(self) -> list[str]:
        """The words to search for: neither the verb, a day, nor the apps' nouns."""
        words, verb = self._message.keywords(self._tag, fields=True), self._first * self._is_find
        skip = self._nouns.union(verb)
        return self._dateless(word for word in words if word_key(word, self._tag) not in skip)

    @cached_property
    def _nouns(self) -> frozenset[str]:
        """The apps' nouns in the message."""
        return self._values.all_nouns(self._tag).intersection(self._message.stems(self._tag))

    def _stems_of_parts(self) -> list[str]:
        """The stems of the words to search for, and of a compound's parts."""
        parts = SearchWords(" ".join(self._search_words), self._tag).words
        return [language.stem(part.word, self._tag) for part in parts]

    @cached_property
    def is_field(self) -> bool:
        """Whether it asks for a field, as for the number of the order; beside an app's noun, or
        with nothing but a day, only for one that identifies: "yesterday's number"."""
        things, parts = language.of(self._tag).words.things, self._stems_of_parts()
        roles = [language.key_roles(things[part]) for part in parts if part in things]
        is_id = any("id" in own for own in roles)
        if self._nouns or len(parts) == 1:
            return is_id and (len(parts) > 1 or bool(self._values.day(self._tag)))
        # "what time is it in Riga?" asks for nothing of the user's
        return any("moment" not in own for own in roles)

    @property
    def is_search(self) -> bool:
        """Whether it says "find …", or asks for a field."""
        is_find = self._is_find and bool(self._search_words)
        is_lookup = is_find or (self._is_led and self.is_field)
        return is_lookup and not self._message.has_negation(self._tag)

    def searches(self, words: Sequence[str] | None = None) -> list[Command]:
        """The search of each app that has one, of the app that is named alone, for these words or
        the message's; the lists of a day for nothing but that day's number."""
        text = self._only_day or " ".join(self._search_words if words is None else words)
        kind = "date" if self._only_day else "search"
        own = {p.tool.app_id: p for p in reversed(self._own) if p.looks_up == kind}
        named = [app_id for app_id in own if self._values.nouns(app_id, self._tag) & self._nouns]
        return [_lookup(own[app_id], text) for app_id in named or own][::-1] * bool(text)

    def found_in(self, results: Sequence[Fact]) -> list[Fact]:
        """The results that are of the searches for what is asked or to be found."""
        is_asked = self.is_question or self.is_search
        searches = self.searches() if results and is_asked else []
        names = {(c.tool.app_id, c.tool.fn_name) for c in searches}
        return [fact for fact in results if (fact.app_id, fact.fn_name) in names]

    @property
    def _only_day(self) -> str:
        """The day that is all that is told of a field, in ISO 8601; else empty."""
        is_only = self.is_field and len(self._stems_of_parts()) == 1
        return self._values.day(self._tag) if is_only else ""

    def foreign_searches(self) -> list[Command]:
        """The same for what other languages call the thing that is asked for: "pedido" for
        "order"."""
        words = language.of(self._tag).words
        told = ((words.things.get(s), words.objects.get(s)) for s in self._stems_of_parts())
        kinds = dict.fromkeys(kind for thing, kind in told if kind and thing in (kind, None))
        others = (tag for tag in language.tags() if tag != self._tag)
        found = (word for tag in others for kind in kinds for word in _names(kind, tag))
        return self.searches([*dict.fromkeys(found)])

    def found_read(self, found: Sequence[tuple[str, JSONObject]]) -> Command | None:
        """The call that reads the only one of these records, or the only one of the day that is
        told, where it holds each number that was typed."""
        told, words = self._of_day(found), self._message.words
        numbers = (word for word in words if any(map(str.isdigit, word)))
        is_one = len(told) == 1 and all(number in _text(told[0][1]) for number in numbers)
        return self.reading(told[0][0], told[0][1]["id"]) if is_one else None

    def _of_day(self, found: Sequence[tuple[str, JSONObject]]) -> Sequence[tuple[str, JSONObject]]:
        """Those of the day that is told; of several, for a field, those with a number."""
        day = self._values.day(self._tag)
        told = [one for one in found if day in _text(one[1])] or found
        numbered = [one for one in told if _NUMBER.search(name_of(one[1]))]
        return numbered if self.is_field and len(told) > 1 else told

    # What is listed

    def listable_app(self) -> str:
        """The only app whose noun a question has ("which books do I have?"); with other words only
        if the app has no search. Empty without one."""
        tag, tools = self._tag, self._commands.tools
        words = frozenset(word_key(word, tag) for word in self._message.keywords(tag))
        rests = {t.app_id: words - self._values.nouns(t.app_id, tag) for t in tools}
        apps = [app_id for app_id in rests if rests[app_id] < words]
        is_one = all((len(apps) == 1, self._is_led, len(words) <= MAX_TOPIC))
        # "all", and not "them", and "do I have"
        listing = self._lexicon.every | language.of(tag).words.recency
        if not is_one or self._has_more(listing, tag):
            return ""
        searchable = {c.tool.app_id for c in self.searches()}
        return "" if rests[apps[0]] and apps[0] in searchable else apps[0]

    def _has_more(self, words: Collection[str], tag: str) -> bool:
        """Whether the message, apart from these words, has a negation, reference, value or effect
        verb."""
        known, stems = lexicon(tag), self._message.stems(tag)
        writes = (p for p in self._commands.examples if p.tool.action_type != "read")
        effects = {p.pieces[0].stem for p in writes}
        ref = known.reference | known.plural | known.denial | known.ordinals.keys()
        others = [n for n, stem in enumerate(stems) if stem not in words]
        is_value = not all(word.replace("'", "").isalpha() for word in self._message.words)
        is_value |= any(self._values.has_edge_date((n, n + 1), tag) for n in others)
        return is_value or not (ref | (effects - known.fillers)).isdisjoint(
            stems[n] for n in others
        )

    def near_read(self, pattern: Pattern) -> Command | None:
        """The call of a near read example without slots (or of the function's name); None if the
        message lacks the example's noun, or also has a negation, reference, value or effect
        verb."""
        tag, tool = pattern.tag, pattern.tool
        nouns = self._values.nouns(tool.app_id, tag) & pattern.literals
        is_named = nouns.issubset(self._message.stems(tag))
        if tool.action_type != "read" or pattern.has_slots or not is_named:
            return None
        if self._has_more(pattern.literals, tag):
            return None
        implied = self._commands.implied_id(tool, dict(pattern.fixed))
        command = Command(pattern, {**pattern.fixed, **implied})
        is_whole = command.is_complete and not free_names(tool, "id", command.arguments)
        is_drafted = not pattern.example and self._values.draft(pattern)
        return command if is_whole and not is_drafted else None


def _names(kind: str, tag: str) -> list[str]:
    """Two words at most, of different stems, for a kind of thing in a language."""
    forms = language.of(tag).words.lists("objects").get(kind, "").split()
    by_stem = {language.stem(word, tag): word for word in reversed(forms)}
    return [*by_stem.values()][: -MAX_NAMES - 1 : -1]


def _lookup(pattern: Pattern, text: str) -> Command:
    return Command(pattern, {piece.slot: text for piece in pattern.pieces if piece.slot})


def _text(row: JSONObject) -> str:
    return " ".join(map(str, row.values()))
