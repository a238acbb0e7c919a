"""What is left of a plan in a later round, and what can be done about refused arguments."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...values.plain import JSONObject
from ..protocol import ToolSpec
from .conversation import Planned
from .reading import Reading
from .schema import Argument, arguments_of


def left(planned: Sequence[Planned], reading: Reading) -> list[Planned]:
    """What has not run yet, and what failed in a way the kernel wants mended."""
    results = list(reading.results)
    open_ = []
    for call in planned:
        ran = next(
            (r for r in results if (r.app_id, r.fn_name) == (call.tool.app_id, call.tool.fn_name)),
            None,
        )
        if ran:
            results.remove(ran)
        if ran is None or (not ran.ok and any(_about(p, call.tool) for p in reading.problems)):
            open_.append(call)
    return open_


def mend(calls: Sequence[Planned], reading: Reading) -> bool:
    """Refused optional arguments are dropped, numbers moved to their limit. False when
    something cannot be mended.

    A problem of no field is mended where results have come since: then references find their
    values in them.
    """
    return all(_mended(p, calls, bool(reading.results)) for p in reading.problems)


def _mended(problem: JSONObject, calls: Sequence[Planned], later: bool) -> bool:
    name = str(problem.get("field", "")).partition(".")[0]
    about = [c for c in calls if _about(problem, c.tool)]
    if not name:
        return bool(about) and later
    call = next((c for c in about if name in c.filled.arguments), None)
    if call is None:
        return False
    argument = next(a for a in arguments_of(call.tool.input_schema) if a.name == name)
    return _changed(argument, call.filled.arguments, str(problem.get("limit")))


def _changed(argument: Argument, values: JSONObject, limit: str) -> bool:
    """Move a number to its limit, leave out what may be left out."""
    number = re.search(r"-?\d+", limit)
    if argument.kind == "number" and number and values[argument.name] != int(number[0]):
        values[argument.name] = int(number[0])
        return True
    if argument.required or argument.kind == "id":
        return False
    del values[argument.name]
    return True


def told(problems: Sequence[JSONObject]) -> list[str]:
    """The problems in words."""
    return [
        str(p.get("told") or ": ".join(str(p[k]) for k in ("field", "problem") if p.get(k)))
        for p in problems
    ]


def _about(problem: JSONObject, tool: ToolSpec) -> bool:
    """Whether a problem names this function, or none."""
    return str(problem.get("call", "")) in (
        "",
        tool.name,
        tool.fn_name,
        f"{tool.app_id}.{tool.fn_name}",
    )
