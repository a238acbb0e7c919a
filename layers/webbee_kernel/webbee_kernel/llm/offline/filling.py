"""Arguments of one function, filled from one sentence and, where it points back, from the facts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ... import language
from ..protocol import ToolSpec
from . import recall
from .content import Content, Span, remainder, tidy, without
from .entities import Entity, find_dates, find_entities, find_numbers
from .matching import Vocabulary
from .reading import Fact, Reading
from .schema import Argument, arguments_of, keys
from .speech import Sentence
from .words import Word, concepts, forms, has, idle, ordinals, points_back, words

_HEAD_TITLE = 60


@dataclass(slots=True)
class Filled:
    """What could be filled, and what a call still needs. `explicit`: the message names what the
    call is about, or points at it."""

    arguments: dict[str, Any] = field(default_factory=dict)
    missing: list[Argument] = field(default_factory=list)
    explicit: bool = False


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


class _Filler:
    """One pass over one sentence; each step consumes what it uses, so nothing is used twice."""

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
        self.words = self._outside(words(self.text, self.tag))
        self.marker = sentence.content
        self.head = [w for w in self.words if self.marker < 0 or w.start < self.marker]
        self.reference = recall.reference(self.head, self.tag)
        again = any(has(w, self.tag, "again") for w in self.head)
        self.repeats = self.reference is not None or again
        self.values: dict[str, Any] = {}
        self.spans: list[Span] = []
        self.extra: set[str] = set()
        self.id = next((a for a in self.arguments if a.kind == "id"), None)
        texts = [a for a in self.arguments if a.kind == "text"]
        self.main = _main_text(texts, self.id)
        self.title = next((a for a in texts if a.is_title and a is not self.main), None)
        self.lookup = self.id is not None and self.main is not None and not self.main.required
        self._claim_reference()

    def run(self) -> Filled:
        """Kinds in the order in which they claim parts of the text."""
        for argument in self.arguments:
            if argument.kind in ("enum", "bool"):
                self._choose(argument)
        self._addresses()
        self._links()
        self._dates()
        self._ids()
        self._numbers()
        self._texts()
        missing = [a for a in self.arguments if a.required and a.name not in self.values]
        names = {a.name for a in (self.id, self.main) if a}
        if not missing and self.lookup and self.id and not names & set(self.values):
            missing = [self.id]
        order = [a.name for a in self.arguments]
        arguments = {name: self.values[name] for name in order if name in self.values}
        return Filled(arguments, missing, bool(arguments))

    def _outside(self, said: Sequence[Word]) -> list[Word]:
        return [w for w in said if not any(q.start <= w.start < q.end for q in self.quotes)]

    def _claim_reference(self) -> None:
        """`that note`, `это письмо`: words that point and the thing they point at are no content."""
        for word, following in zip(self.head, self.head[1:], strict=False):
            if has(word, self.tag, "reference") and self._is_thing(following):
                self.spans.append(Span(word.start, following.end))

    def _is_thing(self, word: Word) -> bool:
        return any(c[0] == "#" for c in concepts(word.text, self.tag))

    def _free(self, found: Sequence[Entity]) -> list[Entity]:
        return [e for e in found if not any(s.start <= e.start < s.end for s in self.spans)]

    def _kind(self, kind: str) -> list[Entity]:
        return self._free([e for e in self.entities if e.kind == kind])

    def _take(self, argument: Argument, value: Any, entity: Entity) -> None:
        self.values[argument.name] = [value] if argument.many else value
        self.spans.append(Span(entity.start, entity.end))

    def _choose(self, argument: Argument) -> None:
        """An enum value or a flag by its words; where a text follows, only at its edges, so that
        content stays content."""
        for exact in (True, False):  # the very word goes before a form of it
            for value, known in argument.values:
                for position, word in enumerate(self.words):
                    said = word.text if exact else word.stem
                    if said in known and self._at_edge(position):
                        if value != argument.default:
                            self.values[argument.name] = value
                        self.extra |= {word.stem, *argument.said}
                        self.spans.append(Span(word.start, word.end))
                        return

    def _at_edge(self, position: int) -> bool:
        if self.main is None or not self.main.required:
            return True
        ahead = self.words[:position]
        return position >= len(self.words) - 2 or all(self._leads(w) for w in ahead)

    def _leads(self, word: Word) -> bool:
        return (
            word.stem in self.vocabulary.commands
            or idle(word.text, self.tag)
            or points_back(word, self.tag)
        )

    def _addresses(self) -> None:
        for argument in self.arguments:
            if argument.kind not in ("email", "party"):
                continue
            if found := self._kind("email"):
                taken = found if argument.many else found[:1]
                self.spans.extend(Span(e.start, e.end) for e in taken)
                values = [e.value for e in taken]
                self.values[argument.name] = values if argument.many else values[0]
            elif argument.kind == "party":
                self._party(argument)
            elif argument.required:
                self._recalled_address(argument)
        # what is left may be one of the user's own ("check the mail of me@personal.com")
        own = next((a for a in self.arguments if a.holds_address), None)
        if own and own.name not in self.values and (left := self._kind("email")):
            self._take(own, left[0].value, left[0])

    def _party(self, argument: Argument) -> None:
        """`from Sarah`, `от Ивана`: the name, without the ending of its case."""
        for place, word in enumerate(self.words):
            if not has(word, self.tag, "source"):
                continue
            after = (w for w in self.words[place + 1 :] if not has(w, self.tag, "article"))
            following = next(after, None)
            if following and self._is_name(following):
                end = self._end_of_name(following)
                self.values[argument.name] = self._uncased(self.text[following.start : end])
                self.spans.append(Span(word.start, end))
                return

    def _is_name(self, word: Word) -> bool:
        return not (
            points_back(word, self.tag)
            or idle(word.text, self.tag)
            or word.text.isdecimal()
            or any(e.start <= word.start < e.end for e in find_dates(self.text, self.tag, self.at))
        )

    def _end_of_name(self, word: Word) -> int:
        """A capitalised word after a name belongs to it."""
        after = next((w for w in self.words if w.start > word.start), None)
        joined = after and not self.text[word.end : after.start].strip()
        return after.end if after and joined and self.text[after.start].isupper() else word.end

    def _uncased(self, name: str) -> str:
        """What all forms of a name share: whoever searches by it finds them all."""
        if not language.of(self.tag).cases or name.isascii():
            return name
        shared = []
        for part in name.split():
            stem = language.stem(part, self.tag)
            shared.append(
                part if stem == part.casefold() else part[: max(len(stem), len(part) - 1)]
            )
        return " ".join(shared)

    def _recalled_address(self, argument: Argument) -> None:
        unsaid = [w for w in self._content() if w not in self._claimed()]
        facts = self.reading.facts
        value = None
        if found := recall.address_of(facts, unsaid, self.tag):
            value = found[0]
            self.extra.add(found[1].stem)
            self.spans.append(Span(found[1].start, found[1].end))
        elif self.reference and self._means_somebody() and not self._names_somebody(unsaid):
            value = recall.recall_address(facts, self.tool.fn_name, argument.name, self.reference)
            self.extra |= {w.stem for w in self.head if points_back(w, self.tag)}
        if value is not None:
            self.values[argument.name] = [value] if argument.many else value

    def _means_somebody(self) -> bool:
        """`her`, `there`, `that address`: a person or a place, not a thing."""
        said = {c for w in self.head for c in concepts(w.text, self.tag)}
        return bool(self.reference and self.reference.toward) or bool(
            said & {"#address", "#person"}
        )

    def _names_somebody(self, unsaid: Sequence[Word]) -> bool:
        """Whether a name stands there that no fact knows: then nobody else is meant."""
        return any(self.text[w.start].isupper() and w.start for w in unsaid)

    def _content(self) -> list[Word]:
        return [
            w
            for w in self.head
            if w.stem not in self.vocabulary.commands
            and w.text not in self.vocabulary.leads
            and not idle(w.text, self.tag)
        ]

    def _claimed(self) -> list[Word]:
        return [w for w in self.words if any(s.start <= w.start < s.end for s in self.spans)]

    def _links(self) -> None:
        for argument in self.arguments:
            if argument.kind == "url" and (found := self._kind("url")):
                self._take(argument, found[0].value, found[0])

    def _dates(self) -> None:
        for argument in self.arguments:
            if argument.kind == "date":
                found = self._free(find_dates(self.text, self.tag, self.at))
                found = [
                    e for e in found if not any(q.start <= e.start < q.end for q in self.quotes)
                ]
                if found:
                    value = found[0].value[:10] if argument.iso else found[0].value
                    self._take(argument, value, found[0])

    def _ids(self) -> None:
        argument = self.id
        if argument is None:
            return
        said = self._said_of_it()
        found = self._kind("id")
        inside = {w.text for e in found for w in words(e.value, self.tag)}
        if found and (not self.lookup or {w.text for w in said} <= inside):
            self.spans.extend(Span(e.start, e.end) for e in (found if argument.many else found[:1]))
            values = [e.value for e in found]
            self.values[argument.name] = values if argument.many else values[0]
            return
        if self.lookup and self.quotes:
            return
        value = self._several(argument, said) if argument.many else None
        if value is None:
            value = self._one(argument, said)
        if value is not None:
            listed = not argument.many or isinstance(value, list)
            self.values[argument.name] = value if listed else [value]

    def _said_of_it(self) -> list[Word]:
        """The words that may name the thing."""
        loose = Content(
            self.vocabulary,
            self.tag,
            lookup=True,
            loose=True,
            back=True,
            extra=frozenset(self.extra),
        )
        head = self.text[: self.head[-1].end] if self.head else ""
        said = words(remainder(head, self._all_spans(), loose), self.tag)
        return [w for w in said if not idle(w.text, self.tag)]

    def _all_spans(self) -> list[Span]:
        return [*self.spans, *(Span(q.start, q.end) for q in self.quotes)]

    def _one(self, argument: Argument, said: Sequence[Word]) -> Any | None:
        takes_text = self.main is not None and self.main.required
        if said and (record := recall.named(self.facts, argument.name, said)):
            self.extra |= {w.stem for w in said}
            return record.id
        if takes_text and said and self.marker < 0 and not self.quotes:
            named = self._named_at_the_front(argument, said)
            if named is not None:
                return named
        if self.sentence.act == "question" and all(w.stem in self.vocabulary.known for w in said):
            said = ()  # the words of a question, not of a name
        if (not said or takes_text) and self.reference:
            return self._pointed_at(argument)
        return None

    def _named_at_the_front(self, argument: Argument, said: Sequence[Word]) -> Any | None:
        """`reply to Sarah I am late`: the longest beginning that names one thing."""
        for count in range(min(3, len(said)), 0, -1):
            if record := recall.named(self.facts, argument.name, said[:count]):
                self.extra |= {w.stem for w in said[:count]}
                return record.id
        return None

    def _pointed_at(self, argument: Argument) -> Any | None:
        """What a reference means: the step before this one in the same message, or a fact."""
        assert self.reference is not None
        step = next((e for e in reversed(self.earlier) if e[0].app_id == self.tool.app_id), None)
        if step:
            path = self._path(step[0], argument.name)
            return f"{{{{steps.{step[1]}.data.{path}}}}}" if path else None
        self.extra |= {w.stem for w in self.head if points_back(w, self.tag)}
        return recall.pointed_at(self.facts, argument.name, self.reference)

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
        numbers = find_numbers(self.text, self.tag) if first else []
        if numbers:
            return (
                recall.listed_ids(self.facts, argument.name, int(float(numbers[0].value))) or None
            )
        every = forms(self.tag, "plural_reference")
        if any(w.text in every for w in self.head):
            which = [w for w in said if w.text not in every and not points_back(w, self.tag)]
            return recall.listed_ids(self.facts, argument.name, None, which) or None
        return None

    def _numbers(self) -> None:
        for argument in self.arguments:
            if argument.kind != "number":
                continue
            found = [e for e in self._free(find_numbers(self.text, self.tag)) if self._near_edge(e)]
            if found:
                number = float(found[0].value)
                number = max(number, argument.minimum) if argument.minimum is not None else number
                number = min(number, argument.maximum) if argument.maximum is not None else number
                whole = int(number) if number == int(number) else number
                self._take(argument, whole, found[0])

    def _near_edge(self, entity: Entity) -> bool:
        return self._at_edge(sum(w.end <= entity.start for w in self.words))

    def _texts(self) -> None:
        quotes = self._free(self.quotes)
        main, title = self.main, self.title
        if self.lookup and self.id and self.id.name in self.values:
            return
        if title and quotes and self._is_title(quotes):
            self._take(title, quotes[0].value, quotes.pop(0))
        elif title and not quotes:
            self._named_title(title)
        if main and quotes:
            self._take(main, quotes[0].value, quotes[0])
        elif main and (text := self._remaining(main) or self._repeated(main)):
            self.values[main.name] = text
        for argument in self.arguments:
            untold = argument.required and argument.is_title and argument.name not in self.values
            if untold and main and main.name in self.values:
                self.values[argument.name] = self.values[main.name][:_HEAD_TITLE]

    def _is_title(self, quotes: Sequence[Entity]) -> bool:
        """Whether the first quotation names the thing: another follows, `called` stands before it,
        or `saying` comes after it."""
        before = [w for w in self.words if w.end <= quotes[0].start][-1:]
        names = any(has(w, self.tag, "named") for w in before)
        return len(quotes) > 1 or self.marker >= quotes[0].end or names

    def _named_title(self, title: Argument) -> None:
        """`with the subject Standup`: what follows the argument's own name, up to the content."""
        for word in self.head[:-1]:
            if word.stem in title.said and has(word, self.tag, "named"):
                end = len(self.text) if self.marker < 0 else self.marker
                self.values[title.name] = tidy(self.text[word.end : end]).strip(" ,.?!:")
                self.spans.append(Span(word.start, end))
                return

    def _remaining(self, main: Argument) -> str:
        """The text that is left for the main argument. An optional one takes it only if it is a
        search word or a name."""
        if main.required and self.marker >= 0:
            return tidy(without(*self._from(self.marker), self.tag))
        content = Content(
            self.vocabulary,
            self.tag,
            lookup=self.lookup or not main.required,
            loose=not main.required,
            back=self.lookup or bool(self.repeats and not self._own_words()),
            extra=frozenset(self.extra),
        )
        verb = self.sentence.verb
        after = remainder(*self._from(verb.start), content) if verb else ""
        return after or remainder(self.text, self.spans, content)

    def _from(self, start: int) -> tuple[str, list[Span]]:
        """The text from here on, and the claimed parts of it."""
        spans = [Span(s.start - start, s.end - start) for s in self.spans if s.start >= start]
        return self.text[start:], spans

    def _own_words(self) -> bool:
        """Whether anything but a reference stands in the head."""
        claimed = self._claimed()
        return any(
            w not in claimed
            and not points_back(w, self.tag)
            and not has(w, self.tag, "again", "opener", "sequence")
            for w in self._content()
        )

    def _repeated(self, main: Argument) -> str:
        """The text that a reference means: that of the same call before, or of the thing."""
        if not main.required or not self.repeats or self.quotes:
            return ""
        for fact in self.reading.facts:
            if text := self._text_of(fact, main):
                return text
        return ""

    def _text_of(self, fact: Fact, main: Argument) -> str:
        same = (fact.app_id, fact.fn_name) == (self.tool.app_id, self.tool.fn_name)
        if same and isinstance(fact.arguments.get(main.name), str):
            return str(fact.arguments[main.name])
        texts = {k: v for k, v in fact.arguments.items() if k in keys("body_keys")}
        data = fact.data if isinstance(fact.data, dict) else {}
        things = recall.records(fact, "id")
        if len([r for r in things if r.listed]) > 1:
            return ""
        return recall.text_of({**(things[0].fields if things else data), **texts}, (main.name,))


def _main_text(texts: Sequence[Argument], identity: Argument | None) -> Argument | None:
    """The argument that takes the content: a required one, bodies first; else the name to look up
    by, or the words to search for."""
    required = [a for a in texts if a.required]
    if required:
        return next((a for a in required if a.is_body), required[0])
    if identity:
        return next((a for a in texts if a.is_title), None)
    return next((a for a in texts if a.is_body), None)
