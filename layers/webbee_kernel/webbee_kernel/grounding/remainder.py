"""How many a list goes on: "and 7 more", "not in this list: 7"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .layout import ITEM
from .picking import Picking
from .places import Number
from .reading import Claim, Reading, among

NEAR, LABEL = 30, 4
"""Characters behind a number in which its noun stands; words of a label before one."""
_BULLET = re.compile(rf"^{ITEM.pattern}\S", re.M)
_HEAD = re.compile("^[ \\t]*\\|[^\\n]*\\n[ \\t]*\\|[ :|-]*$", re.M)


def labelled(reading: Reading, claim: Claim) -> bool:
    """Whether a number stands behind a colon."""
    return reading.text[: claim.start].rstrip(" *_")[-1:] == ":"


def continues(reading: Reading, claim: Claim) -> bool:
    """Whether the number says how many a list goes on ("and 7 more", "not in this list: 7")."""
    words = reading.language.words
    line = reading.text.rfind("\n", 0, claim.start) + 1
    end = min(claim.end + NEAR, reading.sentence(claim.start).end)
    before, after = reading.stems(line, claim.start), reading.stems(claim.end, end)
    if labelled(reading, claim) and len(before) <= LABEL and among(before, words.negation):
        return among(before, words.listing)
    idle = words.function - words.rest - words.source
    telling = after[next((n for n, s in enumerate(after) if s not in idle), 0) :][:2]
    over = among(before[-3:], words.more)
    return among(telling, words.rest) or (not over and among(before[-3:], words.rest))


def _in_prose(reading: Reading, claim: Claim) -> bool:
    """Whether a number stands in no item of a list."""
    first = reading.text.rfind("\n", 0, claim.start) + 1
    return claim.kind == "number" and not _BULLET.match(reading.text, first)


def goes_on(picking: Picking, claim: Claim, values: Sequence[int]) -> bool | None:
    """Whether "and 7 more", behind a list that the reply shows, is wrong."""
    reading = picking.reading
    shown, told = _shown(reading, claim)
    sizes, named = picking.sizes, picking.named
    others = (c for c in reading.claims if c is not claim and _in_prose(reading, c))
    told |= {c.mention.value for c in others}
    if not sizes:
        return None
    if named and not shown and _alone(reading, claim):
        return all(n - named not in values for n in sizes)
    if not shown:  # a list of another make
        return False if max(values) < max(sizes) else None
    return {n - m for n in sizes for m in told}.isdisjoint(values)


def _alone(reading: Reading, claim: Claim) -> bool:
    """Whether a number is the one value of a line that is the last, under others."""
    first = reading.text.rfind("\n", 0, claim.start) + 1
    own = [c for c in reading.claims if c.start >= first]
    return len(own) == 1 and "\n" in reading.text[:first].strip()


def is_left(picking: Picking, claim: Claim, values: Sequence[int]) -> bool:
    """Whether a number under a list is how many rows of it the reply does not show, whatever its
    words are."""
    reading = picking.reading
    if "\n" not in reading.text[: claim.start] or not _in_prose(reading, claim):
        return False
    told = {picking.named, *_shown(reading, claim)[1]} if max(picking.sizes, default=0) else ()
    return any(n - m in values for n in picking.sizes for m in told if m)


def _shown(reading: Reading, claim: Claim) -> tuple[int, set[Number]]:
    """How many items the lists of a reply have; with those inside others, and without."""
    own = reading.sentence(claim.start)
    text = reading.text[: own.start] + reading.text[own.end :]
    bullets = [len(line) - len(line.lstrip()) for line in _BULLET.findall(text)]
    shown = len(bullets) - 2 * len(_HEAD.findall(text))  # a table's head and the line below it
    return shown, {shown, bullets.count(min(bullets, default=0))}
