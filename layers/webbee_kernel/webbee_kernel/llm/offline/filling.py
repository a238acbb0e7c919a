"""Arguments of one function, filled from one sentence and, where it points back, from the facts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ... import language
from ...values.plain import JSONObject
from ..protocol import ToolSpec
from . import recall
from .content import Span
from .entities import Entity, day_led_to, find_dates, find_entities, find_numbers
from .matching import Vocabulary
from .people import People
from .reading import Reading
from .schema import Argument, arguments_of, is_directed, keys, parts
from .speech import Sentence
from .texts import Texts
from .things import Things
from .words import Word, any_has, has, is_thing, meaning, points_back, words


@dataclass(slots=True)
class Filled:
    """What could be filled, and what a call still needs. `names_a_thing`: an id is among the
    arguments; `guessed`: a value stands neither in the sentence nor in the same call before;
    `text`: what was left of the sentence for the main text; `said`: words that may name the thing,
    `looked_up` the argument that holds them where no id does, `looks_up` whether it does and they
    are not quoted; `used`: what became a value."""

    arguments: JSONObject = field(default_factory=dict)
    missing: list[Argument] = field(default_factory=list)
    names_a_thing: bool = False
    guessed: bool = False
    text: str = ""
    said: Sequence[Word] = ()
    looked_up: str = ""
    looks_up: bool = False
    used: Sequence[Span] = ()
    points: bool = False
    """Whether the sentence points back and says nothing more of what is meant."""
    people: Sequence[str] = ()
    """Words of the command that may name somebody."""

    def uses(self, at: int) -> bool:
        """Whether what stands there became part of a value."""
        return any(s.start <= at < s.end for s in self.used)


def fill(
    tool: ToolSpec,
    sentence: Sentence,
    reading: Reading,
    vocabulary: Vocabulary,
    earlier: Sequence[tuple[ToolSpec, int]] = (),
) -> Filled:
    """Arguments for `tool` out of a sentence. `earlier` are the calls planned before this one, with
    their steps."""
    return _Filler(tool, sentence, reading, vocabulary, earlier).run()


def identity(tool: ToolSpec) -> Argument | None:
    """The argument that says by its id what a call is about."""
    return next((a for a in arguments_of(tool.input_schema) if a.kind == "id"), None)


class _Filler(People, Things, Texts):
    """One pass over one sentence, kind by kind."""

    def run(self) -> Filled:
        """Kinds in the order in which they claim parts of the text."""
        for argument in self.arguments:
            if argument.kind in ("enum", "bool"):
                self._choose(argument)
        for step in (
            self.addresses,
            self._links,
            self._paths,
            self._codes,
            self._dates,
            self.ids,
            self._numbers,
            self.texts,
        ):
            step()
        return self._filled(self.main.name if self.main else "")

    def _filled(self, main: str) -> Filled:
        """What came of it; `main` is the argument for the content."""
        arguments = {a.name: self.values[a.name] for a in self.arguments if a.name in self.values}
        return Filled(
            arguments,
            self._missing(),
            names_a_thing=bool(self.id and self.id.name in arguments),
            guessed=self.guessed or self._may_be_two() or self._leans(),
            text=str(arguments.get(main, "")),
            said=self.said,
            looked_up=main if self.lookup else "",
            looks_up=self.lookup and main in arguments and not (self.quotes or self.literal),
            used=tuple(self.spans),
            points=self.reference is not None and not self._unclaimed(),
            people=self._people(),
        )

    def _unclaimed(self) -> list[Word]:
        """Words that may say what is meant, and became no value."""
        claimed = self.claimed()
        fillers = ("again", "opener", "sequence", "plural_reference")
        return [
            w
            for w in self.said
            if w not in claimed and not points_back(w, self.tag) and not has(w, self.tag, *fillers)
        ]

    def _may_be_two(self) -> bool:
        """Whether content that nothing marks may be two ("add call Ann and buy bread"), or names
        what the function makes and so is none ("set aside the tasks")."""
        if self.main is None or not self.main.required or self._marked():
            return False
        text = words(str(self.values.get(self.main.name, "")), self.tag)
        if any(meaning(w, self.tag) & self.vocabulary.matter for w in text):
            return True
        named = any(meaning(w, self.tag) & self.vocabulary.matter for w in self.head)
        return not named and any_has(text, self.tag, "and_")

    def _leans(self) -> bool:
        """Whether content that nothing marks leans on what was said before: "buy them", or takes
        it from a thing of another kind: "out of Joan's mail"."""
        if self.main is None or not self.main.required or self._marked():
            return False
        text = words(str(self.values.get(self.main.name, "")), self.tag)
        if is_directed(self.tool.input_schema) or not text:
            return False
        pronoun = any_has(text, self.tag, "toward") or has(text[-1], self.tag, "reference")
        sourced = any_has(text[:2], self.tag, "source", "connective")
        return pronoun or (sourced and is_thing(text[-1], self.tag))

    def _people(self) -> tuple[str, ...]:
        named = [w for w in self.content() if not points_back(w, self.tag)]
        chosen = self.capitals(named) or (named if self._marked() else [])
        return tuple(recall.shared(self.text[w.start : w.end], self.tag) for w in chosen)

    def _missing(self) -> list[Argument]:
        """What the schema requires; of a thing that may be named by id or by title, one of them."""
        missing = [a for a in self.arguments if a.required and a.name not in self.values]
        missing = missing or self._unchanged()
        named_by = self.main if self.lookup else self.title
        names = {a.name for a in (self.id, named_by) if a}
        unnamed = self.id is not None and names.isdisjoint(self.values)
        return missing or ([self.id] if self.id and unnamed else [])

    def _unchanged(self) -> list[Argument]:
        """What a change of a thing may change, where nothing of that is said."""
        if not self.lookup or self.tool.action_type == "read":
            return []
        rest = [a for a in self.arguments if a not in (self.id, self.main)]
        open_ = all(a.default in ("", None) and a.name not in self.values for a in rest)
        return rest[:1] if open_ else []

    def _choose(self, argument: Argument) -> None:
        """An enum value or a flag by its words; where a text follows, only at its edges, so that
        content stays content."""
        for exact in (True, False):  # the very word goes before a form of it
            for value, known in argument.values:
                for position, word in enumerate(self.words):
                    said = word.text if exact else word.stem
                    like = not exact and any(recall.alike(word.text, k) for k in known)
                    if (said in known or like) and self._may_tell(position):
                        if value != argument.default:
                            self.values[argument.name] = value
                        self.extra |= {word.stem, *argument.said}
                        self.spans.append(Span(word.start, word.end))
                        return

    def _may_tell(self, position: int) -> bool:
        """Whether a word may be a value; behind "who" it tells a deed: "who sent …"."""
        asks = language.of(self.tag).words.meanings("asks")
        before = self.words[max(0, position - 1) : position]
        who = any("person" in asks.get(w.text, ()) for w in before)
        return self.at_edge(position) and not who

    def _links(self) -> None:
        for argument in self.arguments:
            if argument.kind == "url" and (found := self.kind("url")):
                self.take(argument, found[0].value, found[0])

    def _paths(self) -> None:
        """Paths in the order in which they are written, with all that belongs to them."""
        for argument in self.arguments:
            named = argument.kind == "text" and set(parts(argument.name)) & keys("path_keys")
            if named and (found := self.kind("path")):
                self.take(argument, found[0].value, found[0])

    def _codes(self) -> None:
        """Codes like the one that an argument's description shows: "Article number, like AB-12"."""
        for argument in self.arguments:
            shows = any(e.kind == "code" for e in find_entities(argument.description))
            if shows and argument.kind == "text" and (found := self.kind("code")):
                self.take(argument, found[0].value, found[0])
                self.guessed = self.guessed or (len(found) > 1 and not argument.many)

    def _dates(self) -> None:
        for argument in self.arguments:
            if argument.kind == "date":
                said = find_dates(self.text, self.tag, self.at)
                found = [
                    e
                    for e in self.free(said or day_led_to(self.text, self.tag, self.at))
                    if not any(q.start <= e.start < q.end for q in self.quotes)
                ]
                if found:
                    value = found[0].value[:10] if argument.iso else found[0].value
                    self.take(argument, value, found[0])

    def _numbers(self) -> None:
        for argument in self.arguments:
            if argument.kind == "number" and (found := self._numbers_for(argument)):
                number = float(found[0].value)
                number = max(number, argument.minimum) if argument.minimum is not None else number
                number = min(number, argument.maximum) if argument.maximum is not None else number
                whole = int(number) if number == int(number) else number
                self.take(argument, whole, found[0])

    def _numbers_for(self, argument: Argument) -> list[Entity]:
        """The numbers at the edge of the text; where one is required, any."""
        free = self.free(find_numbers(self.text, self.tag))
        near = [e for e in free if self._near_edge(e)]
        return free if argument.required and (self.guessed or not near) else near

    def _near_edge(self, entity: Entity) -> bool:
        return self.at_edge(sum(w.end <= entity.start for w in self.words))
