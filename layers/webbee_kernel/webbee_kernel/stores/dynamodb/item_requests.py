"""Requests to DynamoDB over plain values: one way to write and one to query, and the wire form.

Items hold str, int, float, bytes and sets of str. Expressions name attributes with a leading `#`
(`"#seq < :n"`); the names are declared here, so no reserved word needs thought. A write may name an
attribute as its `own`, whose value nobody else writes: botocore repeats a request whose answer was
lost, and a repeat that meets its own value has succeeded.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, NamedTuple

from ...types import JSONObject

Item = dict[str, Any]
"""An item, or its key, by attribute: `{"pk": "…", "seq": 1}`."""
LAYOUT: Final[Item] = {"schema": 3}
"""How items are laid out, a part of every one, in all tables alike. Who changes the layout of one
raises it, and reads the one before for as long as anybody runs it."""
STAMP: Final = "stamp"
"""The attribute that marks one write as its caller's, where no other of the item does."""
ABSENT: Final = "attribute_not_exists(#pk)"

_GLOBAL: Final = ("due", "users")
"""Indexes that no read of is strongly consistent."""
_ITEMS: Final = frozenset(
    {"Item", "Key", "Attributes", "ExpressionAttributeValues"}
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
    """One write of an item, to be sent by itself or in a transaction; `own` are the attributes by
    which a repetition knows it, `returns` says what is told of the item where it is sent by
    itself."""

    kind: Literal["Put", "Update", "Delete"]
    request: JSONObject
    own: Mapping[str, Any]
    returns: Literal["NONE", "ALL_OLD", "ALL_NEW"]


def put(table: str, item: Item, when: str = "", *, own: str = "", **values: Any) -> Write:
    """Write an item in the present layout, where the condition `when` holds, of which these are
    the values."""
    made = {**LAYOUT, **item, **(_stamped(item) if own == STAMP else {})}
    request = {"TableName": table, "Item": made}
    known = {own: made[own]} if own else {}
    return Write("Put", _conditional(request, when, values), known, "NONE")


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
    made = {**changes, **LAYOUT, **(_stamped(changes) if own == STAMP else {})}
    clauses: dict[str, list[str]] = {}
    names: dict[str, str] = {}
    for at, (name, change) in enumerate(made.items()):
        # by number where a name is no word
        word = name if name.isidentifier() else f"_{at}"
        clause, form, value = _changed(change)
        clauses.setdefault(clause, []).append(form.format(word))
        names[f"#{word}"] = name
        values |= {} if value is None else {f"new_{word}": value}
    text = " ".join(f"{clause} {', '.join(forms)}" for clause, forms in clauses.items())
    request: JSONObject = {"TableName": table, "Key": key, "UpdateExpression": text}
    write = _conditional(request, when, values)
    write["ExpressionAttributeNames"] |= names
    return Write("Update", write, {own: made[own]} if own else {}, returns)


def _changed(change: Any) -> tuple[str, str, Any]:
    """The clause of a change, how it is written, and its value."""
    match change:
        case None:
            return "REMOVE", "#{0}", None
        case Add(value):
            return "ADD", "#{0} :new_{0}", value
        case Default(value):
            return "SET", "#{0} = if_not_exists(#{0}, :new_{0})", value
    return "SET", "#{0} = :new_{0}", change


def delete(table: str, key: Item, when: str = "", **values: Any) -> Write:
    """Remove an item."""
    request = _conditional({"TableName": table, "Key": key}, when, values)
    return Write("Delete", request, {}, "ALL_OLD")


def query(
    table: str,
    condition: str,
    *,
    index: str = "",
    after: Item | None = None,
    also: str = "",
    fields: str = "",
    backwards: bool = False,
    eventually: bool = False,
    **values: Any,
) -> JSONObject:
    """A Query, strongly consistent unless its index cannot be or `eventually` will do; `after` is
    the key behind which it starts, `also` what else has to be so, `fields` the only attributes
    wanted."""
    request: JSONObject = {
        "TableName": table,
        "ConsistentRead": index not in _GLOBAL and not eventually,
        "ScanIndexForward": not backwards,
    }
    given = {
        "IndexName": index,
        "ExclusiveStartKey": after,
        "FilterExpression": also,
        "ProjectionExpression": fields,
    }
    request |= {name: value for name, value in given.items() if value}
    return _expressed(request, "KeyConditionExpression", condition, values)


def partition(table: str, pk: str, prefix: str = "", **options: Any) -> JSONObject:
    """A Query of the items of a partition whose sort keys begin so."""
    if not prefix:
        return query(table, "#pk = :pk", pk=pk, **options)
    condition = "#pk = :pk AND begins_with(#sk, :prefix)"
    return query(table, condition, pk=pk, prefix=prefix, **options)


def key_of(pk: str, sk: str) -> Item:
    return {"pk": pk, "sk": sk}


def lives(item: Item, now: float) -> bool:
    """Whether the item has not expired by `now`: the table's sweep may lag for days."""
    return "expires_at" not in item or float(item["expires_at"]) > now


def stamp() -> str:
    """A value that nobody else writes."""
    return secrets.token_urlsafe(9)


def _stamped(item: Item) -> Item:
    return {} if STAMP in item else {STAMP: stamp()}


def _conditional(request: JSONObject, when: str, values: Mapping[str, Any]) -> JSONObject:
    if when:
        request["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    return _expressed(request, "ConditionExpression", when, values)


def _expressed(
    request: JSONObject, clause: str, text: str, values: Mapping[str, Any]
) -> JSONObject:
    """The request with that expression, the values of all of them, and the names that they use."""
    if text:
        request[clause] = text
    if values:
        request["ExpressionAttributeValues"] = {f":{name}": v for name, v in values.items()}
    # every name goes through "#": hundreds of words are reserved
    used = (text for field, text in request.items() if field.endswith("Expression"))
    names = {name for text in used for name in _NAME.findall(text)}
    if names:
        request["ExpressionAttributeNames"] = {f"#{name}": name for name in names}
    return request


def to_wire(request: JSONObject) -> JSONObject:
    """A request with its attributes as DynamoDB has them."""
    made: JSONObject = _converted(request, _to_wire)
    return made


def from_wire(answer: JSONObject) -> JSONObject:
    """An answer, or an error's, with its attributes as plain values."""
    made: JSONObject = _converted(answer, _from_wire)
    return made


def _converted(part: Any, convert: Callable[[Any], Any]) -> Any:
    """A request or an answer with each attribute in its other form."""
    if isinstance(part, list):
        return [_converted(one, convert) for one in part]
    if not isinstance(part, dict):
        return part
    return {name: _converted_field(name, value, convert) for name, value in part.items()}


def _converted_field(name: str, value: Any, convert: Callable[[Any], Any]) -> Any:
    if name == "Items":
        return [_attributes(item, convert) for item in value]
    return _attributes(value, convert) if name in _ITEMS else _converted(value, convert)


def _attributes(item: JSONObject, convert: Callable[[Any], Any]) -> JSONObject:
    return {name: convert(value) for name, value in item.items()}


def _to_wire(value: Any) -> JSONObject:
    if isinstance(value, str):
        return {"S": value}
    if isinstance(value, bytes):
        return {"B": value}
    # a float comes back as the same float
    return {"N": repr(value)} if isinstance(value, int | float) else {"SS": sorted(value)}


def _from_wire(attribute: JSONObject) -> Any:
    ((kind, value),) = attribute.items()
    match kind:
        case "N":
            return int(value) if value.lstrip("-").isdigit() else float(value)
        case "B":
            return bytes(value)
        case "SS":
            return set(value)
    return value
