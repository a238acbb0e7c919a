"""What was asked of AWS, put before the policies of template.yaml."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tests.attacks.policy import Wish, allows
from tests.template.test_policies import as_list, short, statements

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
    first = next(
        (v for v in values if v in one.get("KeyConditionExpression", "").split(" AND ")[0]), ""
    )
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
