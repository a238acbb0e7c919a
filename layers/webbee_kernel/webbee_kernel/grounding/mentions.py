"""Words of a reply that refer to the data: repeated fields, words that identify a record, and
unknown people."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import cache, partial
from unicodedata import combining, normalize

from .. import language
from ..language import Token
from .index import Index
from .places import Place, fold
from .reading import Claim, Reading, has_any

CURRENCY_LENGTH, STEM_LENGTH = 3, 3
"""Letters of a currency code; letters that forms of a word share."""
_MARK = re.compile(r"[\W_]")
_POSSESSIVE = re.compile("['\u2019]s$")


def repeated_fields(index: Index, text: str, rest: str) -> Iterator[tuple[int, int, list[Place]]]:
    """The longest spans that equal a whole field, with these fields; `_` equals a space."""
    folded, end = fold(text).replace("_", " "), 0
    openings = index.phrase_sizes
    for token in language.tokens(rest):
        if token.start >= end:
            word = folded[token.start : token.end]
            first = word if word.isalnum() else _MARK.split(word, maxsplit=1)[0]
            if first in openings and (phrase := _phrase(index, first, folded, token.start)):
                # "72% done"
                is_share = text[max(0, token.start - 2) : token.start].rstrip()[-1:] == "%"
                if not is_share and not _is_currency(text[token.start : token.end], phrase):
                    end = token.start + len(phrase)
                    yield token.start, end, index.phrases[phrase]


def _phrase(index: Index, first: str, text: str, start: int) -> str:
    """The longest phrase at an offset with this first word, or empty."""
    for size in index.phrase_sizes[first]:
        phrase = text[start : start + size]
        if phrase in index.phrases and not text[start + size : start + size + 1].isalnum():
            return phrase
    return ""


def _is_currency(word: str, phrase: str) -> bool:
    """Whether a phrase is only a currency code."""
    return len(phrase) == CURRENCY_LENGTH and bool(language.currencies_in(word))


def record_names(reading: Reading, index: Index) -> Iterator[tuple[Claim, list[Place]]]:
    """Words that identify a record: unique to it, and at least half of a short text: "the tire
    ticket" names "Tire Pressure"."""
    vocabulary, keys = reading.language.vocabulary, index.key_words
    run: list[tuple[Token, list[tuple[Place, int]]]] = []
    for token, stem in reading.with_stems():
        if bare := _POSSESSIVE.sub("", token.text) if token.text[-1:] == "s" else "":
            stem = reading.language.stem(bare)
        # a common word names nothing, unless it is written as a name in capitals
        word = fold(token.text)
        plain = (word in vocabulary or word in keys) and not token.text.isupper()
        held = [] if plain else index.words.titles(stem, reading.language)
        if run and (not held or token.start - run[-1][0].end > 1):
            yield from _run_names(reading, run)
            run = []
        if held:
            run.append((token, held))
    yield from _run_names(reading, run)


def _run_names(
    reading: Reading, run: Sequence[tuple[Token, list[tuple[Place, int]]]]
) -> Iterator[tuple[Claim, list[Place]]]:
    held = {id(place): (place, size) for _, places in run for place, size in places}
    hits = Counter(id(place) for _, places in run for place, _size in places)
    heads = [token.text[:STEM_LENGTH] for token, _ in run]
    best = []
    for key, (place, size) in held.items():
        # a noun that German writes with a capital names no more than it does in the data
        proper = all(head[0].isupper() and head.lower() not in place.value for head in heads)
        if hits[key] == len(run) and (4 if proper else 2) * hits[key] >= size:
            best.append(place)
    owners = {p.owner for p in best}
    # at most one row of each list: words that fit two name neither
    if owners and len(owners) == len({owner[:-1] for owner in owners}):
        start, end = run[0][0].start, run[-1][0].end
        yield Claim("name", reading.text[start:end], start, end), best


def unknown_people(reading: Reading, index: Index) -> Iterator[Claim]:
    """Names of people that are not in the evidence: capitalised words that begin with a given name,
    or the first word of a name of the data, at least one of them unknown."""
    titles = _honorifics()
    for run in _runs(reading):
        first = index.cached("first names", partial(_first_names, index))
        opens = (t.text in first or _is_given_name(reading, t) for t in run)
        given = next((n for n, is_given in enumerate(opens) if is_given), len(run))
        mine = run[given:] or _titled(reading, run, titles)
        if mine and not all(_is_known(reading, index, token) for token in mine):
            start, end = mine[0].start, mine[-1].end
            yield Claim("name", reading.text[start:end], start, end)


def _first_names(index: Index) -> frozenset[str]:
    """The first words of texts of two or three capitalised words, those of titles apart: "Sales
    Report" is nobody."""
    others = (p.value for p in index.strings if p.key not in language.title_keys())
    return frozenset(name.split()[0] for name in filter(_NAME.fullmatch, others))


@cache
def _honorifics() -> frozenset[str]:
    return frozenset(fold(word).rstrip(".") for word in language.people("honorifics"))


def _runs(reading: Reading) -> Iterator[list[Token]]:
    """Runs of capitalised words."""
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


def _titled(reading: Reading, run: Sequence[Token], titles: Collection[str]) -> Sequence[Token]:
    """The words after a title ("Dr. Quint"), which may be part of the run."""
    before = reading.words(run[0].start - 8, run[0].start)[-1:]
    if before and run[0].start - before[0].end <= 2 and fold(before[0].text) in titles:
        return run
    return run[1:] if fold(run[0].text) in titles else []


def _is_known(reading: Reading, index: Index, token: Token) -> bool:
    """Whether a word is common, or in the evidence in any form."""
    word, spoken = _POSSESSIVE.sub("", token.text), reading.language
    common = fold(word) in spoken.vocabulary or word.lower() in language.of("en").vocabulary
    bare = "".join(c for c in normalize("NFD", word) if not combining(c))  # of "lucia@x.example"
    return common or any(index.words.find(one, spoken) for one in (word, bare))


def _is_given_name(reading: Reading, token: Token) -> bool:
    given = fold(_POSSESSIVE.sub("", token.text)) in language.people("given")
    return given and not language.is_time_name(token.text, reading.language)  # "Jan" of a table


_NAME = re.compile(r"[^\W\d_a-z]\w+(?: [^\W\d_a-z][\w'-]+){1,2}")
_PARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\W_]+")


def is_denied(reading: Reading, at: int) -> bool:
    """Whether one of the three words before is a negation, within the clause."""
    first = max(at - 24, reading.clause(at).start)
    return has_any(reading.stems(first, at)[-3:], reading.language.words.negation)
