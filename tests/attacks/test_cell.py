"""What extension code can reach with the kernel's own client: every request of the cell, with the
session that it was signed with, is put before the policies of template.yaml."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from local.aws_server import CREDENTIALS, aws_server, client
from local.template import create_tables, load_template
from tests.attacks.policy import Wish, allows
from tests.functions.support import LocalLambda
from tests.template.conftest import transformed
from tests.template.test_policies import OWN_SECRETS, as_list, short, statements
from webbee_kernel.api.tool_dispatch import ToolService
from webbee_kernel.aws import clients
from webbee_kernel.aws.lambda_dispatch import LambdaDispatch
from webbee_kernel.aws.tenant_credentials import TenantCredentials
from webbee_kernel.config import Settings
from webbee_kernel.sdk import User
from webbee_kernel.stores.keys import secret_part
from webbee_kernel.values import CallOutcome, CallRequest, user_dict

ROOT = Path(__file__).parents[1]
ROLE = "arn:aws:iam::123456789012:role/data"
OWN = "the cell's own role"
ALICE = User("alice", tenant_id="acme", scopes=("*",))
_ = transformed  # the fixture


THIEF = Path(__file__).parent / "extensions"
WALKER = ROOT / "emulator/extensions"


@dataclass(frozen=True, slots=True)
class Account:
    """Its tables by variable, and every request to it: key, target, body."""

    tables: dict[str, str]
    asked: list[tuple[str, str, bytes]]


class Sts:
    """STS as it answers; who was given which key."""

    def __init__(self) -> None:
        self.sessions: dict[str, dict[str, Any]] = {}

    def assume_role(self, **request: Any) -> Any:
        key = f"ASIA{len(self.sessions)}"
        tags = {t["Key"]: t["Value"] for t in request["Tags"]}
        self.sessions[key] = {"tags": tags, "policy": request.get("Policy", "")}
        return {"Credentials": {"AccessKeyId": key, "SecretAccessKey": "s", "SessionToken": "t"}}


class Cell:
    """The function behind the real seam."""

    def __init__(self, account: Account, *, per_user: bool, extensions: Path = THIEF) -> None:
        self.sts = Sts()
        env = {**account.tables, "WEBBEE_EXTENSIONS_DIR": str(extensions)}
        env["WEBBEE_SECRETS_PREFIX"] = "/webbee/webbee"
        service = ToolService(Settings.from_env(env, "tool_dispatch"))
        handlers: dict[str, Any] = {}
        handlers["cell"] = type(
            "Module",
            (),
            {"lambda_handler": staticmethod(lambda e, _: asyncio.run(service.handle(e)))},
        )
        self.dispatch = LambdaDispatch(
            "cell",
            lambda _: LocalLambda(handlers),
            credentials=TenantCredentials(
                ROLE,
                secrets_of=secret_part,
                secrets_prefix="/webbee/webbee",
                per_user=per_user,
                client=lambda _: self.sts,
            ),
        )

    def call(
        self, app: str, name: str, user: User = ALICE, kind: str = "function", **given: Any
    ) -> CallOutcome:
        request = CallRequest(kind, user_dict(user), app, name, given, request_id=name)
        return asyncio.run(self.dispatch.call(replace(request, effect=name)))


@pytest.fixture(scope="module", params=["direct", "botocore"])
def aws(request: pytest.FixtureRequest) -> Iterator[Account]:
    """An account whose server tells of every request."""
    asked: list[tuple[str, str, bytes]] = []
    with (
        aws_server(record=lambda *one: asked.append(one)) as url,
        pytest.MonkeyPatch.context() as patch,
    ):
        for name, value in {**CREDENTIALS, "AWS_ENDPOINT_URL": url}.items():
            patch.setenv(name, value)
        patch.setattr(clients, "_held", [OWN, "local"])
        patch.setattr(clients, "_kind", [request.param])
        clients.forget_clients()
        yield Account(create_tables(client(url, "dynamodb"), load_template()), asked)
    clients.forget_clients()


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
    """The partition keys that a request names."""
    if named := one.get("Key") or one.get("Item"):
        return (named["pk"]["S"],)
    values = one.get("ExpressionAttributeValues", {})
    first = next(
        (v for v in values if v in one.get("KeyConditionExpression", "").split(" AND ")[0]), ""
    )
    return (values[first]["S"],) if first else ()


def granted(template: Any, cell: Cell, key: str, wish: Wish) -> bool:
    """Whether the session that signed it may do that: the role's policy and the session's own."""
    session = cell.sts.sessions.get(key)
    if session is None:
        assert key == OWN
        return allows(_of(template, "ToolDispatchRole"), wish, {})
    role = allows(_of(template, "DataRole"), wish, session["tags"])
    if not (role and session["policy"]):
        return role
    own = [
        {**s, "Resource": [r.removeprefix("arn:*:ssm:*:*:") for r in as_list(s["Resource"])]}
        for s in json.loads(session["policy"])["Statement"]
    ]
    return allows(own, wish, session["tags"])


def _of(template: Any, role: str) -> list[dict[str, Any]]:
    found = [*statements(template, role), *statements(template, role, effect="Deny")]
    return [
        {**s, "Resource": [short(r).replace("<stack>", "webbee") for r in as_list(s["Resource"])]}
        for s in found
    ]


WALK = [("function", "walk"), ("function", "look"), ("panel", "board"), ("skeleton", "miles")]


@pytest.mark.parametrize("per_user", [False, True], ids=["tenant", "user"])
def test_whatever_a_handler_does_through_ctx_is_granted(
    aws: Account, transformed: Any, per_user: bool
) -> None:
    cell = Cell(aws, per_user=per_user, extensions=WALKER)
    aws.asked.clear()
    for user in (ALICE, User("auth0|42", tenant_id="umbrella", scopes=("*",))):
        for kind, name in WALK:
            assert cell.call("walker", name, user, kind).ok, name
    asked = list(wishes(aws.asked))
    assert len(asked) > 40
    assert [(k, w) for k, w in asked if not granted(transformed, cell, k, w)] == []


KEY = {"pk": {"S": "umbrella#bob#notes"}, "sk": {"S": "note#1"}}
FORGED = {"pk": {"S": "umbrella#bob"}, "sk": {"S": "call#1"}, "body": {"S": "{}"}}
OWN_RECORD = {"pk": {"S": "acme#alice"}, "sk": {"S": "call#1"}, "body": {"S": "{}"}}
ATTACKS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "reads another tenant's document": (
        "dynamodb",
        "get_item",
        {"TableName": "StoreTable", "Key": KEY},
    ),
    "deletes it": ("dynamodb", "delete_item", {"TableName": "StoreTable", "Key": KEY}),
    "lists its users": (
        "dynamodb",
        "query",
        {
            "TableName": "StoreTable",
            "IndexName": "users",
            "KeyConditionExpression": "users_key = :k",
            "ExpressionAttributeValues": {":k": {"S": "umbrella#notes#note"}},
        },
    ),
    "scans": ("dynamodb", "scan", {"TableName": "StoreTable"}),
    "reads its cache": ("dynamodb", "get_item", {"TableName": "CacheTable", "Key": KEY}),
    "overwrites an audit record": (
        "dynamodb",
        "put_item",
        {"TableName": "AuditTable", "Item": FORGED},
    ),
    "overwrites an audit record of its own": (
        "dynamodb",
        "put_item",
        {"TableName": "AuditTable", "Item": OWN_RECORD},
    ),
    "deletes an audit record": (
        "dynamodb",
        "delete_item",
        {"TableName": "AuditTable", "Key": {k: OWN_RECORD[k] for k in ("pk", "sk")}},
    ),
    "forges an event": ("dynamodb", "put_item", {"TableName": "EventsTable", "Item": FORGED}),
    "writes a skeleton": ("dynamodb", "put_item", {"TableName": "SkeletonTable", "Item": FORGED}),
    "writes its own skeleton": (
        "dynamodb",
        "put_item",
        {"TableName": "SkeletonTable", "Item": OWN_RECORD},
    ),
    "reads a conversation": (
        "dynamodb",
        "get_item",
        {
            "TableName": "SessionsTable",
            "Key": {"pk": {"S": "acme#alice#s1"}, "sk": {"S": "turn#0"}},
        },
    ),
    "installs itself": (
        "dynamodb",
        "put_item",
        {
            "TableName": "StoreTable",
            "Item": {"pk": {"S": "acme#alice#_kernel"}, "sk": {"S": "installations#thief"}},
        },
    ),
    "reads another tenant's secret": (
        "ssm",
        "get_parameter",
        {"Name": "/webbee/webbee/umbrella/bob/mail/password"},
    ),
    "reads the secret of a tenant whose name begins alike": (
        "ssm",
        "get_parameter",
        {"Name": "/webbee/webbee/acme2/bob/mail/password"},
    ),
}
OF_A_COLLEAGUE: dict[str, tuple[str, str, dict[str, Any]]] = {
    "reads a colleague's document": (
        "dynamodb",
        "get_item",
        {"TableName": "StoreTable", "Key": {**KEY, "pk": {"S": "acme#bob#notes"}}},
    ),
    "reads that of one whose name begins alike": (
        "dynamodb",
        "get_item",
        {"TableName": "StoreTable", "Key": {**KEY, "pk": {"S": "acme#alice2#notes"}}},
    ),
    "reads a colleague's mail password": (
        "ssm",
        "get_parameter",
        {"Name": "/webbee/webbee/acme/bob/mail/password"},
    ),
}


def attempt(cell: Cell, aws: Account, attack: tuple[str, str, dict[str, Any]]) -> tuple[str, Wish]:
    """The attack's one request, sent by extension code."""
    service, operation, request = attack
    aws.asked.clear()
    assert cell.call("thief", "steal", service=service, operation=operation, request=request).ok
    if operation == "scan":
        key, _, raw = next(a for a in aws.asked if a[1].endswith(".Scan"))
        return key, Wish("dynamodb:Scan", json.loads(raw)["TableName"])
    wanted = operation.replace("_", "").lower()
    return next(
        (k, w) for k, w in wishes(aws.asked) if w.action.partition(":")[2].lower() == wanted
    )


def test_no_attack_with_the_kernels_own_client_is_granted(aws: Account, transformed: Any) -> None:
    cell = Cell(aws, per_user=False)
    granted_ = {}
    for name, attack in ATTACKS.items():
        key, wish = attempt(cell, aws, attack)
        assert key in cell.sts.sessions
        granted_[name] = granted(transformed, cell, key, wish)
    assert [name for name, passed in granted_.items() if passed] == []


def test_isolation_by_user_refuses_a_colleagues_data_too(aws: Account, transformed: Any) -> None:
    found = {}
    for per_user in (False, True):
        cell = Cell(aws, per_user=per_user)
        found[per_user] = [
            granted(transformed, cell, *attempt(cell, aws, attack))
            for attack in OF_A_COLLEAGUE.values()
        ]
    assert found == {False: [True] * 3, True: [False] * 3}


def test_without_a_session_the_cell_may_write_its_log_and_nothing_else(transformed: Any) -> None:
    for _, _, request in ATTACKS.values():
        table = request.get("TableName", OWN_SECRETS)
        for action in ("GetItem", "PutItem", "Query"):
            wish = Wish(f"dynamodb:{action}", table, ("acme#alice#thief",))
            assert not allows(_of(transformed, "ToolDispatchRole"), wish, {})
