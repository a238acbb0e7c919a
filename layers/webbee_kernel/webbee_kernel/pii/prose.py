"""Names in prose, found by a cue: a given name, a patronymic, a title, a label, initials."""

import re
from collections.abc import Iterator
from functools import lru_cache

from webbee_kernel.language import fold, of, people, people_phrases, tags

# Pieces of patterns: a capital of Latin or Cyrillic, a capitalised word (O'Brien, Jean-Luc), up to
# four of these with initials.
_CAPITALS = "".join(c for c in map(chr, range(0x100, 0x180)) if c.isupper())
UP = f"A-Z\u00c0-\u00d6\u00d8-\u00de{_CAPITALS}\u0218\u021a\u0400-\u042f\u0490"
SPACE = r"[ \u00a0]"
_LETTERS = r"[^\W\d_]{1,40}"  # bounded, as everything here: no text may cost more than its length
WORD = rf"[{UP}](?:{_LETTERS}(?:['\u2019-]{_LETTERS}){{0,3}}|['\u2019][{UP}]{_LETTERS})"

TOKEN = re.compile(r"\S+")
_CAMEL = re.compile(rf"(?!Mc|Mac|De|La|Le|Fitz)[{UP}]+[^\W\d_{UP}]+[{UP}]")
_PLAIN = re.compile(rf"[{UP}][^\W\d_]*(?:['\u2019-][^\W\d_]+)*|[{UP}]\.")


def either(words: tuple[str, ...] | frozenset[str]) -> str:
    """A pattern for one of these words or phrases; a space in one matches any few."""
    longest = sorted(words, key=lambda w: (-len(w), w))
    return "(?:" + "|".join(re.escape(w).replace(r"\ ", SPACE) for w in longest) + ")"


@lru_cache(maxsize=1)
def particle() -> str:
    """A pattern for one of the words inside surnames."""
    return either(people("particles"))


@lru_cache(maxsize=1)
def short_run() -> str:
    """A pattern for up to four capitalised words, with initials and particles."""
    follows = rf"{SPACE}(?:{particle()}{SPACE})?(?:{WORD}|[{UP}]\.)"
    return rf"(?:[{UP}]\.{SPACE}?){{0,2}}{WORD}(?:{follows}){{0,3}}"


@lru_cache(maxsize=1)
def titled() -> re.Pattern[str]:
    """Words before a name, and the name as the first group."""
    title = rf"{either(people_phrases('honorifics'))}\.?{SPACE}"
    return re.compile(rf"(?<![^\W_])(?:{title}){{1,3}}({short_run()})")


def bare(word: str) -> str:
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
_LABEL_END = re.compile("[:=]")
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


@lru_cache(maxsize=1)
def _run() -> re.Pattern[str]:
    """Two to eight capitalised words."""
    inner = rf"(?:{particle()}{SPACE}){{1,2}}{WORD}|{WORD}|[{UP}]\."
    return re.compile(rf"(?<![\w.@/-]){WORD}(?:{SPACE}(?:{inner})){{1,7}}")


@lru_cache(maxsize=1)
def _greeted_name() -> re.Pattern[str]:
    greeting = either(people_phrases("greetings"))
    return re.compile(rf"(?<![^\W_]){greeting}[,!]?\s+({short_run()})")


@lru_cache(maxsize=1)
def _labelled_name() -> re.Pattern[str]:
    label = either(people_phrases("labels"))
    return re.compile(rf"(?<![^\W_])(?i:{label}){SPACE}?[:=]{SPACE}*({short_run()})")


def names_in_prose(text: str) -> Iterator[Span]:
    """Spans of names in `text`, in no order and overlapping where several cues meet."""
    yield from _in_small_letters(text)
    if not _WORTH_IT.search(text):
        return
    for match in _run().finditer(text):
        yield from _in_run(text, match)
    for match in titled().finditer(text):
        yield from _titled(text, match.span(1))
    if _LABEL_END.search(text):
        for match in _labelled_name().finditer(text):
            yield from _labelled(text, match.span(1))
    for match in _greeted_name().finditer(text):
        yield from _greeted(text, match.span(1))
    yield from _with_initials(text)
    yield from _alone(text)


def _alone(text: str) -> Iterator[Span]:
    """A common given name in the middle of a sentence, as in "ask Maria about it": a word in lower
    case before it, none with a capital beside it, and no other meaning of its own."""
    for match in _ALONE.finditer(text):
        word = bare(match[1])
        if is_given(word) and word not in people("given_words") and word not in not_names():
            start, end = match.span(1)
            yield start, start + len(without_possessive(text[start:end]))


def _in_run(text: str, run: "re.Match[str]") -> Iterator[Span]:
    spans = _tokens(text, run.span())
    words = [bare(text[s:e]) for s, e in spans]
    i = 0
    while i < len(words):
        first, end = _name_at(words, i)
        if end - first > 1 and not _is_file_or_product(text, spans[first], spans[end - 1]):
            yield _joined(text, spans[first:end])
        i = max(end, i + 1)


def _is_file_or_product(text: str, first: Span, last: Span) -> bool:
    """`Sarah Lee.pdf`, `Maria DB`; not `SARAH LEE`."""
    return _FILE_TAIL.match(text, last[1]) is not None or (
        is_acronym(text[slice(*last)]) and not text[slice(*first)].isupper()
    )


def _name_at(words: list[str], i: int) -> Span:
    """First and past-the-end index of a name whose given name or patronymic is the word at `i`;
    equal when there is none."""
    if words[i] in people("given_words") and _is_surname(words, i + 1):
        return i, i + 2
    first = _first(words, i)
    if first is None:
        return i, i
    family_first = first > 0 and _may_be_family(words[first - 1])
    return first - family_first, _name_end(words, i + 1, room=0 if family_first else 2)


def _is_surname(words: list[str], i: int) -> bool:
    return i < len(words) and words[i] in people("surnames")


def _first(words: list[str], i: int) -> int | None:
    """Where the given name stands: at `i`, or before a patronymic there."""
    lead = words[i - 1] if i else ""
    if is_patronymic(words[i]) and lead and lead not in not_names():
        return i - 1
    return i if is_given(words[i]) and lead not in people("place_leads") else None


def _may_be_family(word: str) -> bool:
    return word not in not_names() and is_family(word)


def _name_end(words: list[str], end: int, room: int) -> int:
    """Past the surname, which is one word, or two after a double given name or before a common
    surname (`Anna Maria Schmidt`).

    `room`: 0 when the surname stood first. Initials, particles and patronymics take no room.
    """
    taken = 0
    while end < len(words) and _goes_on(words[end]):
        if _takes_room(words[end]):
            if taken == room or (taken and not _may_be_second(words, end)):
                break
            taken += 1
        end += 1
    while is_particle(words[end - 1]):
        end -= 1
    return end


def _goes_on(word: str) -> bool:
    return word not in not_names() or word in people("surnames")


def _takes_room(word: str) -> bool:
    return len(word) > 1 and not is_particle(word) and not is_patronymic(word)


def _may_be_second(words: list[str], at: int) -> bool:
    return words[at] in people("surnames") or is_given(words[at - 1])


def _titled(text: str, span: Span) -> Iterator[Span]:
    """After `Mr.`, `Dear`: any capitalised word that is not a word of titles."""
    spans = _leading_name(text, span)
    if spans:
        yield _joined(text, spans)


def _greeted(text: str, span: Span) -> Iterator[Span]:
    """After `Hi`, `Regards,`: a common given name and what follows it."""
    spans = _leading_name(text, span)
    if spans and is_given(bare(text[slice(*spans[0])])):
        yield _joined(text, spans)


def _labelled(text: str, span: Span) -> Iterator[Span]:
    """After `From:`, `Customer:`: a given name, or two words and more with nothing of a title, a
    place or an acronym about them."""
    spans = _leading_name(text, span)
    if not spans:
        return
    words = [text[s:e] for s, e in spans]
    whole = spans[-1][1] == span[1] and len(spans) > 1 and not any(map(is_acronym, words))
    if is_given(bare(words[0])) or whole:
        yield _joined(text, spans)


def _leading_name(text: str, span: Span) -> list[Span]:
    """The leading words of `span` that can be a name's."""
    spans = _tokens(text, span)
    words = [bare(text[s:e]) for s, e in spans]
    if words[0] in people("place_leads"):
        return []
    count = 0
    while count < len(words) and (
        words[count] not in not_names() or (count and words[count] in people("surnames"))
    ):
        count += 1
    return spans[:count]


def _with_initials(text: str) -> Iterator[Span]:
    """`Surname I. I.`, `I. I. Surname`; with one initial only before a surname's ending."""
    for match in () if text.isascii() else _INITIALS.finditer(text):
        surname = bare(match[1] or match[2] or match[3])
        if surname not in not_names() and (not match[3] or is_family(surname)):
            yield match.span()


def _in_small_letters(text: str) -> Iterator[Span]:
    """`sarah lee`, in any script: a given name that is no other word, and behind it a surname or
    patronymic that is none either."""
    last: re.Match[str] | None = None
    for match in _SMALL.finditer(text):
        if last is not None and last.end() + 1 == match.start() and text[last.end()] == " ":
            first, second = fold(last[0]), fold(match[0])
            is_given = first in people("given") and first not in people("given_words")
            if is_given and _is_second_name(second):
                yield last.start(), match.end()
        last = match


def _is_second_name(word: str) -> bool:
    """Whether a folded word is a surname that is no other word, or a patronymic."""
    is_surname = word in people("surnames") and word not in not_names()
    return is_surname or is_patronymic(word) or _is_declined(word)


@lru_cache(maxsize=4096)
def _is_declined(word: str) -> bool:
    """Whether the word is a surname of a language whose names change their endings."""
    return not word.isascii() and is_family(word) and word not in not_names()


def _tokens(text: str, span: Span) -> list[Span]:
    return [m.span() for m in TOKEN.finditer(text, *span)]


def _joined(text: str, spans: list[Span]) -> Span:
    start, end = spans[-1]
    return spans[0][0], start + len(without_possessive(text[start:end]))
