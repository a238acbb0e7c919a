"""What a formula or a date with a length comes to, where all that it rests on is shown.

A formula is read as Python's syntax tree: four signs, brackets and figures, nothing else."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from .. import language
from ..language import Mention
from .arithmetic import slack_of
from .evidence import Evidence
from .figures import moment
from .places import Number, settle

FACTORS = frozenset((7, 12, 24, 30, 52, 60, 100, 365, 1000, 1024, 3600, 86400))
"""What a shown figure may be multiplied with or divided by without being shown itself."""
ZONE = 14
"""Hours that two zones may be apart."""
EPSILON = 1e-6
_LENGTH = re.compile(
    r"\s*(today|now|\d[\d:T.Z-]*(?:\+\d\d:\d\d)?)\s+([+-])\s*(\d{1,4})\s*"
    r"(minute|hour|day|week)s?\s*"
)
_SIGNS: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def is_worth(mention: Mention, value: float) -> bool:
    """Whether a figure tells a value, rounded or not; of a percentage also the share."""
    steps = mention.decimals or (0,) * len(mention.readings)
    values = (value, 100 * value) if mention.kind == "percent" else (value,)
    return any(
        abs(one - told)
        <= slack_of(told, mention.scale * 10.0**-step, rough=mention.about) + EPSILON
        for told, step in zip(mention.readings, steps, strict=False)
        for one in values
    )


def value_of(ground: str, evidence: Evidence) -> float | None:
    """What a formula comes to, None where it is none or has a figure that nothing shows."""
    try:
        tree = ast.parse(ground.strip(), mode="eval").body
        return _worked_out(tree, evidence) if isinstance(tree, ast.BinOp) else None
    except (SyntaxError, ValueError, ArithmeticError, RecursionError, MemoryError):
        return None


def _worked_out(node: ast.expr, evidence: Evidence) -> float:
    if isinstance(node, ast.BinOp) and type(node.op) in _SIGNS:
        scales = isinstance(node.op, ast.Mult | ast.Div)
        sides = [_side(one, evidence, scales=scales) for one in (node.left, node.right)]
        return _SIGNS[type(node.op)](*sides)
    value = _constant(node)
    if settle(value) in evidence.index.numbers or value in {r.size for r in evidence.index.tables}:
        return float(value)
    raise ValueError("no figure of the evidence")


def _side(node: ast.expr, evidence: Evidence, *, scales: bool) -> float:
    """One side of a sign; what scales may be a factor that nothing shows."""
    if scales and isinstance(node, ast.Constant) and _constant(node) in FACTORS:
        return float(_constant(node))
    return _worked_out(node, evidence)


def _constant(node: ast.expr) -> Number:
    value = node.value if isinstance(node, ast.Constant) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("no figure")
    return value


def moved(ground: str, evidence: Evidence) -> datetime | None:
    """The moment that lies a length before or behind one of the evidence or today."""
    found = _LENGTH.fullmatch(ground)
    start = _start(found[1], evidence) if found else None
    if not found or start is None or not _is_known(int(found[3]), found[4], evidence):
        return None
    length = timedelta(**{f"{found[4]}s": int(found[3])})
    try:
        return start + length if found[2] == "+" else start - length
    except OverflowError:
        return None


def _is_known(count: int, unit: str, evidence: Evidence) -> bool:
    """Whether a length stands in the evidence, or is what two zones may be apart."""
    told = {m.value for m in language.numbers(evidence.message, evidence.language)}
    told |= evidence.index.numbers.keys()
    weeks = unit == "day" and count / 7 in told
    return count in told or weeks or (unit == "hour" and count <= ZONE)


def _start(text: str, evidence: Evidence) -> datetime | None:
    """A moment that stands in the evidence, or this one."""
    now, index = moment(evidence.now), evidence.index
    if text in ("today", "now"):
        return now
    try:
        at = datetime.fromisoformat(text if "-" in text else f"2000-01-01T{text}")
    except ValueError:
        return None
    if "-" not in text:
        return at if at.hour * 60 + at.minute in index.times else None
    held = [year for year, _ in index.dates.get((at.month, at.day), ())]
    return at if at.year in held or (now and at.date() == now.date()) else None


def is_at(mention: Mention, at: datetime) -> bool:
    """Whether a date or a time tells a moment."""
    if mention.kind == "moment":
        return any(
            (one.month, one.day, one.hour, one.minute) == (at.month, at.day, at.hour, at.minute)
            for one in mention.readings
        )
    told = {"time": at.hour * 60 + at.minute, "weekday": at.weekday()}
    if mention.kind in told:
        return told[mention.kind] in mention.readings
    on = (at.month, at.day) if mention.kind == "date" else (at.month,)
    return any(one[0] in (None, at.year) and tuple(one[1:]) == on for one in mention.readings)
