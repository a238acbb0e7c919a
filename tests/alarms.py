"""CloudWatch's alarms, computed: recorded metrics in, the state at a moment out.

As CloudWatch documents it: statistics by period, metric math by data point, M out of N data points,
`TreatMissingData`; an alarm looks once a minute, also where its period is longer, at the periods
that end then. It looks a little further back than N periods and takes real data points before
missing ones; how far is not published, in the documentation's example it is two periods.
"""

import ast
import json
import math
import operator
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

FURTHER = 2
"""Periods before the N evaluated ones in which CloudWatch still finds real data points."""

Dimensions = frozenset[tuple[str, str]]


class Point(NamedTuple):
    namespace: str
    name: str
    dimensions: Dimensions
    at: float
    value: float


def embedded(text: str, at: float) -> list[Point]:
    """The points that CloudWatch makes of one line in the embedded metric format, as of `at`; none
    of any other line."""
    if not text.startswith("{") or "_aws" not in (found := json.loads(text)):
        return []
    return [
        Point(directive["Namespace"], metric["Name"], _named(found, names), at, value)
        for directive in found["_aws"]["CloudWatchMetrics"]
        for names in directive["Dimensions"]
        for metric in directive["Metrics"]
        for value in found[metric["Name"]]
    ]


def _named(found: Mapping[str, Any], names: Iterable[str]) -> Dimensions:
    return frozenset((name, str(found[name])) for name in names)


Known = defaultdict[tuple[str, str, frozenset[Any]], list[Point]]
"""Points by what they are points of, in the order of their time."""


def grouped(points: Iterable[Point]) -> Known:
    known: Known = defaultdict(list)
    for p in sorted(points, key=lambda p: p.at):
        known[p.namespace, p.name, p.dimensions].append(p)
    return known


def state(alarm: Mapping[str, Any], points: Sequence[Point] | Known, at: float) -> str:
    """OK, ALARM or INSUFFICIENT_DATA of an alarm of the template, its references resolved; the
    points as they are or `grouped`, for whoever asks of many moments."""
    period, series = _series(alarm, points if isinstance(points, dict) else grouped(points))
    count = alarm["EvaluationPeriods"]
    looked_at = [series(at - (n + 1) * period) for n in range(count + FURTHER)]
    real = [value for value in looked_at if value is not None][:count]
    treated = alarm.get("TreatMissingData", "missing")
    if not real and treated in ("missing", "ignore"):
        return "INSUFFICIENT_DATA"
    missing = sum(value is None for value in looked_at[:count])
    breaching = min(missing, count - len(real)) if treated == "breaching" else 0
    breaching += sum(_breaches(alarm, value) for value in real)
    return "ALARM" if breaching >= alarm.get("DatapointsToAlarm", count) else "OK"


def _breaches(alarm: Mapping[str, Any], value: float) -> bool:
    compare = {"GreaterThanOrEqualToThreshold": operator.ge, "LessThanThreshold": operator.lt}
    return bool(compare[alarm["ComparisonOperator"]](value, alarm["Threshold"]))


def _series(
    alarm: Mapping[str, Any], known: Known
) -> tuple[float, Callable[[float], float | None]]:
    """The alarm's period, and its data point of the period that starts at a moment."""
    if "Metrics" not in alarm:
        statistic = alarm.get("Statistic") or alarm["ExtendedStatistic"]
        return alarm["Period"], lambda start: _datum(
            known, alarm, statistic, start, alarm["Period"]
        )
    [told] = [m for m in alarm["Metrics"] if m["ReturnData"]]
    inputs = {m["Id"]: m["MetricStat"] for m in alarm["Metrics"] if "MetricStat" in m}
    expressions = {m["Id"]: m["Expression"] for m in alarm["Metrics"] if "Expression" in m}
    [period] = {stat["Period"] for stat in inputs.values()}

    def computed(start: float) -> float | None:
        data = {
            name: _datum(known, stat["Metric"], stat["Stat"], start, period)
            for name, stat in inputs.items()
        }
        return calculate(told["Expression"], data, expressions)

    return period, computed


def _datum(
    known: Known, metric: Mapping[str, Any], statistic: str, start: float, period: float
) -> float | None:
    dimensions = frozenset((d["Name"], d["Value"]) for d in metric["Dimensions"])
    of = known[metric["Namespace"], metric["MetricName"], dimensions]
    first, last = (bisect_left(of, at, key=lambda p: p.at) for at in (start, start + period))
    values = sorted(p.value for p in of[first:last])
    if not values:
        return None
    match statistic:
        case "Sum":
            return math.fsum(values)
        case "Maximum":
            return values[-1]
        case "p95":
            return values[math.ceil(0.95 * len(values)) - 1]
    raise AssertionError(statistic)


_ARITHMETIC: Mapping[type[ast.AST], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.GtE: operator.ge,
    ast.Gt: operator.gt,
    ast.Lt: operator.lt,
}


def calculate(
    expression: str, data: Mapping[str, float | None], expressions: Mapping[str, str] | None = None
) -> float | None:
    """Metric math on one data point of each series, and of other expressions by their ids. Where a
    point is missing, so is the result, unless it is filled; a division by zero has none either."""
    text = expression.replace("&&", " and ").replace("||", " or ")
    return _value(ast.parse(text, mode="eval").body, data, expressions or {})


def _value(
    node: ast.expr, data: Mapping[str, float | None], expressions: Mapping[str, str]
) -> float | None:
    def value(part: ast.expr) -> float | None:
        return _value(part, data, expressions)

    match node:
        case ast.Constant(value=int() | float() as number):
            return number
        case ast.Name(id=name) if name in expressions:
            return calculate(expressions[name], data, expressions)
        case ast.Name(id=name):
            return data[name]
        case ast.BoolOp(op=op, values=parts):
            found = [value(part) for part in parts]
            if None in found:
                return None
            return float((all if isinstance(op, ast.And) else any)(found))
        case (
            ast.BinOp(left=left, op=op, right=right)
            | ast.Compare(left=left, ops=[op], comparators=[right])
        ):
            one, other = value(left), value(right)
            if one is None or other is None or (isinstance(op, ast.Div) and other == 0):
                return None
            return float(_ARITHMETIC[type(op)](one, other))
        case ast.Call(func=ast.Name(id="FILL"), args=[series, instead]):
            found_here = value(series)
            return value(instead) if found_here is None else found_here
        case ast.Call(func=ast.Name(id="IF"), args=[condition, yes, no]):
            chosen = value(condition)
            return None if chosen is None else value(yes if chosen else no)
    raise AssertionError(ast.dump(node))


def resolved(value: Any, names: Mapping[str, str]) -> Any:
    """A property of the template with its references resolved: to a name given by reference
    (`ChatTurnFunction.Version.Version`), else to the reference itself."""
    match value:
        case {"Ref": str(name)}:
            return names.get(name, name)
        case {"Fn::GetAtt": [str(name), str(attribute)]}:
            return names.get(f"{name}.{attribute}", f"{name}.{attribute}")
        case {"Fn::Sub": str(text)}:
            for name, stands_for in names.items():
                text = text.replace(f"${{{name}}}", stands_for)
            return text
        case {"Fn::Sub": [str(text), dict(given)]}:
            return resolved({"Fn::Sub": text}, {**names, **resolved(given, names)})
        case dict():
            return {k: resolved(v, names) for k, v in value.items()}
        case list():
            return [resolved(v, names) for v in value]
    return value


FUNCTIONS = ("ChatTurn", "ToolDispatch", "SkeletonRefresh", "ModelBroker")
STACK = {f"{name}Function.Version.Version": "8" for name in FUNCTIONS}
STACK |= {"AWS::StackName": "webbee"}
"""A stack in whose template version 8 is the newest."""


def alarm(template: Mapping[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = resolved(template["Resources"][name]["Properties"], STACK)
    return found
