"""Words of a reply that repeat the data or claim something that it lacks: fields repeated as a
whole, names, and words for states.

A field repeated unquoted (a title, a city, a status) is a value like any other. A capitalised word
inside a sentence is a name unless the language writes it so; a name must stand in the evidence. A
word for a state ("cancelled", "economy", "unpaid") contradicts a record that has another state of
the same group.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from .. import language
from ..language import Token
from .index import Index, Place, fold
from .reading import MASK, Claim, Reading

_BREAKS = '.!?:;|\n*_(\u2013\u2014-\u2022>"\u00ab\u201e\u201c[\u00bf\u00a1'


def repeated(index: Index, text: str, rest: str) -> Iterator[tuple[int, int, list[Place]]]:
    """The longest stretches of a reply that are a field of a result as a whole, with those
    fields."""
    folded, end = fold(text), 0
    for token in language.tokens(rest):
        if token.start < end or MASK in token.text:
            continue
        fits: dict[str, list[Place]] = {}
        for phrase, place in index.phrases.get(_first(folded, token), ()):
            if (
                folded.startswith(phrase, token.start)
                and not folded[token.start + len(phrase) : token.start + len(phrase) + 1].isalnum()
            ):
                fits.setdefault(phrase, []).append(place)
        longest = max(fits, key=len, default="")
        told = [p for p in fits.get(longest, ()) if p.path.startswith(("data", "arguments"))]
        if told and len(longest) > 2:
            end = token.start + len(longest)
            yield token.start, end, told


def states(reading: Reading, index: Index) -> Iterator[tuple[Claim, list[Place] | None]]:
    """The words for states in a reply with the fields that tell the state; None where every field
    of its group tells another one."""
    known = index.states
    if not known:
        return
    groups = {state.partition(":")[0] for state in known}
    words = reading.language.words
    stems = [(t, reading.language.stem(t.text)) for t in reading.tokens]
    for at, (token, stem) in enumerate(stems):
        state = words.states.get(stem, "")
        group = state.partition(":")[0]
        if group not in groups or (group == "answer" and not _cell(reading.text, token)):
            continue
        if (
            _label(reading.text, token)
            or _alone(reading, token)
            or any(s in words.negation or s in words.plan for _, s in stems[max(0, at - 3) : at])
        ):
            continue
        yield Claim("state", token.text, token.start, token.end), known.get(state)


def _cell(text: str, token: Token) -> bool:
    """Whether a word stands alone behind a label or in a table."""
    before = text[max(0, token.start - 12) : token.start].rstrip(" *_")
    after = text[token.end : token.end + 12].lstrip(" *_")
    return before[-1:] in tuple(":|\u2013\u2014-=") and (not after or after[0] in ",.;|)\n")


def _alone(reading: Reading, token: Token) -> bool:
    """Whether a word opens a sentence and is all that it says: "Done!" """
    after = reading.text[token.end : token.end + 1]
    opens = reading.sentence(token.start).text[:12].lstrip(" *_").startswith(token.text)
    return opens and after in tuple(".!,\u2026")


def _label(text: str, token: Token) -> bool:
    """Whether a word names what follows: a label, the head of a table's column."""
    end = text.find("\n", token.end)
    if text[token.end : token.end + 12].lstrip(" *_")[:1] in (":", "\u2013", "\u2014"):
        return True
    return (
        end >= 0 and "|" in text[token.end : end + 1] and text[end + 1 : end + 4].startswith("|--")
    )


def _first(text: str, token: Token) -> str:
    word = text[token.start : token.end]
    for at, char in enumerate(word):
        if not char.isalnum():
            return word[:at]
    return word


def claimed(reading: Reading, taken: Sequence[Claim]) -> Iterator[Claim]:
    """The names that the reply claims: runs of capitalised words that no field repeats."""
    covered = {at for c in taken for at in range(c.start, c.end)}
    run: list[Token] = []
    for token in (*reading.tokens, None):
        if (
            token is not None
            and run
            and reading.rest[run[-1].end : token.start] in (" ", "\u00a0")
            and _capital(token)
        ):
            run.append(token)
            continue
        if run and (claim := _name(reading, run)) and claim.start not in covered:
            yield claim
        run = [token] if token is not None and _capital(token) else []


def words(name: str) -> list[str]:
    """The words of a name without a possessive ending."""
    parts = [re.sub("['\u2019]s?$", "", t.text) for t in language.tokens(name)]
    return [p for part in parts for p in part.split("-") if p]


def _capital(token: Token) -> bool:
    return token.text[0].isupper() and len(token.text) > 1 and not token.text[-1].isdigit()


def _name(reading: Reading, run: Sequence[Token]) -> Claim | None:
    words = [t for t in run if not _ordinary(reading, t)]
    line = reading.text[reading.text.rfind("\n", 0, run[0].start) + 1 :]
    if line.lstrip().startswith("#") or _label(reading.text, run[-1]):
        return None
    if not words:
        return None
    line_start = reading.text.rfind("\n", 0, run[0].start) + 1
    before = reading.text[max(0, run[0].start - 40) : run[0].start].rstrip(" \u00a0*_")
    labelled = (
        before[-1:] in tuple(":|\u2013\u2014(")
        or reading.text[line_start : run[0].start].count("|") > 1
    )
    if not labelled and words[0] is run[0] and (not before or before[-1] in _BREAKS):
        words = words if len(words) > 1 and not reading.language.capital_nouns else words[1:]
    if not words or (len(words) < 2 and reading.language.capital_nouns):
        return None
    if len(words) == 1 and labelled and words[0] is run[0] and not before.endswith(("|", "(")):
        return None
    first, last = words[0], words[-1]
    return Claim("name", reading.text[first.start : last.end], first.start, last.end)


def _ordinary(reading: Reading, token: Token) -> bool:
    """Whether the word is common vocabulary of the language that may be capitalised."""
    spoken = reading.language
    known = (
        fold(token.text) in spoken.vocabulary or spoken.stem(token.text) in spoken.words.ordinary
    )
    return known or token.text.lower() in language.of("en").words.forms("ordinary")
