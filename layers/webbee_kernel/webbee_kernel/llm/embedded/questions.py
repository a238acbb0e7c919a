"""What a question asks for that is no command: a record that was shown, an app's list, what its
search finds."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cached_property
from itertools import islice
from typing import Final

from ... import language
from ...language.search import SearchWords
from ...types import JSONObject
from ..function_form import parameters
from ..protocol import ToolSpec
from .commands import Commands
from .examples import Command, Pattern, Value, unfilled
from .message import Message, lexicon, sense
from .prompt_reader import holding, name_of

MOST_ASKED: Final = 3
"""Words that tell what a question is about, where a list is its answer."""

MOST_SOUGHT: Final = 4
"""Words that are looked for."""

LONGEST: Final = 40
"""Letters of a word that is looked for."""


class Questions:
    """One message read as a question, or as "find …"."""

    def __init__(self, commands: Commands) -> None:
        self._commands, self._values = commands, commands.values
        self._message, self._tag = commands.message, commands.message.tag
        self._lexicon = lexicon(self._tag)
        stems, bounds = self._message.stems(self._tag), self._message.bounds(self._tag, ask=True)
        is_led = self._message.asks or not self._lexicon.question.isdisjoint(stems[:1])
        self.is_asked = is_led and not self._message.denies(self._tag)
        self._is_led = self.is_asked or bounds.asked
        self._first = stems[bounds.first :][:1]

    def about(self) -> Command | None:
        """The reading of the one record that holds all words that tell what it is about, or that it
        only points at; None where there are several."""
        reads = self._reads if self.is_asked else {}
        meant = [(app_id, i) for app_id, read in reads.items() for i in self._meant(*read)]
        newest = [one for one in meant if self._values.records.is_newest(one[0])]
        meant = newest or meant
        return self.reading(*meant[0]) if len(meant) == 1 else None

    def reading(self, app_id: str, ident: str) -> Command | None:
        """The call that reads a record of an app."""
        if app_id not in self._reads:
            return None
        tool, name = self._reads[app_id]
        return Command(Pattern(tool, "", self._tag, (), {}), {name: ident})

    @cached_property
    def _reads(self) -> dict[str, tuple[ToolSpec, str]]:
        """The function of each app that reads one record, and the parameter that says which."""
        reads = (t for t in reversed(self._commands.tools) if t.action_type == "read")
        return {t.app_id: (t, name) for t in reads for name in unfilled(t, "id", ())[:1]}

    def _meant(self, tool: ToolSpec, name: str) -> list[str]:
        """The ids of the records of its app that the message is about."""
        tag, rows = self._tag, self._values.records.known(tool.app_id)
        wanted = {language.stem(word, tag) for word in self._message.telling(tag)}
        if not self._message.telling(tag, fields=True):  # "and the second one?"
            known = self._lexicon
            pointing = language.of(tag).words.reference | known.ordinals.keys() | known.plural
            if pointing.isdisjoint(self._message.stems(tag)):
                return []  # "how are you?"
            span = self._message.bounds(tag, ask=True)[:2]
            value = self._values.of("id", parameters(tool)[name], span, tool, tag)
            # and no "what is 2+2?"
            told = value.value if isinstance(value, Value) else None
            return [row["id"] for row in rows if row["id"] == told][:1]
        return [row["id"] for row in rows if self._tells_of(row, wanted)]

    def _tells_of(self, row: JSONObject, wanted: set[str]) -> bool:
        """Whether a record holds all of these words, or they hold its whole name."""
        name = Message.of(name_of(row)).telling(self._tag)
        named = {language.stem(word, self._tag) for word in name}
        held = holding([row], wanted, self._tag) or (named and named <= wanted)
        return bool(wanted and held)

    def strange(self) -> list[str]:
        """The words that tell what it is about, and that no example knows: no field of it."""
        known = frozenset[str]().union(*(p.literals for p in self._own))
        told = self._message.telling(self._tag)
        return self._dateless(word for word in told if sense(word, self._tag) not in known)

    def _dateless(self, words: Iterable[str]) -> list[str]:
        """The first of these words that are no days."""
        short = islice((word for word in words if len(word) <= LONGEST), 2 * MOST_SOUGHT)
        return [w for w in short if not self._values.is_day(w, self._tag)][:MOST_SOUGHT]

    @cached_property
    def _own(self) -> list[Pattern]:
        return [p for p in self._commands.examples if p.tag == self._tag]

    # What is looked for

    @cached_property
    def _is_find(self) -> bool:
        """Whether it begins as nothing but searches do: "find …"."""
        begun = {p.tool.name for p in self._own if p.pieces[0].stem in self._first}
        return bool(begun) and begun <= {p.tool.name for p in self._own if p.is_search}

    @cached_property
    def _told(self) -> list[str]:
        """The words that are looked for."""
        told, verb = self._message.telling(self._tag, fields=True), self._first * self._is_find
        return self._dateless(word for word in told if sense(word, self._tag) not in verb)

    @property
    def is_looked_for(self) -> bool:
        """Whether it says "find …" without an app's noun, or asks for what is said of a thing: the
        number of the order."""
        things = language.of(self._tag).words.things
        parts = [word.word for word in SearchWords(" ".join(self._told), self._tag).words]
        told = {things.get(language.stem(part, self._tag)) for part in parts} - {None}
        # "what time is it in Riga?" asks for nothing of the user's
        is_field = len(parts) > 1 and any("moment" not in language.key_roles(n) for n in told)
        nouns = self._values.every_noun(self._tag)
        is_listed = any(sense(word, self._tag) in nouns for word in self._told)
        is_meant = self._is_find or (self._is_led and is_field)
        return is_meant and not (is_listed or self._message.denies(self._tag))

    def searches(self) -> list[Command]:
        """The search of each app that has one."""
        own = {p.tool.app_id: p for p in reversed(self._own) if p.is_search}
        text = " ".join(self._told)
        found = [Command(p, {q.slot: text for q in p.pieces if q.slot}) for p in own.values()]
        return found[::-1] if text else []

    # What is listed

    def app(self) -> str:
        """The one app that calls its records what a question asks for: "which books do I have?";
        also beside other words, where it can look for none of them; empty without one."""
        tag, tools = self._tag, self._commands.tools
        words = frozenset(sense(word, tag) for word in self._message.telling(tag))
        left = {t.app_id: words - self._values.nouns(t.app_id, tag) for t in tools}
        apps = [app_id for app_id in left if left[app_id] < words]
        is_one = len(apps) == 1 and self._is_led and len(words) <= MOST_ASKED
        if not is_one or self._says_more(self._beside_a_list, tag):
            return ""
        searching = {c.tool.app_id for c in self.searches()}
        return "" if left[apps[0]] and apps[0] in searching else apps[0]

    @property
    def _beside_a_list(self) -> frozenset[str]:
        """ "All", and not "them", and "do I have"."""
        every = self._lexicon.plural - self._lexicon.reference
        return every | language.of(self._tag).words.recency

    def _says_more(self, words: Collection[str], tag: str) -> bool:
        """Whether the message beside these words denies, points at something, has a value, or says
        what has an effect."""
        known, stems = lexicon(tag), self._message.stems(tag)
        writes = (p for p in self._commands.examples if p.tool.action_type != "read")
        effects = {p.pieces[0].stem for p in writes}
        led = known.reference | known.plural | known.denial | known.ordinals.keys()
        others = [n for n, stem in enumerate(stems) if stem not in words]
        is_value = not all(word.replace("'", "").isalpha() for word in self._message.words)
        is_value |= any(self._values.is_dated((n, n + 1), tag) for n in others)
        return is_value or not (led | (effects - known.small)).isdisjoint(stems[n] for n in others)

    def near(self, pattern: Pattern) -> Command | None:
        """The call of a near example without slots, or of the name, of a function that only reads;
        None where the message also denies, points at something, has a value, says what has an
        effect, or does not say what the example calls the app's records, however near it is."""
        tag, tool = pattern.tag, pattern.tool
        called = self._values.nouns(tool.app_id, tag) & pattern.literals
        is_named = called.issubset(self._message.stems(tag))
        if tool.action_type != "read" or pattern.has_slots or not is_named:
            return None
        if self._says_more(pattern.literals, tag):
            return None
        left_out = self._commands.left_out(tool, dict(pattern.fixed))
        command = Command(pattern, {**pattern.fixed, **left_out})
        is_whole = command.is_complete and not unfilled(tool, "id", command.arguments)
        is_drafted = not pattern.example and self._values.draft(pattern)
        return command if is_whole and not is_drafted else None
