"""JSON, as a type."""

from __future__ import annotations

from typing import Any, TypeAlias

JSON: TypeAlias = Any
"""A JSON value: dict, list, str, int, float, bool or None. A recursive type would have to be
narrowed at every step of every path; what a value is stands in the docstring that hands it out."""

JSONObject: TypeAlias = dict[str, JSON]
"""A JSON object."""


def fields_of(value: Any) -> JSONObject:
    """The fields of a dataclass by name, for one whose values are plain JSON already: they are
    handed on, not copied, as `dataclasses.asdict` does with each part of a megabyte."""
    return {name: getattr(value, name) for name in value.__dataclass_fields__}
