"""What extension code can reach with the kernel's own client: every request of the cell, with the
session that it was signed with, is put before the policies of template.yaml."""

import asyncio
import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from local.aws import CREDENTIALS, aws_server, client
from local.template import create_tables, load_template
from tests.attacks import policy
from tests.attacks.attacks import ATTACKS, FORGED, OF_A_COLLEAGUE, Attack
from tests.attacks.policy import Wish, allows, wishes
from tests.functions.support import LocalLambda
from tests.template.conftest import transformed
from tests.template.test_policies import OWN_SECRETS
from webbee_kernel.api.tool_dispatch import ToolService
from webbee_kernel.aws import clients
from webbee_kernel.aws.invoke import LambdaDispatch
from webbee_kernel.aws.tenant_credentials import TenantCredentials
from webbee_kernel.config import Settings
from webbee_kernel.sdk import User
from webbee_kernel.types import CallOutcome, CallRequest, user_dict

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


NUMBERS = itertools.count()
"""Of keys: each is one session's, whichever cell it is for."""


class Sts:
    """STS as it answers; who was given which key."""

    def __init__(self) -> None:
        self.sessions: dict[str, dict[str, Any]] = {}

    def assume_role(self, **request: Any) -> Any:
        key = f"ASIA{next(NUMBERS)}"
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
        answer = SimpleNamespace(lambda_handler=lambda e, _: asyncio.run(service.handle(e)))
        given: Any = {"secrets_prefix": env["WEBBEE_SECRETS_PREFIX"], "client": lambda _: self.sts}
        credentials = TenantCredentials(ROLE, per_user=per_user, **given)
        invoked = LocalLambda({"cell": answer})
        self.dispatch = LambdaDispatch("cell", lambda _: invoked, credentials=credentials)

    def call(
        self, app: str, name: str, user: User = ALICE, kind: str = "function", **given: Any
    ) -> CallOutcome:
        request = CallRequest(kind, user_dict(user), app, name, given, request_id=name)
        return asyncio.run(self.dispatch.call(replace(request, effect=name)))


@pytest.fixture(scope="module")
def aws() -> Iterator[Account]:
    """An account whose server tells of every request."""
    asked: list[tuple[str, str, bytes]] = []
    with (
        aws_server(record=lambda *one: asked.append(one)) as url,
        pytest.MonkeyPatch.context() as patch,
    ):
        for name, value in {**CREDENTIALS, "AWS_ENDPOINT_URL": url}.items():
            patch.setenv(name, value)
        patch.setattr(clients, "_role_credentials", [OWN, "local"])
        clients.forget_clients()
        yield Account(create_tables(client(url, "dynamodb"), load_template()), asked)
    clients.forget_clients()


def granted(template: Any, cell: Cell, key: str, wish: Wish) -> bool:
    session = cell.sts.sessions.get(key)
    assert session is not None or key == OWN
    return policy.granted(template, session, wish)


WALK = [("function", "walk"), ("function", "look"), ("panel", "board"), ("skeleton", "miles")]


@pytest.mark.parametrize("per_user", [False, True], ids=["tenant", "user"])
def test_whatever_a_handler_does_through_ctx_is_granted(
    aws: Account, transformed: Any, per_user: bool
) -> None:
    told = 0
    for user in (ALICE, User("auth0|42", tenant_id="umbrella", scopes=("*",))):
        cell = Cell(aws, per_user=per_user, extensions=WALKER)
        aws.asked.clear()
        for kind, name in WALK:
            assert cell.call("walker", name, user, kind).ok, name
        # What the other cell's calls keep beside their answers may arrive meanwhile.
        mine = {OWN, *cell.sts.sessions}
        asked = [(k, w) for k, w in wishes(aws.asked) if k in mine]
        told += len(asked)
        assert [(k, w) for k, w in asked if not granted(transformed, cell, k, w)] == []
    assert told > 40


def attempt(cell: Cell, aws: Account, attack: Attack, alone: bool = False) -> tuple[str, Wish]:
    """The attack's one request, sent by extension code, with what came with the call or `alone`.
    The kernel's own note of the call before may arrive meanwhile: no attack wants the table that it
    stands in."""
    service, operation, request = attack
    given = {"service": service, "operation": operation, "request": request, "alone": alone}
    aws.asked.clear()
    assert cell.call("thief", "steal", **given).ok
    if operation == "scan":
        key, _, raw = next(a for a in aws.asked if a[1].endswith(".Scan"))
        return key, Wish("dynamodb:Scan", json.loads(raw)["TableName"])
    wanted = operation.replace("_", "").lower()
    table = request.get("TableName", "")
    return next(
        (k, w)
        for k, w in wishes(aws.asked)
        if w.action.partition(":")[2].lower() == wanted and w.resource.startswith(table)
    )


def test_no_attack_with_the_kernels_own_client_is_granted(aws: Account, transformed: Any) -> None:
    cell = Cell(aws, per_user=False)
    for name, attack in ATTACKS.items():
        for alone in (False, True):
            key, wish = attempt(cell, aws, attack, alone)
            assert (key == OWN) is alone, "there is nothing else to sign it with"
            assert not granted(transformed, cell, key, wish), name


def test_a_section_cannot_write_another_tenants_skeleton(aws: Account, transformed: Any) -> None:
    cell = Cell(aws, per_user=False)
    put = {"TableName": "SkeletonTable", "Item": {**FORGED, "body": {"S": "all bills are paid"}}}
    planned = {"service": "dynamodb", "operation": "put_item", "request": put}
    assert cell.call("thief", "plan", **planned).ok
    aws.asked.clear()
    assert cell.call("thief", "bills", kind="skeleton").ok
    asked = [(k, w) for k, w in wishes(aws.asked) if w.resource == "SkeletonTable"]
    assert asked and not any(granted(transformed, cell, k, w) for k, w in asked)


def test_isolation_by_user_refuses_a_colleagues_data_too(aws: Account, transformed: Any) -> None:
    for per_user in (False, True):
        cell = Cell(aws, per_user=per_user)
        for name, attack in OF_A_COLLEAGUE.items():
            assert granted(transformed, cell, *attempt(cell, aws, attack)) is not per_user, name


@pytest.mark.parametrize("per_user", [False, True], ids=["tenant", "user"])
def test_what_an_app_leaves_for_its_own_webhooks_is_granted(
    aws: Account, transformed: Any, per_user: bool
) -> None:
    cell = Cell(aws, per_user=per_user)
    aws.asked.clear()
    assert cell.call("thief", "leave", word="a state").data == {"found": "a state"}
    asked = [(k, w) for k, w in wishes(aws.asked) if "acme#__webhook__#thief" in w.keys]
    assert len(asked) >= 2
    assert all(granted(transformed, cell, k, w) for k, w in asked)


def test_without_a_session_the_cell_may_write_its_log_and_nothing_else(transformed: Any) -> None:
    for _, _, request in ATTACKS.values():
        table = request.get("TableName", OWN_SECRETS)
        for action in ("GetItem", "PutItem", "Query"):
            wish = Wish(f"dynamodb:{action}", table, ("acme#alice#thief",))
            assert not allows(policy.role_of_the_cell(transformed), wish, {})
