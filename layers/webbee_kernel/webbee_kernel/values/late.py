"""Large data as the text it came as: most of a megabyte is shown to nobody, so nobody reads it."""

from __future__ import annotations

from typing import Any, NamedTuple

import orjson


class Unread(NamedTuple):
    """JSON text of data, and as much of the data as models could be shown (`near`)."""

    text: bytes | str
    near: Any


class Late:
    """An attribute that is given its value, or an `Unread`, which is read when first asked for."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, holder: Any, kind: type | None = None) -> Any:
        if holder is None:
            return None  # what a dataclass takes for the default
        value = holder.__dict__[self._name]
        if type(value) is Unread:
            value = holder.__dict__[self._name] = orjson.loads(value.text)
        return value

    def __set__(self, holder: Any, value: Any) -> None:
        holder.__dict__[self._name] = value
