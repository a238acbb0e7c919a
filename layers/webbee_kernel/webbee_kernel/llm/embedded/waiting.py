"""The answer to what is said while calls wait, on a card or in a form: a yes, a typed value, else
the form, in which all can be changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Final

from ... import language
from ...text import cut, one_line
from ...types import JSONObject
from ..function_form import Parameter, label_of, parameters
from ..protocol import ModelRequest, ModelResponse, ToolSpec
from .commands import Commands
from .examples import Command, Value, date_parameters, example_words, patterns
from .message import lexicon, without_stop, word_keys
from .offers import FORM_SCORE, Offers, to_calls
from .slots import field_words
from .undo import UndoMessage

_MAX_TOLD: Final = 60
"""Characters of a value that is told beside the one in its place."""


class WaitingAnswer(Offers):
    """What is asked and offered, and what becomes of the calls that the last turn showed."""

    def __init__(self, commands: Commands, request: ModelRequest) -> None:
        super().__init__(commands)
        self._request, self._reading = request, commands.reading
        self._readings = commands.readings()

    @cached_property
    def _waiting(self) -> list[Command]:
        """The calls that the last turn showed, on its card or in a form."""
        calls = self.commands.calls(self._request.waiting)
        is_whole = len(calls) == len(self._request.waiting) and not self.message.is_question
        return calls if is_whole else []

    def _of_waiting(self, undo: UndoMessage) -> ModelResponse | None:
        """What is said of the calls that wait; an "undo that" behind a form drops it. None for a
        message that stands by itself."""
        if undo.is_undo:
            is_dropped = undo.is_bare and self._waiting and not self._request.on_card
            return ModelResponse(text=self.say("nothing_done")) if is_dropped else None
        if len(self._waiting) == 1:
            return self._of_one(self._waiting[0])
        # of several nothing is changed by words
        is_left = bool(self._waiting) and self._is_about(self._waiting[0].tool)
        return self.reply("card_by_buttons") if is_left else None

    def _of_one(self, shown: Command) -> ModelResponse | None:
        """A yes to a form calls it, or tells what it lacks; what is said of a write stands in its
        form."""
        if self.message.is_yes(self.tag):
            return to_calls([shown]) if shown.is_complete else self.form(shown)
        if shown.tool.action_type != "write":
            return None
        new = self._new_values(shown.tool, shown.arguments)
        return self._with(shown, new) if new or self._is_about(shown.tool) else None

    @property
    def _is_other(self) -> bool:
        """Whether the message is a command that may be called as it is."""
        return any(c.is_sure and not c.is_by_words for c in self._readings)

    def _is_about(self, tool: ToolSpec) -> bool:
        """Whether the message is no other command, and names a field of a call or points at
        something."""
        known = (field_words(p.name, self.tag) for p in parameters(tool).values())
        about = lexicon(self.tag).reference.union(*known)
        is_other = self._is_other or self.values.is_other_app(tool.app_id, self.tag)
        is_other = is_other or self._is_short or self._is_another(tool)
        return not (is_other or about.isdisjoint(self.message.stems(self.tag)))

    def _is_another(self, tool: ToolSpec) -> bool:
        """Whether it begins as an order for another call of the function: "email Bob that it is
        moved", and no "send it to Bob"."""
        first, *then = self.message.stems(self.tag) or [""]
        openings = {p.pieces[0].stem for p in patterns(tool, self.tag)}
        return first in openings and lexicon(self.tag).reference.isdisjoint(then[:1])

    @property
    def _is_short(self) -> bool:
        """Whether it greets, agrees, thanks or says no, and of a "no" no more than that."""
        more = {*self.message.stems(self.tag)} - lexicon(self.tag).fillers
        is_more = len(self._waiting) == 1 and not more <= lexicon(self.tag).correction
        is_no = self.message.words[:1] == [self.say("said_no").casefold()]
        is_denial = self.message.is_denial(self.tag) and not (is_no and is_more)
        is_polite = bool(self.message.small_talk(self.tag)) or self.message.is_yes(self.tag)
        return is_polite or is_denial

    def _undo(self, undo: UndoMessage) -> ModelResponse:
        """The calls that undo what is meant, the question what that is, or that nothing does."""
        if made := undo.commands:
            return to_calls(made)
        if refusal := undo.refusal:
            return ModelResponse(text=refusal)
        if not undo.choices:  # "restore it" where nothing is gone
            return self.suggest(undo.suggestions)
        question = self.ask_which(undo.choices)
        what = self.say("quoted", what=undo.unknown) if undo.unknown else ""
        none = self.say("no_way_back", what=what) if what else ""
        return replace(question, text=f"{none} {question.text}".strip())

    def _new_values(self, tool: ToolSpec, given: JSONObject) -> JSONObject:
        """What the message says anew of a write that waits: a value behind the name of its field,
        else a typed value with next to nothing beside it."""
        if told := self._labelled(tool):
            return told
        fit, most = self._typed(tool, given), int(not self._is_other)
        return next((new for text, new in fit if self._is_all(text, tool, most)), {})

    def _is_all(self, text: str, tool: ToolSpec, most: int) -> bool:
        """Whether the message has `most` words of its own beside this text: "make that Friday"."""
        tag, known = self.message.tag, lexicon(self.message.tag)
        small = known.polite | known.correction | known.fillers | example_words(tool, tag)
        return len({*self.message.stems(tag)} - small - word_keys(text, tag) - {""}) <= most

    def _labelled(self, tool: ToolSpec) -> JSONObject:
        """The value behind a field that is named first, and a colon or a small word: "Subject:
        Lunch", "change the subject to Lunch"."""
        tag, stems = self.message.tag, self.message.stems(self.message.tag)
        named = [p for p in parameters(tool).values() if {*stems} & field_words(p.name, tag)]
        values = (self._value(p, tool) for p in sorted(named, key=lambda p: p.kind != "text"))
        return next(filter(None, values), {})

    def _value(self, parameter: Parameter, tool: ToolSpec) -> JSONObject:
        """The value behind the name of a field; for a text the words as they are."""
        span = (self._value_start(parameter), len(self.message.tokens))
        if span[0] >= span[1]:
            return {}
        value = self.values.of(parameter.kind, parameter, span, tool, self.message.tag)
        if parameter.kind == "text":
            return {parameter.name: getattr(value, "value", self.message.lines(*span))}
        return {parameter.name: value.value} if isinstance(value, Value) else {}

    def _value_start(self, parameter: Parameter) -> int:
        """Where a value begins behind the name of its field, else the end."""
        tag, stems = self.message.tag, self.message.stems(self.message.tag)
        names, known, colon = field_words(parameter.name, tag), lexicon(tag), self.message.colon
        at = next(n for n, stem in enumerate(stems) if stem in names)
        small = known.polite | known.correction | language.of(tag).words.changing
        is_led = known.bare.issuperset(stems[at + 1 : at + 2]) and small.issuperset(stems[:at])
        return colon + 1 if colon > at else at + 2 if is_led else len(stems)

    def _typed(self, tool: ToolSpec, given: JSONObject) -> list[tuple[str, JSONObject]]:
        """The only address, quotation or day of the message, as it is typed, with the field of a
        call that takes it, else its day or number in a text."""
        texts = self._texts(tool, given)
        found = self._typed_once(tool, texts) or self._typed_day(tool)
        return found or self._in_texts({name: str(given[name]) for name in texts})

    def _typed_once(self, tool: ToolSpec, texts: Sequence[str]) -> list[tuple[str, JSONObject]]:
        """The only address for the first field of one, the only quotation for the longest text."""
        typed = [(t.kind, t.text) for t in self.message.tokens if t.kind in ("email", "quote")]
        counts = Counter(kind for kind, _ in typed)
        emails = [p.name for p in parameters(tool).values() if p.kind == "email"]
        names = {"email": emails, "quote": texts}
        once = ((kind, text) for kind, text in typed if counts[kind] == 1 and names[kind])
        return [(text, {names[kind][0]: text}) for kind, text in once]

    def _typed_day(self, tool: ToolSpec) -> list[tuple[str, JSONObject]]:
        """The day or hour that the message ends in, for the one date of a function."""
        known, tag, last = parameters(tool), self.message.tag, len(self.message.tokens)
        dates = [*date_parameters(tool)]
        spans = ((n, last) for n in range(last) if len(dates) == 1)
        days = ((s, self.values.date(known[dates[0]], s, tag)) for s in spans)
        return [(self.message.slice(*s), {dates[0]: day.value}) for s, day in days if day][:1]

    def _in_texts(self, given: Mapping[str, str]) -> list[tuple[str, JSONObject]]:
        """The only day or number of the message, with the text that it is in place of its own."""
        found, tag = [], self.message.tag
        for read in (self.values.dates, language.numbers):
            new = read(self.message.text, tag)
            old = ((name, text, read(text, tag)) for name, text in given.items())
            found += [
                (new[0].text, {name: text[: own[0].start] + new[0].text + text[own[0].end :]})
                for name, text, own in old
                if len(own) == len(new) == 1 and own[0].kind == new[0].kind
            ]
        return found

    def _texts(self, tool: ToolSpec, given: JSONObject) -> list[str]:
        """The given texts, the longest first."""
        known = parameters(tool).values()
        own = [p.name for p in known if p.kind == "text" and given.get(p.name)]
        return sorted(own, key=lambda name: -len(str(given[name])))

    def _with(self, shown: Command, new: JSONObject) -> ModelResponse:
        """The call with what it lacked, else its form, which says what takes the place of what."""
        now = replace(shown, arguments={**shown.arguments, **new}, is_whole=False)
        if now.is_complete > shown.is_complete:
            return to_calls([now])
        form = self.form(now, "" if new else "form_unchanged")
        return replace(form, text=" ".join([*self._changes(shown, new), form.text]))

    def _changes(self, shown: Command, new: JSONObject) -> list[str]:
        """What takes the place of what, by the names of the fields."""
        known, old = parameters(shown.tool), shown.arguments
        names = [name for name in new if old.get(name)]
        labels = {name: label_of(known[name], self.tag) for name in names}
        values = ([without_stop(one_line(str(own[n]))) for own in (new, old)] for n in names)
        told = [[cut(value, _MAX_TOLD) for value in pair] for pair in values]
        return [
            self.say("form_changed", field=label[:1].upper() + label[1:], new=now, old=before)
            for label, (now, before) in zip(labels.values(), told, strict=True)
        ]

    def _of_form(self) -> ModelResponse | None:
        """The answer to what is near no function while one call waits: the one value that its form
        lacks, else the form of a write as it was, in which everything can be changed."""
        near = next((score for score, _ in self.commands.nearest()), 0)
        if len(self._waiting) != 1 or self._is_short or near >= FORM_SCORE:
            return None
        [shown] = self._waiting
        new = self._missing(shown.tool, shown.arguments)
        return self._with(shown, new) if new or shown.tool.action_type == "write" else None

    def _missing(self, tool: ToolSpec, given: JSONObject) -> JSONObject:
        """The message as the required value that is not given: a text only if no other is."""
        left = [p for p in parameters(tool).values() if p.required and p.name not in given]
        span, tag = (0, len(self.message.tokens)), self.message.tag
        fit = [p for p in left if p.kind != "text" or len(left) == 1]
        values = ((p.name, self.values.of(p.kind, p, span, tool, tag)) for p in fit)
        return {n: v.value for n, v in [*values][:1] if isinstance(v, Value)}

    def _left(self, answer: ModelResponse) -> ModelResponse:
        """An answer that leaves a card, which says so."""
        if not (self._request.on_card and answer.text) or self._is_short:
            return answer
        return replace(answer, text=f"{self.say('card_by_buttons')} {answer.text}")
