"""One value of a reply against the index: the fields that show it, or what it follows from."""

from __future__ import annotations

import re

from .. import language
from .asking import Ground, shown
from .moments import Moments
from .places import fold
from .reading import Claim

LONGEST = 60
"""Characters of a text that is looked up with its hyphens and spaces left open."""


_BEFORE = re.compile(r"[^\W_]*$")
_AFTER = re.compile(r"[^\W\d_]*")


class Support(Moments):
    """Asks the index about the values of one reply; numbers and dates in the classes above."""

    def ground(self, claim: Claim) -> Ground | None:
        """The ground of a value, None where nothing shows it; one method a kind."""
        asked: Ground | None = getattr(self, f"_{claim.kind}", self._text)(claim)
        return asked

    def glued(self, claim: Claim) -> Ground | None:
        """The ground of a number that is part of a code or a name, such as the 9 of seat `9E`: the
        whole of it stands in the data; None where it is no part or stands nowhere."""
        if claim.kind != "number":
            return None
        before = _BEFORE.search(self.reading.text, max(0, claim.start - LONGEST), claim.start)
        after = _AFTER.match(self.reading.text, claim.end)
        whole = f"{before[0] if before else ''}{claim.token}{after[0] if after else ''}"
        places = self.index.find(whole, "-") if whole != claim.token else []
        return Ground(places) if places else None

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
        at = self.index.text.find(fold(claim.token))
        return Ground([self.index.place(at)]) if at >= 0 else None

    def _field(self, claim: Claim) -> Ground | None:
        return Ground(claim.mention)

    def _quote(self, claim: Claim) -> Ground | None:
        tokens = [t.text for t in language.tokens(claim.token)]
        stems = [self.reading.language.stem(token) for token in tokens]
        words = self.words
        answers = words.yes | words.no | words.yes_filler | words.no_filler
        if stems and answers.issuperset(stems):
            return Ground([])  # what the user is asked to say
        state = words.states.get(stems[0], "") if len(stems) == 1 else ""
        held = self.index.numbers.get(int(claim.token), ()) if claim.token.isdigit() else ()
        told = shown(self.index.states.get(state, ()), "formatted") or shown(held)
        return told or self._text(claim, "") or self.name(tokens)
