"""IAM's decision on what was asked of AWS, as far as the policies of template.yaml go: Allow and Deny,
conditions on `dynamodb:LeadingKeys` and session tags, variables of tags in patterns."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tests.template.test_policies import as_list, short, statements


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
        any(_like(wish.action, a, tags) for a in as_list(statement["Action"]))
        and any(_like(wish.resource, r, tags) for r in as_list(statement["Resource"]))
        and all(
            _holds(test, name, as_list(wanted), wish, tags)
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


Session = Mapping[str, Any]
"""What a session was taken with: its `tags`, and the JSON of its own `policy`, empty for none."""


def wishes(asked: list[Any]) -> Iterator[tuple[str, Wish]]:
    """Who asks, by key, and for what."""
    for key, target, raw in asked:
        service, _, operation = target.partition(".")
        body = json.loads(raw)
        if service == "AmazonSSM":
            yield key, Wish(f"ssm:{operation}", "parameter" + body["Name"])
            continue
        for action, one in _parts(operation, body):
            index = f"/index/{one['IndexName']}" if "IndexName" in one else ""
            yield key, Wish(f"dynamodb:{action}", one["TableName"] + index, _keys(one))


def _parts(operation: str, body: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    if operation == "TransactWriteItems":
        for action in body["TransactItems"]:
            for name, one in action.items():
                yield f"{name}Item", one
    else:
        yield operation, body


def _keys(one: dict[str, Any]) -> tuple[str, ...]:
    if named := one.get("Key") or one.get("Item"):
        return (named["pk"]["S"],)
    values = one.get("ExpressionAttributeValues", {})
    partition = one.get("KeyConditionExpression", "").split(" AND ")[0]
    first = next((v for v in values if v in partition), "")
    return (values[first]["S"],) if first else ()


def granted(template: Any, session: Session | None, wish: Wish) -> bool:
    """Whether whoever signed it may do that: by the role's policy and the session's own; without a
    session, by the cell's own role."""
    if session is None:
        return allows(role_of_the_cell(template), wish, {})
    role = allows(policy_of(template, "DataRole"), wish, session["tags"])
    if not (role and session["policy"]):
        return role
    own = [
        {**s, "Resource": [r.removeprefix("arn:*:ssm:*:*:") for r in as_list(s["Resource"])]}
        for s in json.loads(session["policy"])["Statement"]
    ]
    return allows(own, wish, session["tags"])


def role_of_the_cell(template: Any) -> list[dict[str, Any]]:
    return policy_of(template, "ToolDispatchRole")


def policy_of(template: Any, role: str) -> list[dict[str, Any]]:
    """A role's statements, their resources by the template's names."""
    found = [*statements(template, role), *statements(template, role, effect="Deny")]
    return [
        {**s, "Resource": [short(r).replace("<stack>", "webbee") for r in as_list(s["Resource"])]}
        for s in found
    ]
