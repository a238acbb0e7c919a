"""Texts: quoted, introduced, left over, or repeated from before."""

from __future__ import annotations

import re
from collections.abc import Sequence

from . import recall
from .choosing import tells_somebody
from .content import Content, Span, remainder, tidy, without
from .entities import Entity
from .reading import Fact
from .schema import Argument, is_directed
from .slots import Slots
from .words import Word, any_has, concepts, has, is_name, is_thing, leads_on, points_back, words

_HEAD_TITLE = 60


class Texts(Slots):
    """Fills arguments for texts and titles, last: they take what is left."""

    def texts(self) -> None:
        """Quotations first, then what is introduced or left."""
        if self.lookup and self.id and self.id.name in self.values:
            return
        quotes = self.free(self.quotes)
        self.main = self._main_left()
        if self.title and not self._renamed(self.title, quotes):
            self._titled(self.title, quotes)
        if self.main and quotes:
            self.take(self.main, quotes[0].value, quotes[0])
        elif self.main and (text := self._said_or_repeated(self.main)):
            self.values[self.main.name] = text
        self._head_titles()

    def _main_left(self) -> Argument | None:
        """The main argument; where that is a path, which is taken, the next required text."""
        if self.main is None or self.main.name not in self.values:
            return self.main
        left = (a for a in self.arguments if a.kind == "text" and a.name not in self.values)
        return next((a for a in left if a.required), None)

    def _said_or_repeated(self, main: Argument) -> str:
        """What is left of the sentence, unless that only points back; then what it points at."""
        text = self._remaining(main)
        points = main.required and all(map(self._adds_nothing, words(text, self.tag)))
        return self._repeated(main) if points or self._is_all_said(main) else text

    def _adds_nothing(self, word: Word) -> bool:
        return points_back(word, self.tag) or has(word, self.tag, "function", "connective", "again")

    def _is_all_said(self, main: Argument) -> bool:
        """ "Add a task for it, …": what is meant is pointed at before the pause, and what follows
        tells more of it."""
        pause = self.text.find(",")
        before = [w for w in self.head if w.end <= pause]
        if not (main.required and before) or self._marked():
            return False
        points = has(before[-1], self.tag, "reference")
        return points and all(self.leads(w) or is_thing(w, self.tag) for w in before)

    def _marked(self) -> bool:
        return self.marker >= 0 or bool(self.quotes)

    def _renamed(self, title: Argument, quotes: list[Entity]) -> bool:
        """ "rename X to Y": of a thing that is named, the title is what is led to."""
        verb = self.sentence.verb
        if not self.lookup or verb is None or "=change" not in concepts(verb.text, self.tag):
            return False
        leads = [w for w in self.head if leads_on(w, self.tag) and w.start > verb.start]
        if quotes and (len(quotes) > 1 or (leads and leads[-1].start < quotes[0].start)):
            self.take(title, quotes[-1].value, quotes.pop())
            return True
        if self.spans or not leads:
            return False
        self.values[title.name] = tidy(self.text[leads[-1].end :]).strip(" .?!")
        self.spans.append(Span(leads[-1].start, len(self.text)))
        return True

    def _titled(self, title: Argument, quotes: list[Entity]) -> None:
        """The title, which may be the first quotation."""
        if not quotes:
            self._named_title(title)
        elif self._is_title(quotes):
            self.take(title, quotes[0].value, quotes.pop(0))

    def _head_titles(self) -> None:
        """Required titles that nothing names are the content's beginning."""
        text = self.values.get(self.main.name, "") if self.main else ""
        for argument in self.arguments:
            if text and argument.required and argument.is_title:
                self.values.setdefault(argument.name, text[:_HEAD_TITLE])

    def _is_title(self, quotes: Sequence[Entity]) -> bool:
        """Whether the first quotation names the thing: another follows, `called` stands before it,
        or `saying` comes after it."""
        before = [w for w in self.words if w.end <= quotes[0].start][-1:]
        names = any(has(w, self.tag, "named") for w in before)
        return len(quotes) > 1 or self.marker >= quotes[0].end or names

    def _named_title(self, title: Argument) -> None:
        """`with the subject Standup`, `a note called Standup`: what follows the argument's own
        name, or the word that names a thing, up to the content."""
        for thing, word in zip([None, *self.head], self.head, strict=False):
            names = word.stem in title.said or (thing and is_thing(thing, self.tag))
            if names and has(word, self.tag, "named") and word is not self.head[-1]:
                end = len(self.text) if self.marker < 0 else self.marker
                self.values[title.name] = tidy(self.text[word.end : end]).strip(" ,.?!:")
                self.spans.append(Span(word.start, end))
                return

    def _remaining(self, main: Argument) -> str:
        """The text that is left for the main argument. An optional one takes it only if it is a
        search word or a name."""
        if main.required and self.marker >= 0:
            return tidy(without(*self._from(self.marker), self.tag))
        if main.required and (told := self._told_to_somebody() or self._told_that()):
            return told
        verb, content = self.sentence.verb, self._content_of(main)
        after = remainder(*self._from(verb.start), content) if verb else ""
        topic = self.lookup and self.topic() != self.text[: self.head[-1].end if self.head else 0]
        text = after or remainder(self.topic() if topic else self.text, self.spans, content)
        polite = any(has(w, self.tag, "ability") for w in self.head)
        return text.rstrip("?") if polite else text

    def _content_of(self, main: Argument) -> Content:
        """What counts as content of this argument."""
        verb = self.sentence.verb
        return Content(
            self.vocabulary,
            self.tag,
            lookup=self.lookup or not main.required,
            loose=not main.required,
            back=self.lookup or bool(self.repeats and not self._own_words()),
            extra=frozenset({*self.extra, verb.stem} if verb else self.extra),
        )

    def _told_to_somebody(self) -> str:
        """What stands behind the name of whom a call tells it: "tell Mum I am late". A last clause
        that forbids is no part of it."""
        verb = self.sentence.verb
        if verb is None or not tells_somebody(self.sentence):
            return ""
        behind = [w for w in self.words if w.start > verb.start]
        to = next((w for w in behind if self._is_somebody(w)), None)
        if to is None or not is_directed(self.tool.input_schema):
            return ""
        text = self.text[to.end :]
        if any_has(words(text, self.tag)[:1], self.tag, "clause", "connective"):
            text = text[words(text, self.tag)[0].end :]
        *before, last = re.split(r"[,;\u2013\u2014]\s", text)
        held = before and any_has(words(last, self.tag), self.tag, "prohibition")
        return tidy(text[: -len(last)] if held else text)

    def _told_that(self) -> str:
        """What a call to somebody tells behind "that": "reply to the first one that I am late"."""
        verb = self.sentence.verb
        if verb is None or not is_directed(self.tool.input_schema):
            return ""
        behind = [w for w in self.words if w.start > verb.start]
        three = zip([verb, *behind], behind, behind[1:], strict=False)
        begins = (w.end for before, w, after in three if self._tells(before, w, after))
        return tidy(self.text[start:]) if (start := next(begins, 0)) else ""

    def _tells(self, before: Word, word: Word, after: Word) -> bool:
        """Whether "that" points at nothing and is no clause of a thing's."""
        around = (before, after)
        points = any(leads_on(w, self.tag) or is_thing(w, self.tag) for w in around)
        pointed = points or has(after, self.tag, "reference")
        return has(word, self.tag, "clause") and not pointed

    def _is_somebody(self, word: Word) -> bool:
        return is_name(word, self.text, self.tag) or has(word, self.tag, "toward")

    def _from(self, start: int) -> tuple[str, list[Span]]:
        """The text from here on, and the claimed parts of it."""
        spans = [Span(s.start - start, s.end - start) for s in self.spans if s.start >= start]
        return self.text[start:], spans

    def _own_words(self) -> bool:
        """Whether anything but a reference stands in the head."""
        claimed = self.claimed()
        return any(
            w not in claimed
            and w != self.sentence.verb
            and not points_back(w, self.tag)
            and not has(w, self.tag, "again", "opener", "sequence")
            for w in self.content()
        )

    def _repeated(self, main: Argument) -> str:
        """The text that a reference means: that of the same call before, or of the thing."""
        if not main.required or not self.repeats or self.quotes:
            return ""
        for fact in self.reading.facts:
            if text := self._text_of(fact, main):
                self.guessed = not self._is_same(fact)
                return text
            if self._is_read(fact):
                return ""  # what was shown last is meant, and it is no one text
        return ""

    def _is_read(self, fact: Fact) -> bool:
        return (fact.app_id, fact.fn_name) in self.reading.reads

    def _is_same(self, fact: Fact) -> bool:
        return (fact.app_id, fact.fn_name) == (self.tool.app_id, self.tool.fn_name)

    def _text_of(self, fact: Fact, main: Argument) -> str:
        if self._is_same(fact) and isinstance(fact.arguments.get(main.name), str):
            return str(fact.arguments[main.name])
        data = fact.data if isinstance(fact.data, dict) else {}
        things = recall.records(fact, "id")
        if len([r for r in things if r.listed]) > 1:
            return ""
        return recall.text_of(things[0].fields if things else data, (main.name,))
