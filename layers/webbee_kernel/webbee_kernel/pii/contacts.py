"""Where the e-mail addresses and the phone numbers of a text are.

For phone numbers the patterns here only propose; `phonenumbers` disposes. It takes about 30 ms to
import, and is imported when the first candidate turns up."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import IntEnum
from functools import lru_cache
from typing import TYPE_CHECKING

from webbee_kernel.language import of, people, people_phrases
from webbee_kernel.pii.keys import is_phone_key
from webbee_kernel.pii.prose import either

if TYPE_CHECKING:
    from phonenumbers import PhoneNumberMatch

_MARKS = r"\u0300-\u036f\u0900-\u109f"  # vowel signs of Indic and Thai scripts, no `\w`
_SIGNS = "+'\u2019%!#$*^~.-"
_LOCAL = rf"[\w{_MARKS}{_SIGNS}]"
# A whole word, with what makes it an address where that follows: nothing is read twice, so the cost
# is linear whatever the text. A sentence may go on without a space: `example.com2`, `example.com_`.
_WORD = re.compile(
    rf"""(?P<local>"[^"\r\n<>]{{1,64}}"(?=@)|{_LOCAL}++)(?:@{{1,3}}"""
    rf"(?P<domain>(?:[\w{_MARKS}-]++[.\u3002\uff0e\uff61])+"
    rf"(?:xn--[a-z0-9-]{{2,59}}|(?:[^\W\d_]|[{_MARKS}]){{2,63}})))?",
    re.IGNORECASE,
)
_RETINA = re.compile(r"\d+(?:\.\d+)?x\.(?:png|jpe?g|gif|svg|webp|avif)", re.IGNORECASE)
_REMOTE_PATH = re.compile(r":[\w.~-]+/")


@lru_cache(maxsize=16)  # asked twice for each text: for itself, and for the names beside
def find_emails(text: str) -> tuple[tuple[int, int], ...]:
    """Spans `(start, end)` of the e-mail addresses in `text`, in order, not overlapping.

    Taken: any script in the local part and the domain, quoted local parts, `%40` for `@` (links).
    The domain needs a dot and a top level of letters or punycode. Left: `pkg@1.2.3`,
    `root@10.0.0.1`, `user@localhost`, `icon@2x.png`, `git@host:owner/repo`. A Message-ID is
    e-mail-shaped and is taken: its host and sometimes its local part tell who wrote.
    """
    found: list[tuple[int, int]] = []
    spelled = text.replace("%40", "@@@")  # as long
    for match in _WORD.finditer(spelled) if "@" in spelled else ():
        if not match["domain"] or _RETINA.fullmatch(match["domain"]):
            continue
        end = match.end()
        start = end - len(match[0].lstrip(_SIGNS))  # quotes, Markdown stars and the like
        if text[start] == "_" and text[end : end + 1] == "_":
            start += 1  # Markdown emphasis round the address
        local = spelled[start : match.end("local")]
        if local and not (local.casefold() == "git" and _REMOTE_PATH.match(text, end)):
            found.append((start, end))
    return tuple(found)


# Tried in this order for a number without a plus that a key or a word calls a phone number, after
# the user's own regions; the first in which it is valid wins.
REGIONS = tuple(
    "US RU GB DE FR ES IT UA BY KZ IN PL NL TR AU BR CN MX AT CH BE PT SE JP KR CZ AR ZA".split()
)
# A refused candidate costs the library about 0.1 ms a region: past so many candidates in one text
# only the first two regions are tried.
CANDIDATES_MAX = 64
PLUS = "+\uff0b"


class Sign(IntEnum):
    """What makes a candidate one; a surer sign goes before another of the same place."""

    CUE = 0  # a key or a word says that it is a phone number
    WRITTEN = 1  # a plus, or parentheses
    HOME = 2  # grouped as numbers are somewhere
    DIGITS = 3  # digits alone


_GAP = r"[ \u00a0\u2009\u202f().\-\u2010-\u2015/\t]"
_EXTENSION = r"(?:[ ,;]{0,3}(?:ext|\u0434\u043e\u0431|x)\.?:?[ ]?\d{1,7})?"
_PLUS = re.compile(
    rf"(?<![0-9A-Za-z/=_])[{PLUS}][ \u00a0]?\(?\d(?:{_GAP}{{0,3}}\d){{6,16}}{_EXTENSION}"
)
_GROUPED = re.compile(
    r"(?<![\w.+/)=-])(?:[0-9][ \u00a0-]?)?\(\d{2,5}\)[ \u00a0-]?\d{2,4}(?:["
    r" \u00a0-]?\d{2,4}){1,3}(?![\w(%€$₽])"
)
# Without plus, cue or parentheses, grouped as people group numbers, or all digits in prose: only
# where the user's regions are known.
_NOT_BEHIND = r"(?<![\w.+/)=:,#\u2116$\u20ac\u00a3-])"
_NATIONAL = re.compile(
    rf"{_NOT_BEHIND}\(?\d{{1,6}}\)?(?:[ \u00a0./-]{{1,2}}\(?\d{{1,9}}\)?){{1,5}}"
    r"(?![\w(%\u20ac$\u20bd:/]|[.,-]\d| ?(?:[%\u20ac$]))"
)
_BARE = re.compile(rf"{_NOT_BEHIND}\d{{9,13}}(?![\w(%\u20ac$\u20bd:/-]|[.,]\d| ?[%\u20ac$])")
_LOOSE = re.compile(rf"(?<![\w@])[({PLUS}]?\d(?:{_GAP}{{0,3}}\d){{6,16}}{_EXTENSION}(?![\w@])")
_DIGIT_RUN = re.compile(rf"\d(?:{_GAP}{{0,3}}\d){{6}}")


@lru_cache(maxsize=1)
def _after_word() -> re.Pattern[str]:
    """A number behind a word for phones, with a word such as "number" between them or none."""
    phone, link = either(people_phrases("phone_words")), either(people("phone_links"))
    return re.compile(
        rf"(?<![^\W_]){phone}(?:[ ]?(?:{link}|\u2116))?[\s.:=/#\u2116\u2013-]{{1,4}}"
        rf"([({PLUS}]?\d(?:{_GAP}{{0,3}}\d){{6,14}}{_EXTENSION})(?![\w@])",
        re.IGNORECASE,
    )


Phone = tuple[int, int, str]  # start, end, identity: E.164 with `;ext=` where there is an extension


def find_phones(text: str, key: str = "", regions: tuple[str, ...] = ()) -> list[Phone]:
    """Phone numbers in `text` as `(start, end, identity)`, in order, not overlapping.

    Taken where the library calls them valid: numbers with a plus, anywhere; numbers without one
    under a phone-like key, directly after a phone-like word, grouped with parentheses as in `8
    (495) 123-45-67` and `(415) 555-2671`, or grouped exactly as one of `regions` (ISO 3166, the
    user's) groups its numbers: `06 12 34 56 78` for a Frenchman. With a plus and a phone-like key
    or word, or grouped like a phone number, a possible length is enough: test data is full of `+1
    555` numbers. Anything else is left, above all digits without a plus and without a cue.
    """
    patterns = _patterns_for(text, key, regions)
    proposed = ((*m.span(p.groups), sign) for p, sign in patterns for m in p.finditer(text))
    # A cued candidate goes before its uncued twin, a longer one before its own part.
    candidates = sorted(proposed, key=lambda c: (c[0], c[2], -c[1]))
    accepted: list[Phone] = []
    regions_tried = (*regions, *REGIONS) if len(candidates) <= CANDIDATES_MAX else REGIONS[:2]
    for start, end, sign in candidates:
        if accepted and start < accepted[-1][1]:
            continue
        # One more character lets the library refuse a number that runs on into letters or a percent
        # sign.
        found = parse_candidate(
            text[start : end + 1], sign, regions if sign >= Sign.HOME else regions_tried
        )
        accepted += [(start + s, start + e, identity) for s, e, identity in found]
    return accepted


def _patterns_for(
    text: str, key: str, regions: tuple[str, ...]
) -> Iterator[tuple[re.Pattern[str], Sign]]:
    if not has_digit_run(text):
        return
    if is_phone_key(key):
        yield from ((_PLUS, Sign.CUE), (_LOOSE, Sign.CUE))
        return
    yield from ((_PLUS, Sign.WRITTEN), (_GROUPED, Sign.WRITTEN), (_after_word(), Sign.CUE))
    if regions:
        yield _NATIONAL, Sign.HOME
        if any(map(str.isalpha, text)):
            yield _BARE, Sign.DIGITS


def has_digit_run(text: str) -> bool:
    """Whether seven digits stand close enough together to be a phone number. Quick."""
    return _DIGIT_RUN.search(text) is not None


@lru_cache(maxsize=1024)
def phone_identity(value: str) -> str:
    """The E.164 form of a value that was once found as a phone number; the value itself where the
    library has changed its mind."""
    found = find_phones(value, "phone")
    return found[0][2] if found else value


_ZONE = re.compile(
    r"(?<![\w/])(?:Africa|America|Asia|Atlantic|Australia|Europe|Indian|Pacific)/\w+"
)
_TAG = re.compile(r"[a-z]{2,3}[-_](?:[A-Za-z]{4}[-_])?([A-Za-z]{2})(?![A-Za-z])")
_USUAL = 2  # regions of a language without a region: English is not tried as spoken everywhere
_MOST_ZONES = 8  # of one text
TERRITORY = "001"  # "the world", where CLDR does not say


@lru_cache(maxsize=64)
def regions_of_language(tag: str) -> tuple[str, ...]:
    """`de-AT` → AT, then where German is mostly spoken."""
    match = _TAG.match(tag.strip())
    region = (match[1].upper(),) if match else ()
    language = of(tag)
    usual = language.regions if tag.lower().startswith(language.tag) else ()
    return tuple(dict.fromkeys((*region, *usual[:_USUAL])))


def regions_of_zones(text: str) -> list[str]:
    """The countries of the IANA time zones that `text` names: `Europe/Berlin` → DE."""
    zones = list(dict.fromkeys(_ZONE.findall(text) if "/" in text else ()))[:_MOST_ZONES]
    return list(filter(None, map(_region_of_zone, zones)))


@lru_cache(maxsize=64)
def _region_of_zone(zone: str) -> str:
    from babel.core import get_global

    region = str(get_global("zone_territories").get(zone, ""))
    return "" if region == TERRITORY else region


@lru_cache(maxsize=512)
def regions_of_phone(identity: str) -> tuple[str, ...]:
    """The country of a number in E.164; nothing for what has none."""
    from phonenumbers import NumberParseException, parse, region_code_for_number

    try:
        region = region_code_for_number(parse(identity.partition(";")[0]))
    except NumberParseException:
        return ()
    return () if region in (None, TERRITORY) else (str(region),)


# A date, an address of a machine or a version: never a phone number for its grouping alone.
_DATE = re.compile(
    r"(?:19|20)\d\d[ ./-]\d\d?[ ./-]\d\d?(?!\d)|\d\d?[ ./-]\d\d?[ ./-](?:19|20)\d\d(?!\d)"
    r"|\d{1,3}(?:\.\d{1,3}){2,3}(?![.\d])"
)
_SHORT = 11  # digits of the shortest that is read with its country's code and no plus
_LENIENCY = {Sign.CUE: "VALID", Sign.WRITTEN: "STRICT_GROUPING", Sign.HOME: "EXACT_GROUPING"}
"""The library's name of how strictly a sign is read."""


@lru_cache(maxsize=1024)
def parse_candidate(window: str, sign: Sign, regions: tuple[str, ...]) -> Sequence[Phone]:
    """The numbers in a window, read as what led to it tells: in the first region that gives it
    one."""
    if window[0] in PLUS:
        # One that its country has not given out counts with a cue, or written as numbers are.
        is_likely = sign is Sign.CUE or _has_phone_grouping(window)
        found = _matches(window)
        return found or (_matches(window, leniency="POSSIBLE") if is_likely else [])
    if sign is Sign.DIGITS:
        return _mobile_numbers(window, regions)
    is_date = sign is Sign.HOME and _DATE.match(window)
    return [] if is_date else _first_region(window, sign, regions)


def _first_region(window: str, sign: Sign, regions: Sequence[str]) -> list[Phone]:
    for region in dict.fromkeys(regions):
        if found := _matches(window, region, _LENIENCY[sign]):
            return found
    # behind a cue also `8613812345678`, a number once a plus stands before it
    is_long = sign is Sign.CUE and sum(map(str.isdigit, window)) >= _SHORT
    abroad = _matches(f"+{window}") if is_long else []
    return [(max(0, start - 1), end - 1, identity) for start, end, identity in abroad]


def _mobile_numbers(window: str, regions: Sequence[str]) -> list[Phone]:
    """`89161234567` of a Russian, `0612345678` of a Frenchman: digits alone are a mobile number
    where they begin with what is dialled first in a region, be it its country's code. In one that
    has no such prefix any number may be one, and only a cue tells."""
    from phonenumbers import (
        PhoneNumberMatcher,
        PhoneNumberType,
        is_valid_number_for_region,
        number_type,
    )

    digits = window if window[-1].isdigit() else window[:-1]
    for region in regions:
        for match in PhoneNumberMatcher(_international(digits, region), region):
            is_mobile = number_type(match.number) == PhoneNumberType.MOBILE
            if is_mobile and is_valid_number_for_region(match.number, region):
                return [(0, len(digits), _identity(match))]
    return []


def _international(digits: str, region: str) -> str:
    """The digits as the library reads them; nothing where they do not begin so."""
    from phonenumbers import country_code_for_region, ndd_prefix_for_region

    code = str(country_code_for_region(region))
    if len(digits) >= _SHORT and digits.startswith(code):
        return f"+{digits}"
    prefix = ndd_prefix_for_region(region, True)
    return digits if prefix in ("0", "8") and digits.startswith(prefix) else ""


def _has_phone_grouping(window: str) -> bool:
    """Whether a number with a plus is grouped as people group phone numbers, in groups that are not
    thousands: `+1 555 123 4567` is, `+12 345 678 901` and `+12345678901` are not."""
    groups = re.findall(r"\d+", window)[1:]
    return len(groups) >= 2 and {len(g) for g in groups} != {3}


def _matches(window: str, region: str = "", leniency: str = "VALID") -> list[Phone]:
    """What the library takes for numbers of a region, of any with a plus where it is empty."""
    from phonenumbers import Leniency, PhoneNumberMatcher

    found = PhoneNumberMatcher(window, region or None, getattr(Leniency, leniency))
    return [(match.start, match.end, _identity(match)) for match in found]


def _identity(match: PhoneNumberMatch) -> str:
    from phonenumbers import PhoneNumberFormat, format_number

    extension = f";ext={match.number.extension}" if match.number.extension else ""
    return format_number(match.number, PhoneNumberFormat.E164) + extension
