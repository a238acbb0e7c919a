"""What JSON keys and the words for people and things say, in all languages together."""

from __future__ import annotations

import json
import re
import unicodedata
from functools import lru_cache

from .model import of
from .resources import FOLDER, tags
from .stems import fold


@lru_cache(maxsize=64)
def people(field: str) -> frozenset[str]:
    """The words that all languages together give for a field of `People`, folded."""
    return frozenset(fold(w) for words in _fields(field) for w in words)


@lru_cache(maxsize=64)
def people_keys(field: str) -> frozenset[str]:
    """As `people`, folded as the words of JSON keys are: without accents too."""
    return frozenset(key_fold(w) for words in _fields(field) for w in words)


@lru_cache(maxsize=16)
def people_phrases(field: str) -> tuple[str, ...]:
    """The words and phrases of a field as written, of all languages, the longest first."""
    found = {w for words in _fields(field) for w in words}
    return tuple(sorted(found, key=lambda w: (-len(w), w)))


def _fields(field: str) -> list[tuple[str, ...]]:
    values = [getattr(of(t).people, field) for t in tags()]
    return [v if isinstance(v, tuple) else tuple(v.split()) for v in values]


@lru_cache(maxsize=4096)
def key_fold(word: str) -> str:
    """A word of a JSON key without letter case and accents: `Prénom` and `prenom` are one."""
    plain = unicodedata.normalize("NFD", word.casefold())
    return "".join(c for c in plain if not unicodedata.combining(c))


@lru_cache(maxsize=1)
def title_keys() -> tuple[str, ...]:
    """JSON keys whose value names a thing (`title`, `subject`, …) in all languages, folded, the
    most telling first."""
    return tuple(
        dict.fromkeys(key_fold(k) for t in tags() for k in of(t).people.title_keys.split())
    )


_PARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\W\d_]+")


@lru_cache(maxsize=4096)
def key_roles(key: str) -> frozenset[str]:
    """The roles of a key: `id`, `rank`, `paging`, `money`, `moment`, `total`, `rate`,
    `level` (of which no sum tells anything), `minor`.

    A key has a role when one of its words does: `page_size` is `paging`, `totalCount` is `total`.
    """
    words = {word.lower() for word in _PARTS.split(key)}
    return frozenset(role for role, known in _roles().items() if not known.isdisjoint(words))


@lru_cache(maxsize=1)
def _roles() -> dict[str, frozenset[str]]:
    lists = json.loads((FOLDER / "json_keys.json").read_bytes())
    return {role: frozenset(" ".join(lines).split()) for role, lines in lists.items()}
