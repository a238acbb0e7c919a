"""The files of languages: which there are, and each as it is. At the bottom of this room: what the
file of a language holds (`model`) stands above, and `files.of` gives it its type."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final

FIRST: Final = ("en", "ru")
"""What is tried first where nothing else decides: English is also what an unknown language gets."""
_FILE = re.compile(r"[a-z]{2}\.py")


@lru_cache(maxsize=1)
def tags() -> tuple[str, ...]:
    """The tags of all languages, English and Russian first."""
    found = {p.stem for p in Path(__file__).parent.iterdir() if _FILE.fullmatch(p.name)}
    return (*FIRST, *sorted(found.difference(FIRST)))


@lru_cache(maxsize=64)
def loaded(tag: str) -> Any:
    """The `Language` of a tag such as `ru`, `ru-RU` or `de_AT`, or of the first one of an
    `Accept-Language`; English where it has no file."""
    short = re.split(r"[-_,;]", tag.strip().lower(), maxsplit=1)[0]
    name = short if short in tags() else FIRST[0]
    return import_module(f".{name}", __package__).LANGUAGE


@lru_cache(maxsize=64)
def tag_for_script(script: str) -> str:
    """The first language written in `script`, or nothing."""
    return next((t for t in tags() if loaded(t).script == script), "")
