"""One value of a reply against the evidence: shown by a field, or following from what is shown.

Exact text (an address, a link, a code, a quote) must stand in the evidence; a figure must be shown
or follow; a date must be shown or be counted from one. What may be said without standing anywhere
(`Values.is_open`) is never wrong for not being found: small whole numbers and numbers in words,
ordinals, hours, months, weekdays, relative days.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from .. import language
from .dates import Dates
from .evidence import Source
from .figures import KINDS, Figures, Ground, moment, shown
from .index import Index, shape_of
from .places import fold
from .reading import Claim, Reading

SHORT_CODE = 3
"""A code of so few characters (Q3, A4) names too much to be looked up."""
_GLUE = {"email": ".+-_@", "url": "/-?=&%#._~:", "placeholder": "", "quote": ""}
"""With what an address, a link and others go on; any other text with `-.`."""
_HIDDEN = re.compile(r"(?:[xX]{2,}|[*\u2022\u00b7.\u2026]+)[ -]?(\d{3,6})")
"""The last digits of what is hidden: xxxx-4421."""


class Values:
    """Asks the index about the values of one reply."""

    def __init__(self, reading: Reading, index: Index, now: str) -> None:
        self._reading, self._index = reading, index
        self.figures = Figures(reading, index, moment(now))
        self._dates = dates = Dates(self.figures)
        figure = self.figures.ground
        self._of_kind: dict[str, Callable[[Claim], Ground | None]] = {
            "number": figure, "money": figure, "percent": figure,
            "time": dates.time, "date": dates.day, "moment": dates.moment, "month": dates.month,
            "weekday": dates.weekday, "ordinal": dates.ordinal, "quote": self._quote,
            "period": lambda _: Ground([], "derived", "period"),
            "field": lambda claim: Ground(claim.mention),
            "phone": lambda claim: self._digits("".join(filter(str.isdigit, claim.token))),
            "hash": lambda claim: self._digits(claim.token) or self._text(claim),
        }  # fmt: skip

    def ground(self, claim: Claim) -> Ground | None:
        """The ground of a value, None where nothing shows it."""
        return self._of_kind.get(claim.kind, self._text)(claim)

    def is_open(self, claim: Claim) -> bool:
        """Whether a value may be said though nothing shows it."""
        if claim.kind in KINDS:
            return self.figures.may_count(claim)
        if claim.kind == "time":
            lengths = not self._index.times and self.figures.measures.has("time")  # 5:40 a km
            measured = lengths or self.figures.unit(claim)
            is_clock = any(sign in claim.token for sign in ":.")
            return bool(measured) or not is_clock or claim.token.count(":") > 1  # 2:14:33
        if claim.kind in ("code", "file", "hash"):
            token = claim.token.strip("#")
            return len(token) <= SHORT_CODE or shape_of(fold(token)) not in self._index.shapes
        if claim.kind == "weekday":
            return self._dates.beside(claim) is None
        return claim.kind in ("ordinal", "month", "length")

    def _text(self, claim: Claim) -> Ground | None:
        """The fields in which a text stands, with any space or hyphen between its parts."""
        glue = _GLUE.get(claim.kind, "-.")
        if claim.kind in ("email", "url"):
            return shown(self._index.find(claim.token.rstrip("/"), glue), "verbatim")
        token = claim.token.strip(" .,;:!?*_\u2026")
        bare = token.lstrip("#vV\u2116 ")
        for spelled in dict.fromkeys((claim.token, token, bare, f"v{bare}")):
            if places := self._index.find(spelled, glue):
                return Ground(places)
        if hidden := _HIDDEN.fullmatch(bare):
            return shown(self.figures.ending(hidden[1]))
        return self.figures.grouped(claim)

    def _digits(self, digits: str) -> Ground | None:
        held = self._index.numbers.get(int(digits), ()) if digits.isdecimal() else ()
        return shown(held, "verbatim") or shown(self.figures.ending(digits))

    def _quote(self, claim: Claim) -> Ground | None:
        """The fields in which a quote stands, or all its words in any form."""
        spoken = self._reading.language
        if found := self._digits(claim.token) or self._text(claim):
            return found
        tokens = [t.text for t in language.tokens(claim.token)]
        known = [t for t in tokens if spoken.stem(t) not in spoken.words.function]
        if not known:
            return Ground([])
        held = [self._index.word(t, spoken) for t in known]
        return Ground([p for places in held for p in places], "formatted") if all(held) else None


def sources(grounds: Iterable[tuple[Claim, Ground]]) -> Iterator[Source]:
    """Where the values of a reply come from, in order."""
    for claim, ground in sorted(grounds, key=lambda pair: pair[0].start):
        place = ground.places[0] if ground.places else None
        if place is None:
            yield Source(claim.start, claim.end, -1, "", "derived", ground.formula)
        else:
            how = "message" if place.path == "message" else ground.how
            yield Source(claim.start, claim.end, place.call, place.path, how, ground.formula)
