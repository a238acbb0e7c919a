"""Finds what has to be masked in a text: secrets, addresses, phone numbers, names, documents."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from webbee_kernel.pii.contacts import find_emails, find_phones, phone_identity
from webbee_kernel.pii.documents import DOCUMENT_KINDS, find_documents
from webbee_kernel.pii.names import NameDetector, find_names
from webbee_kernel.pii.prose import Span
from webbee_kernel.pii.secrets import find_secrets

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


def _candidates(recognizer: Recognizer, text: str, key: str) -> Iterator[Finding]:
    """Candidates, the surest kind first, a longer one before its part."""

    def of(kind: str, spans: Iterable[Span]) -> Iterator[Finding]:
        return ((s, e, kind, identity_of(kind, text[s:e])) for s, e in spans)

    yield from of(SECRET, find_secrets(text, key))
    yield from of(EMAIL, find_emails(text))
    for kind, span in find_documents(text, key, recognizer.kinds) if recognizer.kinds else ():
        yield from of(kind, [span])
    yield from ((s, e, PHONE, i) for s, e, i in find_phones(text, key, recognizer.regions))
    yield from of(NAME, sorted(recognizer.names(text, key), key=lambda span: (span[0], -span[1])))


def _find(recognizer: Recognizer, text: str, key: str) -> tuple[Finding, ...]:
    accepted: list[Finding] = []
    found = list(_candidates(recognizer, text, key))
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
