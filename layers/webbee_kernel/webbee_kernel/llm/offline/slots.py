"""One function's arguments while they are filled: the sentence, its parts, and what has been used
of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...values.plain import JSONObject
from ..protocol import ToolSpec
from . import recall
from .choosing import tells_somebody
from .content import Span
from .entities import Entity, find_entities, find_periods, outside
from .matching import Vocabulary
from .reading import Reading
from .schema import Argument, arguments_of, is_directed
from .speech import Sentence
from .words import Word, any_has, has, idle, is_name, is_thing, leads_on, points_back, words

_WHOM = 3  # words of "now tell him"


class Slots:
    """What the fillers share. Whatever is used of the sentence is claimed, so nothing is used
    twice."""

    def __init__(
        self,
        tool: ToolSpec,
        sentence: Sentence,
        reading: Reading,
        vocabulary: Vocabulary,
        earlier: Sequence[tuple[ToolSpec, int]],
    ) -> None:
        self.tool, self.vocabulary, self.earlier = tool, vocabulary, earlier
        self.sentence = sentence
        self.text, self.tag, self.at = sentence.text, sentence.tag, reading.at
        self.reading = reading
        self.facts = [f for f in reading.facts if f.app_id == tool.app_id]
        self.arguments = arguments_of(tool.input_schema)
        self.entities = list(find_entities(self.text))
        self.quotes = [e for e in self.entities if e.kind == "quote"]
        whole = [*self.quotes, *find_periods(self.text, self.tag)]
        self.words = outside(words(self.text, self.tag), whole)
        self.marker = sentence.content
        self.head = [w for w in self.words if self.marker < 0 or w.start < self.marker]
        if self.marker >= 0 and any_has(self.head[-1:], self.tag, "clause"):
            self.head.pop()  # "that" before what is told points at nothing
        told = tells_somebody(sentence)  # whom stands right behind the verb
        self.reference = recall.reference(self.head[:_WHOM] if told else self.head, self.tag)
        self.repeats = self.reference is not None or any_has(self.head, self.tag, "again")
        self.values: JSONObject = {}
        self.spans: list[Span] = []
        self.extra: set[str] = set()
        self.said: Sequence[Word] = ()
        self.guessed = self.literal = False
        self._name_parts()
        self.claim_reference()
        self.destination = self._led_to()

    def _name_parts(self) -> None:
        """The arguments that play a part: the id, the main text, the title beside it."""
        texts = [a for a in self.arguments if a.kind == "text"]
        self.id = next((a for a in self.arguments if a.kind == "id"), None)
        self.main = _main_text(texts, self.id)
        self.title = next((a for a in texts if a.is_title and a is not self.main), None)
        self.lookup = self.id is not None and self.main is not None and not self.main.required

    def _led_to(self) -> Sequence[Word]:
        """What text is added to, where the call adds it to a thing: "the wifi note" of "add eggs to
        the wifi note"."""
        adds = self.id and self.main and self.main.required
        if not adds or is_directed(self.tool.input_schema):
            return ()
        leads = [n for n, w in enumerate(self.head) if n and leads_on(w, self.tag)]
        found = self.head[leads[-1] :] if leads else []
        self.spans += [Span(found[0].start, found[-1].end)] if found else []
        return found[1:]

    def topic(self) -> str:
        """The head; of a question about a thing that is named by its topic ("my note
        about the recipe"), with what stands before the topic blanked out."""
        head = self.text[: self.head[-1].end] if self.head else ""
        at = next((w.end for w in self.head if has(w, self.tag, "topic")), 0)
        return " " * at + head[at:] if at and self.sentence.act == "question" else head

    def claim_reference(self) -> None:
        """`that note`: words that point and the thing they point at are no content."""
        for word, following in zip(self.head, self.head[1:], strict=False):
            if has(word, self.tag, "reference") and is_thing(following, self.tag):
                self.spans.append(Span(word.start, following.end))

    def free(self, found: Sequence[Entity]) -> list[Entity]:
        return [e for e in found if not any(s.start <= e.start < s.end for s in self.spans)]

    def kind(self, kind: str) -> list[Entity]:
        return self.free([e for e in self.entities if e.kind == kind])

    def take(self, argument: Argument, value: Any, entity: Entity) -> None:
        self.values[argument.name] = [value] if argument.many else value
        self.spans.append(Span(entity.start, entity.end))

    def take_all(self, argument: Argument, found: Sequence[Entity]) -> bool:
        """The finds, or the first where only one is wanted; whether there was any."""
        taken = found[: None if argument.many else 1]
        self.spans.extend(Span(e.start, e.end) for e in taken)
        values = [e.value for e in taken]
        if values:
            self.values[argument.name] = values if argument.many else values[0]
        return bool(values)

    def at_edge(self, position: int) -> bool:
        if self.main is None or not self.main.required:
            return True
        ahead = self.words[:position]
        return position >= len(self.words) - 2 or all(self.leads(w) for w in ahead)

    def leads(self, word: Word) -> bool:
        return (
            word.stem in self.vocabulary.commands
            or idle(word.text, self.tag)
            or points_back(word, self.tag)
        )

    def content(self) -> list[Word]:
        return [
            w
            for w in self.head
            if w.stem not in self.vocabulary.commands
            and w.text not in self.vocabulary.leads
            and not idle(w.text, self.tag)
        ]

    def capitals(self, said: Sequence[Word]) -> list[Word]:
        """The words that are written as names are."""
        upper = [w for w in said if w.start and is_name(w, self.text, self.tag)]
        return [w for w in upper if not has(w, self.tag, "first_person")]

    def claimed(self) -> list[Word]:
        return [w for w in self.words if any(s.start <= w.start < s.end for s in self.spans)]

    def all_spans(self) -> list[Span]:
        return [*self.spans, *(Span(q.start, q.end) for q in self.quotes)]


def _main_text(texts: Sequence[Argument], identity: Argument | None) -> Argument | None:
    """The argument that takes the content: a required one, bodies first; else the name to look up
    by, or the words to search for."""
    required = [a for a in texts if a.required]
    bodies = [a for a in required or texts if a.is_body]
    titles = [a for a in texts if a.is_title]
    fitting = (bodies + required) if required else (titles if identity else bodies)
    return next(iter(fitting), None)
