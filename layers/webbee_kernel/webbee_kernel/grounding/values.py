"""One value of a reply against the evidence: shown by a field, or following from what is shown.

Exact text (an address, a link, a code, a quote) must stand in the evidence; a figure must be shown
or follow by the arithmetic of `closure`; a date must be shown or be counted from one. What may be
said without standing anywhere (`Values.open`) is never wrong for not being found: small whole
numbers and numbers in words, ordinals, hours, months, weekdays, relative days.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from .. import language
from .dates import Dates
from .evidence import Source
from .figures import LONGEST, Ground, shown
from .lasting import AROUND, clock_around, of_clock, of_parts
from .layout import is_label
from .places import fold
from .reading import Claim, Sentence, among
from .slots import is_slot

SHORT_CODE, LABEL, NEAR = 3, 3, 20
"""A code of so few characters (Q3, A4) names too much to be looked up; words of a field's name;
characters behind it in which its value begins."""
_SPAN = re.compile(r"(?<!\w)\d{1,2}[ -](?=[^\W\d_])")
"""The number in the name of a field: "5-day average"."""
_HIDDEN = re.compile(r"(?:[xX]{2,}|[*\u2022\u00b7.\u2026]+)[ -]?(\d{3,6})")
"""The last digits of what is hidden: xxxx-4421."""


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
        if hidden := _HIDDEN.fullmatch(bare):
            return shown(self._ending(hidden[1]), "formatted")
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
        small = all(t.islower() for t in tokens) and not any(map(str.isdigit, claim.token))
        shaped = len(tokens) > 1 or any(map(str.isdigit, claim.token))
        if shaped and not small and is_slot(self.reading, claim.start, claim.end):
            return False
        before = self.reading.stems(claim.start - 24, claim.start)[-1:]
        named = among(before, self.words.label, self.words.drafting)  # or what is to be typed
        return named or self._heads_a_value(claim, tokens) or (small and len(tokens) <= LABEL)

    def _heads_a_value(self, claim: Claim, tokens: list[str]) -> bool:
        """Whether words in quotes stand where the name of a field does: one word that is not
        alone, or several, written as no name is, with a value right behind."""
        if any(map(str.isdigit, _SPAN.sub("", claim.token))) or not tokens:
            return False
        beside = [c for c in self.reading.inside(self.reading.sentence(claim.start)) if c != claim]
        if len(tokens) == 1:
            return self._under_a_name(claim, beside)
        near = any(0 <= c.start - claim.end <= NEAR for c in beside)
        plain = _is_phrase(tokens, nouns=self.reading.language.capital_nouns)
        return plain and (near or is_label(self.reading.text, claim.end))

    def _under_a_name(self, claim: Claim, beside: Sequence[Claim]) -> bool:
        """Whether a word stands behind something in its line, right under another line, or before
        a name ("'End' of Garden Party"): not where a title does."""
        text = self.reading.text
        first = text.rfind("\n", 0, claim.start) + 1
        if text[first : claim.start - 1].strip(" \t"):
            return any(map(str.isalnum, text[first : claim.start]))
        under = first > 1 and not text[first - 2 : first].isspace()
        named = next((c for c in beside if c.start > claim.end), None)
        return under or (named is not None and not named.token[0].islower())

    def _quoted_word(self, claim: Claim, stems: list[str]) -> Ground | None:
        """The fields that a quoted number or word for a state stands for."""
        behind = self.reading.inside(Sentence(claim.end, claim.end + NEAR, ""))
        label = is_label(self.reading.text, claim.end) and any(c.kind != "number" for c in behind)
        alone = len(stems) == 1 and not label
        state = self.words.states.get(stems[0], "") if alone else ""
        number = int(claim.token) if claim.token.isdecimal() else -1
        held = shown(self.index.numbers.get(number, ()))
        return held or shown(self.index.states.get(state, ()), "formatted")


def sources(grounds: Iterable[tuple[Claim, Ground]]) -> Iterator[Source]:
    """Where the values of a reply come from, in order."""
    for claim, ground in sorted(grounds, key=lambda pair: pair[0].start):
        place = ground.places[0] if ground.places else None
        if place is None:
            yield Source(claim.start, claim.end, -1, "", "derived", ground.formula)
        else:
            how = "message" if place.path == "message" else ground.how
            yield Source(claim.start, claim.end, place.call, place.path, how, ground.formula)


def _is_phrase(tokens: Sequence[str], *, nouns: bool) -> bool:
    """Whether words are written as no name or title is: only the first begins with a capital; some
    do not where all `nouns` do."""
    if nouns:
        return any(map(str.islower, tokens))
    return all(t.islower() or t.isupper() or t.isdigit() for t in tokens[1:])
