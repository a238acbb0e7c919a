"""Names in prose, found by a cue: a given name, a patronymic, a title, a label, initials."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from webbee_kernel.language import fold, of, people, people_phrases, tags

# Pieces of patterns: a capital of Latin or Cyrillic, a capitalised word (O'Brien, Jean-Luc), up to
# four of these with initials.
_CAPITALS = "".join(c for c in map(chr, range(0x100, 0x180)) if c.isupper())
UP = f"A-Z\u00c0-\u00d6\u00d8-\u00de{_CAPITALS}\u0218\u021a\u0400-\u042f\u0490"
SPACE = r"[ \u00a0]"
_LETTERS = r"[^\W\d_]{1,40}"  # bounded, as everything here: no text may cost more than its length
WORD = rf"[{UP}](?:{_LETTERS}(?:['\u2019-]{_LETTERS}){{0,3}}|['\u2019][{UP}]{_LETTERS})"

_INITIAL_OF_UP = rf"(?:[{UP}]\.{SPACE}?)"
CUES = ("honorifics", "greetings", "labels")

TOKEN = re.compile(r"\S+")
_CAMEL = re.compile(rf"(?!Mc|Mac|De|La|Le|Fitz)[{UP}]+[^\W\d_{UP}]+[{UP}]")
_PLAIN = re.compile(rf"[{UP}][^\W\d_]*(?:['\u2019-][^\W\d_]+)*|[{UP}]\.")


def either(words: tuple[str, ...] | frozenset[str]) -> str:
    """A pattern for one of these words or phrases; a space in one matches any few."""
    longest = sorted(words, key=lambda w: (-len(w), w))
    return "(?:" + "|".join(re.escape(w).replace(r"\ ", SPACE) for w in longest) + ")"


class Patterns(NamedTuple):
    """What is looked for, of the words of all languages."""

    cues: Mapping[str, re.Pattern[str]]
    """By the list of its words: a cue, and the name behind it as the first group."""
    run: re.Pattern[str]
    """Two to eight capitalised words."""
    trailing: re.Pattern[str]
    """Up to four at a text's end."""
    links: re.Pattern[str]
    """What stands between two names."""


@lru_cache(maxsize=1)
def patterns() -> Patterns:
    """Made when the first text is looked at."""
    inside = f"(?:{either(people('particles'))}{SPACE})"
    few = rf"{_INITIAL_OF_UP}{{0,2}}{WORD}(?:{SPACE}{inside}?(?:{WORD}|[{UP}]\.)){{0,3}}"
    honorific, greeting, label = map(either, map(people_phrases, CUES))
    leads = (
        rf"(?:{honorific}\.?{SPACE}){{1,3}}",
        rf"{greeting}[,!]?\s+",
        rf"(?i:{label}){SPACE}?[:=]{SPACE}*",
    )
    before = r"(?<![\w.@/-])"
    many = rf"{WORD}(?:{SPACE}(?:{inside}{{1,2}}{WORD}|{WORD}|[{UP}]\.)){{1,7}}"
    return Patterns(
        {
            cue: re.compile(rf"(?<![^\W_]){lead}({few})")
            for cue, lead in zip(CUES, leads, strict=True)
        },
        re.compile(before + many),
        re.compile(rf"{before}({few}){SPACE}*\Z"),
        re.compile(SPACE + either(people("links")) + SPACE),
    )


def normalize(word: str) -> str:
    """A word as the look-ups want it: folded, without a possessive ending or a full stop."""
    return fold(without_possessive(word)).rstrip(".")


def without_possessive(word: str) -> str:
    """`Lee` for `Lee's`."""
    return word[:-2] if word.endswith(("'s", "\u2019s")) else word


def is_given(word: str) -> bool:
    """Whether the word is a common given name, in any case form; a double one (`anna-maria`) is
    judged by its first half."""
    return word in people("given") or word.partition("-")[0] in people("given")


def is_patronymic(word: str) -> bool:
    """Whether the word is a patronymic by its ending, in any case form."""
    return not word.isascii() and _ending("patronymic_endings").match(word) is not None


def is_family(word: str) -> bool:
    """Whether the word looks like a surname: a common one, or an ending of surnames. Alone it
    proves nothing."""
    return word in people("surnames") or _ending("family_endings").match(word) is not None


def is_particle(word: str) -> bool:
    """Whether the word is one that stands inside surnames: `van`, `de`, `bin`."""
    return word in people("particles")


@lru_cache(maxsize=1)
def not_names() -> frozenset[str]:
    """Words that occur in no person's name, those of currencies included; what stands inside
    surnames is not among them."""
    money = {fold(w) for t in tags() for forms in of(t).currencies.values() for w in forms.split()}
    return (people("not_names") | (money - people("surnames"))) - people("particles")


def is_acronym(word: str) -> bool:
    """Whether the word, as written, is a short one in capitals: `QA`, `IBM`."""
    return len(word) < 5 and word.isupper() and not word.endswith(".")


def is_capitalised(word: str) -> bool:
    """Whether the word, as written, is spelt as in a name: a capital first, none inside (`GitHub`),
    or a script without capitals."""
    return (
        _PLAIN.fullmatch(word) is not None and not _CAMEL.match(word)
    ) or word.lower() == word.upper()


@lru_cache(maxsize=4)
def _ending(field: str) -> re.Pattern[str]:
    given = [endings for t in tags() if (endings := getattr(of(t).people, field))]
    return re.compile(rf"[^\W\d_]{{2,40}}(?:{'|'.join(given)})\Z" if given else r"(?!)")


Span = tuple[int, int]

# Without a match nothing below can find anything.
_WORTH_IT = re.compile(rf"[\s:=][{UP}]|[{UP}]\.")
_ALONE = re.compile(
    rf"(?<![\w'\u2019-])[^\W\d_{UP}](?:(?![{UP}])[^\W\d_]){{0,40}}{SPACE}({WORD}(?:['\u2019]s)?)"
    rf"(?={SPACE}[^\W\d_{UP}]|[,;:!?)]|\.?(?:\s|\Z))(?!\.?{SPACE}?[{UP}\d])"
)
_SMALL = re.compile(rf"(?<![\w.@/-])(?![{UP}])[^\W\d_]{{2,40}}(?![\w@/-]|\.\w)")
_FILE_TAIL = re.compile(r"[._][a-z0-9]")
# Initials before or behind a surname are a cue in Cyrillic only: `A. Word` in Latin is too often a
# list, a unit or the end of a sentence.
_CYRILLIC_UP, _CYRILLIC = "\u0410-\u042f\u0401", "\u0430-\u044f\u0451"
_SURNAME = rf"[{_CYRILLIC_UP}][{_CYRILLIC}]+(?:-[{_CYRILLIC_UP}][{_CYRILLIC}]+)?"
_INITIAL = rf"[{_CYRILLIC_UP}]\.{SPACE}?"
_INITIALS = re.compile(
    rf"(?<![\w.])(?:({_SURNAME}){SPACE}{_INITIAL}[{_CYRILLIC_UP}]\."
    rf"|{_INITIAL}{_INITIAL}({_SURNAME})|{_INITIAL}({_SURNAME}))(?!\w)"
)


def names_in_prose(text: str) -> Iterator[Span]:
    """Spans of names in `text`, in no order and overlapping where several cues meet."""
    yield from _lower_case_names(text)
    if not _WORTH_IT.search(text):
        return
    for match in patterns().run.finditer(text):
        yield from _names_in_run(text, match.span())
    for cue in CUES:
        yield from _after_cue(text, cue)
    yield from _with_initials(text)
    yield from _single_given_names(text)


def _single_given_names(text: str) -> Iterator[Span]:
    """A common given name in the middle of a sentence, as in "ask Maria about it": a word in lower
    case before it, none with a capital beside it, and no other meaning of its own."""
    for match in _ALONE.finditer(text):
        word = normalize(match[1])
        if is_given(word) and word not in people("given_words") and word not in not_names():
            start, end = match.span(1)
            yield start, start + len(without_possessive(text[start:end]))


def _names_in_run(text: str, run: Span) -> Iterator[Span]:
    spans = _tokens(text, run)
    words = [normalize(text[s:e]) for s, e in spans]
    i = 0
    while i < len(words):
        first, end = _name_at(words, i)
        if end - first > 1:
            head, tail = text[slice(*spans[first])], text[slice(*spans[end - 1])]
            # `Maria DB`, `Sarah Lee.pdf`; not `SARAH LEE`
            is_product = is_acronym(tail) and not head.isupper()
            if not (is_product or _FILE_TAIL.match(text, spans[end - 1][1])):
                yield _span_of(text, spans[first:end])
        i = max(end, i + 1)


def _name_at(words: list[str], i: int) -> Span:
    """First and past-the-end index of a name whose given name or patronymic is the word at `i`;
    equal when there is none. A surname stands before the given name, or behind it."""
    if words[i] in people("given_words"):
        following = words[i + 1 : i + 2]
        if following and following[0] in people("surnames"):
            return i, i + 2
    first = _given_at(words, i)
    if first is None:
        return i, i
    before = words[first - 1] if first else ""
    if before and before not in not_names() and is_family(before):
        return first - 1, _name_end(words, i + 1, room=0)
    return first, _name_end(words, i + 1, room=2)


def _given_at(words: list[str], i: int) -> int | None:
    """Where the given name stands: at `i`, or before a patronymic there."""
    lead = words[i - 1] if i else ""
    if is_patronymic(words[i]) and lead and lead not in not_names():
        return i - 1
    return i if is_given(words[i]) and lead not in people("place_leads") else None


def _name_end(words: list[str], end: int, room: int) -> int:
    """Past the surname, which is one word, or two after a double given name or before a common
    surname (`Anna Maria Schmidt`).

    `room`: 0 when the surname stood first. Initials, particles and patronymics take no room.
    """
    surnames, used = people("surnames"), 0
    while end < len(words) and (words[end] in surnames or words[end] not in not_names()):
        if _takes_room(words[end]):
            is_second = words[end] in surnames or is_given(words[end - 1])
            if used == room or (used and not is_second):
                break
            used += 1
        end += 1
    while is_particle(words[end - 1]):
        end -= 1
    return end


def _takes_room(word: str) -> bool:
    return len(word) > 1 and not is_particle(word) and not is_patronymic(word)


def _after_cue(text: str, cue: str) -> Iterator[Span]:
    """After a title any capitalised word that is not a word of titles; after a greeting a given
    name and what follows it; after a label that, or two words and more with nothing of a title, a
    place or an acronym about them."""
    for match in patterns().cues[cue].finditer(text):
        spans = _leading_name(text, match.span(1))
        words = [text[s:e] for s, e in spans]
        is_whole = len(spans) > 1 and spans[-1][1] == match.end(1)
        if spans and (
            cue == "honorifics"
            or is_given(normalize(words[0]))
            or (cue == "labels" and is_whole and not any(map(is_acronym, words)))
        ):
            yield _span_of(text, spans)


def _leading_name(text: str, span: Span) -> list[Span]:
    """The leading words of `span` that can be a name's: a surname may be another word, too."""
    spans: list[Span] = []
    for start, end in _tokens(text, span):
        word = normalize(text[start:end])
        is_surname = bool(spans) and word in people("surnames")
        if word in not_names() and not is_surname:
            break
        if word in people("place_leads") and not spans:
            break
        spans.append((start, end))
    return spans


def _with_initials(text: str) -> Iterator[Span]:
    """`Surname I. I.`, `I. I. Surname`; with one initial only before a surname's ending."""
    for match in () if text.isascii() else _INITIALS.finditer(text):
        surname = normalize(match[1] or match[2] or match[3])
        if surname not in not_names() and (not match[3] or is_family(surname)):
            yield match.span()


def _lower_case_names(text: str) -> Iterator[Span]:
    """`sarah lee`, in any script: a given name that is no other word, and behind it a surname or
    patronymic that is none either."""
    last: re.Match[str] | None = None
    for match in _SMALL.finditer(text):
        if last is not None and text[last.end() : match.start()] == " ":
            first = fold(last[0])
            is_only_given = first in people("given") and first not in people("given_words")
            if is_only_given and _is_second_name(fold(match[0])):
                yield last.start(), match.end()
        last = match


@lru_cache(maxsize=4096)
def _is_second_name(word: str) -> bool:
    """Whether a folded word is a patronymic, or a surname that is no other word: a common one, or
    one of a language whose names change their endings."""
    is_surname = word in people("surnames") if word.isascii() else is_family(word)
    return is_patronymic(word) or (is_surname and word not in not_names())


def _tokens(text: str, span: Span) -> list[Span]:
    return [m.span() for m in TOKEN.finditer(text, *span)]


def _span_of(text: str, spans: list[Span]) -> Span:
    start, end = spans[-1]
    return spans[0][0], start + len(without_possessive(text[start:end]))
