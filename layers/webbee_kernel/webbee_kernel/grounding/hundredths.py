"""Whole amounts of money that a reply tells as hundredths: 12900 as 129.00 euros.

Services keep amounts in minor units, and most say so in no key. Both readings of a whole amount are
possible; the reply's own amounts decide which fields are held against it so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from .. import language
from .arithmetic import kind_of
from .evidence import Evidence, Flag
from .places import Place, settle


def in_hundredths(evidence: Evidence, flags: Sequence[Flag]) -> frozenset[str]:
    """The fields whose whole amounts may be hundredths, as an amount is flagged: those whose key
    says that they are money, and those of no other meaning that hold such an amount, where the data
    names a currency."""
    told = "; ".join(flag.word for flag in flags if flag.kind == "money")
    if not told or evidence.minor:
        return frozenset()
    held = _holding(evidence, told) if evidence.index.currencies else frozenset()
    whole = _whole(evidence.index.figures)
    return frozenset(p.key for p in whole if p in held or _is_money(p.key))


def _holding(evidence: Evidence, told: str) -> frozenset[Place]:
    """The fields that hold amounts of a text as hundredths."""
    read = (m.readings for m in language.numbers(told, evidence.language))
    numbers = evidence.index.numbers
    held = (numbers.get(settle(100 * one), ()) for one in chain.from_iterable(read))
    return frozenset(chain.from_iterable(held))


def _whole(figures: Sequence[Place]) -> Iterator[Place]:
    """The whole figures of results that may be amounts of money."""
    for place in figures:
        other = language.key_roles(place.key) & {"id", "moment", "minor", "rate"}
        known = _is_money(place.key) or not (other or kind_of(place.key))
        if place.call >= 0 and place.key and type(place.value) is int and known:
            yield place


def _is_money(key: str) -> bool:
    return "money" in language.key_roles(key)
