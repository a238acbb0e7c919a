"""Requests to DynamoDB over plain values: one way to write and one to query, and the wire form.

Items hold str, int, float, bool, bytes and sets of str. Expressions name attributes with a leading
`#` (`"#seq < :n"`); the names are declared here, so no reserved word needs thought. A write may
name an attribute as its `own`, whose value nobody else writes: botocore repeats a request whose
answer was lost, and a repeat that meets its own value has succeeded.
"""

from __future__ import annotations

import re
import secrets
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from ...types import JSONObject

Item = dict[str, Any]
"""An item, or its key, by attribute: `{"pk": "…", "seq": 1}`."""
LAYOUT: Final[Item] = {"schema": 4}
"""How items are laid out, a part of every one, in all tables alike. Who changes the layout of one
raises it, and reads the one before for as long as anybody runs it."""
STAMP: Final = "stamp"
"""The attribute that marks one write as its caller's, where no other of the item does."""
ABSENT: Final = "attribute_not_exists(#pk)"

_GLOBAL: Final = ("due", "users")
"""Indexes that no read of is strongly consistent."""
_ITEMS: Final = frozenset(
    {"Item", "Items", "Key", "Attributes", "ExpressionAttributeValues"}
    | {"ExclusiveStartKey", "LastEvaluatedKey"}
)
"""Names of a request or an answer under which attributes lie."""
_NAME: Final = re.compile(r"#(\w+)")


class Add(NamedTuple):
    """A change that adds to a number, or to a set."""

    value: float | set[str]


class Default(NamedTuple):
    """A change that sets what is not there."""

    value: Any


class Write(NamedTuple):
    """One write of an item, to be sent by itself or in a transaction.

    `item` is what is put, or the key; `own` names the attribute by which a repetition knows it,
    `returns` says what is told of the item where it is sent by itself.
    """

    kind: Literal["Put", "Update", "Delete"]
    table: str
    item: Item
    changes: Mapping[str, Any]
    when: str
    values: Mapping[str, Any]
    own: str = ""
    returns: Literal["NONE", "ALL_OLD", "ALL_NEW"] = "NONE"

    def is_own_result(self, item: Item) -> bool:
        """Whether it is this write that made the item what it is."""
        converted = {**self.item, **self.changes}
        # without `own` nothing tells it from another write of the same values
        return bool(self.own) and item.get(self.own) == converted[self.own]

    def request(self) -> JSONObject:
        """What is sent."""
        item = {"Item" if self.kind == "Put" else "Key": self.item}
        request: JSONObject = {"TableName": self.table, **item}
        values = dict(self.values)
        if self.kind == "Update":
            request["UpdateExpression"], new = _update_expression(self.changes)
            values |= new
        if self.when:
            request["ConditionExpression"] = self.when
            # the refusal brings what it met: no second read, which could meet a third state
            request["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
        return _with_expressions(request, values)


def put(table: str, item: Item, when: str = "", *, own: str = "", **values: Any) -> Write:
    """Write an item in the present layout, where the condition `when` holds, of which these are
    the values."""
    return Write("Put", table, {**LAYOUT, **_add_stamp(item, own)}, {}, when, values, own)


def update(
    table: str,
    key: Item,
    changes: Item,
    when: str = "",
    *,
    own: str = "",
    returns: Literal["ALL_OLD", "ALL_NEW"] = "ALL_NEW",
    **values: Any,
) -> Write:
    """Change an item, or make it. A change of an attribute is its new value, an `Add`, a `Default`
    or None, which removes it."""
    converted = {**_add_stamp(changes, own), **LAYOUT}
    return Write("Update", table, key, converted, when, values, own, returns)


def delete(table: str, key: Item, when: str = "", **values: Any) -> Write:
    """Remove an item."""
    # what stood there is the answer: of several deletions exactly one is told it
    return Write("Delete", table, key, {}, when, values, returns="ALL_OLD")


def unchanged(item: Mapping[str, Any], *names: str) -> tuple[str, Item]:
    """The condition that these attributes are as in an item that was read, or missing as there, and
    the values of that condition."""
    tests = (f"#{n} = :{n}" if n in item else f"attribute_not_exists(#{n})" for n in names)
    return " AND ".join(tests), {name: item[name] for name in names if name in item}


@dataclass(frozen=True, slots=True)
class Query:
    """Items of a table or an index, strongly consistent unless its index cannot be.

    `after` is the key behind which it starts, `also` what else has to be so, `fields` the only
    attributes wanted, `limit` how many items are read at a time.
    """

    table: str
    condition: str
    values: Mapping[str, Any]
    index: str = ""
    after: Item | None = None
    also: str = ""
    fields: str = ""
    backwards: bool = False
    limit: int = 0

    def request(self) -> JSONObject:
        """What is sent."""
        options = {
            "IndexName": self.index,
            "KeyConditionExpression": self.condition,
            "FilterExpression": self.also,
            "ProjectionExpression": self.fields,
            "ExclusiveStartKey": self.after,
            "Limit": self.limit,
        }
        request: JSONObject = {
            "TableName": self.table,
            "ConsistentRead": self.index not in _GLOBAL,
            "ScanIndexForward": not self.backwards,
        }
        # DynamoDB refuses an empty expression, and a limit of 0
        return _with_expressions(request | {n: v for n, v in options.items() if v}, self.values)


def partition(table: str, pk: str, prefix: str = "", **options: Any) -> Query:
    """The items of a partition whose sort keys begin so."""
    if not prefix:
        return Query(table, "#pk = :pk", {"pk": pk}, **options)
    values = {"pk": pk, "prefix": prefix}
    return Query(table, "#pk = :pk AND begins_with(#sk, :prefix)", values, **options)


def _update_expression(changes: Mapping[str, Any]) -> tuple[str, Item]:
    """The expression and its values."""
    clauses, values = defaultdict[str, list[str]](list), Item()
    for name, change in changes.items():
        # `new_` keeps it apart from a value of the condition that has the same name
        new = f"new_{name}"
        match change:
            case None:
                clauses["REMOVE"].append(f"#{name}")
                continue
            case Add(value):
                clauses["ADD"].append(f"#{name} :{new}")
            case Default(value):
                clauses["SET"].append(f"#{name} = if_not_exists(#{name}, :{new})")
            case value:
                clauses["SET"].append(f"#{name} = :{new}")
        values[new] = value
    return " ".join(f"{clause} {', '.join(forms)}" for clause, forms in clauses.items()), values


def key_of(pk: str, sk: str) -> Item:
    return {"pk": pk, "sk": sk}


def is_unexpired(item: Item, now: float) -> bool:
    """Whether the item has not expired by `now`: the table's sweep may lag for days."""
    return "expires_at" not in item or float(item["expires_at"]) > now


def stamp() -> str:
    """A value that nobody else writes."""
    return secrets.token_urlsafe(9)


def _add_stamp(item: Item, own: str) -> Item:
    return {**item, STAMP: stamp()} if own == STAMP and STAMP not in item else item


def _with_expressions(request: JSONObject, values: Mapping[str, Any]) -> JSONObject:
    """The request with the values of its expressions, and the names that they use."""
    if values:
        request["ExpressionAttributeValues"] = {f":{name}": v for name, v in values.items()}
    # every name goes through "#": hundreds of words are reserved
    expressions = (text for field, text in request.items() if field.endswith("Expression"))
    names = {name for text in expressions for name in _NAME.findall(text)}
    if names:
        request["ExpressionAttributeNames"] = {f"#{name}": name for name in names}
    return request


def to_wire(request: JSONObject) -> JSONObject:
    """A request with its attributes as DynamoDB has them."""
    return _convert_fields(request, _to_wire)


def from_wire(answer: JSONObject) -> JSONObject:
    """An answer, or an error's, with its attributes as plain values."""
    return _convert_fields(answer, _from_wire)


def _convert_fields(part: JSONObject, convert: Callable[[Any], Any]) -> JSONObject:
    return {name: _convert(value, convert, name in _ITEMS) for name, value in part.items()}


def _convert(part: Any, convert: Callable[[Any], Any], is_item: bool) -> Any:
    """A part of a request or an answer with each attribute in its other form."""
    if isinstance(part, list):
        return [_convert(one, convert, is_item) for one in part]
    if is_item:
        return {name: convert(value) for name, value in part.items()}
    return _convert_fields(part, convert) if isinstance(part, dict) else part


def _to_wire(value: Any) -> JSONObject:
    match value:
        case str():
            return {"S": value}
        case bytes():
            return {"B": value}
        # before the numbers: in Python it is one
        case bool():
            return {"BOOL": value}
        case int() | float():
            # a float comes back as the same float
            return {"N": repr(value)}
    return {"SS": sorted(value)}


def _from_wire(attribute: JSONObject) -> Any:
    ((kind, value),) = attribute.items()
    match kind:
        case "N":
            # DynamoDB writes 1.0 as 1, so a whole float comes back as an int
            return int(value) if value.lstrip("-").isdigit() else float(value)
        case "B":
            return bytes(value)
        case "SS":
            return set(value)
    return value
