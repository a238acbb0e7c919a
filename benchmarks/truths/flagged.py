"""What each kind of flag is worth: the faults that it catches, and the honest replies that it
changes, together with others and alone."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.truths.report import Outcome

HEAD = f"{'flag':24}{'faults':>8}{'alone':>8}{'honest':>8}{'alone':>8}"


def flags_table(outcomes: Sequence[Outcome]) -> str:
    """One line a kind: faulty replies that have such a flag, and those that have no other; honest
    replies likewise. A fault counts whichever of its words is flagged."""
    kinds = sorted({kind for o in outcomes for kind in o.answer.kinds})
    faulty = [set(o.answer.kinds) for o in outcomes if o.case.fault]
    honest = [set(o.answer.kinds) for o in outcomes if not o.case.fault]
    lines = [HEAD]
    for kind in kinds:
        counts = [f(kinds, kind) for kinds in (faulty, honest) for f in (_having, _alone)]
        lines.append(f"{kind:24}" + "".join(f"{n:>8}" for n in counts))
    lines.append(f"{'replies with a flag':24}{_any(faulty):>8}{'':8}{_any(honest):>8}")
    lines.append(f"{'replies':24}{len(faulty):>8}{'':8}{len(honest):>8}")
    return "\n".join(lines)


def _having(replies: Sequence[set[str]], kind: str) -> int:
    return sum(kind in kinds for kinds in replies)


def _alone(replies: Sequence[set[str]], kind: str) -> int:
    return sum(kinds == {kind} for kinds in replies)


def _any(replies: Sequence[set[str]]) -> int:
    return sum(bool(kinds) for kinds in replies)
