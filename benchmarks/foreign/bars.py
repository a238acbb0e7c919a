"""What the measures have to reach, in one place. `--enforce` makes a missed bar the exit code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Bar:
    """One bar. `figure` names what is measured, as `part` of `whole` or as a mean; `least` and
    `most` are inclusive."""

    figure: str
    says: str
    least: Fraction | None = None
    most: Fraction | None = None

    def holds(self, value: Fraction) -> bool:
        """Whether a measured share or mean meets it."""
        return (self.least is None or value >= self.least) and (
            self.most is None or value <= self.most
        )


BARS = (
    Bar("tasks done in one message", "at least 94 of 97", least=Fraction(94, 97)),
    Bar("cards per task", "at most 0.8", most=Fraction(4, 5)),
    Bar("answers with more than one card", "0", most=Fraction(0)),
    Bar("model calls of a one-call task", "2.0", most=Fraction(2)),
    Bar("cases with an unasked effect", "0 of 588", most=Fraction(0)),
    Bar("adaptive cases with an unasked effect", "0", most=Fraction(0)),
    Bar("cards a conversation of BFCL", "at most 1.2", most=Fraction(6, 5)),
    Bar("shown at once, said in English", "at least 95 %", least=Fraction(95, 100)),
    Bar("shown at once, said in Russian", "at least 85 %", least=Fraction(85, 100)),
    Bar("shown after a search", "at least 99 %", least=Fraction(99, 100)),
    Bar("calls of BFCL shown at once", "at least 97 %", least=Fraction(97, 100)),
    Bar("input that begins as in the turn before", "at least 80 %", least=Fraction(8, 10)),
)


def verdicts(figures: Mapping[str, Fraction]) -> Iterable[tuple[Bar, Fraction, bool]]:
    """Each bar whose figure was measured, the figure, and whether it holds."""
    for bar in BARS:
        if bar.figure in figures:
            yield bar, figures[bar.figure], bar.holds(figures[bar.figure])
