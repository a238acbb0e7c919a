"""Where the personal names of a text are: best effort, without a model.

A name is taken on a cue, never for its capital letters alone: a name-like key, an address beside
it, a title (`Mr.`), a label (`From:`, `Customer:`), a common given name, a patronymic, initials. So
`Sarah Lee` is taken, and `New York` and `Sprint Review` stay. Missed: uncommon names without a cue,
single given names that begin a sentence, other scripts outside name-like keys. `Masker` takes
another detector with the same signature where that is not enough.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from importlib import import_module
from itertools import chain
from typing import TypeAlias

from webbee_kernel.language import fold, people
from webbee_kernel.pii.contacts import find_emails
from webbee_kernel.pii.keys import NameKey, name_key
from webbee_kernel.pii.prose import (
    TOKEN,
    UP,
    Span,
    is_acronym,
    is_capitalised,
    is_given,
    is_particle,
    is_patronymic,
    names_in_prose,
    not_names,
    patterns,
)

NameDetector: TypeAlias = Callable[[str, str], Iterable[Span]]
"""Gives spans `(start, end)` of names in a text, which stood under a key (`parent.key`, `key` or
nothing). A pure function, since its answers are cached."""

KEYED_MAX = 200  # characters: a longer value under a name-like key is prose: only its cues count
WORDS_MAX = 5  # words of one name, particles and initials included
DISPLAY_NAME_MAX = 90  # characters looked at before an address

_CAPITAL = re.compile(f"[{UP}]")
_PARTS = re.compile(r"[^,;/|()<>\"\u00ab\u00bb\n\t:&]+")
_PARENS = re.compile(r"\([^()]*\)")
_LETTERS = re.compile(
    r"[^\W\d_](?:[^\W\d_]|[\u0300-\u036f\u0900-\u109f]|['\u2019.-](?=[^\W\d_]))*\.?"
)
_QUOTED = re.compile('["\'\u00ab]([^"\u00ab\u00bb]{1,80})["\'\u00bb]\\Z')
_MAILBOX = re.compile(
    r"(?:no-?_?reply|do-?not-?reply|support|info|notifications?|notify|alerts?|hello|sales|billing"
    r"|admin|team|news(?:letter)?|marketing|help|contact|service|mailer(?:-daemon)?|postmaster"
    r"|updates?|jobs|hr|office|invoices?|accounts?|security|feedback)(?=[@+.-])",
    re.IGNORECASE,
)


@lru_cache(maxsize=4)
def with_custom_detector(path: str) -> NameDetector:
    """The built-in detector and another one, `package.module:function`, that a deployment ships:
    what either finds is a name. Raises `ImportError` or `AttributeError` where there is none."""
    module, _, name = path.partition(":")
    other: NameDetector = getattr(import_module(module), name)

    def both(text: str, key: str) -> Iterable[Span]:
        return chain(find_names(text, key), other(text, key))

    return both


def is_distinct(name: str) -> bool:
    """Whether a known name can be told from other words wherever it stands: two words or more, or a
    capitalised one of four letters that is no common word. A name in lower case is not."""
    if "\n" in name or "<" in name or name.islower():
        return False
    if " " in name:
        return True
    word = fold(name)
    common = word in people("given_words") or word in not_names()
    return len(name) > 3 and name.isalpha() and name[0].isupper() and not common


def is_distinctive(word: str) -> bool:
    """Whether a word of a name tells whose it is: no initial, particle or common word."""
    return len(word) > 2 and not is_particle(word) and fold(word) not in not_names()


def find_names(text: str, key: str = "") -> Iterator[Span]:
    """The built-in `NameDetector`: the words of all languages, best effort. Figures:
    `tests/unit/pii_corpus.json`.

    Under a name-like key the value, or each part of it between commas, is a name if it has the
    shape of one and no word of a title; the surer the key, the less is asked (`NameKey`). In prose
    a cue is needed. Spans may overlap where several cues meet.
    """
    kind = name_key(key)
    if kind >= NameKey.MAYBE and len(text) <= KEYED_MAX:
        yield from _under_key(text, kind)
    if "@" in text and _CAPITAL.search(text):
        yield from _beside_addresses(text)
    yield from names_in_prose(text)


def _under_key(text: str, kind: NameKey) -> Iterator[Span]:
    # What stands in parentheses qualifies a name: a city, a company, pronouns.
    for part in _PARTS.finditer(_PARENS.sub(lambda m: "(" * len(m[0]), text)):
        links = (p for m in patterns().links.finditer(text, *part.span()) for p in m.span())
        cuts = [part.start(), *links, part.end()]
        for start, end in zip(cuts[::2], cuts[1::2], strict=True):
            end = start + len(text[start:end].rstrip())
            start = end - len(text[start:end].lstrip())
            title = patterns().cues["honorifics"].match(text, start, end)
            if title and title.end() == end:
                start = title.start(1)
            if start < end and _is_name(text[start:end], kind):
                yield start, end


def _is_name(part: str, kind: NameKey) -> bool:
    words = part.split()
    if len(words) > WORDS_MAX or not all(map(_LETTERS.fullmatch, words)):
        return False
    low = [fold(w).rstrip(".") for w in words]
    if kind is NameKey.SURE:
        return low[0] not in people("nobody")
    has_given = any(map(is_given, low[:2])) or any(map(is_patronymic, low))
    if _ends_in_surname(low, has_given):
        return True
    if low[0] in people("place_leads") or not not_names().isdisjoint(low):
        return False
    return _has_name_spelling(words, kind, has_given)


def _ends_in_surname(low: list[str], has_given: bool) -> bool:
    """A given name, be it a common word too, and a common surname."""
    is_named = has_given or low[0] in people("given_words")
    return is_named and len(low) > 1 and low[-1] in people("surnames")


def _has_name_spelling(words: list[str], kind: NameKey, has_given: bool) -> bool:
    """Whether words without any further sign are spelt as a name is: the surer the key, the less
    is asked."""
    role = kind is NameKey.ROLE
    if not all(is_capitalised(w) or is_particle(w) for w in words):
        return has_given and role and len(words) > 1
    if len(words) == 1:
        return has_given or (role and not is_acronym(words[0]))
    return has_given or not any(map(is_acronym, words))


def _beside_addresses(text: str) -> Iterator[Span]:
    """`Sarah Lee <…>`, `"Lee, Sarah" <…>`, `Sarah Lee, sarah@…`; one word alone counts in front of
    brackets only, and no one whose address is a mailbox's: `support@…`."""
    for at, _ in find_emails(text):
        if _MAILBOX.match(text, at):
            continue
        base = max(0, at - DISPLAY_NAME_MAX)
        head = text[base:at].rstrip("([:,\u2014\u2013-| \u00a0")
        is_bracketed = head.endswith("<")
        head = head.removesuffix("<").rstrip()
        yield from ((base + start, base + end) for start, end in _display_name(head, is_bracketed))


def _display_name(head: str, is_bracketed: bool) -> Iterator[Span]:
    """The names at the end of what stands before an address."""
    if quoted := _QUOTED.search(head) if is_bracketed else None:
        shift = quoted.start(1)
        yield from ((shift + s, shift + e) for s, e in _under_key(quoted[1], NameKey.ROLE))
    elif match := patterns().trailing.search(head):
        words = [m.start() for m in TOKEN.finditer(head, *match.span(1))]
        while words and fold(head[words[0] :].split()[0]) in not_names():
            words.pop(0)  # `Contact Sarah Lee <…>`
        if len(words) > 1 or (words and is_bracketed):
            if _is_name(head[words[0] : match.end(1)], NameKey.ROLE):
                yield words[0], match.end(1)
