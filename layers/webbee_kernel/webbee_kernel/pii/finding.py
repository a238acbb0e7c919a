"""What of a text has to be masked: secrets, addresses, phone numbers, names, and what a deployment
adds."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from webbee_kernel.pii.documents import CHECKED, find_documents
from webbee_kernel.pii.emails import email_identity, find_emails
from webbee_kernel.pii.names import NameDetector, find_names
from webbee_kernel.pii.phones import find_phones
from webbee_kernel.pii.secrets import SECRET, find_secrets

# characters: longer texts are looked at anew, so the cache (1024 texts a process) stays within a
# few megabytes
CACHED_MAX = 4096
EMAIL, PHONE, NAME = "EMAIL", "PHONE", "NAME"
KINDS = (EMAIL, PHONE, NAME, SECRET, *CHECKED)

_KIND = "|".join(KINDS)
PLACEHOLDER = re.compile(rf"<({_KIND})_([1-9][0-9]{{0,8}})>")
# What a model may have made of a placeholder: refused in arguments even where it is not one.
LOOKALIKE = re.compile(rf"<\s*(?:{_KIND})_[0-9]+\s*>", re.IGNORECASE)

DECLARED = "x-pii:"
"""Begins the key of a value whose kind its author declared, in place of the key's own words."""

_MARK = len(DECLARED)

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
        if key[:_MARK] == DECLARED:
            return _declared(text, key.removeprefix(DECLARED).upper())
        return _cached(self, text, key) if len(text) <= CACHED_MAX else _found(self, text, key)


finder = lru_cache(maxsize=64)(Finder)
"""`Finder` with these arguments, the same for the same."""


def identity_of(kind: str, value: str) -> str:
    """What the spellings of one value share; of a phone number, see `phone_identity`."""
    if kind == EMAIL:
        return email_identity(value)
    if kind == NAME:
        return " ".join(value.split()).casefold()
    if kind == SECRET:
        return value
    return re.sub(r"[\W_]", "", value).upper()


def _declared(text: str, kind: str) -> tuple[Found, ...]:
    """The whole value, whatever it looks like: its author says what it is."""
    whole = text.strip()
    if not whole or PLACEHOLDER.search(whole) or kind not in KINDS:
        return ()
    start = text.index(whole)
    if kind == PHONE:
        found = [(s, e, PHONE, i) for s, e, i in find_phones(whole, "phone")]
        if [(s, e) for s, e, _, _ in found] == [(0, len(whole))]:
            return ((start, start + len(whole), PHONE, found[0][3]),)
    return ((start, start + len(whole), kind, identity_of(kind, whole)),)


def _all(finder: Finder, text: str, key: str) -> Iterator[Found]:
    yield from find_secrets(text, key)
    yield from ((s, e, EMAIL, email_identity(text[s:e])) for s, e in find_emails(text))
    if finder.kinds:
        yield from find_documents(text, key, finder.kinds)
    yield from ((s, e, PHONE, i) for s, e, i in find_phones(text, key, finder.regions))
    yield from ((s, e, NAME, identity_of(NAME, text[s:e])) for s, e in finder.names(text, key))


def _found(finder: Finder, text: str, key: str) -> tuple[Found, ...]:
    found = list(_all(finder, text, key))
    if not found:
        return ()
    taken = bytearray(len(text))
    for match in PLACEHOLDER.finditer(text) if "<" in text else ():
        taken[match.start() : match.end()] = b"\1" * len(match[0])
    kept: list[Found] = []
    for item in found:
        start, end = item[:2]
        if start < end and taken.find(1, start, end) < 0:
            kept.append(item)
            taken[start:end] = b"\1" * (end - start)
    return tuple(sorted(kept))


@lru_cache(maxsize=1024)
def _cached(finder: Finder, text: str, key: str) -> tuple[Found, ...]:
    return _found(finder, text, key)
