"""One value of a reply against the evidence: shown by a field, or following from what is shown.

Exact text (an address, a link, a code, a quote) must stand in the evidence; a figure must be shown
or follow by the arithmetic of `closure`; a date must be shown or be counted from one. What may be
said without standing anywhere (`Values.open`) is never wrong for not being found: small whole
numbers and numbers in words, ordinals, hours, months, weekdays, relative days.
"""

from __future__ import annotations

import re

from .. import language
from .dates import Dates
from .figures import LONGEST, Ground, shown
from .lasting import AROUND, clock_around, of_clock, of_parts
from .places import fold
from .reading import Claim, Sentence, among

SHORT_CODE, LABEL, NEAR = 3, 3, 8
"""A code of so few characters (Q3, A4) names too much to be looked up; words of a field's name;
characters behind it in which its value begins."""


class Values(Dates):
    """Asks the index about the values of one reply."""

    def ground(self, claim: Claim) -> Ground | None:
        """The ground of a value, None where nothing shows it; one method a kind."""
        asked: Ground | None = getattr(self, f"_{claim.kind}", self._text)(claim)
        return asked or (self._lasts(claim) if claim.kind == "number" else None)

    def _lasts(self, claim: Claim) -> Ground | None:
        """The length of time of which a number tells a part."""
        around = Sentence(claim.start - AROUND, claim.end + AROUND, "")
        near = [c for c in self.reading.inside(around) if c.kind == "number" and c.mention.value]
        parts = of_parts(claim, near, self.unit) if claim in near else 0
        told = [parts, *of_clock(clock_around(self.reading.text, claim))]
        return self.in_parts([seconds for seconds in told if seconds])

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
        return self._loose(bare) if len(bare) < LONGEST else None

    def _loose(self, bare: str) -> Ground | None:
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
        spoken, words = self.reading.language, self.words
        tokens = [t.text for t in language.tokens(claim.token)]
        stems = [spoken.stem(token) for token in tokens]
        if (words.yes | words.no | words.yes_filler | words.no_filler).issuperset(stems):
            return Ground([])  # what the user is asked to say
        if found := self._quoted_word(claim, stems) or self._text(claim, ""):
            return found
        if self._is_label(claim, tokens):
            return Ground([])
        held = [self.index.word(t, spoken) for t in tokens if spoken.stem(t) not in words.function]
        return Ground([p for places in held for p in places], "formatted") if all(held) else None

    def _is_label(self, claim: Claim, tokens: list[str]) -> bool:
        """Whether a quote is the name of a field or a state, in the reply's own language: a few
        small words, or what stands behind "field"."""
        before = self.reading.stems(claim.start - 24, claim.start)[-1:]
        small = all(t.islower() for t in tokens) and not any(map(str.isdigit, claim.token))
        named = among(before, self.words.label, self.words.drafting)  # or what is to be typed
        return named or self._heads_a_value(claim, tokens) or (small and len(tokens) <= LABEL)

    def _heads_a_value(self, claim: Claim, tokens: list[str]) -> bool:
        """Whether one word in quotes stands between a name and a value: "Mill: `Price` 40"."""
        line = self.reading.text.rfind("\n", 0, claim.start) + 1
        before = any(map(str.isalnum, self.reading.text[line : claim.start]))
        end = min(claim.end + NEAR, self.reading.sentence(claim.start).end)
        behind = Sentence(claim.end, end, "")
        values = [c for c in self.reading.inside(behind) if c.start >= claim.end]
        between = self.reading.text[claim.end : values[0].start] if values else "-"
        alone = len(tokens) == 1 and not any(map(str.isdigit, claim.token))
        return alone and before and not any(map(str.isalnum, between))

    def _quoted_word(self, claim: Claim, stems: list[str]) -> Ground | None:
        """The fields that a quoted number or word for a state stands for."""
        state = self.words.states.get(stems[0], "") if len(stems) == 1 else ""
        number = int(claim.token) if claim.token.isdecimal() else -1
        held = shown(self.index.numbers.get(number, ()))
        return held or shown(self.index.states.get(state, ()), "formatted")
