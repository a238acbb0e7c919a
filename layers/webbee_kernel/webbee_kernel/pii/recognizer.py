"""Finds what has to be masked in a text: secrets, addresses, phone numbers, names, and numbers that
name a person or an account, told by their checksums: what `WEBBEE_MASK_KINDS` adds.

The checksums are published: IBAN ISO 13616, cards ISO/IEC 7812 (Luhn), and the national numbers of
each country. Digits without a grouping of their own, and a passport's number, count only under a
key or behind a word that says so (`People.identity_words`)."""

import re
from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from webbee_kernel.language import people, people_keys, people_phrases
from webbee_kernel.pii.contacts import find_emails, find_phones, phone_identity
from webbee_kernel.pii.keys import words_of
from webbee_kernel.pii.names import NameDetector, find_names
from webbee_kernel.pii.prose import Span, either
from webbee_kernel.pii.secrets import find_secrets

IBAN, CARD, PASSPORT, IDENTITY = DOCUMENT_KINDS = "IBAN", "CARD", "PASSPORT", "IDENTITY"
CUE_MAX = 40  # characters before a number in which its word stands


def find_documents(text: str, key: str, kinds: Set[str]) -> Iterator[tuple[str, Span]]:
    """Numbers of these kinds in `text`, which stood under `key`; they may overlap."""
    if not any(map(str.isdigit, text)):
        return
    for form in _FORMS:
        for match in re.finditer(form.pattern, text) if form.kind in kinds else ():
            number = re.sub(r"[ .-]", "", match[0]).upper()
            if form.is_one(number) and (not form.is_cued or _is_cued(form.kind, match, key)):
                yield form.kind, match.span()


def _is_cued(kind: str, match: re.Match[str], key: str) -> bool:
    """Whether the key over a number, or the word before it, says that it is of this kind."""
    keys, start = people_keys(f"{kind.lower()}_keys"), match.start()
    if not keys.isdisjoint(words_of(key.rpartition(".")[2])):
        return True
    return _word_before(kind).search(match.string, max(0, start - CUE_MAX), start) is not None


@lru_cache(maxsize=4)
def _word_before(kind: str) -> re.Pattern[str]:
    words = either(people_phrases(f"{kind.lower()}_words"))
    link = either(people("phone_links"))
    return re.compile(rf"(?<![^\W_]){words}(?: {link})?[ .:#\u2116\u2013-]{{1,4}}\Z", re.IGNORECASE)


def is_iban(number: str) -> bool:
    """The remainder by 97 is one, the country's letters and check digits moved to the end."""
    rotated = number[4:] + number[:4]
    return 15 <= len(number) <= 34 and int("".join(str(int(c, 36)) for c in rotated)) % 97 == 1


def is_card(number: str) -> bool:
    """Luhn's sum over 14 to 19 digits (15 for American Express)."""
    doubled = [int(c) * (2 if i % 2 else 1) for i, c in enumerate(reversed(number))]
    return sum(n - 9 if n > 9 else n for n in doubled) % 10 == 0


def _weighted_sum(number: str, weights: Iterable[int]) -> int:
    """The sum of the leading digits, each times its weight."""
    return sum(int(c) * w for c, w in zip(number, weights, strict=False))


def _is_passport(number: str) -> bool:
    return sum(map(str.isdigit, number)) >= 3


def _is_spanish(number: str) -> bool:
    digits = number[:-1].translate(str.maketrans("XYZ", "012"))
    return len(digits) == 8 and "TRWAGMYFPDXBNJZSQVHLCKE"[int(digits) % 23] == number[-1]


def _is_chinese(number: str) -> bool:
    total = _weighted_sum(number, [pow(2, 17 - i, 11) for i in range(17)])
    return "10X98765432"[total % 11] == number[-1] and number[6:8] in ("19", "20")


def _is_french(number: str) -> bool:
    return int(number[:13]) % 97 == 97 - int(number[13:])


def _is_brazilian(number: str) -> bool:
    checks = (_weighted_sum(number, range(at + 1, 1, -1)) * 10 % 11 % 10 for at in (9, 10))
    return number[9:] == "".join(map(str, checks))


def _is_russian_insurance(number: str) -> bool:
    return _weighted_sum(number, range(9, 0, -1)) % 101 % 100 == int(number[9:])


def _is_german_pension(number: str) -> bool:
    """The insurance number: area, date of birth, the surname's initial, serial, check digit."""
    day, month = int(number[2:4]), int(number[4:6])
    digits = number[:8] + f"{ord(number[8]) - 64:02}" + number[9:11]
    products = (int(c) * int(w) for c, w in zip(digits, "212571212121", strict=True))
    is_checked = sum(sum(divmod(n, 10)) for n in products) % 10 == int(number[11])
    return 1 <= day % 50 <= 31 and month <= 12 and is_checked


class _Form(NamedTuple):
    """How a number is written, and what proves it: a check, a key or word that says so, or both."""

    kind: str
    pattern: str
    is_one: Callable[[str], bool] = bool
    is_cued: bool = False


_FORMS = (
    _Form(
        IBAN,
        r"(?i)(?<![^\W_])[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?[A-Z0-9]{1,3})?(?![^\W_])",
        is_iban,
    ),
    _Form(
        CARD,
        r"(?<![\w.-])[2-6]\d{3}(?:([ -]?)\d{4}\1\d{4}\1\d{2,7}|[ -]?\d{6}[ -]?\d{5})(?![\w-])",
        is_card,
    ),
    _Form(PASSPORT, r"(?<!\w)(?:[A-Z0-9]{6,10}|\d\d ?\d\d ?\d{6})(?!\w)", _is_passport, True),
    _Form(IDENTITY, r"(?<![\w-])[XYZ]?\d{7,8}-?[A-Z](?![\w-])", _is_spanish),
    _Form(IDENTITY, r"(?<!\w)\d{17}[\dX](?!\w)", _is_chinese),
    _Form(
        IDENTITY,
        r"(?<!\w)[12] ?\d\d ?(?:0[1-9]|1[0-2]) ?\d\d ?\d{3} ?\d{3} ?\d\d(?!\w)",
        _is_french,
    ),
    _Form(IDENTITY, r"(?<!\w)\d{3}\.\d{3}\.\d{3}-\d\d(?!\w)", _is_brazilian),
    _Form(IDENTITY, r"(?<!\w)\d{3}-\d{3}-\d{3} \d\d(?!\w)", _is_russian_insurance),
    _Form(IDENTITY, r"(?<![\w-])\d{3}-\d\d-\d{4}(?![\w-])"),  # United States
    _Form(IDENTITY, r"(?i)(?<!\w)\d\d ?\d{6} ?[A-Z] ?\d\d ?\d(?!\w)", _is_german_pension),
    # Behind its word a number of the right shape is one whether or not its sum is right: people
    # mistype, and test data makes sums up.
    _Form(
        IDENTITY,
        r"(?<![\w-])(?:\d{3}[ .-]?\d\d[ .-]?\d{4}|\d\d ?\d{6} ?[A-Za-z] ?\d\d ?\d"
        r"|[A-Za-z] ?\d{3} ?\d{3} ?\d{3}|\d{9,12})(?![\w-])",
        is_cued=True,
    ),
)


# characters: longer texts are looked at anew, so the cache (1024 texts a process) stays within a
# few megabytes
CACHED_MAX = 4096
EMAIL, PHONE, NAME, SECRET = "EMAIL", "PHONE", "NAME", "SECRET"
KINDS = (EMAIL, PHONE, NAME, SECRET, *DOCUMENT_KINDS)

_KIND = "|".join(KINDS)
PLACEHOLDER = re.compile(rf"<({_KIND})_([1-9][0-9]{{0,8}})>")
# What a model may have made of a placeholder: refused in arguments even where it is not one.
LOOKALIKE = re.compile(rf"<\s*(?:{_KIND})_[0-9]+\s*>", re.IGNORECASE)

DECLARED = "x-pii:"
"""Prefix of the key of a value whose kind its author declared."""

Finding = tuple[int, int, str, str]  # start, end, kind, identity


@dataclass(frozen=True, slots=True, eq=False)
class Recognizer:
    """Finds PII in a text; use the cached `recognizer(…)`. `regions` (ISO 3166) are the countries
    of national phone numbers; `kinds` is what is masked besides addresses, phones and names."""

    names: NameDetector = find_names
    regions: tuple[str, ...] = ()
    kinds: frozenset[str] = frozenset()

    def __call__(self, text: str, key: str) -> tuple[Finding, ...]:
        """Everything to mask in `text`, in order, not overlapping: a secret wins over an address,
        this over a phone, a phone over a name, a placeholder over all."""
        if key.startswith(DECLARED):
            return _declared_value(text, key.removeprefix(DECLARED).upper())
        return _cached_find(self, text, key) if len(text) <= CACHED_MAX else _find(self, text, key)


recognizer = lru_cache(maxsize=64)(Recognizer)
"""A cached `Recognizer`."""


def identity_of(kind: str, value: str) -> str:
    """The normalized form of a value; for phone numbers see `phone_identity`."""
    if kind in (SECRET, PHONE):
        return value
    if kind in (EMAIL, NAME):  # providers that tell `A@x` from `a@x` are not in use
        return " ".join(value.split()).casefold()
    return re.sub(r"[\W_]", "", value).upper()


def _declared_value(text: str, kind: str) -> tuple[Finding, ...]:
    """The whole value, of the declared kind."""
    value = text.strip()
    if not value or PLACEHOLDER.search(value) or kind not in KINDS:
        return ()
    start = text.index(value)
    identity = phone_identity(value) if kind == PHONE else identity_of(kind, value)
    return ((start, start + len(value), kind, identity),)


def _candidates(recognizer: Recognizer, text: str, key: str) -> list[Finding]:
    """Candidates, the surest kind first, a longer one before its part."""

    def of(kind: str, spans: Iterable[Span]) -> list[Finding]:
        return [(s, e, kind, identity_of(kind, text[s:e])) for s, e in spans]

    found = [*of(SECRET, find_secrets(text, key)), *of(EMAIL, find_emails(text))]
    for kind, span in find_documents(text, key, recognizer.kinds) if recognizer.kinds else ():
        found += of(kind, [span])
    found += [(s, e, PHONE, i) for s, e, i in find_phones(text, key, recognizer.regions)]
    names = sorted(recognizer.names(text, key), key=lambda span: (span[0], -span[1]))
    return found + of(NAME, names)


def _find(recognizer: Recognizer, text: str, key: str) -> tuple[Finding, ...]:
    accepted: list[Finding] = []
    found = _candidates(recognizer, text, key)
    occupied = bytearray(len(text) if found else 0)
    for match in PLACEHOLDER.finditer(text) if found and "<" in text else ():
        occupied[match.start() : match.end()] = b"\1" * len(match[0])
    for item in found:
        start, end = item[:2]
        if start < end and occupied.find(1, start, end) < 0:
            accepted.append(item)
            occupied[start:end] = b"\1" * (end - start)
    return tuple(sorted(accepted))


_cached_find = lru_cache(maxsize=1024)(_find)
