"""The content of a message: what is left when the command, the finds and the words between them are
taken away."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ... import language
from .matching import Vocabulary
from .words import Word, concepts, forms, has, points_back, state, words

_EDGES = " \t,;:—–-"
_NEAR = 40  # characters before a span in which its prepositions may stand


@dataclass(frozen=True, slots=True)
class Span:
    """A part of the message that became an argument."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Content:
    """What does not count as content: command words and `extra` stems always.

    `lookup`: at the end, too (`mark X as done`). `loose`: nor do function and question words at
    either end. `back`: nor do words of a reference such as `the one I just added`.
    """

    vocabulary: Vocabulary
    tag: str
    lookup: bool = False
    loose: bool = False
    back: bool = False
    extra: frozenset[str] = frozenset()

    def idle(self, word: Word) -> bool:
        """Whether the word is none of the content, where a command or its connectives may stand."""
        roles = ["connective"]
        if self.loose:
            roles += ["function", "question", "opener", "total"]
        if self.loose and self.lookup:
            roles.append("saying")
        if self.back:
            roles += ["again", "opener", "sequence"]
        if has(word, self.tag, *roles) or word.stem in self.extra:
            return True
        return self.back and points_back(word, self.tag)

    def asks(self, word: Word) -> bool:
        """Whether the word belongs to the command itself."""
        known = self.vocabulary
        if word.stem in known.commands or word.text in known.leads:
            return True
        if state(word.text, self.tag) & known.commands:
            return True
        return bool(concepts(word.text, self.tag) & (known.concepts | known.matter))

    def begins(self, said: Sequence[Word]) -> bool:
        """Whether the last of these words is a second verb, which belongs to what is asked for:
        "remind me to take …"."""
        meant = [{c[0] for c in concepts(w.text, self.tag)} for w in said]
        verbs = sum("=" in m for m in meant)
        idle = has(said[-1], self.tag, "connective")
        return not self.lookup and verbs > 1 and meant[-1] == {"="} and not idle

    def closes(self, word: Word) -> bool:
        """Whether the word may stand behind the content and be none of it."""
        known = self.vocabulary
        if word.stem in (known.commands if self.lookup else known.frequent) or self.idle(word):
            return True
        return self.lookup and self.asks(word)


def remainder(text: str, spans: Sequence[Span], content: Content) -> str:
    """The content as written: without command and idle words in front, and what may close a command
    at the end."""
    text = without(text, spans, content.tag)
    said = words(text, content.tag)
    first = 0
    while first < len(said) and (content.asks(said[first]) or content.idle(said[first])):
        first += 1
        if first < len(said) and content.begins(said[: first + 1]):
            break
    last = _last(said, first, content)
    if first >= last:
        return ""
    end = said[last - 1].end
    tail = text[end:] if last == len(said) and not content.loose else ""
    return tidy(text[said[first].start : end] + tail)


def without(text: str, spans: Sequence[Span], tag: str) -> str:
    """The text with the spans, and the prepositions right before them, blanked out."""
    for span in sorted(set(spans), key=lambda s: -s.start):
        start = _led_by(text, span.start, tag)
        text = text[:start] + " " + text[span.end :]
    return text


def _led_by(text: str, start: int, tag: str) -> int:
    """Where the words that only lead to what follows begin."""
    at = forms(tag, "function") | frozenset(language.of(tag).calendar.at.split())
    near = max(0, start - _NEAR)
    for word in reversed(words(text[near:start], tag)):
        between = text[near + word.end : start]
        if between.strip() or (word.text not in at and "#due" not in concepts(word.text, tag)):
            break
        start = near + word.start
    return start


def _last(said: Sequence[Word], first: int, content: Content) -> int:
    """Index past the last word that is content."""
    last = len(said)
    while last > first and content.closes(said[last - 1]):
        last -= 1
    if content.lookup:
        return last
    dropped = list(said[last:])
    while dropped and dropped[-1].stem in content.extra:
        dropped.pop()
    led = len(dropped) > 1 and has(dropped[0], content.tag, "connective")
    names_the_list = led and dropped[-1].stem in content.vocabulary.frequent
    return last if names_the_list else last + len(dropped)


def tidy(text: str) -> str:
    """Single spaces, no loose punctuation at the ends."""
    text = re.sub(r"\s+", " ", text).strip(_EDGES)
    text = re.sub(r"\s+([.,;:!?])", r"\1", text)
    return text[:-1].rstrip(_EDGES) if text.endswith(".") and text.count(".") == 1 else text
