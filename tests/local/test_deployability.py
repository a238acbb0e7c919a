"""What a deployment would fail at is said before it begins, with what to do: settings that no
function would start with, models that do not answer, quotas, tenant isolation."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from local import deployability, webbee
from local.cli import deploy
from tests.stand_ins.account import Account
from tests.stand_ins.servers import BedrockServer, ChatServer, error

GIVEN = ("JwtIssuer=https://login.example.com", "JwtAudience=own")
REGION = "eu-central-1"
BEDROCK = "eu.stand-in.model-v1:0"
PROFILE = f"arn:aws:bedrock:{REGION}:123456789012:inference-profile/{BEDROCK}"

CAPACITY = "Rate=100,Burst=200,Refresh={},ChatTurn=0,ToolDispatch=0,SkeletonRefresh=0"


def keeping(executions: int) -> str:
    """`Capacity` with executions kept for chat_turn."""
    return f"Capacity={CAPACITY.format(2)}".replace("ChatTurn=0", f"ChatTurn={executions}")


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> Iterator[Account]:
    """An account that allows everything and has no stack."""
    with Account() as found:
        monkeypatch.setenv("AWS_ENDPOINT_URL", found.url)
        monkeypatch.setenv("AWS_REGION", REGION)
        monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
        yield found


def look(*parameters: str, rest: tuple[str, ...] = ()) -> deployability.Readiness:
    return deployability.look([*GIVEN, *parameters], rest)


def test_a_plain_deployment_into_an_account_that_allows_it_is_ready(account: Account) -> None:
    assert look() == deployability.Readiness(REGION)


# ---------------------------------------------------------------- parameters


def test_what_a_function_would_not_start_with_is_told(account: Account) -> None:
    [told] = look('ModelOptions={"ModelPrices":{"m":{"input":"much"}}}').problems
    assert told.startswith(
        "ModelOptions: ModelPrices['m']['input']: Input should be a valid number"
    )
    account.parameters = {"Limits": "TurnToken=5000"}  # what a stack of an earlier release keeps
    found = look().problems
    assert any("settings: " in text and "there is no TurnToken" in text for text in found)


def test_a_policy_in_a_file_must_lie_beside_the_function(account: Account) -> None:
    [told] = look("Policy=file:policy.md").problems
    assert told == "policy: functions/chat_turn/policy.md is not there: put it there"


# ---------------------------------------------------------------- models


@pytest.fixture
def bedrock(account: Account, monkeypatch: pytest.MonkeyPatch) -> Iterator[BedrockServer]:
    with BedrockServer() as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", server.url)
        yield server


def test_a_model_that_answers_is_no_problem(bedrock: BedrockServer) -> None:
    assert look(f"Model=bedrock:{BEDROCK}", f"BedrockModelArns={PROFILE}").problems == ()
    assert bedrock.problems == []


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (
            error("AccessDeniedException", "You don't have access to the model"),
            "the account needs access to the model",
        ),
        (error("ResourceNotFoundException"), "has no model"),
        (
            error("ValidationException", "The provided model identifier is invalid."),
            "knows no model",
        ),
    ],
)
def test_a_model_of_bedrock_that_refuses_is_told(
    bedrock: BedrockServer, answer: Any, why: str
) -> None:
    bedrock.play(answer)
    found = look(f"Model=bedrock:{BEDROCK}", f"BedrockModelArns={PROFILE}")
    assert found.problems, found
    [told] = found.problems
    assert told.startswith(f"model bedrock:{BEDROCK}: ") and why in told


def test_who_deploys_need_not_be_allowed_to_ask_the_model(bedrock: BedrockServer) -> None:
    refused = error(
        "AccessDeniedException",
        "User: arn:aws:iam::1:user/ops is not authorized to perform: bedrock:InvokeModel",
    )
    bedrock.play(refused)
    found = look(f"Model=bedrock:{BEDROCK}", f"BedrockModelArns={PROFILE}")
    assert found.problems == ()
    assert any("the credentials of this shell may not invoke it" in w for w in found.warnings)


@pytest.mark.parametrize("arns", ["", PROFILE.replace("model-v1", "model-v2")])
def test_a_model_that_the_role_may_not_invoke_is_told(bedrock: BedrockServer, arns: str) -> None:
    given = (f"BedrockModelArns={arns}",) if arns else ()
    [told] = look(f"Model=bedrock:{BEDROCK}", *given).problems
    assert f"the functions may not invoke {BEDROCK}" in told
    assert look(f"Model=bedrock:{BEDROCK}", "BedrockModelArns=*").problems == ()


def test_a_model_server_is_asked_with_the_key_of_the_parameter(account: Account) -> None:
    account.key = "right"
    with ChatServer(key="right", model="small") as server:
        model = f"Model=openai:{server.url}#small"
        assert look(model, "ModelKeySecret=/models/key").problems == ()
        account.key = "wrong"
        [told] = look(model, "ModelKeySecret=/models/key").problems
        assert told.startswith("model openai:") and "key" in told
        account.key = "right"
        [told] = look(f"{model}er", "ModelKeySecret=/models/key").problems
        assert "smaller" in told


def test_a_model_server_that_is_not_there_is_told_for_each_role_that_names_it(
    account: Account,
) -> None:
    with ChatServer() as server:
        url = server.url
    [told] = look("ModelOptions=ModelNarrator=openai:http://127.0.0.1:9/v1#gone").problems
    assert "The model server did not answer" in told
    assert look(f"Model=openai:{url}#gone").problems != ()


# ---------------------------------------------------------------- the account


def test_a_new_account_begins_with_fewer_refreshes_and_is_told_why(account: Account) -> None:
    account.executions = account.unreserved = 10
    found = look()
    assert found.derived == {"Capacity": CAPACITY.format(2)}
    assert found.problems == ()
    [told] = found.warnings
    assert "runs 10 at once" in told and "request-service-quota-increase" in told


def test_a_stack_keeps_its_value_and_is_told_where_it_starves_turns(account: Account) -> None:
    account.executions = account.unreserved = 10
    account.parameters = {"Capacity": CAPACITY.format(20)}
    found = look()
    assert found.derived == {}
    assert "Refresh=2 in Capacity until the quota is higher" in "".join(found.problems)
    assert look(f"Capacity={CAPACITY.format(2)}").problems == ()


@pytest.mark.parametrize(
    ("executions", "reserved", "held", "fits"),
    [(1_000, 900, 0, True), (1_000, 901, 0, False), (10, 1, 0, False), (1_000, 500, 400, True)],
)
def test_what_functions_keep_must_leave_the_account_its_own(
    account: Account, executions: int, reserved: int, held: int, fits: bool
) -> None:
    account.executions, account.unreserved = executions, executions - held
    account.parameters = {"Tenancy": "process"}
    account.functions = {"ChatTurnFunction": {}, "ToolDispatchFunction": {}}
    account.reserved = {"ChatTurnFunction": held} if held else {}
    told = [t for t in look(keeping(reserved)).problems if "reserved" in t]
    assert told == [] if fits else "lower ChatTurn and its like in Capacity, or raise it" in told[0]


@pytest.mark.parametrize("region", ["ap-southeast-6", "cn-north-1", "us-gov-west-1"])
def test_a_region_without_tenant_isolation_gets_a_process_a_tenant(
    account: Account, monkeypatch: pytest.MonkeyPatch, region: str
) -> None:
    monkeypatch.setenv("AWS_REGION", region)
    assert look().derived == {"Tenancy": "process"}
    [told] = look("Tenancy=environment").problems
    assert told == f"Tenancy: {region} has no tenant isolation mode: Tenancy=process"


def test_a_function_keeps_the_isolation_it_was_made_with(account: Account) -> None:
    account.parameters = {}
    account.functions = {"ToolDispatchFunction": {}}
    assert look().derived == {"Tenancy": "process"}
    account.functions = {
        "ToolDispatchFunction": {"TenancyConfig": {"TenantIsolationMode": "PER_TENANT"}}
    }
    assert look() == deployability.Readiness(REGION)
    [told] = look("Tenancy=shared").problems
    assert "made with tenant isolation and keeps it: Tenancy=environment" in told


def test_what_may_not_be_asked_is_a_warning(account: Account) -> None:
    account.is_denied = True
    found = look()
    assert found.problems == ()
    assert [w.partition(":")[0] for w in found.warnings] == ["concurrency"]


# ---------------------------------------------------------------- commands


def test_make_deploy_is_given_the_region_and_what_was_derived(
    account: Account, capsys: pytest.CaptureFixture[str]
) -> None:
    account.executions = account.unreserved = 50
    assert deployability.main([*GIVEN, "--"]) == 0
    said = capsys.readouterr()
    assert said.out == f"{REGION} Capacity={CAPACITY.format(10)}\n"
    assert f"Capacity={CAPACITY.format(10)}, by what this account may run at once" in said.err


def test_deploy_check_names_the_same_things(
    account: Account, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["deploy-check", "--json", "--parameters", *GIVEN, keeping(950)]
    assert webbee.main(arguments) == 1
    items = {item["name"]: item for item in json.loads(capsys.readouterr().out)["items"]}
    assert not items["reserved concurrency"]["ok"]
    assert items["JwtIssuer"]["ok"]


def test_deploy_check_tells_every_mistake_before_anything_is_named(
    account: Account, capsys: pytest.CaptureFixture[str]
) -> None:
    assert webbee.main(["deploy-check", "--json", "--parameters", "Tracing=yes"]) == 1
    wrong = [i for i in json.loads(capsys.readouterr().out)["items"] if not i["ok"]]
    told = {i["name"] for i in wrong if i["level"] == "error"}
    assert told - {"Python 3.13"} == {"parameters"}, "what this machine lacks is another matter"


def test_the_python_that_builds_is_looked_for_where_make_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    versions = tmp_path / "versions" / "3.13.0" / "bin"
    versions.mkdir(parents=True)
    (versions / "python3.13").symlink_to(sys.executable)
    shim = tmp_path / "python3.13"
    shim.write_text("#!/bin/sh\nexit 127\n")
    shim.chmod(0o755)
    monkeypatch.setattr("local.cli.deploy.ROOT", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "none"))
    assert not any(map(deploy._builds, deploy._pythons())), "a shim without its Python"
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    assert next(filter(deploy._builds, deploy._pythons())) == versions / "python3.13"
