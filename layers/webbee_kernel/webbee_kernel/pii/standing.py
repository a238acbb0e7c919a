"""Where a text stands in a value, and all texts of one."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from webbee_kernel.pii.finding import DECLARED
from webbee_kernel.pii.keys import beside, is_bare_name

JSON: TypeAlias = Any  # str, int, float, bool, None, list or tuple of these, dict from str to these
_TEXTLESS = frozenset({int, float, bool, type(None)})


def under(
    key: object, keys: Iterable[object], parent: str, declared: Mapping[str, str]
) -> tuple[str, str, str]:
    """What is over the value of one of an object's keys, what it is called there, and both as a
    hint."""
    name = key if isinstance(key, str) else ""
    over = parent
    if is_bare_name(name) and f"{parent}.{name}" not in declared:
        over = beside(keys) or parent
    return over, name, hint_of(over, name, declared)


def hint_of(parent: str, key: str, declared: Mapping[str, str]) -> str:
    """What a value stood under: its last two keys, or the kind its author declared."""
    path = f"{parent}.{key}" if parent else key
    return f"{DECLARED}{declared[path]}" if path in declared else path


def joined(value: JSON) -> str:
    """Every string and key of a value, a line each: no placeholder spans two."""
    texts: list[str] = []
    _gather(value, texts)
    return "\n".join(texts)


def _gather(value: JSON, texts: list[str]) -> None:
    if isinstance(value, str):
        texts.append(value)
    elif isinstance(value, dict):
        texts += [key for key in value if type(key) is str]
        _gather_all(value.values(), texts)
    elif isinstance(value, list | tuple):
        _gather_all(value, texts)


def _gather_all(values: Iterable[JSON], texts: list[str]) -> None:
    values = [v for v in values if type(v) not in _TEXTLESS]
    texts += [v for v in values if type(v) is str]
    for item in (v for v in values if type(v) is not str):
        _gather(item, texts)
