"""A message in tokens: words, quotations, addresses, links, ISO dates; and which words of a
language say nothing of what is wanted. Linear in the message, and after `MOST_TOKENS` not read."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from ... import language
from ...language import fold

_QUOTES = {'"': '"', "«": "»", "“": "”", "„": "“”", "「": "」"}
_SINGLE = r"(?<![^\s(])['‘](?=\S)[^'’\n]{1,500}(?<=\S)['’](?!\w)"
"""A quotation in single marks, which are apostrophes, too: it stands apart from the words."""
_OPENING = re.compile(f"{_SINGLE}|[{''.join(_QUOTES)}]")
_SPECIAL = re.compile(
    r"(?P<email><EMAIL_\d{1,9}>|[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8})"
    r"|(?P<url>https?://[^\s<>\"»”]{1,2000})"
    r"|(?P<colon>:(?=\s|$))"
    r"|(?P<date>(?<!\d)\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d)?Z?)?(?!\d))"
)
COLON = ":"
"""The stem of a colon: it parts two slots, and is passed over where none stands before it."""
MOST_TOKENS = 250
"""Tokens that are read one by one. What stands behind them is one token of the kind `unread`: a
text may hold it, but nobody knows whether it is one thing."""
_PHRASES = 12
"""Phrases that may stand around a command, all together."""
_TRIMMED = " \t\r\n\u00a0:,;–—"


@dataclass(frozen=True, slots=True)
class Token:
    """`kind`: word, quote, email, url, date, colon, unread. Of a quotation `text` is what stands
    inside."""

    text: str
    start: int
    end: int
    kind: str = "word"


@dataclass(frozen=True)
class Lexicon:
    """What a language lets stand around a command, folded; phrases as tuples of words."""

    articles: frozenset[str]
    begin: tuple[tuple[str, ...], ...]
    end: tuple[tuple[str, ...], ...]
    ask: tuple[tuple[str, ...], ...]
    reference: frozenset[str]
    ordinals: dict[str, int]
    plural: frozenset[str]
    conjunctions: frozenset[str]
    function: frozenset[str]
    question: frozenset[str]


@lru_cache(maxsize=16)
def lexicon(tag: str) -> Lexicon:
    """The lexicon of a language."""
    words = language.of(tag).words

    def phrases(role: str) -> tuple[tuple[str, ...], ...]:
        found = {tuple(fold(w) for w in p.split("_")) for p in words.forms(role)}
        return tuple(sorted(found, key=lambda p: (-len(p), p)))

    return Lexicon(
        frozenset(map(fold, words.forms("article"))),
        phrases("begin"),
        phrases("end"),
        phrases("ask"),
        words.reference | words.recency,
        {stem: int(place) for stem, place in words.ordinals.items()},
        words.plural_reference,
        words.and_ | words.sequence,
        words.function,
        words.question | words.asks.keys(),
    )


@dataclass
class Message:
    """A text and its tokens; stems by the language that they are compared in."""

    text: str
    tokens: tuple[Token, ...]
    _stems: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _bounds: dict[tuple[str, bool, int, int], Bounds] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str) -> Message:
        """The message of a text."""
        tokens = list(itertools.islice(_tokens(text), MOST_TOKENS + 1))
        if len(tokens) > MOST_TOKENS:
            start = tokens[-1].start
            tokens[-1] = Token(text[start:], start, len(text), "unread")
        return cls(text, tuple(tokens))

    def stems(self, tag: str) -> tuple[str, ...]:
        """The stem of each token; a colon is its own, other tokens that are no words have none."""
        known = self._stems.get(tag)
        if known is None:
            known = self._stems[tag] = tuple(
                language.stem(t.text, tag) if t.kind == "word" else COLON * (t.kind == "colon")
                for t in self.tokens
            )
        return known

    @cached_property
    def _words(self) -> list[str]:
        return [fold(t.text) if t.kind == "word" else "" for t in self.tokens]

    def bounds(self, tag: str, *, ask: bool, first: int = 0, last: int = -1) -> Bounds:
        """The tokens that are left without what only leads to a command or follows it."""
        key = (tag, ask, first, last)
        if key not in self._bounds:
            self._bounds[key] = self._bounded(lexicon(tag), key)
        return self._bounds[key]

    def _bounded(self, known: Lexicon, key: tuple[str, bool, int, int]) -> Bounds:
        _, ask, first, last = key
        words = self._words
        last = len(words) if last < 0 else last
        asked = False
        for _ in range(_PHRASES):
            if size := _leading(words, first, last, known.begin):
                first += size
            elif ask and (size := _leading(words, first, last, known.ask)):
                first, asked = first + size, True
            elif size := _trailing(words, first, last, known.end):
                last -= size
            else:
                break
        return Bounds(first, last, asked)

    def is_greeting(self, tag: str) -> bool:
        """Whether the message only greets, or asks what there is to do."""
        words = language.of(tag).words
        stems = self.stems(tag)
        hello = words.greeting | words.help | words.thanks | words.ability
        small = hello.union(words.function, words.opener, words.question) - words.reference
        return not hello.isdisjoint(stems) and small.issuperset(stems)

    def denies(self, tag: str) -> bool:
        """Whether a word of the message denies or forbids something."""
        words = language.of(tag).words
        return not (words.negation | words.prohibition).isdisjoint(self.stems(tag))

    def is_question(self, tag: str) -> bool:
        """Whether the message asks, in a language, and neither denies nor commands anything."""
        stems = self.stems(tag)
        begins = bool(stems) and stems[0] in lexicon(tag).question
        asks = begins or self.bounds(tag, ask=True).asked or self.text.endswith("?")
        return asks and not self.denies(tag)

    def slice(self, first: int, last: int) -> str:
        """The text of these tokens with the marks that belong to them; of a quotation that is all
        of it what stands inside."""
        if last - first == 1 and self.tokens[first].kind == "quote":
            return self.tokens[first].text
        start = self.tokens[first - 1].end if first else 0
        end = self.tokens[last].start if last < len(self.tokens) else len(self.text)
        text = self.text[start:end].strip(_TRIMMED)
        return text[:-1].rstrip() if text.endswith(".") and not text.endswith("..") else text


@dataclass(frozen=True, slots=True)
class Bounds:
    """The tokens from `first` to before `last`; `asked` where a question or a "show me" led to
    them."""

    first: int
    last: int
    asked: bool


def _leading(
    words: Sequence[str], first: int, last: int, phrases: Sequence[tuple[str, ...]]
) -> int:
    for phrase in phrases:
        end = first + len(phrase)
        if end < last and tuple(words[first:end]) == phrase:
            return len(phrase)
    return 0


def _trailing(
    words: Sequence[str], first: int, last: int, phrases: Sequence[tuple[str, ...]]
) -> int:
    for phrase in phrases:
        start = last - len(phrase)
        if start > first and tuple(words[start:last]) == phrase:
            return len(phrase)
    return 0


def _tokens(text: str) -> Iterator[Token]:
    at = 0
    for start, end in _quotations(text):
        yield from _plain(text, at, start)
        yield Token(text[start + 1 : end - 1].strip(), start, end, "quote")
        at = end
    yield from _plain(text, at, len(text))


def _quotations(text: str) -> Iterator[tuple[int, int]]:
    """Where quotations stand. A mark that is never closed is looked for once."""
    at, closed = 0, dict.fromkeys("".join(_QUOTES.values()), True)
    while found := _OPENING.search(text, at):
        start = found.start()
        ends = [] if found[0] in _QUOTES else [found.end()]
        for mark in _QUOTES.get(found[0], ()):
            if closed[mark]:
                end = text.find(mark, start + 1)
                closed[mark] = end >= 0
                ends += [end + 1] if end >= 0 else []
        at = min(ends, default=start + 1)
        if ends and text[start + 1 : at - 1].strip():
            yield start, at


def _plain(text: str, first: int, last: int) -> Iterator[Token]:
    part, at = text[first:last], 0
    for found in _SPECIAL.finditer(part):
        yield from _words(part[at : found.start()], first + at)
        start, end = first + found.start(), first + found.end()
        yield Token(found[0], start, end, str(found.lastgroup))
        at = found.end()
    yield from _words(part[at:], first + at)


def _words(text: str, start: int) -> Iterator[Token]:
    for word in language.tokens(text):
        yield Token(word.text, start + word.start, start + word.end)


@dataclass(frozen=True, slots=True)
class Reference:
    """The words that say which record, without the app's noun: places in a list, words for several,
    and words that name it; `others` are those of these that are not for several."""

    ordinals: list[int]
    plural: list[str]
    naming: list[str]
    others: list[str]

    @classmethod
    def of(cls, stems: Sequence[str], known: Lexicon) -> Reference:
        """What these stems say, in a language's words."""
        naming = [s for s in stems if s not in known.reference and s not in known.ordinals]
        return cls(
            [known.ordinals[s] for s in stems if s in known.ordinals],
            [s for s in stems if s in known.plural],
            naming,
            [s for s in naming if s not in known.plural],
        )

    @property
    def is_all(self) -> bool:
        """Whether it is several without their places: "all of them"."""
        return bool(self.plural) and not self.ordinals

    @property
    def is_every(self) -> bool:
        """Whether it is said of several, "all" and not "them", which one may be meant by, too."""
        return self.is_all and len(self.others) < len(self.naming)

    @property
    def is_first_few(self) -> bool:
        """Whether it is "the first two"."""
        return self.ordinals == [1] and len(self.naming) == 1
