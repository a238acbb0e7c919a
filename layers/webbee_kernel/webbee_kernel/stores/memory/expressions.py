"""DynamoDB's expressions over one item: conditions, and updates. Pure.

Of its grammar what the adapters write: comparisons, `BETWEEN`, `begins_with`, `contains`,
`attribute_exists` and `attribute_not_exists`, `AND` before `OR`, parentheses; `SET` (with
`if_not_exists`), `REMOVE` and `ADD`.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final

from ...values.plain import JSONObject
from ..dynamodb.client import Item

_Holds = Callable[[Item, Mapping[str, Any]], bool]
"""Whether an item is so; names (`#c0`) and values (`:now`) are what a request says they are."""
_Test = Callable[[Any, Any], bool]

_TOKEN: Final = re.compile(r"[#:]?\w+|<=|>=|[=<>(),]")
_COMPARED: Final[dict[str, _Test]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_TESTS: Final[dict[str, _Test]] = {"begins_with": str.startswith, "contains": operator.contains}
_CLAUSE: Final = re.compile(r"(SET|REMOVE|ADD) (.*?)(?= SET | REMOVE | ADD |$)")
_CHANGE: Final = re.compile(r"(#\w+)(?: = | )?(?:if_not_exists\((#\w+), (:\w+)\)|(:\w+))?")


def holds(request: JSONObject, expression: str, item: Item) -> bool:
    """Whether the item meets that expression of a request; without one each does."""
    text = request.get(expression)
    return not text or _condition(text)(item, _said(request))


def updated(request: JSONObject, item: Item) -> Item:
    """The item after a request's `UpdateExpression`."""
    said, made = _said(request), dict(item)
    for word, name, held, default, value in _changes(request["UpdateExpression"]):
        attribute = said.get(name, name[1:])
        if word == "REMOVE":
            made.pop(attribute, None)
        elif word == "ADD":
            made[attribute] = _sum(item.get(attribute), said[value])
        else:
            kept = item.get(said.get(held, held[1:])) if held else None
            made[attribute] = kept or said[value or default]
    return made


@lru_cache
def _changes(text: str) -> list[tuple[str, ...]]:
    """Each change with its word, name, and what it is made of."""
    return [(w, *found) for w, clause in _CLAUSE.findall(text) for found in _CHANGE.findall(clause)]


def plain(attribute: Item | None) -> Any:
    """What an attribute compares as; None for one that is not there."""
    if attribute is None:
        return None
    ((kind, value),) = attribute.items()
    if kind == "N":
        return Decimal(value)
    return set(value) if kind == "SS" else value


def _said(request: JSONObject) -> JSONObject:
    return {
        **request.get("ExpressionAttributeNames", {}),
        **request.get("ExpressionAttributeValues", {}),
    }


def _sum(held: Item | None, more: Item) -> Item:
    if held is None:
        return more
    if "SS" in more:
        return {"SS": sorted({*held["SS"], *more["SS"]})}
    return {"N": str(Decimal(held["N"]) + Decimal(more["N"]))}


@lru_cache
def _condition(text: str) -> _Holds:
    return _either(_TOKEN.findall(text))


def _either(tokens: list[str]) -> _Holds:
    """What the first tokens say; they are taken away."""
    return _joined(tokens, "OR", any, lambda rest: _joined(rest, "AND", all, _one))


def _joined(
    tokens: list[str],
    word: str,
    together: Callable[[Any], bool],
    part: Callable[[list[str]], _Holds],
) -> _Holds:
    parts = [part(tokens)]
    while tokens and tokens[0] == word:
        del tokens[0]
        parts.append(part(tokens))
    return lambda item, said: together(holds(item, said) for holds in parts)


def _one(tokens: list[str]) -> _Holds:
    word = tokens.pop(0)
    if word == "(":
        inner = _either(tokens)
        del tokens[0]
        return inner
    if tokens[0] == "(":
        end = tokens.index(")")
        name, *more = tokens[1:end:2]
        del tokens[: end + 1]
        return _compared(_TESTS[word], name, more[0]) if more else _there(word, name)
    sign = tokens.pop(0)
    if sign != "BETWEEN":
        return _compared(_COMPARED[sign], word, tokens.pop(0))
    low, _, high = tokens[:3]
    del tokens[:3]
    above, below = _compared(operator.ge, word, low), _compared(operator.le, word, high)
    return lambda item, said: above(item, said) and below(item, said)


def _there(word: str, name: str) -> _Holds:
    wanted = word == "attribute_exists"
    return lambda item, said: (_value(name, item, said) is not None) is wanted


def _compared(test: _Test, left: str, right: str) -> _Holds:
    def holds(item: Item, said: Mapping[str, Any]) -> bool:
        one, other = _value(left, item, said), _value(right, item, said)
        return one is not None and other is not None and test(one, other)

    return holds


def _value(word: str, item: Item, said: Mapping[str, Any]) -> Any:
    return plain(said[word] if word.startswith(":") else item.get(said.get(word, word[1:])))
