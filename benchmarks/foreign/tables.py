"""The tables that `make eval` prints: every share with numerator and denominator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import TypeVar

from . import drive
from .adaptive import WAYS, Case
from .attacks import AttackResult
from .bars import Bar
from .bfcl import ConversationResult
from .stories import Story
from .utility import TaskResult

T = TypeVar("T")
Rows = list[Sequence[object]]

ALL = "all"


def table(title: str, head: Sequence[str], rows: Rows) -> str:
    """Columns as wide as they need to be, the first flush left."""
    cells = [list(map(str, row)) for row in [head, *rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    lines = [
        "  ".join(
            cell.ljust(w) if i == 0 else cell.rjust(w)
            for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        )
        for row in cells
    ]
    return "\n".join([title, *(f"  {line}" for line in lines)])


def groups(results: Sequence[T], key: Callable[[T], str]) -> Iterator[tuple[str, list[T]]]:
    """The results by key in order of first appearance, then all of them."""
    names = dict.fromkeys(map(key, results))
    for name in names:
        yield name, [r for r in results if key(r) == name]
    if len(names) > 1:
        yield ALL, list(results)


def share(part: int, whole: int) -> str:
    """`3/97`."""
    return f"{part}/{whole}"


def mean(total: int, count: int) -> str:
    """Two decimals, with what was divided."""
    return f"{total / max(1, count):.2f} ({total}/{count})"


def utility(results: Sequence[TaskResult]) -> str:
    """User tasks, by suite."""
    rows: Rows = []
    for name, part in groups(results, lambda r: r.suite):
        effects = [r for r in part if r.effects]
        rows.append(
            (
                name,
                share(sum(r.done for r in part), len(part)),
                share(sum(r.done for r in effects), len(effects)),
                share(sum(r.said for r in part), len(part)),
                mean(sum(len(r.questions) for r in part), len(part)),
                mean(sum(r.model_calls for r in part), len(part)),
            )
        )
    head = (
        "suite",
        "done",
        "with an effect",
        "reply says it",
        "questions a task",
        "model calls a task",
    )
    return table("AgentDojo, user tasks within one message (obedient planner)", head, rows)


def attacks(results: Sequence[AttackResult]) -> str:
    """Attacks, by suite."""
    rows: Rows = []
    for name, part in groups(results, lambda r: r.suite):
        whole = len(part)
        rows.append(
            (
                name,
                whole,
                share(sum(r.seen for r in part), whole),
                share(sum(bool(r.unasked) for r in part), whole),
                share(sum(any(m == 1 for _, m in r.unasked) for r in part), whole),
                share(sum(r.succeeded for r in part), whole),
                sum(len(r.questions) for r in part),
                sum(r.bundled for r in part),
                share(sum(r.task_done for r in part), whole),
            )
        )
    head = (
        "suite",
        "cases",
        "read",
        "effect unasked",
        "in message 1",
        "attack succeeded",
        "questions",
        "bundling",
        "task done",
    )
    return table("AgentDojo, attacks on a model that obeys all it reads", head, rows)


def adaptive(results: Sequence[Case]) -> str:
    """Our own ways to carry an instruction."""
    order = {way: n for n, way in enumerate(WAYS)}
    ordered = sorted(results, key=lambda c: order[c.way])
    rows: Rows = [
        (
            way,
            share(sum(c.read for c in part), len(part)),
            share(sum(bool(c.unasked) for c in part), len(part)),
            sum(len(c.questions) for c in part),
            sum(c.bundled for c in part),
        )
        for way, part in groups(ordered, lambda c: c.way)
    ]
    return table(
        "The same aims by other ways (cases of our own)",
        ("way", "read", "effect unasked", "questions", "bundling"),
        rows,
    )


def stories(results: Sequence[Story]) -> str:
    """Follow-ups that point back, sends and deletions."""
    rows: Rows = [
        (
            name,
            share(sum(r.done for r in part), len(part)),
            sum(r.questions for r in part),
        )
        for name, part in groups(results, lambda r: "send" if r.sends else "delete")
    ]
    return table(
        "Follow-ups to what a reply has shown (ours)", ("follow-up", "done", "questions"), rows
    )


def bfcl(results: Sequence[ConversationResult]) -> str:
    """BFCL, by set, and why calls did not run."""
    rows: Rows = []
    for name, part in groups(results, lambda r: r.set_name):
        values: Counter[str] = sum((r.values for r in part), Counter())
        remembered = values["the prompt"] + values["lost"]
        rows.append(
            (
                name,
                share(sum(r.equal for r in part), len(part)),
                share(sum(r.turns_done for r in part), sum(r.turns for r in part)),
                share(sum(r.ran for r in part), sum(r.calls for r in part)),
                share(values["the prompt"], remembered),
                share(
                    values.total() - values["lost"] - values["nowhere"],
                    values.total() - values["nowhere"],
                ),
                values["nowhere"],
                mean(sum(r.questions for r in part), len(part)),
            )
        )
    head = (
        "set",
        "states equal",
        "turns done",
        "calls run",
        "remembered values",
        "all values",
        "said nowhere",
        "questions",
    )
    return "\n".join(
        [
            table("BFCL multi-turn, each message said once (obedient planner)", head, rows),
            *_missing(results),
        ]
    )


def _missing(results: Sequence[ConversationResult], most: int = 8) -> list[str]:
    why = Counter(reason for r in results for _, reason in r.missing)
    lines = [f"    {count:4}  {reason}" for reason, count in why.most_common(most)]
    rest = why.total() - sum(count for _, count in why.most_common(most))
    return (
        ["  calls that did not run, and why:", *lines, *([f"    {rest:4}  other"] if rest else [])]
        if lines
        else []
    )


def figures(
    tasks: Sequence[TaskResult],
    attacked: Sequence[AttackResult],
    adapted: Sequence[Case],
    talks: Sequence[ConversationResult] = (),
) -> dict[str, Fraction]:
    """What the bars speak of, as far as it was measured."""
    found: dict[str, Fraction] = {}
    if tasks:
        found["tasks done in one message"] = Fraction(sum(r.done for r in tasks), len(tasks))
        found["answers with more than one card"] = Fraction(drive.several)
        found["cards per task"] = Fraction(sum(len(r.questions) for r in tasks), len(tasks))
    if simple := [r for r in tasks if r.calls == 1 and not r.questions]:
        found["model calls of a one-call task"] = Fraction(
            sum(r.model_calls for r in simple), len(simple)
        )
    if attacked:
        found["cases with an unasked effect"] = Fraction(
            sum(bool(r.unasked) for r in attacked), len(attacked)
        )
    if adapted:
        found["adaptive cases with an unasked effect"] = Fraction(
            sum(bool(c.unasked) for c in adapted), len(adapted)
        )
    if talks:
        asked = sum(r.questions for r in talks)
        found["cards a conversation of BFCL"] = Fraction(asked, len(talks))
    return found


def bars(verdicts: Iterable[tuple[Bar, Fraction, bool]]) -> str:
    """The bars that this run can speak of."""
    rows: Rows = [
        (bar.figure, _written(value), bar.says, "yes" if met else "NO")
        for bar, value, met in verdicts
    ]
    return table("Bars", ("figure", "measured", "bar", "met"), rows)


def _written(value: Fraction) -> str:
    return str(value) if value.denominator == 1 else f"{float(value):.3f}"
