"""boto3 as the kernel uses it, against a server that plays AWS: who signs, what is repeated, which
connections are kept, and that an effect which may have been taken is never done twice."""

import asyncio
import socket
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.exceptions import NoCredentialsError

from local.aws import local_aws
from tests.stand_ins.service import Reply, Service, served
from webbee_kernel.aws import clients
from webbee_kernel.aws.clients import (
    aws_client,
    in_thread,
    patient_client,
    take_credentials,
    use_credentials,
)
from webbee_kernel.aws.invoke import LambdaDispatch
from webbee_kernel.aws.parameters import CACHE_S, AppConfiguration, read_policy
from webbee_kernel.bootstrap import bootstrap, make_kernel
from webbee_kernel.catalogue import AppInfo, Catalogue
from webbee_kernel.config import Settings
from webbee_kernel.errors import (
    DispatchRefused,
    DispatchUnanswered,
    SettingsError,
    StorageUnavailable,
)
from webbee_kernel.stores.dynamodb.client import ConditionFailed, Database
from webbee_kernel.stores.dynamodb.item_requests import ABSENT, STAMP, key_of, put
from webbee_kernel.types import CallOutcome, CallRequest, to_dict

THROTTLED = Reply({"__type": "com.amazonaws#ThrottlingException", "message": "slow"}, 400)
BROKEN_OFF = Reply(b'{"Item": {"pk"')
LENT = {"key": "LENT", "secret": "s", "token": "lent-token"}


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    monkeypatch.setattr(clients, "_role_credentials", [])
    with served() as running:
        monkeypatch.setenv("AWS_ENDPOINT_URL", running.url)
        clients.forget_clients()
        yield running
    clients.forget_clients()


@pytest.fixture
def database(service: Service, monkeypatch: pytest.MonkeyPatch) -> Database:
    monkeypatch.setattr("time.sleep", lambda _: None)  # botocore's pauses
    return Database(aws_client)


def signers(service: Service) -> list[str]:
    signed = (r.headers["authorization"].split("Credential=")[1] for r in service.requests)
    return [credential.split("/")[0] for credential in signed]


# ---- credentials


def test_calls_side_by_side_sign_with_their_own_and_others_with_the_roles(service: Service) -> None:
    async def call(name: str) -> None:
        with use_credentials(LENT | {"key": name, "token": f"t-{name}"}):
            await asyncio.sleep(0)
            await in_thread(aws_client("dynamodb").list_tables)

    async def all_of_them() -> None:
        async with asyncio.TaskGroup() as group:
            for name in names:
                group.create_task(call(name))

    names = [f"K{n}" for n in range(12)]
    aws_client("dynamodb").list_tables()
    asyncio.run(all_of_them())
    aws_client("dynamodb").list_tables()
    signed = signers(service)
    assert (signed[0], sorted(signed[1:-1]), signed[-1]) == ("test", sorted(names), "test")
    tokens = [r.headers.get("x-amz-security-token") for r in service.requests]
    assert tokens == [None, *(f"t-{name}" for name in signed[1:-1]), None]


def test_what_was_taken_out_of_the_environment_still_signs(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    environ = {"AWS_ACCESS_KEY_ID": "ROLE", "AWS_SECRET_ACCESS_KEY": "s"}
    environ["AWS_SESSION_TOKEN"] = "role-token"
    take_credentials(environ)
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    aws_client("dynamodb").list_tables()
    assert (environ, signers(service)) == ({}, ["ROLE"])
    assert service.requests[0].headers["x-amz-security-token"] == "role-token"


def test_without_any_nothing_is_sent_but_what_comes_with_its_own_or_later(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in clients.VARIABLES:
        monkeypatch.delenv(name, raising=False)
    client = aws_client("dynamodb")
    with pytest.raises(NoCredentialsError):
        client.list_tables()
    assert service.requests == []
    with use_credentials(LENT):
        client.list_tables()
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "LATE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s")
    client.list_tables()
    assert signers(service) == ["LENT", "LATE"]


# ---- answers that are lost or broken


@pytest.mark.parametrize("first", [THROTTLED, Reply(b"busy", 503), Reply(drop=True), BROKEN_OFF])
def test_a_transaction_is_repeated_with_the_same_token(
    service: Service, database: Database, first: Reply
) -> None:
    service.script[:] = [first, first]
    asyncio.run(database.write(*(put("t", key_of("a", name)) for name in ("b", "c"))))
    tokens = {request.json["ClientRequestToken"] for request in service.requests}
    assert (len(service.requests), len(tokens)) == (3, 1)


def test_a_batch_names_each_item_once_and_the_last_of_it_counts(
    service: Service, database: Database
) -> None:
    service.script[:] = [Reply({"UnprocessedItems": {}})]
    spelled = [put("t", {**key_of("a", "b"), "to": to}) for to in ("BOB@x.org", "bob@x.org")]
    asyncio.run(database.batch([*spelled, put("t", key_of("a", "c"))]))
    (request,) = service.requests
    sent = [part["PutRequest"]["Item"] for part in request.json["RequestItems"]["t"]]
    assert [(i["sk"], i.get("to")) for i in sent] == [
        ({"S": "b"}, {"S": "bob@x.org"}),
        ({"S": "c"}, None),
    ]


WHOLE = b'{"Item":{"pk":{"S":"a"}}}'
SUMMED = {"x-amz-crc32": str(zlib.crc32(WHOLE))}
CONTRADICTED = Reply(b'{"Item":{"x":1}}', headers=SUMMED)


@pytest.mark.parametrize("first", [BROKEN_OFF, CONTRADICTED], ids=["broke off", "checksum"])
def test_a_body_that_broke_off_or_that_its_checksum_contradicts_is_read_again_and_not_for_ever(
    service: Service, database: Database, first: Reply
) -> None:
    service.script[:] = [first, Reply(WHOLE, headers=SUMMED)]
    assert asyncio.run(database.get("t", key_of("a", "b"))) == {"pk": "a"}
    assert len(service.requests) == 2
    service.script[:] = [first] * 9
    with pytest.raises(StorageUnavailable):
        asyncio.run(database.get("t", key_of("a", "b")))
    assert len(service.requests) == 2 + 3


@pytest.mark.parametrize("lost", [Reply(drop=True), BROKEN_OFF])
def test_a_conditional_write_recognises_its_own_lost_answer(
    service: Service, database: Database, lost: Reply
) -> None:
    write = put("t", key_of("a", "b"), ABSENT, own=STAMP)
    kind = "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException"
    met = {"__type": kind, "message": "no"}
    stood = {name: {"S": str(value)} for name, value in write.item.items()}
    service.script[:] = [lost, Reply(met | {"Item": stood}, 400)]
    asyncio.run(database.write(write))
    service.script[:] = [lost, Reply(met | {"Item": stood | {STAMP: {"S": "x"}}}, 400)]
    with pytest.raises(ConditionFailed):
        asyncio.run(database.write(write))


# ---- connections


def test_after_a_long_pause_an_invocation_opens_a_new_connection(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The environment was frozen: what the other side did meanwhile cannot be seen from here."""
    now = [1_000.0]
    monkeypatch.setattr("time.time", lambda: now[0])
    monkeypatch.setattr(clients, "_last_request_at", {})
    for pause in (0.0, 1.0, clients.IDLE_S + 1, 1.0):
        now[0] += pause
        patient_client("lambda").invoke(FunctionName="f")["Payload"].read()
    first, second, third, fourth = (request.connection for request in service.requests)
    assert first == second != third == fourth


USER = {"imperal_id": "alice", "tenant_id": "acme"}
EFFECT = CallRequest("function", USER, "mail", "send", {"to": "bob"}, effect="e1", deadline_s=20)
DONE = to_dict(CallOutcome("mail", "send", "ok", data={"sent": True}))


# ---- effects over kept connections: one that may have been taken is never done twice


def send(dispatch: LambdaDispatch, **change: str) -> CallOutcome:
    return asyncio.run(dispatch.call(replace(EFFECT, **change)))


def test_an_effect_over_a_kept_connection_that_was_closed_is_done_once(service: Service) -> None:
    dispatch = LambdaDispatch("cell")
    service.script[:] = [Reply(DONE), Reply(DONE, last=True), Reply(DONE)]
    assert send(dispatch, effect="e1").ok and send(dispatch, effect="e2").ok
    assert service.closed.wait(30)
    outcome = send(dispatch, effect="e3")
    assert (outcome.status, outcome.data) == ("ok", {"sent": True})
    assert [r.json["effect"] for r in service.requests] == ["e1", "e2", "e3"]
    first, second, third = (r.connection for r in service.requests)
    assert first == second != third


@pytest.mark.parametrize("lost", [Reply(drop=True), Reply(b"", 500), Reply(b"", 503)])
def test_an_effect_taken_and_not_answered_stays_unknown(service: Service, lost: Reply) -> None:
    service.script[:] = [lost, Reply(DONE)]
    with pytest.raises(DispatchUnanswered):
        send(LambdaDispatch("cell"))
    assert [r.json["effect"] for r in service.requests] == ["e1"]


def test_an_effect_that_reached_nobody_was_certainly_not_done(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # and never listens
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{nobody.getsockname()[1]}")
        clients.forget_clients()
        with pytest.raises(DispatchRefused):
            asyncio.run(LambdaDispatch("cell").call(replace(EFFECT, deadline_s=0.5)))


# ---- the operator's policy


NAME = "/webbee-settings/shop/policy"


def test_the_text_is_the_parameters_or_of_the_file_it_names_and_without_it_no_function_starts(
    tmp_path: Path,
) -> None:
    file, text = tmp_path / "policy.md", "Спроси. " * 1_000
    file.write_text(text, "utf-8")
    for value, told in (("п" * 2_000, "п" * 2_000), (f"file:{file}", text)):
        with local_aws():
            boto3.client("ssm").put_parameter(Name=NAME, Value=value, Type="String")
            assert Settings.from_env({"WEBBEE_POLICY": read_policy(NAME)}).policy_text() == told
    settings = Settings.from_env({"WEBBEE_POLICY_PARAMETER": NAME})
    with local_aws():
        app = bootstrap(settings)
        with pytest.raises(SettingsError, match="ParameterNotFound") as caught:
            make_kernel(app)
    assert caught.value.field == "WEBBEE_POLICY_PARAMETER"


# ---- the apps' configuration


async def test_configuration_is_read_anew_and_serves_on_through_an_outage() -> None:
    settings, clock = Settings.from_env({"WEBBEE_CONFIG_PARAMETER": NAME}), [0.0]
    catalogue = Catalogue({"mail": AppInfo("mail")})
    with local_aws():
        ssm = boto3.client("ssm")

        def made() -> AppConfiguration:
            return AppConfiguration(settings, lambda _: ssm, lambda: clock[0])

        def write(n: int) -> None:
            value = f'{{"mail": {{"n": {n}}}}}'
            ssm.put_parameter(Name=NAME, Value=value, Type="String", Overwrite=True)

        async def told(kept: AppConfiguration) -> Any:
            return (await kept.of(EFFECT, catalogue))["config"]["mail"][0]["n"]

        write(1)
        kept = made()
        assert await told(kept) == 1
        write(2)
        assert await told(kept) == 1
        clock[0] += CACHE_S + 1
        assert await told(kept) == 2
        ssm.delete_parameter(Name=NAME)
        clock[0] += CACHE_S + 1
        assert await told(kept) == 2
        with pytest.raises(DispatchRefused, match="ParameterNotFound"):
            await told(made())
