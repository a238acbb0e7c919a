"""What may not reach a handler as an argument: placeholders and invented ids. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from .catalogue import FunctionInfo
from .errors import CallError
from .invariants import breach

_PLACEHOLDER = re.compile(r"<[A-Za-z][A-Za-z0-9_ \-]{0,40}>|\{\{[^{}]*\}\}|\$\{[^{}]*\}")


_STAND_IN = re.compile(
    r"(?i)(your|the|some|insert|enter|replace|example)[_ -]?[a-z_"
    r" -]*(id|email|name|value|here)|n/?a|none|null|unknown|placeholder|todo|tbd|x{3,}|\?+|\.{3}"
)


_ID_NAME = re.compile(r"(?:^|_)(?:id|ids|uid|uuid|guid)$|[a-z](?:Id|ID|Ids|IDs)$")


def ids_are_real(arguments: dict[str, Any], function: FunctionInfo, seen: str) -> None:
    """I-AH-1: every id must stand in what the model was shown (`seen`: prompt and earlier results),
    or it was invented.

    At any depth. Values that the function's own schema offers (enum, const, default) are fine.
    Raises CallError FABRICATED_ID_SHAPE.
    """
    for name, value in _members(arguments):
        if not (_ID_NAME.search(name) or name == function.id_projection):
            continue
        for item in value if isinstance(value, list) else [value]:
            if item == "" or isinstance(item, bool) or not isinstance(item, str | int):
                continue
            known_here = re.search(rf"(?<![\w]){re.escape(str(item))}(?![\w])", seen)
            if not known_here and item not in _offered(function.input_schema, name):
                raise CallError(
                    "FABRICATED_ID_SHAPE",
                    breach(
                        "I-AH-1",
                        f"{name}={str(item)[:60]!r} stands in no fact, result or message: look it"
                        " up first.",
                    ),
                    field=name,
                )


def no_placeholders(arguments: Any) -> None:
    """I-PARAMS-NO-PLACEHOLDER-VALUES: CallError FABRICATED_ID_SHAPE where a value is a `<THING>`
    instead of a thing."""
    for path, text in _strings(arguments):
        stripped = text.strip()
        name = path.rpartition(".")[2]
        whole = _PLACEHOLDER.fullmatch(stripped) or (
            _ID_NAME.search(name) and _STAND_IN.fullmatch(stripped)
        )
        if whole or re.search(r"<(?:EMAIL|PHONE|NAME)_\d+>", text):
            raise CallError(
                "FABRICATED_ID_SHAPE",
                breach(
                    "I-PARAMS-NO-PLACEHOLDER-VALUES",
                    f"{path}={stripped[:60]!r} is a placeholder: give the value itself.",
                ),
                field=path,
            )


def _members(value: Any) -> Iterator[tuple[str, Any]]:
    """Every name and value of the objects in a JSON value."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield str(name), item
            yield from _members(item)
    elif isinstance(value, list):
        for item in value:
            yield from _members(item)


def _offered(schema: dict[str, Any], name: str) -> list[Any]:
    """What the schema itself gives for a property of this name, wherever it stands."""
    found = [v for key, v in _members(schema) if key == name and isinstance(v, dict)]
    return [
        x
        for v in found
        for x in (*v.get("enum", ()), *(v[k] for k in ("const", "default") if k in v))
    ]


def _strings(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _strings(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item, path)
