"""Ids in arguments: one that the conversation does not hold was invented."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..catalogue import FunctionInfo
from ..errors import CallError
from ..invariants import breach
from ..values.plain import JSON, JSONObject
from .known import Known
from .names import names_an_id, root_of

MAX_NAMED = 3
"""Functions a refusal names as places to look an id up."""


def ids_are_real(
    arguments: JSONObject,
    function: FunctionInfo,
    known: Known,
    others: Sequence[FunctionInfo] = (),
) -> None:
    """I-AH-1: every id must be one that the conversation holds, or it was invented.

    At any depth. Values that the function's own schema offers (enum, const, default) are fine.
    `others` are the app's functions: the refusal names those that list such things. Raises
    CallError FABRICATED_ID_SHAPE.
    """
    for name, value in _members(arguments):
        if not (names_an_id(name) or name == function.id_projection):
            continue
        for item in value if isinstance(value, list) else [value]:
            if item == "" or isinstance(item, bool) or not isinstance(item, str | int):
                continue
            if known.holds(name, item) or item in _offered(function.input_schema, name):
                continue
            where = where_to_look(name, others)
            raise CallError(
                "FABRICATED_ID_SHAPE",
                breach(
                    "I-AH-1",
                    f"{name}={str(item)[:60]!r} stands in no fact, result or message of the user:"
                    f" look it up first{' with ' + ' or '.join(where) if where else ''}.",
                ),
                field=name,
            )


def ids_in(arguments: JSON) -> list[JSONObject]:
    """The ids among a call's arguments, at any depth, each under its name. Other arguments may be a
    model's own words; these were checked before the call ran."""
    return [{name: value} for name, value in _members(arguments) if names_an_id(name)]


def where_to_look(name: str, functions: Sequence[FunctionInfo]) -> tuple[str, ...]:
    """At most three read functions that may list what the argument `name` is an id of: those that
    speak of it and do not want it themselves, else those that want no id at all."""
    reads = [f for f in functions if f.action_type == "read"]
    open_ones = [f for f in reads if name not in _required(f)]
    root = root_of(name)
    speaking = [f for f in open_ones if root and _speaks(f, root[-1])]
    named = [f for f in speaking if root[-1] in f.fn_name.casefold()]
    free = [f for f in open_ones if not any(names_an_id(r) for r in _required(f))]
    found = [*named, *(f for f in speaking if f not in named)] or free
    return tuple(f.fn_name for f in found[:MAX_NAMED])


def _speaks(function: FunctionInfo, word: str) -> bool:
    return word in f"{function.fn_name} {function.description}".casefold()


def _required(function: FunctionInfo) -> list[str]:
    return [str(r) for r in function.input_schema.get("required") or ()]


def _members(value: JSON) -> Iterator[tuple[str, JSON]]:
    """Every name and value of the objects in a JSON value."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield str(name), item
            yield from _members(item)
    elif isinstance(value, list):
        for item in value:
            yield from _members(item)


def _offered(schema: JSONObject, name: str) -> list[JSON]:
    """What the schema itself gives for a property of this name, wherever it stands."""
    found = [v for key, v in _members(schema) if key == name and isinstance(v, dict)]
    return [
        x
        for v in found
        for x in (*v.get("enum", ()), *(v[k] for k in ("const", "default") if k in v))
    ]
