"""What the readers of one reply's values share: the reply, the index, and how a ground looks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from .derive import Derived
from .index import Index
from .places import Place
from .reading import Claim, Reading, among

_DIGITS = re.compile(r"\d+")
CODE = 3
"""Letters of a code for a place or a currency."""
_AROUND = re.compile(r"\w[\w./-]*\w")


@dataclass(slots=True)
class Ground:
    """Why a value stands: the fields that show it, how, and the formula of a derived one."""

    places: Sequence[Place]
    how: str = "verbatim"
    formula: str = ""


def shown(places: Sequence[Place], how: str = "verbatim") -> Ground | None:
    """The ground that fields give; none where there are none."""
    return Ground(places, how) if places else None


class Asking:
    """One reply and the index it is held against."""

    def __init__(self, reading: Reading, index: Index, derived: Derived, now: str) -> None:
        self.reading, self.index, self.derived = reading, index, derived
        self.words = reading.language.words
        derived.percents(
            c.mention.value for c in reading.claims if c.kind == "percent" and c.mention.value
        )
        at = moment(now)
        self.today = at.date() if at else None

    def said(self, claim: Claim, role: frozenset[str]) -> bool:
        """Whether a word of a role stands right before a value."""
        return among(self.reading.stems(claim.start - 18, claim.start)[-3:], role)

    def ending(self, digits: str) -> list[Place]:
        """The fields whose digits end like these: a phone without its country, a card's last
        four."""
        held = ((p, "".join(_DIGITS.findall(str(p.value)))) for p in self.index.strings())
        return [place for place, own in held if own.endswith(digits[-10:])]

    def written(self, claim: Claim) -> Ground | None:
        """The fields in which a value stands as it is, or with what stands around it; a year also
        as the year of a date."""
        if re.fullmatch(r"(?:19|20)\d\d", claim.token):
            dates = self.index.dates.values()
            years = [p for held in dates for y, p in held if y == int(claim.token)]
            if places := years or self.index.find(claim.token):
                return Ground(places)
        around = _AROUND.match(self.reading.text, self.reading.text.rfind(" ", 0, claim.start) + 1)
        forms = {claim.token: None, around.group() if around else claim.token: None}
        told = [form for form in forms if len(form) >= len(claim.token) and _DIGITS.search(form)]
        return shown([place for form in told for place in self.index.find(form, "-.")])

    def name(self, words: Sequence[str]) -> Ground | None:
        """The fields that hold the words of a name, all in one record, in any of their forms; a
        word may also be a key's."""
        spoken, held = self.reading.language, []
        for word in words:
            if places := self.index.word(word, spoken) or self.abbreviated(word):
                held.append(places)
            elif not self.index.has_key(word, spoken):
                return None
        if not held:
            return Ground([]) if words else None
        common = set.intersection(*({p.owner for p in places} for places in held))
        return shown([p for p in held[-1] if p.owner in common])

    def abbreviated(self, word: str) -> list[Place]:
        """The fields whose whole is a code in capitals that a name begins with: AMS, Amsterdam."""
        begun = self.index.word(word[:CODE], self.reading.language) if len(word) > CODE else []
        return [p for p in begun if p.value == word[:CODE].upper()]


def moment(now: str) -> datetime | None:
    """The moment that a text of ISO 8601 names."""
    try:
        return datetime.fromisoformat(now).astimezone(UTC) if now else None
    except ValueError:
        return None
