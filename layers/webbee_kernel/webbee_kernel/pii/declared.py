"""What an author declares of a value in code: `x-pii` in the JSON schema of a function's parameters
or of its data (`webbee_kernel.sdk.PersonName`, `Phone`, `Email`, `pii(…)`)."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from ..catalogue import Shapes, shapes_of

KEYWORD = "x-pii"
NOTHING: Mapping[str, str] = MappingProxyType({})
"""What a function declares whose author said nothing."""
DEPTH_MAX, SHAPES_MAX = 12, 64  # levels and shapes that are read: a recursive schema ends


def declared(schema: Mapping[str, Any]) -> dict[str, str]:
    """The declared kinds by path, `parent.key` or `key` at the top: the last two keys of a path, as
    the masker knows a value. Lists and choices (`anyOf`, null) are looked through."""
    return dict(_walk(_listed(schema, schema), schema, "", DEPTH_MAX))


def _walk(
    shapes: Shapes, root: Mapping[str, Any], parent: str, depth: int
) -> Iterator[tuple[str, str]]:
    for shape in shapes if depth else ():
        for key, value in (shape.get("properties") or {}).items():
            inner = _listed(value, root)
            if kind := next((str(s[KEYWORD]) for s in inner if KEYWORD in s), ""):
                yield f"{parent}.{key}" if parent else key, kind
            yield from _walk(inner, root, key, depth - 1)


def _listed(schema: object, root: Mapping[str, Any]) -> Shapes:
    """The shapes of a value, those of the items of a list behind it."""
    waiting, found = [schema], list[Mapping[str, Any]]()
    while waiting and len(found) < SHAPES_MAX:
        shapes = shapes_of(waiting.pop(0), root)
        found += shapes
        waiting += [shape["items"] for shape in shapes if "items" in shape]
    return tuple(found)
