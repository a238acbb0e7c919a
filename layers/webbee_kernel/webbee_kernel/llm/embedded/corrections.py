"""What a message says anew of the calls that wait, on a card or in a form."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Final

from ... import language
from ...language import key_fold
from ...types import JSONObject
from ..function_form import Parameter, parameters
from ..protocol import ToolSpec
from .commands import NAMING
from .examples import Command, Span, Value, date_parameters, patterns
from .message import lexicon, word_key, word_keys
from .prompt_reader import name_of
from .slots import SlotValues, field_words

_PARTS: Final = re.compile(r"[@._-]")
"""What parts the words of an address."""
_ADD: Final = "=add"
"""The key of the words that stand for "add" in any language."""


class Corrections(SlotValues):
    """A message read as a correction of calls that wait: a new value, fewer of them, one more."""

    # One call with another value

    def replacement(
        self, readings: Sequence[Command], tool: ToolSpec, given: JSONObject
    ) -> JSONObject | None:
        """What the message says anew of a call that waits; None for a command that may be called as
        it is, of a record that was shown or of none."""
        tag, named = self.message.tag, self._named_parameters(tool)
        is_other = any(c.is_sure and not c.is_by_words for c in readings)
        more = {} if is_other else self._lengthened(tool, given, named)
        if told := more or self._told_value(tool, named):  # whatever else is called so
            return told
        if is_other and not self._is_bare_day(tag):
            return None
        if new := self._named_value(tool, named) or self._corrections(tool, given, named):
            return new
        is_about = self.message.is_about_card(tag, is_open=not readings) or self._is_new_day(tag)
        return self._new_texts(tool, given) if is_about else None

    def _named_parameters(self, tool: ToolSpec) -> list[Parameter]:
        """The parameters that are named, before any colon, texts first: "change the text to: …"."""
        said = {*self.message.stems(self.message.tag)[: self.message.colon or None]}
        known = parameters(tool).values()
        own = (p for p in known if said & self._words_of(p))
        return sorted(own, key=lambda p: p.kind != "text")

    def _told_value(self, tool: ToolSpec, named: Sequence[Parameter]) -> JSONObject:
        """The value behind a colon of the first of these parameters that takes it."""
        span = (self.message.colon + 1, len(self.message.tokens))
        values = (self._value(one, span, tool) for one in named if self.message.colon)
        return next(filter(None, values), {})

    def _value(self, one: Parameter, span: Span, tool: ToolSpec) -> JSONObject:
        """The value of these tokens for a field; for a text the words as they are."""
        value = self.of(one.kind, one, span, tool, self.message.tag)
        if one.kind == "text" or isinstance(value, Value):
            return {one.name: getattr(value, "value", self.message.lines(*span))}
        return {}

    def _lengthened(
        self, tool: ToolSpec, given: JSONObject, named: Sequence[Parameter]
    ) -> JSONObject:
        """The text of a named field, else the longest, with what stands behind the colon of an
        "add a line: …"; no noun of an app stands before it."""
        own = [p for p in self._texts_of(tool, given, named) if given.get(p.name)]
        text = self._added_text
        if not (own and text):
            return {}
        joint = "\n" if self.has_lines(own[0], tool) else " "
        return {own[0].name: f"{given[own[0].name]}{joint}{text}"}

    @property
    def _added_text(self) -> str:
        """What stands behind the colon of an "add"; empty where an app's noun stands before it."""
        tag, colon = self.message.tag, self.message.colon
        head = [s for s in self.message.stems(tag)[:colon] if s not in self._small]
        is_added = head[:1] == [_ADD] and self.all_nouns(tag).isdisjoint(head)
        return self.message.lines(colon + 1, len(self.message.tokens)) if is_added else ""

    def _texts_of(
        self, tool: ToolSpec, given: JSONObject, named: Sequence[Parameter]
    ) -> list[Parameter]:
        """The texts of which a message may speak: those that it names, and those that are given,
        the longest first."""
        texts = [p for p in parameters(tool).values() if p.kind == "text"]
        own = [p for p in texts if p.name in given]
        own.sort(key=lambda p: -len(str(given[p.name])))
        return [*(p for p in named if p in texts), *own]

    @property
    def _small(self) -> frozenset[str]:
        """The words that say nothing of what is corrected."""
        known = lexicon(self.message.tag)
        return known.polite | known.correction

    def _named_value(self, tool: ToolSpec, named: Sequence[Parameter]) -> JSONObject:
        """The value behind the name of a field and a small word, where at most a "change" stands
        before them: "change the subject to Lunch"."""
        tag = self.message.tag
        stems, last = self.message.stems(tag), self.message.before_instead(tag)
        places = (self._place_of(p, last) for p in named)
        at, one = min(zip(places, named, strict=True), key=itemgetter(0), default=(last, None))
        if one is None or {*stems[:at]} - self._small - language.of(tag).words.changing:
            return {}
        is_led = last - at > 2 and stems[at + 1] in lexicon(tag).bare  # and no "I"
        is_led = is_led and self.message.tokens[at + 1].text.islower()
        span = (at + 1 + is_led, last)
        known = lexicon(tag).reference if is_led else lexicon(tag).fillers
        return {} if known.issuperset(stems[slice(*span)]) else self._value(one, span, tool)

    def _place_of(self, parameter: Parameter, last: int) -> int:
        """Where a field is named first, else the end."""
        stems, words = self.message.stems(self.message.tag), self._words_of(parameter)
        return next((n for n in range(last) if stems[n] in words), last)

    def _words_of(self, parameter: Parameter) -> set[str]:
        return field_words(parameter.name, self.message.tag)

    def missing(self, tool: ToolSpec, given: JSONObject) -> JSONObject:
        """The message as the required value that is not given: a text only if no other is."""
        left = [p for p in parameters(tool).values() if p.required and p.name not in given]
        span, tag = (0, len(self.message.tokens)), self.message.tag
        fit = [p for p in left if p.kind != "text" or len(left) == 1]
        values = ((p.name, self.of(p.kind, p, span, tool, tag)) for p in fit)
        return {n: v.value for n, v in [*values][:1] if isinstance(v, Value)}

    def _corrections(
        self, tool: ToolSpec, given: JSONObject, named: Sequence[Parameter]
    ) -> JSONObject:
        """What the message says anew of a call with these arguments: an address, a quotation, a
        person ("send it to Ann instead"), the day or hour that it ends in as its one date, else its
        one day or number in place of that of a text."""
        told = {t.kind: t.text for t in self.message.tokens if t.kind in ("email", "quote")}
        own = [p.name for p in self._texts_of(tool, given, named)]
        addresses = [p.name for p in parameters(tool).values() if p.kind == "email"]
        places = {"email": [name for name in addresses if name in given], "quote": own}
        if new := {places[kind][0]: text for kind, text in told.items() if places[kind]}:
            return new
        text = self._said_text(tool, own, self.message.tag)
        if text and own:
            return {own[0]: text}
        return self._named_anew(tool, given, ("email",)) or self._new_date(tool)

    def _new_date(self, tool: ToolSpec) -> JSONObject:
        """The day or hour that the message ends in, as the one date of a function."""
        tag, known, last = self.message.tag, parameters(tool), len(self.message.tokens)
        dates = [*date_parameters(tool)]
        if len(dates) != 1:
            return {}
        days = (self._date(known[dates[0]], (n, last), tag) for n in range(last))
        value = next(filter(None, days), None)
        return {dates[0]: value.value} if value else {}

    def _said_text(self, tool: ToolSpec, texts: Sequence[str], tag: str) -> str:
        """The text that "no, say …" tells; empty for a day or number alone, which takes the place
        of the text's own."""
        leads = [self._leads(tool, tag, name) for name in texts]
        first, last = self.message.said_span(tag)
        small = lexicon(tag).toward | language.of(tag).words.instead
        first = self._start(first, tag, small.union(*leads)) if first < last else last
        text = self.message.lines(first, last) if first < last else ""
        found = [*self._dates(text, tag), *language.numbers(text, tag)]
        words = word_keys(text, tag) - lexicon(tag).fillers
        values = word_keys(" ".join(m.text for m in found), tag)
        return "" if found and words <= values else text

    def _new_texts(self, tool: ToolSpec, given: JSONObject) -> JSONObject:
        """The texts that take the message's only day or number in place of their own."""
        texts = [n for n, p in parameters(tool).items() if p.kind == "text" and given.get(n)]
        changed = {n: self._with_new_value(str(given[n]), self.message.tag) for n in texts}
        return {n: text for n, text in changed.items() if text}

    def _is_new_day(self, tag: str) -> bool:
        """Whether the message is a no with another day, or nothing but a day: "no, on Friday"."""
        is_no = self.message.is_denial(tag) and self.has_edge_date(
            (0, len(self.message.tokens)), tag
        )
        return is_no or self._is_bare_day(tag)

    def _is_bare_day(self, tag: str) -> bool:
        """Whether the message has no words beside a day, or with a no points at something: it is
        said of the card that waits, whatever was shown last."""
        days = " ".join(m.text for m in self._dates(self.message.text, tag))
        words, known = {word_key(w, tag) for w in self.message.keywords(tag)}, lexicon(tag)
        instead = language.of(tag).words.instead
        others = words.difference(word_keys(days, tag), known.correction, instead)
        is_it = not known.reference.isdisjoint(self.message.stems(tag))
        return bool(days) and (not others or (is_it and self.message.is_denial(tag)))

    def _with_new_value(self, text: str, tag: str) -> str:
        """A text with the message's only day or number in place of its own; empty for several."""
        for read in (self._dates, language.numbers):
            old, new = read(text, tag), read(self.message.text, tag)
            if len(old) == len(new) == 1 and old[0].kind == new[0].kind:
                return text[: old[0].start] + new[0].text + text[old[0].end :]
        return ""

    # Several calls: fewer of them, or one more

    def part(self, shown: Sequence[Command]) -> list[Command]:
        """The calls that are left of several: "only the first two", "leave Bob out"; none where it
        is open which are meant."""
        only, less = self._said(language.of(self.message.tag).words.forms("only")), self._omission
        opens = {p.pieces[0].stem for p in patterns(shown[0].tool, self.message.tag)}
        # of what deletes "remove the first" is no part
        is_less = any(word_key(word, self.message.tag) not in opens for word in less)
        if bool(only) == is_less:
            return []
        meant = self._meant(shown, only | less, opens)
        left = [c for c in shown if (c in meant) != is_less]
        return left if meant and left != [*shown] else []

    @property
    def _omission(self) -> set[str]:
        """The words of the message that leave something out: "without", and the "but" of an
        "all but"."""
        words, tag = language.of(self.message.tag).words, self.message.tag
        is_all = not lexicon(tag).every.isdisjoint(self.message.stems(tag))
        return self._said(words.forms("omission") | (words.forms("limits") if is_all else set()))

    def _said(self, forms: frozenset[str]) -> set[str]:
        """The words of the phrases that the message has, a no before it aside."""
        no = language.of(self.message.tag).say("said_no").casefold()
        words = {*self.message.words[self.message.words[:1] == [no] :]}
        phrases = ({*map(key_fold, form.split("_"))} for form in forms)
        return set[str]().union(*(phrase for phrase in phrases if phrase <= words))

    def _meant(self, shown: Sequence[Command], aside: set[str], opens: set[str]) -> list[Command]:
        """The calls that are named, numbered or counted, if every word speaks of them."""
        tag, known = self.message.tag, lexicon(self.message.tag)
        numbers = [m for m in language.numbers(self.message.text, tag) if m.kind == "number"]
        said = self._stems_without(aside, " ".join(m.text for m in numbers))
        places = [*filter(None, map(known.ordinals.get, said))]
        small = self._small.union(known.fillers, known.conjunctions, known.ordinals, opens)
        names = {*said} - small - {""}
        if not (names or self._addresses):
            return [*self._placed(shown, places, [int(m.value) for m in numbers])]
        return [] if places or numbers else self._named_calls(shown, names)

    @property
    def _addresses(self) -> set[str]:
        """The words of the addresses in the message."""
        texts = (token.text for token in self.message.tokens if token.kind == "email")
        return word_keys(_PARTS.sub(" ", " ".join(texts)), self.message.tag)

    def _stems_without(self, words: set[str], text: str) -> list[str]:
        """The message's stems without those of these words, and of a text's."""
        keys = word_keys(text, self.message.tag)
        pairs = zip(self.message.words, self.message.stems(self.message.tag), strict=True)
        return [stem for word, stem in pairs if not (word in words or stem in keys)]

    def _named_calls(self, shown: Sequence[Command], said: set[str]) -> list[Command]:
        """The calls that have a word of these for themselves; none where another word is left."""
        names = [self._names(call) for call in shown]
        alike = names[0].intersection(*names)
        own, said = [name - alike for name in names], said | (self._addresses - alike)
        is_known = set[str]().union(*own) >= said
        pairs = zip(shown, own, strict=True)
        return [call for call, name in pairs if is_known and name & said]

    def _placed(
        self, shown: Sequence[Command], places: Sequence[int], counts: Sequence[int]
    ) -> Iterator[Command]:
        """The calls at these places, or as many as are counted from the one: "the last two"."""
        if counts and len(places) == len(counts) == 1:
            [place], [count] = places, counts
            first = place - 1 if place > 0 else len(shown) - count
            places = range(first + 1, first + count + 1)
        at = {place - 1 if place > 0 else len(shown) + place for place in places}
        if at <= {*range(len(shown))}:
            yield from (shown[n] for n in sorted(at))

    def _names(self, command: Command) -> set[str]:
        """The words of what a call gives, and of the names of its records."""
        rows = self.records.known(command.tool.app_id)
        texts = [name_of(row) for row in rows if row["id"] in command.ids]
        texts += (v for v in command.arguments.values() if isinstance(v, str))
        return word_keys(_PARTS.sub(" ", " ".join(texts)), self.message.tag)

    @property
    def is_more(self) -> bool:
        """Whether it says something besides: "and the second one too", "as well"."""
        tag = self.message.tag
        is_led = not lexicon(tag).conjunctions.isdisjoint(self.message.stems(tag)[:1])
        return is_led or bool(self._said(language.of(tag).words.forms("also")))

    def more(self, shown: Command) -> Command | None:
        """The same call for a record or a person that is named besides: "and the second one too",
        "send it to Ann as well"."""
        new = self._named_anew(shown.tool, shown.arguments, NAMING) if self.is_more else {}
        return replace(shown, arguments={**shown.arguments, **new}) if new else None

    def _named_anew(self, tool: ToolSpec, given: JSONObject, kinds: Collection[str]) -> JSONObject:
        """The record or the person that is named in place of one of these arguments."""
        tag, known = self.message.tag, parameters(tool)
        span = self._besides(tool, tag)
        for one in (p for p in known.values() if p.name in given and p.kind in kinds):
            value = self.of(one.kind, one, span, tool, tag)
            if isinstance(value, Value) and value.value != given[one.name]:
                return {one.name: value.value}
        return {}

    def _besides(self, tool: ToolSpec, tag: str) -> Span:
        """The tokens that name what is meant besides: without the verb of the function, what points
        at the call and the words that say "too"; of an address before which one word more stands
        ("and cc ann@example.com") itself."""
        first, last, _ = self.message.bounds(tag, ask=False)
        stems, words = self.message.stems(tag), self.message.words
        also = self._said(language.of(tag).words.forms("also"))
        opens = {p.pieces[0].stem for p in patterns(tool, tag)}
        small = (lexicon(tag).reference | lexicon(tag).bare | opens) - {""}
        small |= language.of(tag).words.instead
        last = next((n for n in range(last, first, -1) if words[n - 1] not in also), first)
        at = (n for n in range(first, last) if stems[n] not in small and words[n] not in also)
        first, *others = [*at][:2] or [last]
        is_copy = others == [last - 1] and self.message.tokens[last - 1].kind == "email"
        return (last - 1 if is_copy else first), last
