"""Addresses and people: written, named, or pointed at."""

from __future__ import annotations

from collections.abc import Sequence

from ... import language
from . import recall
from .content import Span
from .entities import find_dates
from .schema import Argument
from .slots import Slots
from .words import Word, concepts, has, idle, points_back


class People(Slots):
    """Fills arguments for addresses, senders and recipients."""

    def addresses(self) -> None:
        """Written ones in order, then those that are named or pointed at."""
        for argument in self.arguments:
            if argument.kind in ("email", "party") and not self._written(argument):
                self._unwritten(argument)
        # what is left may be one of the user's own ("check the mail of me@personal.com")
        own = next((a for a in self.arguments if a.holds_address), None)
        left = self.kind("email")
        if own and left and own.name not in self.values:
            self.take(own, left[0].value, left[0])

    def _unwritten(self, argument: Argument) -> None:
        if argument.kind == "party":
            self.party(argument)
        elif argument.required:
            self._recalled_address(argument)

    def _written(self, argument: Argument) -> bool:
        return self.take_all(argument, self.kind("email"))

    def party(self, argument: Argument) -> None:
        """`from Sarah`: the name, without the ending of its case."""
        for place, word in enumerate(self.words):
            if not has(word, self.tag, "source"):
                continue
            after = (w for w in self.words[place + 1 :] if not has(w, self.tag, "article"))
            following = next(after, None)
            if following and self._is_name(following):
                end = self._end_of_name(following)
                self.values[argument.name] = recall.shared(
                    self.text[following.start : end], self.tag
                )
                self.spans.append(Span(word.start, end))
                return

    def _is_name(self, word: Word) -> bool:
        return not (
            points_back(word, self.tag)
            or word.text in language.of(self.tag).words.meanings("asks")
            or idle(word.text, self.tag)
            or word.text.isdecimal()
            or any(e.start <= word.start < e.end for e in find_dates(self.text, self.tag, self.at))
        )

    def _end_of_name(self, word: Word) -> int:
        """A capitalised word after a name belongs to it."""
        after = next((w for w in self.words if w.start > word.start), None)
        joined = after and not self.text[word.end : after.start].strip()
        return after.end if after and joined and self.text[after.start].isupper() else word.end

    def _recalled_address(self, argument: Argument) -> None:
        claimed = self.claimed()
        unsaid = [w for w in self.content() if w not in claimed]
        sought = recall.sought_address(self.reading.facts[: len(self.reading.results)])
        value = self._of_name(unsaid) or sought or self._of_reference(argument, unsaid)
        if value == sought:
            self.spans += [Span(w.start, w.end) for w in self.capitals(unsaid)]
        if value:
            self.values[argument.name] = [value] if argument.many else value

    def _of_name(self, unsaid: Sequence[Word]) -> str:
        found = recall.address_of(self.reading.facts, unsaid, self.tag)
        if found is None:
            return ""
        self.extra.add(found[1].stem)
        self.spans.append(Span(found[1].start, found[1].end))
        return found[0]

    def _of_reference(self, argument: Argument, unsaid: Sequence[Word]) -> str:
        if not self.reference or not self._means_somebody() or self._names_somebody(unsaid):
            return ""
        self.extra |= {w.stem for w in self.head if points_back(w, self.tag)}
        facts, name = self.reading.facts, self.tool.fn_name
        return recall.recall_address(facts, name, argument.name, self.reference) or ""

    def _means_somebody(self) -> bool:
        """`her`, `there`, `that address`: a person or a place, not a thing."""
        said = {c for w in self.head for c in concepts(w.text, self.tag)}
        return bool(self.reference and self.reference.toward) or bool(
            said & {"#address", "#person"}
        )

    def _names_somebody(self, unsaid: Sequence[Word]) -> bool:
        """Whether a name stands there that no fact knows: then nobody else is meant."""
        return bool(self.capitals(unsaid))
