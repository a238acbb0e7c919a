"""Names in prose, found by a cue: a given name, a patronymic, a title, a label, initials."""

import re
from collections.abc import Iterator

from webbee_kernel.pii.wordlists import GIVEN_LATIN_WORDS, NOT_NAMES, PLACE_LEADS, SURNAMES_LATIN
from webbee_kernel.pii.words import (
    PARTICLE,
    SHORT_RUN,
    SPACE,
    TITLE,
    TOKEN,
    UP,
    WORD,
    bare,
    is_acronym,
    is_family,
    is_given,
    is_particle,
    is_patronymic,
    without_possessive,
)

Span = tuple[int, int]

# Without a match nothing below can find anything.
_WORTH_IT = re.compile(rf"[\s:=][{UP}]|[{UP}]\.")
_RUN = re.compile(
    rf"(?<![\w.@/-]){WORD}(?:{SPACE}(?:(?:{PARTICLE}{SPACE}){{1,2}}{WORD}|{WORD}|[{UP}]\.)){{1,7}}"
)
_FILE_TAIL = re.compile(r"[._][a-z0-9]")
_GREETING = re.compile(
    r"(?<![^\W_])(?:Hi|Hello|Hey|Thanks|Regards|regards|Cheers|Sincerely|Привет|Здравствуйте|Добрый"
    r" день|С уважением|Спасибо)[,!]?\s+"
    rf"({SHORT_RUN})"
)
_LABEL = re.compile(
    r"(?<![^\W_])(?i:full name|first name|last"
    r" name|name|from|sender|author|customer|client|contact(?: person)?|attendee|assignee"
    r"|assigned to|owner|reporter|signed"
    r" by|organi[sz]er|имя|фамилия|фио|отправитель|получатель|автор|клиент|заказчик|контакт"
    rf"|контактное лицо|ответственный|исполнитель|менеджер|от){SPACE}?[:=]{SPACE}*({SHORT_RUN})"
)
_RU_SURNAME = r"[А-ЯЁ][а-яё]+(?:-[А-ЯЁ][а-яё]+)?"
_RU_INITIAL = rf"[А-ЯЁ]\.{SPACE}?"
_INITIALS = re.compile(
    rf"(?<![\w.])(?:({_RU_SURNAME}){SPACE}{_RU_INITIAL}[А-ЯЁ]\.|{_RU_INITIAL}{_RU_INITIAL}({_RU_SURNAME})|{_RU_INITIAL}({_RU_SURNAME}))(?!\w)"
)


def names_in_prose(text: str) -> Iterator[Span]:
    """Spans of names in `text`, in no order and overlapping where several cues meet."""
    if not _WORTH_IT.search(text):
        return
    for match in _RUN.finditer(text):
        yield from _in_run(text, match)
    for match in TITLE.finditer(text):
        yield from _titled(text, match.span(1))
    for match in _LABEL.finditer(text):
        yield from _labelled(text, match.span(1))
    for match in _GREETING.finditer(text):
        yield from _greeted(text, match.span(1))
    if "." in text:
        yield from _with_initials(text)


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
    word = words[i]
    lead = words[i - 1] if i else ""
    if word in GIVEN_LATIN_WORDS and i + 1 < len(words) and words[i + 1] in SURNAMES_LATIN:
        return i, i + 2
    first = i
    if is_patronymic(word) and lead and lead not in NOT_NAMES:
        first = i - 1
    elif not is_given(word) or lead in PLACE_LEADS:
        return i, i
    before = words[first - 1] if first else ""
    family_first = bool(before) and before not in NOT_NAMES and is_family(before)
    return first - family_first, _name_end(words, i + 1, room=0 if family_first else 2)


def _name_end(words: list[str], end: int, room: int) -> int:
    """Past the surname, which is one word, or two after a double given name or before a common
    surname (`Anna Maria Schmidt`).

    `room`: 0 when the surname stood first. Initials, particles and patronymics take no room.
    """
    taken = 0
    while end < len(words) and (words[end] not in NOT_NAMES or words[end] in SURNAMES_LATIN):
        word = words[end]
        if len(word) > 1 and not is_particle(word) and not is_patronymic(word):
            if taken == room or (
                taken and word not in SURNAMES_LATIN and not is_given(words[end - 1])
            ):
                break
            taken += 1
        end += 1
    while is_particle(words[end - 1]):
        end -= 1
    return end


def _titled(text: str, span: Span) -> Iterator[Span]:
    """After `Mr.`, `Dear`, `господин`: any capitalised word that is not a word of titles."""
    spans = _leading_name(text, span)
    if spans:
        yield _joined(text, spans)


def _greeted(text: str, span: Span) -> Iterator[Span]:
    """After `Hi`, `С уважением,`: a common given name and what follows it."""
    spans = _leading_name(text, span)
    if spans and is_given(bare(text[slice(*spans[0])])):
        yield _joined(text, spans)


def _labelled(text: str, span: Span) -> Iterator[Span]:
    """After `From:`, `Клиент:`: a given name, or two words and more with nothing of a title, a
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
    if words[0] in PLACE_LEADS:
        return []
    count = 0
    while count < len(words) and (
        words[count] not in NOT_NAMES or (count and words[count] in SURNAMES_LATIN)
    ):
        count += 1
    return spans[:count]


def _with_initials(text: str) -> Iterator[Span]:
    """`Петров И. И.`, `А. С. Пушкин`; with one initial (`А. Петров`) only before a surname's
    ending."""
    for match in _INITIALS.finditer(text):
        surname = (match[1] or match[2] or match[3]).casefold()
        if surname not in NOT_NAMES and (not match[3] or is_family(surname)):
            yield match.span()


def _tokens(text: str, span: Span) -> list[Span]:
    return [m.span() for m in TOKEN.finditer(text, *span)]


def _joined(text: str, spans: list[Span]) -> Span:
    start, end = spans[-1]
    return spans[0][0], start + len(without_possessive(text[start:end]))
