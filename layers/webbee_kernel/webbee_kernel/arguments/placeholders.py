"""Placeholders in arguments: a `<THING>` where a thing should be."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..errors import CallError
from ..invariants import breach
from ..types import JSON
from .names import names_an_id

_PLACEHOLDER = re.compile(r"<[A-Za-z][A-Za-z0-9_ \-]{0,40}>|\{\{[^{}]*\}\}|\$\{[^{}]*\}")


_STAND_IN = re.compile(
    r"(?i)(your|the|some|insert|enter|replace|example)[_ -]?[a-z_"
    r" -]*(id|email|name|value|here)|n/?a|none|null|unknown|placeholder|todo|tbd|x{3,}|\?+|\.{3}"
)


def no_placeholders(arguments: JSON) -> None:
    """I-PARAMS-NO-PLACEHOLDER-VALUES: CallError FABRICATED_ID_SHAPE where a value is a `<THING>`
    instead of a thing."""
    for path, text in _strings(arguments):
        stripped = text.strip()
        name = path.rpartition(".")[2]
        whole = _PLACEHOLDER.fullmatch(stripped) or (
            names_an_id(name) and _STAND_IN.fullmatch(stripped)
        )
        if whole or re.search(r"<(?:EMAIL|PHONE|NAME)_\d+>", text):
            raise CallError(
                "FABRICATED_ID_SHAPE",
                breach(
                    "I-PARAMS-NO-PLACEHOLDER-VALUES",
                    f"{path}={stripped!r} is a placeholder: give the value itself.",
                ),
                field=path,
            )


def _strings(value: JSON, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _strings(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item, path)
