"""Where national phone numbers may be of: told by the user's language, by time zones and by other
phone numbers of the data."""

import re
from functools import lru_cache

from webbee_kernel.language import of

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
