"""The raw language files (`xx.json` in this folder) and CLDR's data; `model` gives them types."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from babel import Locale

DEFAULT_TAGS: Final = ("en", "ru")
"""Tried first where nothing else decides; the first one is the fallback for unknown languages."""
FOLDER: Final = Path(__file__).parent
_FILE = re.compile(r"[a-z]{2}\.json")


@lru_cache(maxsize=1)
def tags() -> tuple[str, ...]:
    """The tags of all languages, English and Russian first."""
    found = {p.stem for p in FOLDER.iterdir() if _FILE.fullmatch(p.name)}
    return (*DEFAULT_TAGS, *sorted(found.difference(DEFAULT_TAGS)))


@lru_cache(maxsize=64)
def known_tag(tag: str) -> str:
    """The language of a tag such as `ru`, `ru-RU` or `de_AT`, or of the first one of an
    `Accept-Language`; English where it has no file."""
    short = re.split(r"[-_,;]", tag.strip().lower(), maxsplit=1)[0]
    return short if short in tags() else DEFAULT_TAGS[0]


@lru_cache(maxsize=16)
def contents(tag: str) -> dict[str, Any]:
    """The parsed file of a language, loaded on first use (about 1 ms)."""
    found: dict[str, Any] = json.loads((FOLDER / f"{tag}.json").read_bytes())
    return found


def script_of_language(tag: str) -> str:
    """The script that a language is written in."""
    return str(contents(tag).get("script", "latin"))


@lru_cache(maxsize=64)
def tag_for_script(script: str) -> str:
    """The first language written in `script`, or nothing."""
    return next((t for t in tags() if script_of_language(t) == script), "")


@lru_cache(maxsize=32)
def locale(tag: str) -> Locale:
    """Babel's locale of a language, or English where the built layer lacks it. The first call
    imports Babel: 6 ms, and 3 to 10 ms for the data of a language."""
    from babel import Locale, UnknownLocaleError

    try:
        return Locale.parse(tag)
    except UnknownLocaleError:
        return Locale.parse("en")
