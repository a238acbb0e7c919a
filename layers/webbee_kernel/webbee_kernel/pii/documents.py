"""Numbers that name a person or an account, told by their checksums: what `WEBBEE_MASK_KINDS` adds.

The checksums are published: IBAN ISO 13616, cards ISO/IEC 7812 (Luhn), and the national numbers of
each country. One that random digits would often pass, and a passport's number, which has none,
count only under a key or behind a word that says so (`People.document_words`).
"""

import re
from collections.abc import Callable, Iterator, Sequence, Set
from functools import lru_cache

from webbee_kernel.language import people, people_keys, people_phrases
from webbee_kernel.pii.keys import words_of
from webbee_kernel.pii.prose import either

IBAN, CARD, PASSPORT, IDENTITY = "IBAN", "CARD", "PASSPORT", "IDENTITY"
CHECKED = (IBAN, CARD, PASSPORT, IDENTITY)

_IBAN = re.compile(
    r"(?<![^\W_])[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?[A-Z0-9]{1,3})?(?![^\W_])",
    re.IGNORECASE,
)
_CARD = re.compile(
    r"(?<![\w.-])[2-6]\d{3}(?:([ -]?)\d{4}\1\d{4}\1\d{1,7}|[ -]?\d{6}[ -]?\d{5})(?![\w-])"
)
# Behind a word or under a key that says what it is, a number of the right shape is one whether or
# not its sum is right: people mistype, and test data makes sums up.
_SHAPED = re.compile(
    r"(?<![\w-])(?:\d{3}[ .-]?\d\d[ .-]?\d{4}|\d\d ?\d{6} ?[A-Za-z] ?\d\d ?\d"
    r"|[A-Za-z] ?\d{3} ?\d{3} ?\d{3})(?![\w-])"
)
_PLAIN = re.compile(r"(?<!\w)\d{9,12}(?!\w)")
_PASSPORT = re.compile(r"(?<!\w)(?:[A-Z0-9]{6,10}|\d\d ?\d\d ?\d{6})(?!\w)")

Found = tuple[int, int, str, str]


def find_documents(text: str, key: str, kinds: Set[str]) -> Iterator[Found]:
    """Numbers of these kinds in `text`, which stood under `key`, as `(start, end, kind,
    identity)`; they may overlap."""
    if not any(c.isdigit() for c in text):
        return
    if IBAN in kinds:
        yield from _checked(text, _IBAN, IBAN, is_iban)
    if CARD in kinds:
        yield from _checked(text, _CARD, CARD, is_card)
    if PASSPORT in kinds:
        yield from _cued(text, key, "passport", PASSPORT, _PASSPORT, _is_passport)
    if IDENTITY in kinds:
        for pattern, check in _NATIONAL:
            yield from _checked(text, pattern, IDENTITY, check)
        yield from _cued(text, key, "identity", IDENTITY, _SHAPED, bool)
        yield from _cued(text, key, "identity", IDENTITY, _PLAIN, _is_any_plain)


def _checked(
    text: str, pattern: re.Pattern[str], kind: str, check: Callable[[str], bool]
) -> Iterator[Found]:
    for match in pattern.finditer(text):
        number = re.sub(r"[ .-]", "", match[0]).upper()
        if check(number):
            yield match.start(), match.end(), kind, number


def _cued(
    text: str,
    key: str,
    field: str,
    kind: str,
    pattern: re.Pattern[str],
    check: Callable[[str], bool],
) -> Iterator[Found]:
    keyed = not people_keys(f"{field}_keys").isdisjoint(words_of(key.rpartition(".")[2]))
    for found in _checked(text, pattern, kind, check):
        if keyed or _word_before(field).search(text, max(0, found[0] - 40), found[0]):
            yield found


@lru_cache(maxsize=4)
def _word_before(field: str) -> re.Pattern[str]:
    words = either(people_phrases(f"{field}_words"))
    link = either(people("phone_links"))
    return re.compile(rf"(?<![^\W_]){words}(?: {link})?[ .:#\u2116\u2013-]{{1,4}}\Z", re.IGNORECASE)


def _is_passport(number: str) -> bool:
    return sum(map(str.isdigit, number)) >= 3


def is_iban(number: str) -> bool:
    """The remainder by 97 is one, the country's letters and check digits moved to the end."""
    if not 15 <= len(number) <= 34:
        return False
    turned = number[4:] + number[:4]
    return int("".join(str(int(c, 36)) for c in turned)) % 97 == 1


def is_card(number: str) -> bool:
    """Luhn's sum over 14 to 19 digits (15 for American Express)."""
    if not 14 <= len(number) <= 19:
        return False
    doubled = [int(c) * (2 if i % 2 else 1) for i, c in enumerate(reversed(number))]
    return sum(n - 9 if n > 9 else n for n in doubled) % 10 == 0


def _weighed(number: str, weights: Sequence[int]) -> int:
    """The sum of the leading digits, each times its weight."""
    return sum(int(c) * w for c, w in zip(number, weights, strict=False))


def _is_spanish(number: str) -> bool:
    digits = number[:-1]
    if digits[0] in "XYZ":
        digits = str("XYZ".index(digits[0])) + digits[1:]
    return len(digits) == 8 and "TRWAGMYFPDXBNJZSQVHLCKE"[int(digits) % 23] == number[-1]


def _is_chinese(number: str) -> bool:
    total = _weighed(number, [pow(2, 17 - i, 11) for i in range(17)])
    return "10X98765432"[total % 11] == number[-1] and number[6:8] in ("19", "20")


def _is_french(number: str) -> bool:
    return int(number[:13]) % 97 == 97 - int(number[13:])


def _is_brazilian(number: str) -> bool:
    checks = (_weighed(number, range(at + 1, 1, -1)) * 10 % 11 % 10 for at in (9, 10))
    return len(number) == 11 and number[9:] == "".join(map(str, checks)) and len(set(number)) > 1


def _is_russian_insurance(number: str) -> bool:
    return len(number) == 11 and _weighed(number, range(9, 0, -1)) % 101 % 100 == int(number[9:])


def _is_russian_tax(number: str) -> bool:
    weights = (3, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8)
    checks = (_weighed(number, weights[skipped:]) % 11 % 10 for skipped in (1, 0))
    return len(number) == 12 and number[10:] == "".join(map(str, checks))


def _is_german_tax(number: str) -> bool:
    if len(number) != 11 or number[0] == "0":
        return False
    product = 10
    for digit in number[:10]:
        product = (((int(digit) + product) % 10 or 10) * 2) % 11
    return (11 - product) % 10 == int(number[10])


def _is_polish(number: str) -> bool:
    return len(number) == 11 and _weighed(number, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1)) % 10 == 0


def _is_american(number: str) -> bool:
    """No checksum: nine digits whose first three are ever given out."""
    return len(number) == 9 and number[:3] not in ("000", "666") and number[0] != "9"


def _is_german_pension(number: str) -> bool:
    """The insurance number: area, date of birth, the surname's initial, serial, check digit."""
    day, month = int(number[2:4]), int(number[4:6])
    if not (1 <= day % 50 <= 31 and month <= 12):
        return False
    digits = number[:8] + f"{ord(number[8]) - 64:02}" + number[9:11]
    products = (int(c) * w for c, w in zip(digits, _PENSION_WEIGHTS, strict=True))
    return sum(sum(divmod(n, 10)) for n in products) % 10 == int(number[11])


_PENSION_WEIGHTS = (2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1)

_NATIONAL: tuple[tuple[re.Pattern[str], Callable[[str], bool]], ...] = (
    (re.compile(r"(?<![\w-])[XYZ]?\d{7,8}-?[A-Z](?![\w-])"), _is_spanish),
    (re.compile(r"(?<!\w)\d{17}[\dX](?!\w)"), _is_chinese),
    (
        re.compile(r"(?<!\w)[12] ?\d\d ?(?:0[1-9]|1[0-2]) ?\d\d ?\d{3} ?\d{3} ?\d\d(?!\w)"),
        _is_french,
    ),
    (re.compile(r"(?<!\w)\d{3}\.\d{3}\.\d{3}-\d\d(?!\w)"), _is_brazilian),
    (re.compile(r"(?<!\w)\d{3}-\d{3}-\d{3} \d\d(?!\w)"), _is_russian_insurance),
    (re.compile(r"(?<![\w-])\d{3}-\d\d-\d{4}(?![\w-])"), bool),  # United States
    (re.compile(r"(?i)(?<!\w)\d\d ?\d{6} ?[A-Z] ?\d\d ?\d(?!\w)"), _is_german_pension),
)
_PLAIN_CHECKS = (
    _is_russian_tax,
    _is_russian_insurance,
    _is_german_tax,
    _is_polish,
    _is_american,
    _is_brazilian,
)


def _is_any_plain(number: str) -> bool:
    return any(check(number) for check in _PLAIN_CHECKS)
