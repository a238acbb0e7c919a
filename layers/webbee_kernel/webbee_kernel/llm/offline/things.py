"""Ids: written, named, counted, or pointed at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..protocol import ToolSpec
from . import recall
from .choosing import tells_somebody
from .content import Content, remainder
from .entities import find_numbers
from .schema import Argument, arguments_of
from .slots import Slots
from .words import Word, any_has, has, idle, meaning, ordinals, points_back, words


class Things(Slots):
    """Fills arguments for ids."""

    def ids(self) -> None:
        """The id, or the ids, of what the call is about."""
        argument = self.id
        if argument is None:
            return
        said = self.said = self._said_of_it()
        if self._written_ids(argument, said) or (self.lookup and self.quotes):
            return
        several = self._several(argument, said) if argument.many else None
        value = several if several is not None else self._one(argument, said)
        if value is not None:
            listed = not argument.many or isinstance(value, list)
            self.values[argument.name] = value if listed else [value]

    def _written_ids(self, argument: Argument, said: Sequence[Word]) -> bool:
        """Ids as such, unless the words are a title that looks like one."""
        found = self.kind("id")
        inside = {w.text for e in found for w in words(e.value, self.tag)}
        if self.lookup and not inside.issuperset(w.text for w in said):
            return False
        return self.take_all(argument, found)

    def _said_of_it(self) -> list[Word]:
        """The words that may name the thing."""
        if self.destination:
            return [w for w in self.destination if not (idle(w.text, self.tag) or self._is_own(w))]
        if self.quotes and self.main is None:  # nothing else that a quotation may be
            said = words(self.quotes[0].value, self.tag)
        else:
            extra = frozenset(self.extra)
            loose = Content(
                self.vocabulary, self.tag, lookup=True, loose=True, back=True, extra=extra
            )
            said = words(remainder(self.topic(), self.all_spans(), loose), self.tag)
        return [w for w in said if not idle(w.text, self.tag)]

    def _is_own(self, word: Word) -> bool:
        """Whether it says no more than what the function is about."""
        return bool(meaning(word, self.tag) & self.vocabulary.matter)

    def _told(self) -> bool:
        """Whether the text that the call needs is marked as such."""
        return self.marker >= 0 or bool(self.quotes)

    def _one(self, argument: Argument, said: Sequence[Word]) -> Any | None:
        takes_text = self.main is not None and self.main.required
        if takes_text and tells_somebody(self.sentence):
            said = ()  # they are what is told
        named = self._named(argument, said, part=takes_text and not self._told())
        if named is not None:
            return named
        said = self._names(said)
        if takes_text and not said:
            self._point_at_what_is_open()
        may = takes_text or not said or self._reads_at_a_place()
        return self._pointed_at(argument) if self.reference and may else None

    def _reads_at_a_place(self) -> bool:
        """ "The first one, read it aloud": where it stands goes before a word nobody knows."""
        placed = self.reference is not None and self.reference.position is not None
        return placed and self.tool.action_type == "read"

    def _names(self, said: Sequence[Word]) -> Sequence[Word]:
        """The words as names; those of a question that all functions of its kind know are none."""
        known = self.vocabulary.known
        asks = self.sentence.act == "question" and all(w.stem in known for w in said)
        return () if asks else said

    def _point_at_what_is_open(self) -> None:
        """`reply: …` without more answers what was just shown."""
        if self._told() and self.facts[:1] == self.reading.facts[:1]:
            self.reference = self.reference or recall.Reference()

    def _named(self, argument: Argument, said: Sequence[Word], *, part: bool) -> Any | None:
        """The only thing that all the words name. With `part` (`reply to Sarah I am late`) the
        longest beginning of them that names one. None where the words as they are find it: then
        they go into the call, not an id the user never said."""
        for count in (len(said), *(range(min(3, len(said)), 0, -1) if part else ())):
            record = recall.named(self.facts, argument.name, said[:count])
            if record is None:
                continue
            if self.lookup and recall.literal(record.fields, said):
                self.literal = True
                return None
            self.extra |= {w.stem for w in said[:count]}
            return record.id
        return None

    def _pointed_at(self, argument: Argument) -> Any | None:
        """What a reference means: the step before this one in the same message, or a fact."""
        assert self.reference is not None
        step = next((e for e in reversed(self.earlier) if e[0].app_id == self.tool.app_id), None)
        if step and (self.reference.position is None or step[0].action_type == "read"):
            path = self._path(step[0], argument.name)
            return f"{{{{steps.{step[1]}.data.{path}}}}}" if path else None
        self.extra |= {w.stem for w in self.head if points_back(w, self.tag)}
        found = recall.pointed_at(self.facts, argument.name, self.reference)
        if found is None and self.reference.position is None:
            found = self._spoken_of(argument)
        return found

    def _spoken_of(self, argument: Argument) -> Any | None:
        """The one thing that the user named in his message before."""
        for message, _ in self.reading.turns[:2]:
            said = {w.stem for w in words(message, self.tag)}
            if found := recall.titled(self.facts, argument.name, said, self.tag):
                return found[0] if len(found) == 1 else None
        return None

    def _path(self, tool: ToolSpec, name: str) -> str:
        """Where the result of a step that is yet to run will hold the id, empty when that is not
        clear. A write, or a read of one thing, tells `id`; a list is laid out as its last result
        was."""
        assert self.reference is not None
        takes_id = any(a.kind == "id" for a in arguments_of(tool.input_schema))
        if tool.action_type != "read" or takes_id:
            return "id"
        position = self.reference.position
        container = recall.container_of(self.facts, tool.fn_name, name)
        if position is None or position < 0 or not container:
            return ""
        return f"{container}.{position}.id"

    def _several(self, argument: Argument, said: Sequence[Word]) -> list[Any] | None:
        """`the first two`, `them all`, `these`, `all from the bank`: words that say which ones must
        stand in each of them."""
        first = any(ordinals(self.tag).get(w.stem) == 0 for w in self.head)
        if first and (numbers := find_numbers(self.text, self.tag)):
            count = int(float(numbers[0].value))
            return recall.listed_ids(self.facts, argument.name, count) or None
        if not any_has(self.head, self.tag, "plural_reference"):
            return None
        which = [w for w in said if not self._points(w)]
        return recall.listed_ids(self.facts, argument.name, None, which) or None

    def _points(self, word: Word) -> bool:
        return points_back(word, self.tag) or has(word, self.tag, "plural_reference")
