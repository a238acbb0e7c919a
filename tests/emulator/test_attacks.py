"""The attacks on built functions: extension code in the built cell, asked for by the built door and
the built clock. Each request that leaves the cell is put before the policies of template.yaml, with
the session it was signed with."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs

import pytest
from moto.sts.models import sts_backends

from local.aws import lambda_api
from tests.attacks import judging
from tests.attacks.attacks import ATTACKS, FORGED
from tests.attacks.policy import Wish
from tests.deployment import Deployment
from tests.emulator.conftest import LOGICAL_IDS, Asked, Cloud, recorded
from tests.emulator.runtime import Built, Emulator
from tests.template.conftest import transformed

_ = transformed  # the fixture

THIEF = Path(__file__).parents[1] / "attacks" / "extensions"
ACME = "acme"
CELL = "tool_dispatch"
Deploy = Callable[..., Cloud]


@pytest.fixture
def deployed(
    built: Built, aws: str, stack: Deployment, environment: Callable[[str], dict[str, str]]
) -> Iterator[Deploy]:
    """A door, a clock and a cell of its own with the thief in it; with `tenants`, a cell for each,
    as Lambda has them with `Tenancy=environment`; without, one process of it after another."""
    with ExitStack() as running:

        def deploy(*tenants: str) -> Cloud:
            served: dict[str, Emulator] = {}
            api = running.enter_context(lambda_api(served))
            own = {"AWS_ENDPOINT_URL_LAMBDA": api}
            own["WEBBEE_TENANCY"] = "environment" if tenants else "process"
            own["WEBBEE_USER_REQUESTS_PER_MINUTE"] = "10000"  # the attacks come within seconds

            def start(function: str) -> Emulator:
                env = environment(function) | own
                if function == CELL:
                    env["WEBBEE_EXTENSIONS_DIR"] = str(THIEF)
                if function == "chat_turn":
                    env["WEBBEE_DISPATCH_VERSION"] = "thieves:1"
                return running.enter_context(Emulator(built, LOGICAL_IDS[function], env))

            door = environment("chat_turn")
            cells = {f"#{tenant}" if tenant else "": start(CELL) for tenant in ("", *tenants)}
            served |= {door["WEBBEE_DISPATCH"] + whose: cell for whose, cell in cells.items()}
            served[door["WEBBEE_CLOCK"]] = clock = start("skeleton_refresh")
            functions = {CELL: cells[""], "skeleton_refresh": clock}
            return Cloud(built, aws, stack, {**functions, "chat_turn": start("chat_turn")})

        yield deploy


class Seen(NamedTuple):
    """A request out of the cell: by whose session, None for the cell's own role, and for what."""

    session: judging.Session | None
    wish: Wish


class Watch:
    """What has been asked of AWS since it began."""

    def __init__(self, asked: list[Asked], stack: Deployment) -> None:
        self._asked = asked
        self._from = len(asked)
        self._logical = {physical: name for name, physical in stack.names.items() if physical}

    def end(self) -> None:
        """Other tests do not see it."""
        del self._asked[self._from :]

    def cell(self) -> list[Seen]:
        """Every request that was signed in the cell."""
        signed = [a for a in self._asked[self._from :] if a.key == CELL or a.key.startswith("ASIA")]
        return [
            Seen(self._session(key), replace(wish, resource=self._named(wish.resource)))
            for key, wish in judging.wishes(signed)
        ]

    def _named(self, resource: str) -> str:
        table, slash, index = resource.partition("/")
        return self._logical.get(table, table) + slash + index

    def _session(self, key: str) -> judging.Session | None:
        """The tags with which the session of a key was taken, from the request for it."""
        if key == CELL:
            return None
        backend = next(iter(sts_backends["123456789012"].values()))
        name = backend.get_assumed_role_from_access_key(key).session_name
        [taken] = [
            form
            for a in self._asked
            if a.body.startswith(b"Action=AssumeRole&")
            and (form := parse_qs(a.body.decode()))["RoleSessionName"] == [name]
        ][-1:]
        member = "Tags.member.{}.{}".format
        tags = {taken[member(n, "Key")][0]: taken[member(n, "Value")][0] for n in (1, 2)}
        return {"tags": tags, "policy": taken.get("Policy", [""])[0]}


@pytest.fixture
def watch(asked: list[Asked], stack: Deployment) -> Iterator[Watch]:
    watching = Watch(asked, stack)
    yield watching
    watching.end()


def call(cloud: Cloud, function: str, tenant: str = ACME, **params: Any) -> dict[str, Any]:
    """What the thief's function brought, asked for through the door."""
    event = recorded("http_session") | {
        "rawPath": "/v1/extensions/thief/call",
        "body": json.dumps({"function": function, "params": params}),
    }
    event["requestContext"]["http"]["method"] = "POST"
    event["requestContext"]["authorizer"]["jwt"]["claims"]["custom:tenant_id"] = tenant
    answer = json.loads(cloud.invoke("chat_turn", event)["body"])
    assert answer.get("status") == "ok", answer
    return dict(answer["data"])


def in_stack(cloud: Cloud, request: dict[str, Any]) -> dict[str, Any]:
    """The request with the table's name in this stack."""
    if "TableName" not in request:
        return request
    return {**request, "TableName": cloud.stack.names[request["TableName"]]}


def undo(cloud: Cloud, request: dict[str, Any]) -> None:
    """Remove what moto, which asks no policy, let the attack write."""
    if item := request.get("Item"):
        key = {name: item[name] for name in ("pk", "sk")}
        cloud.client("dynamodb").delete_item(TableName=request["TableName"], Key=key)


TENANCIES = pytest.mark.parametrize(
    "tenants", [pytest.param((), id="process"), pytest.param((ACME,), id="environment")]
)
"""Both walls between tenants that a deployment of several may have."""


@TENANCIES
def test_no_attack_out_of_the_built_cell_is_granted(
    deployed: Deploy, watch: Watch, transformed: Any, tenants: tuple[str, ...]
) -> None:
    """What came with the call signs attacks that leave the cell; without it there is nothing to
    sign them with."""
    cloud = deployed(*tenants)
    alone = []
    for service, operation, request in ATTACKS.values():
        sent = in_stack(cloud, request)
        told = {"service": service, "operation": operation, "request": sent}
        call(cloud, "steal", **told, alone=False)
        undo(cloud, sent)
        alone.append(call(cloud, "steal", **told, alone=True))
        undo(cloud, sent)
    seen = watch.cell()
    unsigned = sum(one == {"error": "NoCredentialsError"} for one in alone)
    assert len(seen) >= 2 * len(ATTACKS) - unsigned  # all others left the cell
    assert {s.session["tags"]["tenant"] for s in seen if s.session} == {ACME}
    assert [s for s in seen if judging.granted(transformed, s.session, s.wish)] == []


def test_a_section_cannot_write_another_tenants_skeleton_through_the_clock(
    deployed: Deploy, watch: Watch, transformed: Any
) -> None:
    cloud = deployed()
    paid = {**FORGED, "body": {"S": "all invoices are paid"}}
    put = in_stack(cloud, {"TableName": "SkeletonTable", "Item": paid})
    call(cloud, "plan", service="dynamodb", operation="put_item", request=put)
    cloud.messages()
    installed = cloud.http("chat_turn", "http_install", rawPath="/v1/extensions/thief/installation")
    assert installed[0] == 200
    cloud.drain()
    undo(cloud, put)
    seen = watch.cell()
    granted = [s.wish for s in seen if judging.granted(transformed, s.session, s.wish)]
    assert any(w.resource == "SkeletonTable" for _, w in seen)  # it tried
    assert {w.resource for w in granted} == {"StoreTable"}  # its own plan
    assert all(key.startswith(f"{ACME}#") for w in granted for key in w.keys)


@TENANCIES
def test_the_process_keeps_no_key_where_code_looks_for_it(
    deployed: Deploy, tenants: tuple[str, ...]
) -> None:
    assert call(deployed(*tenants), "rummage") == {"found": {}}
