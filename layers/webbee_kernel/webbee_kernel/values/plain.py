"""JSON, as a type, and plain values made of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

T = TypeVar("T")

JSON: TypeAlias = Any
"""A JSON value: dict, list, str, int, float, bool or None. A recursive type would have to be
narrowed at every step of every path; what a value is stands in the docstring that hands it out."""

JSONObject: TypeAlias = dict[str, JSON]
"""A JSON object."""


def fields_of(value: Any) -> JSONObject:
    """The fields of a dataclass by name, for one whose values are plain JSON already: they are
    handed on, not copied, as `dataclasses.asdict` does with each part of a megabyte."""
    return {name: getattr(value, name) for name in value.__dataclass_fields__}


def made(kind: type[T], data: Mapping[str, JSON], **given: Any) -> T:
    """A dataclass of its plain JSON form: lists become tuples, objects the dataclasses that they
    stand for, what is not there takes its default, and fields that are `given` stay as they are.
    What it does not know is left aside: two versions of the kernel run side by side while one is
    deployed over the other."""
    shape: Any = kind
    readers = _readers(shape).items()
    return kind(**{name: read(data[name]) for name, read in readers if name in data} | given)


@cache
def _readers(kind: type) -> dict[str, Callable[[JSON], Any]]:
    hints = get_type_hints(kind)
    return {f.name: _reader(hints[f.name]) for f in fields(kind)}


def _reader(hint: Any) -> Callable[[JSON], Any]:
    if get_origin(hint) is tuple:
        each = _reader(get_args(hint)[0])
        return lambda rows: tuple(map(each, rows or ()))
    if is_dataclass(hint) and isinstance(hint, type):
        return lambda row: made(hint, row)
    return _itself


def _itself(value: JSON) -> JSON:
    return value
