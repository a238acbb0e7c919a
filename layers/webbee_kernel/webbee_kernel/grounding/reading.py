"""Parses a reply once into values (claims), words and sentences, with offsets."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from .. import language
from ..language import Language, Mention, Token, fold

MASK = "\0"
_BLANK = MASK + " \n\t"
Fields = Callable[[str, str], Iterable[tuple[int, int, Any]]]
_QUOTE = re.compile(
    # the marks point in where German is printed: what stands between two quotes is none
    "(?<![^\\W_])\u00bb([^\u00ab\u00bb\n]{1,300})\u00ab|"
    "\u00ab([^\u00ab\u00bb\n]{1,300})\u00bb|\u201c([^\u201c\u201d\n]{1,300})\u201d"
    '|\u201e([^\u201c\u201d\u201e\n]{1,300})[\u201c\u201d]|"([^"\n]{1,300})"|`([^`\n]{1,300})`'
)
_URL = re.compile(
    r"(?:https?|ftp)://[^\s<>\"')\]\u00bb\u201d|`]+|(?<!\w)www\.[^\s<>\"')\]\u00bb\u201d|`]+"
)
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{0,64}\w@\w[\w-]{0,63}(?:\.\w[\w-]{0,63})+")
# a masked value that nothing put back
_PLACEHOLDER = re.compile(r"<[A-Z][A-Z0-9_]*_\d+>")
_PHONE = re.compile(
    # an IBAN in groups, too
    r"(?<![\w.])(?:[A-Z]{2}\d\d(?: [A-Z\d]{4}){3,7}(?: [A-Z\d]{1,3})?"
    r"|(?:\+\d{1,3}[\s(.-]{0,2}|8[\s(.-]{1,2})\d{2,4}[\s).-]{0,2}\d{2,4}"
    r"(?:[\s.-]?\d{2,4}){1,3}"
    r"|\(?\d{3}\)?[ .-]\d{3}[.-]\d{4}|\d{4}(?:[ -]\d{4}){2,3})(?!\w|[.,]\d)"
)
_FILE = re.compile(
    r"(?<![\w.])(?!(?:[^\W\d_]\.)+[^\W\d_](?!\w))"  # "i.e" is none
    r"(?=[\w/-]{0,80}[^\W\d_])[\w-]{1,80}(?:[./][\w-]{1,80}){0,12}"
    r"\.(?=[a-z0-9]*[a-z])[a-z0-9]{1,8}(?![\w-])"
    r"|(?<![\w.])(?!\d{1,3}(?:\.\d{3})+(?!\w))"  # an amount
    r"(?:v?\d+(?:\.\d+){2,}(?:-[a-z]+[\w.]*)?|v\d+(?:\.\d+)*)(?!\w)"
)
# "#12" and "№ 12"
_HASH = re.compile("(?<![\\w#&])(?:#|\u2116\\s?)(\\w[\\w-]{0,80})")
_W = "A-Za-z0-9_\u00c0-\u04ff"
_CODE = re.compile(
    rf"(?<![{_W}.,])(?<!\d:)(?!UTC[+-]\d)"
    rf"(?=[{_W}/-]{{0,80}}\d)(?=[{_W}/-]{{0,80}}[A-Za-z_\u00c0-\u04ff])"
    rf"[{_W}]{{1,80}}(?:[-/][{_W}]{{1,80}}){{0,12}}(?![{_W}])"
    r"|(?<![\w.,/-])\d+(?:[-/]\d+)+(?![\w/-]|[.,]\d)"
)
# looks like a code and is none: 3rd, 90min, 5/10, 1.2.2026
_AMOUNT = re.compile(
    r"\d{1,3}(?:-?[^\W\d_]+)+|\d+(?:-[^\W\d_]+|[^\W\d_]{1,3})"
    r"|\d{1,4}[-/]\d{1,4}(?:[-/]\d{1,4})?|\d{1,2}\.\d{1,2}\.\d{2,4}"
)
# what no clock shows: 45:54
_LENGTH = re.compile(r"(?<![\d:.,])\d{1,3}:[0-5]\d(?::[0-5]\d)?(?![\d:])")
_END = re.compile(
    r"(?<=[.!?\u2026])(?:[\"\u00bb\u201d*_)]*)(?:\s+|$)|\n|;\s|$"
    r"|(?<=[\w)*]\s[\U0001f300-\U0001faff])\s+(?=[A-Z\u00c0-\u00de\u0401-\u042f\u00a1\u00bf])"
)
_COMMA = re.compile("[,;:()]\\s|\\n|\\s[/\u2013\u2014-]\\s")
_ABBREVIATION = re.compile(r"(?:(?<!\d )(?<![/\u00b0])\b[^\W\d_]{1,2}|(?<![\w:.,])\d{1,2})\.$")


_LINE_NUMBER = re.compile(
    r"^[ \t>]*([^\w\s|]{0,4})(\d{1,3})([^\w\s|]{0,3})(?=[ \t]+\S)"
    r"(?![ \t]*[|%\u20ac$\u00a3])",
    re.M,
)
"""A numbered line: 1. 1) (1) [1] #1 **1** 1: 1/ and a key cap."""
MAX_REPEATS, MAX_CLAIMS = 100, 1000
"""Maximum lookups of an equal value, and of values in all."""


@dataclass(slots=True)
class Claim:
    """One value of a reply.

    `kind`: quote, url, email, placeholder, phone, code, hash (text that must occur in the
    evidence); `field` (a repeated field); `length` (45:54, not a time of day); or a kind
    of `language.Mention`: number, percent, money, ordinal, date, time, moment, month, weekday,
    period.
    """

    kind: str
    token: str
    start: int
    end: int
    mention: Any = None


@dataclass(slots=True)
class Sentence:
    """A sentence, list item or table row."""

    start: int
    end: int
    text: str

    @property
    def is_question(self) -> bool:
        """Whether it ends in a question mark."""
        return self.text.rstrip(' *_"\u00bb\u201d)').endswith("?")


@dataclass(slots=True)
class Reading:
    """A parsed reply: claims in order, `rest` (the text with claims masked), its tokens, sentences
    and language."""

    text: str
    language: Language
    claims: list[Claim]
    rest: str
    tokens: tuple[Token, ...]
    sentences: list[Sentence]
    _starts: list[int] = field(init=False)
    _words: list[int] = field(init=False)
    _ends: list[int] = field(init=False)
    _stems: list[str] = field(init=False)
    _cuts: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self._starts = [c.start for c in self.claims]
        self._words = [t.start for t in self.tokens]
        self._ends = [s.end for s in self.sentences]
        self._stems = [self.language.stem(t.text) for t in self.tokens]
        self._cuts = [mark.end() for mark in _COMMA.finditer(self.text)]

    def claims_in(self, part: Sentence) -> list[Claim]:
        """The claims of a sentence."""
        return self.claims[
            bisect_left(self._starts, part.start) : bisect_left(self._starts, part.end)
        ]

    def before(self, claim: Claim) -> Claim | None:
        """The claim before another."""
        at = bisect_left(self._starts, claim.start)
        return self.claims[at - 1] if at else None

    def after(self, claim: Claim) -> Claim | None:
        """The claim after another."""
        at = bisect_right(self._starts, claim.start)
        return self.claims[at] if at < len(self.claims) else None

    def words(self, start: int, end: int) -> list[Token]:
        """The unmasked words between two offsets."""
        return list(self.tokens[bisect_left(self._words, start) : bisect_left(self._words, end)])

    def with_stems(self) -> Iterator[tuple[Token, str]]:
        """The unmasked words, each with its stem."""
        return zip(self.tokens, self._stems, strict=True)

    def sentence(self, at: int) -> Sentence:
        """The sentence around an offset."""
        return self.sentences[min(bisect_right(self._ends, at), len(self.sentences) - 1)]

    def clause(self, at: int) -> Sentence:
        """The part of a sentence between punctuation around an offset."""
        sentence, cuts = self.sentence(at), self._cuts
        n = bisect_right(cuts, at)
        start = max(sentence.start, cuts[n - 1]) if n else sentence.start
        return Sentence(start, min(sentence.end, cuts[n]) if n < len(cuts) else sentence.end, "")

    def stems(self, start: int, end: int) -> list[str]:
        """The stems of the unmasked words between two offsets."""
        return self._stems[bisect_left(self._words, start) : bisect_left(self._words, end)]


def has_any(stems: Iterable[str], *roles: Container[str]) -> bool:
    """Whether a stem is in one of the roles."""
    for stem in stems:
        for role in roles:
            if stem in role:
                return True
    return False


def read(
    text: str, tag: str, now: str = "", fields: Fields | None = None, ids: Container[str] = ()
) -> Reading:
    """Parse a reply; `tag` is the default language.

    Patterns are applied from the most specific to the least; matches are masked. `fields` finds
    repeated fields, `ids` are codes that may look like amounts. Linear.
    """
    claims: list[Claim] = []
    rest = _mask(text, list(_line_numbers(text)))  # "1." before an item counts nothing
    # addresses before codes, codes before numbers
    for kind, pattern in _PATTERNS:
        rest = _take(kind, pattern, rest, claims, ids)
    repeated = list(fields(text, rest)) if fields else []
    claims += [Claim("field", text[a:b], a, b, places) for a, b, places in repeated]
    rest = _mask(rest, [(a, b) for a, b, _ in repeated])
    rest = _mentions(text, rest, language.dates(rest, tag, now or None), claims)
    # behind the dates: 14:30 is a length only where it was no time of day
    rest = _take("length", _LENGTH, rest, claims, ids)
    rest = _mentions(text, rest, language.numbers(rest, tag), claims)
    claims.sort(key=lambda c: c.start)
    # bounds the work, whatever a model repeats
    claims = list(islice(_limit_repeats(claims), MAX_CLAIMS))
    date_spans = [(c.start, c.end) for c in claims if c.kind in ("date", "moment", "ordinal")]
    lang = language.of(tag)
    parts = list(sentences(text, date_spans, lang.vocabulary - lang.words.about))
    return Reading(text, lang, claims, rest, language.tokens(rest), parts)


def _limit_repeats(claims: Iterable[Claim]) -> Iterator[Claim]:
    """The claims with at most MAX_REPEATS of an equal value."""
    counts: dict[tuple[str, str], int] = {}
    for claim in claims:
        key = claim.kind, claim.token
        counts[key] = counts.get(key, 0) + 1
        if counts[key] <= MAX_REPEATS:
            yield claim


def _mentions(text: str, rest: str, found: Sequence[Mention], claims: list[Claim]) -> str:
    claims += [Claim(m.kind, text[m.start : m.end], m.start, m.end, m) for m in found]
    return _mask(rest, [(m.start, m.end) for m in found])


def _take(
    kind: str, pattern: re.Pattern[str], rest: str, claims: list[Claim], ids: Container[str]
) -> str:
    spans = []
    for match in pattern.finditer(rest):
        group = match.lastindex or 0
        token, start, span = match.group(group), match.start(group), match.span()
        if kind == "url":
            # signs of the sentence around a link
            token = token.rstrip(".,;:!?*_")
            span = (start, start + len(token))
        is_amount = kind in ("code", "file") and _AMOUNT.fullmatch(token) and fold(token) not in ids
        # what was taken before claims nothing again
        if token.strip(_BLANK) and not is_amount:
            claims.append(Claim(kind, token, start, start + len(token)))
            spans.append(span)
    return _mask(rest, spans)


def _mask(text: str, spans: Sequence[tuple[int, int]]) -> str:
    if not spans:
        return text
    parts, at = [], 0
    for start, end in spans:
        # as long as what it hides: offsets stay those of the reply
        parts += [text[at:start], MASK * (end - start)]
        at = end
    return "".join([*parts, text[at:]])


def complete(text: str) -> int:
    """The end of the last sentence that is followed by another, or 0; a streamed text is complete
    up to there."""
    ends = [s.end for s in sentences(text)]
    return ends[-2] if len(ends) > 1 else 0


def sentences(
    text: str, date_spans: Sequence[tuple[int, int]] | None = None, words: Container[str] = ()
) -> Iterator[Sentence]:
    """The sentences of a text. If `date_spans` are given, a number with a full stop outside dates
    ends a sentence before a capital, and so do short `words`."""
    start = 0
    for match in _END.finditer(text):
        if _continues(text, start, match, date_spans, words):
            continue
        if text[start : match.start()].strip():
            yield Sentence(start, match.end(), text[start : match.start()])
        start = match.end()


def _continues(
    text: str,
    start: int,
    match: re.Match[str],
    date_spans: Sequence[tuple[int, int]] | None,
    words: Container[str],
) -> bool:
    """Whether a sentence continues after a possible end mark."""
    at, end = match.span()
    if "\n" in match.group() or end in (at, len(text)):
        return False
    if text.startswith("|", start):  # a row of a table ends with its line
        return True
    before = text[start:at][-5:]
    if before[-1:] == "." and text[end].islower():
        return before[-2:] != ")."  # "5 rub. for it"
    abbreviation = _ABBREVIATION.search(before)
    if not abbreviation or date_spans is None or not text[end].isupper():
        return bool(abbreviation)
    word = abbreviation[0][:-1]
    is_known = word.isdigit() or word.lower() in words
    return not is_known or any(a < at < b + 2 for a, b in date_spans)


def _line_numbers(text: str) -> Iterator[tuple[int, int]]:
    """The spans of line numbers, which count from one."""
    run: list[tuple[int, int]] = []
    for match in _LINE_NUMBER.finditer(text):
        if int(match[2]) == 1:
            run = []
        if int(match[2]) == len(run) + 1:
            run.append(match.span(2))
            # one number alone may count something: a second one makes it a list
            yield from run if len(run) == 2 else run[2:][-1:]


_PATTERNS = (
    ("url", _URL),
    ("email", _EMAIL),
    ("placeholder", _PLACEHOLDER),
    ("quote", _QUOTE),
    ("phone", _PHONE),
    ("file", _FILE),
    ("hash", _HASH),
    ("code", _CODE),
)
