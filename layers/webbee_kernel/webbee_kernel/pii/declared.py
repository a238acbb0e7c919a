"""What an author declares of a value in code: `x-pii` in the JSON schema of a function's parameters
or of its data (`webbee_kernel.sdk.PersonName`, `Phone`, `Email`, `pii(…)`)."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

KEYWORD = "x-pii"
NOTHING: Mapping[str, str] = MappingProxyType({})
"""What a function declares whose author said nothing."""
DEPTH_MAX = 12  # levels of a schema that are read: a recursive one ends


def declared(schema: Mapping[str, Any]) -> dict[str, str]:
    """The declared kinds by path, `parent.key` or `key` at the top: the last two keys of a path, as
    the masker knows a value. Lists and choices (`anyOf`, null) are looked through."""
    return dict(_walk(schema, schema.get("$defs", {}), "", DEPTH_MAX))


def _walk(
    schema: Mapping[str, Any], definitions: Mapping[str, Any], parent: str, depth: int
) -> Iterator[tuple[str, str]]:
    if depth == 0:
        return
    for shape in _shapes(schema, definitions):
        for key, value in (shape.get("properties") or {}).items():
            if not isinstance(value, Mapping):
                continue
            kind = _kind(value, definitions)
            if kind:
                yield f"{parent}.{key}" if parent else key, kind
            yield from _walk(value, definitions, key, depth - 1)


def _shapes(
    schema: Mapping[str, Any], definitions: Mapping[str, Any]
) -> Iterator[Mapping[str, Any]]:
    """The schema and what it refers to, chooses from and lists."""
    waiting, seen = [schema], 0
    while waiting and seen < 64:
        shape, seen = waiting.pop(), seen + 1
        if "$ref" in shape:
            waiting.append(definitions.get(str(shape["$ref"]).rpartition("/")[2], {}))
        for choice in ("anyOf", "oneOf", "allOf"):
            waiting += [s for s in shape.get(choice, ()) if isinstance(s, Mapping)]
        waiting += [s for s in [shape.get("items")] if isinstance(s, Mapping)]
        yield shape


def _kind(value: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    return next((str(s[KEYWORD]) for s in _shapes(value, definitions) if KEYWORD in s), "")
