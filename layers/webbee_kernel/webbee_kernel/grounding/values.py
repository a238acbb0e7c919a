"""One value of a reply against the evidence: shown by a field, or following from what is shown.

Exact text (an address, a link, a code, a quote) must stand in the evidence; a figure must be shown
or follow by the arithmetic of `closure`; a date must be shown or be counted from one. What may be
said without standing anywhere (`Values.open`) is never wrong for not being found: small whole
numbers and numbers in words, ordinals, hours, months, weekdays, relative days.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from .. import language
from .dates import Dates
from .evidence import Source
from .figures import LONGEST, Ground, shown
from .places import fold
from .reading import Claim, among, is_label

SHORT_CODE, LABEL = 3, 3
"""A code of so few characters (Q3, A4) names too much to be looked up; words of a field's name."""
_HIDDEN = re.compile(r"(?:[xX]{2,}|[*\u2022\u00b7.\u2026]+)[ -]?(\d{3,6})")
"""The last digits of what is hidden: xxxx-4421."""


class Values(Dates):
    """Asks the index about the values of one reply."""

    def ground(self, claim: Claim) -> Ground | None:
        """The ground of a value, None where nothing shows it; one method a kind."""
        asked: Ground | None = getattr(self, f"_{claim.kind}", self._text)(claim)
        return asked

    def open(self, claim: Claim) -> bool:
        """Whether a value may be said though nothing shows it."""
        mention = claim.mention
        if claim.kind == "number":
            return self.may_count(claim)
        if claim.kind == "time":
            return ":" not in claim.token and "." not in claim.token
        if claim.kind == "date":
            return bool(mention.relative)
        if claim.kind in ("code", "file", "hash"):
            return len(claim.token.strip("#")) <= SHORT_CODE
        if claim.kind == "weekday":
            return self._beside(claim) is None
        return claim.kind in ("ordinal", "month", "period", "field")

    def _text(self, claim: Claim, glue: str = "-.") -> Ground | None:
        token = claim.token.strip(" .,;:!?*_\u2026")
        bare = token.lstrip("#vV\u2116 ")
        for form in dict.fromkeys((claim.token, token, bare, f"v{bare}")):
            if places := self.index.find(form, glue):
                return Ground(places)
        if hidden := _HIDDEN.fullmatch(bare):
            return shown(self._ending(hidden[1]), "formatted")
        return self._loose(bare) if len(bare) < LONGEST else None

    def _loose(self, bare: str) -> Ground | None:
        return self.index.once(f"loose {bare}", lambda: self._near(bare))

    def _near(self, bare: str) -> Ground | None:
        pattern = re.escape(fold(bare)).replace(r"\-", "[ -]?").replace(r"\ ", "[ -]?")
        found = re.search(rf"(?<![^\W_]){pattern}(?![^\W_])", self.index.text)
        return Ground([self.index.place(found.start())], "formatted") if found else None

    def _email(self, claim: Claim) -> Ground | None:
        return shown(self.index.find(claim.token, ".+-_@"))

    def _url(self, claim: Claim) -> Ground | None:
        return shown(self.index.find(claim.token.rstrip("/"), "/-?=&%#._~:"))

    def _placeholder(self, claim: Claim) -> Ground | None:
        return shown(self.index.find(claim.token))

    def _field(self, claim: Claim) -> Ground | None:
        return Ground(claim.mention)

    def _hash(self, claim: Claim) -> Ground | None:
        held = self.index.numbers.get(int(claim.token), ()) if claim.token.isdigit() else ()
        return shown(held) or shown(self.index.find(claim.token, "-."))

    def _phone(self, claim: Claim) -> Ground | None:
        digits = "".join(filter(str.isdigit, claim.token))
        held = self.index.numbers.get(int(digits), ())
        return shown(held) or shown(self._ending(digits), "formatted")

    def _quote(self, claim: Claim) -> Ground | None:
        """The fields in which a quote stands, or all its words in any form."""
        spoken = self.reading.language
        number = int(claim.token) if claim.token.isdecimal() else -1
        if found := shown(self.index.numbers.get(number, ())) or self._text(claim, ""):
            return found
        tokens = [t.text for t in language.tokens(claim.token)]
        known = [t for t in tokens if spoken.stem(t) not in spoken.words.function]
        if self._is_label(claim, tokens) or not known:
            return Ground([])
        held = [self.index.word(t, spoken) for t in known]
        return Ground([p for places in held for p in places], "formatted") if all(held) else None

    def _is_label(self, claim: Claim, tokens: list[str]) -> bool:
        """Whether a quote names a field or a state, or what to type: a few words written as no
        title is, or one with the sign of a label behind it."""
        if any(map(str.isdigit, claim.token)):
            return False
        small = all(t.islower() for t in tokens) and len(tokens) <= LABEL
        before = self.reading.stems(claim.start - 24, claim.start)[-1:]
        words = self.reading.language.words
        return (
            small
            or is_label(self.reading.text, claim.end)
            or among(before, words.label, words.drafting)
        )


def sources(grounds: Iterable[tuple[Claim, Ground]]) -> Iterator[Source]:
    """Where the values of a reply come from, in order."""
    for claim, ground in sorted(grounds, key=lambda pair: pair[0].start):
        place = ground.places[0] if ground.places else None
        if place is None:
            yield Source(claim.start, claim.end, -1, "", "derived", ground.formula)
        else:
            how = "message" if place.path == "message" else ground.how
            yield Source(claim.start, claim.end, place.call, place.path, how, ground.formula)
