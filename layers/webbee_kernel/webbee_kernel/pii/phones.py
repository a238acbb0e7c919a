"""Where the phone numbers of a text are.

The patterns here only propose; `phonenumbers` disposes. It is imported when the first candidate
turns up (about 30 ms).
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from webbee_kernel.language import of, people, people_phrases
from webbee_kernel.pii.keys import is_phone_key
from webbee_kernel.pii.prose import either

# Tried in this order for a number without a plus that a key or a word calls a phone number, after
# the user's own regions; the first in which it is valid wins. One of eleven digits that begins with
# 7 or 8 is tried as Russian first.
REGIONS = tuple(
    "US RU GB DE FR ES IT UA BY KZ IN PL NL TR AU BR CN MX AT CH BE PT SE JP KR CZ AR ZA".split()
)
# A refused candidate costs the library about 0.1 ms a region: past so many candidates in one text
# only the first two regions are tried.
CANDIDATES_MAX = 64

_GAP = r"[ \u00a0\u2009\u202f().\-\u2010-\u2015/\t]"
_EXTENSION = r"(?:[ ,;]{0,3}(?:ext|\u0434\u043e\u0431|x)\.?:?[ ]?\d{1,7})?"
_PLUS = re.compile(
    rf"(?<![0-9A-Za-z/=_])[+\uff0b][ \u00a0]?\(?\d(?:{_GAP}{{0,3}}\d){{6,16}}{_EXTENSION}"
)
_GROUPED = re.compile(
    r"(?<![\w.+/)=-])(?:[0-9][ \u00a0-]?)?\(\d{2,5}\)[ \u00a0-]?\d{2,4}(?:["
    r" \u00a0-]?\d{2,4}){1,3}(?![\w(%€$₽])"
)
# Without plus, cue or parentheses, grouped as people group numbers: only where the user's regions
# are known.
_NATIONAL = re.compile(
    r"(?<![\w.+/)=:,#\u2116$\u20ac\u00a3-])\(?\d{1,6}\)?(?:[ \u00a0./-]{1,2}\(?\d{1,9}\)?){1,5}"
    r"(?![\w(%\u20ac$\u20bd:/]|[.,-]\d| ?(?:[%\u20ac$]))"
)
_LOOSE = re.compile(rf"(?<![\w@])[(+\uff0b]?\d(?:{_GAP}{{0,3}}\d){{6,16}}{_EXTENSION}(?![\w@])")


@lru_cache(maxsize=1)
def _after_word() -> re.Pattern[str]:
    """A number behind a word for phones, with a word such as "number" between them or none."""
    phone, link = either(people_phrases("phone_words")), either(people("phone_links"))
    return re.compile(
        rf"(?<![^\W_]){phone}(?:[ ]?(?:{link}|\u2116))?[\s.:=/#\u2116\u2013-]{{1,4}}"
        rf"([(+\uff0b]?\d(?:{_GAP}{{0,3}}\d){{6,14}}{_EXTENSION})(?![\w@])",
        re.IGNORECASE,
    )


# All digits, in prose: a mobile number of the user's regions, with what is dialled before it there.
_BARE = re.compile(
    r"(?<![\w.+/)=:,#\u2116$\u20ac\u00a3-])\d{9,13}(?![\w(%\u20ac$\u20bd:/-]|[.,]\d| ?[%\u20ac$])"
)

# How sure a candidate is to be a phone number before the library has judged it.
_CUED, _WRITTEN, _HOME, _DIALLED = 0, 1, 2, 3
# A date, an address of a machine or a version: never a phone number for its grouping alone.
_DATE = re.compile(
    r"(?:19|20)\d\d[ ./-]\d\d?[ ./-]\d\d?(?!\d)|\d\d?[ ./-]\d\d?[ ./-](?:19|20)\d\d(?!\d)"
    r"|\d{1,3}(?:\.\d{1,3}){2,3}(?![.\d])"
)
_LEAST = 7  # digits of a number
_Candidate = tuple[int, int, int]
Phone = tuple[int, int, str]  # start, end, identity: E.164 with `;ext=` where there is an extension


def find_phones(text: str, key: str = "", regions: tuple[str, ...] = ()) -> tuple[Phone, ...]:
    """Phone numbers in `text` as `(start, end, identity)`, in order, not overlapping.

    Taken where the library calls them valid: numbers with a plus, anywhere; numbers without one
    under a phone-like key, directly after a phone-like word, grouped with parentheses as in `8
    (495) 123-45-67` and `(415) 555-2671`, or grouped exactly as one of `regions` (ISO 3166, the
    user's) groups its numbers: `06 12 34 56 78` for a Frenchman. With a plus and a phone-like key
    or word, or grouped like a phone number, a possible length is enough: test data is full of `+1
    555` numbers. Anything else is left, above all digits without a plus and without a cue.
    """
    hinted = is_phone_key(key)
    candidates: list[_Candidate] = []
    if "+" in text or "\uff0b" in text:
        candidates += [(*m.span(), _CUED if hinted else _WRITTEN) for m in _PLUS.finditer(text)]
    if hinted:
        candidates += [(*m.span(), _CUED) for m in _LOOSE.finditer(text)]
    else:
        candidates += _unhinted(text, regions)
    return _judge(text, candidates, regions) if candidates else ()


def _unhinted(text: str, regions: tuple[str, ...]) -> Iterator[_Candidate]:
    if "(" in text:
        yield from ((*m.span(), _WRITTEN) for m in _GROUPED.finditer(text))
    if has_digit_run(text):
        yield from ((*m.span(1), _CUED) for m in _after_word().finditer(text))
        if regions:
            yield from ((*m.span(), _HOME) for m in _NATIONAL.finditer(text))
            if any(map(str.isalpha, text)):
                yield from ((*m.span(), _DIALLED) for m in _BARE.finditer(text))


@lru_cache(maxsize=1024)
def phone_identity(value: str) -> str:
    """The E.164 form of a value that was once found as a phone number; the value itself where the
    library has changed its mind."""
    for start, end, identity in find_phones(value, "phone"):
        if (start, end) == (0, len(value)):
            return identity
    return value


_DIGIT_RUN = re.compile(rf"\d(?:{_GAP}{{0,3}}\d){{6}}")


def has_digit_run(text: str) -> bool:
    """Whether seven digits stand close enough together to be a phone number. Quick."""
    return _DIGIT_RUN.search(text) is not None


def _judge(text: str, candidates: list[_Candidate], regions: tuple[str, ...]) -> tuple[Phone, ...]:
    # A cued candidate goes before its uncued twin, a longer one before its own part.
    accepted: list[Phone] = []
    tried = (*regions, *REGIONS) if len(candidates) <= CANDIDATES_MAX else REGIONS[:2]
    for start, end, how in sorted(candidates, key=lambda c: (c[0], c[2], -c[1])):
        if accepted and start < accepted[-1][1]:
            continue
        # One more character lets the library refuse a number that runs on into letters or a percent
        # sign.
        window = text[start : end + 1]
        found = _library(window, how, regions if how >= _HOME else tried)
        accepted += [(start + s, start + e, i) for s, e, i in found]
    return tuple(accepted)


@lru_cache(maxsize=1024)
def _library(window: str, how: int, regions: tuple[str, ...]) -> list[Phone]:
    """What the library finds in a window, read as what led to it tells: in the first region that
    gives it a number."""
    from phonenumbers import Leniency

    if window[0] in "+\uff0b":
        # One that its country has not given out counts with a cue, or written as numbers are.
        is_likely = how == _CUED or _is_written_so(window)
        found = _matches(window, "", Leniency.VALID)
        return found or (_matches(window, "", Leniency.POSSIBLE) if is_likely else [])
    if how == _HOME:
        return _grouped_as_at_home(window, regions)
    if how == _DIALLED:
        return _dialled(window, regions)
    level = Leniency.VALID if how == _CUED else Leniency.STRICT_GROUPING
    tried = (_matches(window, region, level) for region in _regions(window, regions))
    return next(filter(None, tried), []) or (_with_plus(window) if how == _CUED else [])


def _with_plus(window: str) -> list[Phone]:
    """`8613812345678`: eleven digits and more that are a number once a plus stands before them."""
    from phonenumbers import Leniency

    if not 11 <= _digits(window) <= 15:
        return []
    found = _matches(f"+{window}", "", Leniency.VALID)
    return [(max(0, s - 1), e - 1, identity) for s, e, identity in found]


def _grouped_as_at_home(window: str, regions: tuple[str, ...]) -> list[Phone]:
    from phonenumbers import Leniency

    if _DATE.match(window) or _digits(window) < _LEAST:
        return []
    for region in regions:
        for found in _matches(window, region, Leniency.EXACT_GROUPING):
            if found[0] == 0 and found[1] >= len(window) - 1:
                return [found]
    return []


def _dialled(window: str, regions: tuple[str, ...]) -> list[Phone]:
    """`89161234567` of a Russian, `0612345678` of a Frenchman: digits alone are a mobile number
    where they begin with what is dialled first in a region, be it its country's code. In one that
    has no such prefix any number may be one, and only a cue tells."""
    from phonenumbers import (
        PhoneNumberFormat,
        PhoneNumberType,
        country_code_for_region,
        format_number,
        is_valid_number_for_region,
        ndd_prefix_for_region,
        number_type,
        parse,
    )

    number = re.match(r"\d+", window)
    if number is None:
        return []
    for region in regions:
        prefix = ndd_prefix_for_region(region, True)
        code = str(country_code_for_region(region))
        has_code = len(number[0]) > 10 and number[0].startswith(code)
        if not has_code and not (prefix in ("0", "8") and number[0].startswith(prefix)):
            continue
        parsed = parse(f"+{number[0]}" if has_code else number[0], region)
        is_mobile = number_type(parsed) == PhoneNumberType.MOBILE
        if is_mobile and is_valid_number_for_region(parsed, region):
            return [(0, number.end(), format_number(parsed, PhoneNumberFormat.E164))]
    return []


def _digits(text: str) -> int:
    return sum(map(str.isdigit, text))


def _is_written_so(window: str) -> bool:
    """Whether a number with a plus is grouped as people group phone numbers: ten digits or more, a
    country's code first, and groups that are not thousands. `+1 555 123 4567` is, `+12 345 678 901`
    and `+12345678901` are not."""
    country, *groups = re.findall(r"\d+", window)
    return (
        len(country) <= 3
        and len(groups) >= 2
        and sum(map(len, (country, *groups))) >= 10
        and {len(g) for g in groups} != {3}
    )


def _regions(window: str, regions: tuple[str, ...]) -> tuple[str, ...]:
    digits = "".join(filter(str.isdigit, window))
    first = ("RU",) if len(digits) == 11 and digits[0] in "78" else ()
    return tuple(dict.fromkeys((*first, *regions)))


def _matches(window: str, region: str, leniency: int) -> list[Phone]:
    """What the library takes for numbers of a region, of any with a plus where it is empty."""
    from phonenumbers import PhoneNumberFormat, PhoneNumberMatcher, format_number

    found: list[Phone] = []
    for match in PhoneNumberMatcher(window, region or None, leniency):
        identity = format_number(match.number, PhoneNumberFormat.E164)
        if match.number.extension:
            identity += f";ext={match.number.extension}"
        found.append((match.start, match.end, identity))
    return found


_ZONE = re.compile(
    r"(?<![\w/])(?:Africa|America|Asia|Atlantic|Australia|Europe|Indian|Pacific)/\w+"
)
_TAG = re.compile(r"[a-z]{2,3}[-_](?:[A-Za-z]{4}[-_])?([A-Za-z]{2})(?![A-Za-z])")
_USUAL = 2  # regions of a language without a region: English is not tried as spoken everywhere
_TERRITORY = "001"  # "the world", where CLDR does not say


@lru_cache(maxsize=64)
def of_language(tag: str) -> tuple[str, ...]:
    """`de-AT` → AT, then where German is mostly spoken."""
    named = _TAG.match(tag.strip())
    own = (named[1].upper(),) if named else ()
    language = of(tag)
    spoken = language.regions if tag.lower().startswith(language.tag) else ()
    return tuple(dict.fromkeys((*own, *spoken[:_USUAL])))


def of_zones(text: str) -> tuple[str, ...]:
    """The countries of the IANA time zones that `text` names: `Europe/Berlin` → DE."""
    if "/" not in text:
        return ()
    zones = dict.fromkeys(m[0] for m in _ZONE.finditer(text))
    return tuple(dict.fromkeys(r for z in list(zones)[:8] for r in _of_zone(z)))


@lru_cache(maxsize=512)
def of_phone(identity: str) -> tuple[str, ...]:
    """The country of a number in E.164; nothing for what has none."""
    if not identity.startswith("+"):
        return ()
    from phonenumbers import parse, region_code_for_number
    from phonenumbers.phonenumberutil import NumberParseException

    try:
        region = region_code_for_number(parse(identity.partition(";")[0]))
    except NumberParseException:
        return ()
    return (str(region),) if region and region != _TERRITORY else ()


@lru_cache(maxsize=64)
def _of_zone(zone: str) -> tuple[str, ...]:
    from babel.core import get_global

    region = get_global("zone_territories").get(zone, "")
    return (str(region),) if region and region != _TERRITORY else ()
