"""Words of a reply that name what the data has: fields repeated as a whole, words that only one
record has, and people whom the data does not know."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from .. import language
from ..language import Token
from .index import Index
from .layout import is_label
from .places import Place, fold
from .reading import MASK, Claim, Reading
from .slots import is_slot

_MARK = re.compile(r"[\W_]")
_OWNED = re.compile("['\u2019]s$")
_BREAKS = '.!?:;|\n*_(\u2013\u2014-\u2022>"\u00ab\u201e\u201c[\u00bf\u00a1'


def repeated(index: Index, text: str, rest: str) -> Iterator[tuple[int, int, list[Place]]]:
    """The longest stretches of a reply that are a field of a result as a whole, with those
    fields; data may write `_` for a space."""
    folded, end = fold(text).replace("_", " "), 0
    firsts = [(t, _first(folded, t)) for t in language.tokens(rest) if _may_repeat(text, t)]
    fields: dict[str, list[tuple[str, Place]]] = {}
    for first, phrase, place in index.opening({first for _, first in firsts}):
        fields.setdefault(first, []).append((phrase.replace("_", " "), place))
    for token, first in firsts:
        if token.start >= end and first in fields:
            longest, places = _longest(fields[first], folded, token)
            if places:
                end = token.start + longest
                yield token.start, end, places


def _may_repeat(text: str, token: Token) -> bool:
    """Whether a field may begin with a word; none that tells what a share is of: "72% done"."""
    share = text[max(0, token.start - 2) : token.start].rstrip()[-1:] == "%"
    return MASK not in token.text and not share


def _longest(
    fields: Sequence[tuple[str, Place]], text: str, token: Token
) -> tuple[int, list[Place]]:
    """The length of the longest field that stands at a word, and those of them that a call had or
    gave; none of two letters."""
    fits: dict[int, list[Place]] = {}
    for phrase, place in fields:
        end = token.start + len(phrase)
        if text.startswith(phrase, token.start) and not text[end : end + 1].isalnum():
            fits.setdefault(len(phrase), []).append(place)
    longest = max(fits, default=0)
    told = fits[longest] if longest > 2 else []
    return longest, [p for p in told if p.path.startswith(("data", "arguments"))]


def naming(reading: Reading, index: Index) -> Iterator[tuple[Claim, list[Place]]]:
    """The words that only one record has in its short texts, and at least half of such a text:
    "the tire ticket" names the record "Tire Pressure"."""
    common = reading.language.vocabulary
    run: list[tuple[Token, list[tuple[Place, int]]]] = []
    for token, stem in reading.stemmed():
        if bare := _OWNED.sub("", token.text) if token.text[-1:] == "s" else "":
            stem = reading.language.stem(bare)
        held = [] if fold(token.text) in common else index.titles(stem, reading.language)
        held = [(p, n) for p, n in held if n > 1 or _alike(token.text, str(p.value))]
        if run and (not held or token.start - run[-1][0].end > 1):
            yield from _named(reading, run)
            run = []
        if held:
            run.append((token, held))
    yield from _named(reading, run)


def _alike(word: str, text: str) -> bool:
    """Whether a word is a text of one word in another form."""
    one, other = fold(word), fold(text)
    kept = max(3, len(other) - 2)
    return one[:kept] == other[:kept] and len(one) >= len(other) - 2


def _named(
    reading: Reading, run: Sequence[tuple[Token, list[tuple[Place, int]]]]
) -> Iterator[tuple[Claim, list[Place]]]:
    held = {id(place): (place, size) for _, places in run for place, size in places}
    hits = Counter(id(place) for _, places in run for place, _size in places)
    enough = 4 if all(token.text[0].isupper() for token, _ in run) else 2
    best = [
        p for key, (p, size) in held.items() if hits[key] == len(run) and enough * hits[key] >= size
    ]
    if best and len({p.owner for p in best}) == 1:
        start, end = run[0][0].start, run[-1][0].end
        yield Claim("name", reading.text[start:end], start, end), best


def labels(text: str, token: Token) -> bool:
    """Whether a word names what follows: a label, the head of a table's column."""
    end = text.find("\n", token.end)
    if is_label(text, token.end):
        return True
    return (
        end >= 0 and "|" in text[token.end : end + 1] and text[end + 1 : end + 4].startswith("|--")
    )


def _first(text: str, token: Token) -> str:
    """The letters and digits that a word begins with, folded."""
    word = text[token.start : token.end]
    return word if word.isalnum() else _MARK.split(word, maxsplit=1)[0]


def people(reading: Reading, index: Index) -> Iterator[Claim]:
    """The names of people that stand nowhere in the evidence: a given name that some language
    knows, or several capitalised words inside a sentence, none of them known."""
    for run in _runs(reading):
        if first := _stranger(reading, index, run):
            end = run[-1].end
            yield Claim("name", reading.text[first.start : end], first.start, end)


def _stranger(reading: Reading, index: Index, run: Sequence[Token]) -> Token | None:
    """The word at which a name begins that stands nowhere; none for other words."""
    unknown = [not _known(reading, index, token) for token in run]
    given = [t for t, new in zip(run, unknown, strict=True) if new and _given(t)]
    if given or not unknown[-1]:
        return next(iter(given), None)
    if known := _known_before(reading, run):
        return known  # a name that is known, with another surname
    return run[0] if len(run) > 1 and all(unknown) and _tells(reading, run) else None


def _tells(reading: Reading, run: Sequence[Token]) -> bool:
    """Whether capitals mean a name: inside a sentence, or as all that fills a slot."""
    inside = reading.text[: run[0].start].rstrip(" *_")[-1:] not in _BREAKS
    told = inside and not reading.language.capital_nouns
    return told or is_slot(reading, run[0].start, run[-1].end)


def _known_before(reading: Reading, run: Sequence[Token]) -> Token | None:
    """The given name before a surname, which a field may be as a whole."""
    token = run[0]
    if len(run) > 1 and _given(run[-2]):
        return run[-2]
    before = reading.before(Claim("", "", token.start, token.end))
    if before is None or before.kind != "field" or token.start - before.end != 1:
        return None
    name = Token(before.token, before.start, before.end)
    return name if _given(name) else None


def _runs(reading: Reading) -> Iterator[list[Token]]:
    """Capitalised words that follow each other."""
    run: list[Token] = []
    for token in reading.tokens:
        capital = token.text[0].isupper() and token.text[1:].islower() and token.text[2:] != ""
        if run and (not capital or reading.rest[run[-1].end : token.start] not in (" ", "\u00a0")):
            yield run
            run = []
        if capital:
            run.append(token)
    if run:
        yield run


def _known(reading: Reading, index: Index, token: Token) -> bool:
    """Whether a word is common, or stands in the evidence in any form."""
    word, spoken = _OWNED.sub("", token.text), reading.language
    common = fold(word) in spoken.vocabulary or word.lower() in language.of("en").vocabulary
    return common or bool(index.word(word, spoken)) or index.has_key(word, spoken)


def _given(token: Token) -> bool:
    return fold(_OWNED.sub("", token.text)) in language.people("given")
