"""What of a text has to be masked: secrets, addresses, phone numbers, names, and what a deployment
adds."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from webbee_kernel.pii.documents import CHECKED, find_documents
from webbee_kernel.pii.emails import find_emails
from webbee_kernel.pii.names import NameDetector, find_names
from webbee_kernel.pii.phones import find_phones, phone_identity
from webbee_kernel.pii.prose import Span
from webbee_kernel.pii.secrets import find_secrets

# characters: longer texts are looked at anew, so the cache (1024 texts a process) stays within a
# few megabytes
CACHED_MAX = 4096
EMAIL, PHONE, NAME, SECRET = "EMAIL", "PHONE", "NAME", "SECRET"
KINDS = (EMAIL, PHONE, NAME, SECRET, *CHECKED)

_KIND = "|".join(KINDS)
PLACEHOLDER = re.compile(rf"<({_KIND})_([1-9][0-9]{{0,8}})>")
# What a model may have made of a placeholder: refused in arguments even where it is not one.
LOOKALIKE = re.compile(rf"<\s*(?:{_KIND})_[0-9]+\s*>", re.IGNORECASE)

DECLARED = "x-pii:"
"""Begins the key of a value whose kind its author declared, in place of the key's own words."""

Found = tuple[int, int, str, str]  # start, end, kind, identity


@dataclass(frozen=True, slots=True, eq=False)
class Finder:
    """What is looked for; `finder` gives the same one for the same. `regions` (ISO 3166) are where
    national phone numbers may be of: the user's; `kinds` what is masked besides addresses, phones
    and names: `IBAN`, `CARD`, …"""

    names: NameDetector = find_names
    regions: tuple[str, ...] = ()
    kinds: frozenset[str] = frozenset()

    def __call__(self, text: str, key: str) -> tuple[Found, ...]:
        """Everything to mask in `text`, in order, not overlapping: a secret wins over an address,
        this over a phone, a phone over a name, a placeholder over all."""
        if key.startswith(DECLARED):
            return _declared(text, key.removeprefix(DECLARED).upper())
        return _cached(self, text, key) if len(text) <= CACHED_MAX else _found(self, text, key)


finder = lru_cache(maxsize=64)(Finder)
"""`Finder` with these arguments, the same for the same."""


def identity_of(kind: str, value: str) -> str:
    """What the spellings of one value share; of a phone number, see `phone_identity`."""
    if kind in (SECRET, PHONE):
        return value
    if kind in (EMAIL, NAME):  # providers that tell `A@x` from `a@x` are not in use
        return " ".join(value.split()).casefold()
    return re.sub(r"[\W_]", "", value).upper()


def _declared(text: str, kind: str) -> tuple[Found, ...]:
    """The whole value, whatever it looks like: its author says what it is."""
    whole = text.strip()
    if not whole or PLACEHOLDER.search(whole) or kind not in KINDS:
        return ()
    start = text.index(whole)
    identity = phone_identity(whole) if kind == PHONE else identity_of(kind, whole)
    return ((start, start + len(whole), kind, identity),)


def _all(finder: Finder, text: str, key: str) -> Iterator[Found]:
    """What may be masked, the surest first, a longer one before its part."""

    def of(kind: str, spans: Iterable[Span]) -> Iterator[Found]:
        return ((s, e, kind, identity_of(kind, text[s:e])) for s, e in spans)

    yield from of(SECRET, find_secrets(text, key))
    yield from of(EMAIL, find_emails(text))
    for kind, span in find_documents(text, key, finder.kinds) if finder.kinds else ():
        yield from of(kind, [span])
    yield from ((s, e, PHONE, i) for s, e, i in find_phones(text, key, finder.regions))
    yield from of(NAME, sorted(finder.names(text, key), key=lambda span: (span[0], -span[1])))


def _found(finder: Finder, text: str, key: str) -> tuple[Found, ...]:
    kept: list[Found] = []
    found = list(_all(finder, text, key))
    taken = bytearray(len(text) if found else 0)
    for match in PLACEHOLDER.finditer(text) if found and "<" in text else ():
        taken[match.start() : match.end()] = b"\1" * len(match[0])
    for item in found:
        start, end = item[:2]
        if start < end and taken.find(1, start, end) < 0:
            kept.append(item)
            taken[start:end] = b"\1" * (end - start)
    return tuple(sorted(kept))


_cached = lru_cache(maxsize=1024)(_found)
