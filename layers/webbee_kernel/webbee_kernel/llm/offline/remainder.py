"""The content of a message: what is left when the command, the finds and the words between them are
taken away."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .matching import Vocabulary
from .recall import points_back
from .words import CONNECTIVES, FILLERS, QUESTION_WORDS, Token, tokens

_COLON = re.compile(r":(?=\s)")
_BEFORE_DATE = re.compile(
    r"(?:(?<!\w)(?:due|by|on|until|till|for|at|before|к|ко|до|на|в|срок|сроком)\s+)+$",
    re.IGNORECASE,
)
_BEFORE_OTHER = re.compile(r"(?:(?<!\w)(?:to|for|from|on|at|для|на|к|от|кому)\s+)+$", re.IGNORECASE)
_EDGES = " \t,;:—–-"
_COMMAND_WORDS = 8
_NEAR = 40  # characters before a span in which its prepositions may stand


@dataclass(frozen=True, slots=True)
class Span:
    """A part of the message that became an argument; `is_date` decides which prepositions go with
    it."""

    start: int
    end: int
    is_date: bool = False


@dataclass(frozen=True, slots=True)
class Content:
    """What does not count as content: command words and `extra` stems always.

    `lookup`: at the end, too (`mark X as done`). `loose`: nor do fillers and question words at
    either end. `back`: nor do words of a reference such as `the one I just added`.
    """

    vocabulary: Vocabulary
    lookup: bool = False
    loose: bool = False
    back: bool = False
    extra: frozenset[str] = frozenset()

    def idle(self, token: Token) -> bool:
        """Whether the word is none of the content, where a command or its connectives may stand."""
        return (
            token.word in CONNECTIVES
            or token.stem in self.extra
            or (self.loose and (token.word in FILLERS or token.word in QUESTION_WORDS))
            or (self.back and points_back(token))
        )


def remainder(text: str, spans: Sequence[Span], content: Content) -> str:
    """The content as written: without command and idle words in front, and what may close a command
    at the end."""
    text = without(text, spans)
    words = tokens(text)
    first = _first(text, words, content)
    last = _last(words, first, content)
    if first >= last:
        return ""
    end = words[last - 1].end
    tail = text[end:] if last == len(words) and not content.loose else ""
    return _tidy(text[words[first].start : end] + tail)


def without(text: str, spans: Sequence[Span]) -> str:
    """The text with the spans, and the prepositions right before them, blanked out."""
    for span in sorted(set(spans), key=lambda s: -s.start):
        near = max(0, span.start - _NEAR)
        lead = (_BEFORE_DATE if span.is_date else _BEFORE_OTHER).search(text[near : span.start])
        text = text[: near + lead.start() if lead else span.start] + " " + text[span.end :]
    return text


def _first(text: str, words: Sequence[Token], content: Content) -> int:
    """Index of the first word that is content."""
    commands = content.vocabulary.commands
    if colon := _COLON.search(text):
        ahead = [t for t in words if t.end <= colon.start()]
        if len(ahead) <= _COMMAND_WORDS and any(t.stem in commands for t in ahead):
            return len(ahead)
    index = 0
    while index < len(words) and (words[index].stem in commands or content.idle(words[index])):
        index += 1
    return index


def _last(words: Sequence[Token], first: int, content: Content) -> int:
    """Index past the last word that is content."""
    vocabulary = content.vocabulary
    closing = vocabulary.commands if content.lookup else vocabulary.frequent
    last = len(words)
    while last > first and (words[last - 1].stem in closing or content.idle(words[last - 1])):
        last -= 1
    if content.lookup:
        return last
    dropped = list(words[last:])
    while dropped and dropped[-1].stem in content.extra:
        dropped.pop()
    names_the_list = (
        len(dropped) > 1
        and dropped[0].word in CONNECTIVES
        and dropped[-1].stem in vocabulary.frequent
    )
    return last if names_the_list else last + len(dropped)


def _tidy(text: str) -> str:
    text = re.sub(r"\s+", " ", text).strip(_EDGES)
    text = re.sub(r"\s+([.,;:!?])", r"\1", text)
    return text[:-1].rstrip(_EDGES) if text.endswith(".") and text.count(".") == 1 else text
