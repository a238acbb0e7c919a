"""IAM's decision on one request, as far as this project's policies go: Allow and Deny, conditions
on `dynamodb:LeadingKeys` and session tags, variables of tags in patterns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Wish:
    """What a request asks for: `dynamodb:PutItem` on `StoreTable`, with its partition keys."""

    action: str
    resource: str
    keys: tuple[str, ...] = ()


def allows(statements: Iterable[Mapping[str, Any]], wish: Wish, tags: Mapping[str, str]) -> bool:
    """Whether some statement allows it and none denies it; `Resource` is a list of names in which
    tags may stand as variables."""
    fitting = [s for s in statements if _fits(s, wish, tags)]
    effects = {s["Effect"] for s in fitting}
    return "Allow" in effects and "Deny" not in effects


def _fits(statement: Mapping[str, Any], wish: Wish, tags: Mapping[str, str]) -> bool:
    return (
        any(_like(wish.action, a, tags) for a in _list(statement["Action"]))
        and any(_like(wish.resource, r, tags) for r in _list(statement["Resource"]))
        and all(
            _holds(test, name, _list(wanted), wish, tags)
            for test, names in statement.get("Condition", {}).items()
            for name, wanted in names.items()
        )
    )


def _holds(test: str, name: str, wanted: list[str], wish: Wish, tags: Mapping[str, str]) -> bool:
    if name.startswith("aws:PrincipalTag/"):
        values = tuple(filter(None, [tags.get(name.partition("/")[2], "")]))
    elif name == "dynamodb:LeadingKeys":
        values = wish.keys
    else:
        raise NotImplementedError(name)
    matches = [any(_like(v, w, tags) for w in wanted) for v in values]
    match test:
        case "Null":
            return (not values) == (wanted == ["true"])
        case "ForAllValues:StringLike":
            return all(matches)
        case "ForAnyValue:StringLike":
            return any(matches)
    raise NotImplementedError(test)


def _like(value: str, pattern: str, tags: Mapping[str, str]) -> bool:
    """`*` and `?` of the pattern; a variable's own value matches itself alone, and one that the
    session has no tag for matches nothing."""
    parts = re.split(r"(\$\{!?aws:PrincipalTag/\w+\}|\$\{[*?$]\}|\*|\?)", pattern)
    expression = ""
    for part in parts:
        if variable := re.fullmatch(r"\$\{!?aws:PrincipalTag/(\w+)\}", part):
            if variable[1] not in tags:
                return False
            expression += re.escape(tags[variable[1]])
        elif literal := re.fullmatch(r"\$\{([*?$])\}", part):
            expression += re.escape(literal[1])
        else:
            expression += {"*": ".*", "?": "."}.get(part, re.escape(part))
    return re.fullmatch(expression, value, re.DOTALL) is not None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
