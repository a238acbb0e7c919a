"""Where a text stands in a value, and all texts of one."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from webbee_kernel.pii.finding import DECLARED
from webbee_kernel.pii.keys import beside, is_bare_name

JSON: TypeAlias = Any  # str, int, float, bool, None, list or tuple of these, dict from str to these
_SCALARS = frozenset({str, int, float, bool, type(None)})


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
    left: list[JSON] = [[value]]
    for one in left:  # which grows
        if isinstance(one, dict):
            texts += [key for key in one if type(key) is str]
            one = one.values()
        texts += [v for v in one if type(v) is str]
        left += [v for v in one if type(v) not in _SCALARS and isinstance(v, dict | list | tuple)]
    return "\n".join(texts)
