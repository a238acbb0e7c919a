"""What `phonenumbers` says of a candidate. Imported, and the library with it (about 30 ms), when
the first one turns up."""

import re
from collections.abc import Sequence
from functools import lru_cache

import phonenumbers
from phonenumbers import (
    Leniency,
    PhoneNumberMatch,
    PhoneNumberMatcher,
    PhoneNumberType,
    number_type,
)

from webbee_kernel.pii.phones import PLUS, Phone, Sign

# A date, an address of a machine or a version: never a phone number for its grouping alone.
_DATE = re.compile(
    r"(?:19|20)\d\d[ ./-]\d\d?[ ./-]\d\d?(?!\d)|\d\d?[ ./-]\d\d?[ ./-](?:19|20)\d\d(?!\d)"
    r"|\d{1,3}(?:\.\d{1,3}){2,3}(?![.\d])"
)
_SHORT = 11  # digits of the shortest that is read with its country's code and no plus
_LENIENCY = {
    Sign.CUE: Leniency.VALID,
    Sign.WRITTEN: Leniency.STRICT_GROUPING,
    Sign.HOME: Leniency.EXACT_GROUPING,
}


@lru_cache(maxsize=1024)
def parse_candidate(window: str, sign: Sign, regions: tuple[str, ...]) -> Sequence[Phone]:
    """The numbers in a window, read as what led to it tells: in the first region that gives it
    one."""
    if window[0] in PLUS:
        # One that its country has not given out counts with a cue, or written as numbers are.
        is_likely = sign is Sign.CUE or _has_phone_grouping(window)
        found = _matches(window)
        return found or (_matches(window, leniency=Leniency.POSSIBLE) if is_likely else [])
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
    digits = window if window[-1].isdigit() else window[:-1]
    for region in regions:
        for match in PhoneNumberMatcher(_international(digits, region), region):
            is_mobile = number_type(match.number) == PhoneNumberType.MOBILE
            if is_mobile and phonenumbers.is_valid_number_for_region(match.number, region):
                return [(0, len(digits), _identity(match))]
    return []


def _international(digits: str, region: str) -> str:
    """The digits as the library reads them; nothing where they do not begin so."""
    code = str(phonenumbers.country_code_for_region(region))
    if len(digits) >= _SHORT and digits.startswith(code):
        return f"+{digits}"
    prefix = phonenumbers.ndd_prefix_for_region(region, True)
    return digits if prefix in ("0", "8") and digits.startswith(prefix) else ""


def _has_phone_grouping(window: str) -> bool:
    """Whether a number with a plus is grouped as people group phone numbers, in groups that are not
    thousands: `+1 555 123 4567` is, `+12 345 678 901` and `+12345678901` are not."""
    groups = re.findall(r"\d+", window)[1:]
    return len(groups) >= 2 and {len(g) for g in groups} != {3}


def _matches(window: str, region: str = "", leniency: int = Leniency.VALID) -> list[Phone]:
    """What the library takes for numbers of a region, of any with a plus where it is empty."""
    found = PhoneNumberMatcher(window, region or None, leniency)
    return [(match.start, match.end, _identity(match)) for match in found]


def _identity(match: PhoneNumberMatch) -> str:
    extension = f";ext={match.number.extension}" if match.number.extension else ""
    return phonenumbers.format_number(match.number, phonenumbers.PhoneNumberFormat.E164) + extension
