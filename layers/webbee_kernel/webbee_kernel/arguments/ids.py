"""Ids in arguments: one that the conversation does not hold was invented."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..catalogue import FunctionInfo
from ..errors import CallError
from ..invariants import breach
from ..types import JSON, JSONObject
from .known import Known
from .names import names_an_id, root_of

MAX_NAMED = 3
"""Functions a refusal names as places to look an id up."""


def ids_are_real(
    arguments: JSONObject, function: FunctionInfo, known: Known, others: Sequence[FunctionInfo] = ()
) -> None:
    """I-AH-1: every id must be one that the conversation holds, or it was invented.

    At any depth. Values that the function's own schema offers (enum, const, default) are fine.
    `others` are the app's functions: the refusal names those that list such things. Raises
    CallError FABRICATED_ID_SHAPE.
    """
    for name, ident in _ids(arguments, function.id_projection):
        if not known.holds(name, ident) and ident not in _offered(function.input_schema, name):
            raise _invented(name, ident, where_to_look(name, others))


def _ids(arguments: JSON, projected: str) -> Iterator[tuple[str, str | int]]:
    """Every id among the arguments, of lists each, under its argument's name."""
    for name, value in _members(arguments):
        if names_an_id(name) or name == projected:
            given = value if isinstance(value, list) else [value]
            yield from ((name, item) for item in given if _may_be_an_id(item))


def _may_be_an_id(value: JSON) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool) and value != ""


def _invented(name: str, ident: str | int, where: Sequence[str]) -> CallError:
    look = f"look it up first with {' or '.join(where)}" if where else "look it up first"
    said = f"{name}={str(ident)!r} stands in no fact, result or message of the user: {look}."
    return CallError("FABRICATED_ID_SHAPE", breach("I-AH-1", said), field=name)


def ids_in(arguments: JSON) -> list[JSONObject]:
    """The ids among a call's arguments, at any depth, each under its name. Other arguments may be a
    model's own words; these were checked before the call ran."""
    return [{name: value} for name, value in _members(arguments) if names_an_id(name)]


def where_to_look(name: str, functions: Sequence[FunctionInfo]) -> tuple[str, ...]:
    """At most three read functions that may list what the argument `name` is an id of: those that
    speak of it and do not want it themselves, else those that want no id at all."""
    reads = [f for f in functions if f.action_type == "read" and name not in _required(f)]
    found = _speaking_of(root_of(name)[-1:], reads) or _asking_for_none(reads)
    return tuple(f.fn_name for f in found[:MAX_NAMED])


def _speaking_of(word: tuple[str, ...], functions: list[FunctionInfo]) -> list[FunctionInfo]:
    """Those that have the word in their name, then those that have it in their description."""

    def rank(function: FunctionInfo) -> int:
        texts = (function.fn_name, function.description)
        return next(
            (i for i, t in enumerate(texts) if word and word[0] in t.casefold()), len(texts)
        )

    return sorted((f for f in functions if rank(f) < 2), key=rank)


def _asking_for_none(functions: list[FunctionInfo]) -> list[FunctionInfo]:
    return [f for f in functions if not any(map(names_an_id, _required(f)))]


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
