"""What a deployment would fail at is said before it begins, with what to do: settings that no
function would start with, models that do not answer, quotas, tenant isolation. Every command that
reaches an account goes to the one region that the shell names."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from local import deployability, webbee
from local.aws import local_aws
from local.deployability import Deployment, wrong
from local.template import load_template, resources
from tests.stand_ins.servers import BedrockServer, ChatServer, error

Command = Callable[..., tuple[str, str]]
GIVEN = ("JwtIssuer=https://login.example.com", "JwtAudience=own")
REGION = "eu-central-1"
BEDROCK = "eu.stand-in.model-v1:0"
PROFILE = f"arn:aws:bedrock:{REGION}:123456789012:inference-profile/{BEDROCK}"

CAPACITY = "Rate=100,Burst=200,Refresh={},ChatTurn=0,ToolDispatch=0,SkeletonRefresh=0"


@dataclass
class Account:
    """What boto3's clients say of an account, whatever their service. `functions` are those of the
    stack, by logical id; `parameters` None where there is no stack."""

    executions: int = 1_000
    functions: dict[str, dict[str, Any]] = field(default_factory=dict)
    parameters: dict[str, str] | None = None
    is_denied: bool = False
    exceptions = SimpleNamespace(ClientError=ClientError)

    def get_account_settings(self) -> dict[str, Any]:
        if self.is_denied:
            raise ClientError({"Error": {"Code": "AccessDeniedException"}}, "GetAccountSettings")
        return {"AccountLimit": {"ConcurrentExecutions": self.executions}}

    def get_function_configuration(self, FunctionName: str) -> dict[str, Any]:  # noqa: N803 - boto3's own names
        return self.functions[FunctionName]

    def describe_stacks(self, **_: str) -> dict[str, Any]:
        given = self._of_the_stack(self.parameters or {})
        told = [{"ParameterKey": k, "ParameterValue": v} for k, v in given.items()]
        return {"Stacks": [{"Parameters": told}]}

    def describe_stack_resources(self, **_: str) -> dict[str, Any]:
        like = {"ResourceType": "AWS::Lambda::Function"}
        there = self._of_the_stack(self.functions)
        found = [{**like, "LogicalResourceId": n, "PhysicalResourceId": n} for n in there]
        return {"StackResources": found}

    def _of_the_stack(self, what: dict[str, Any]) -> dict[str, Any]:
        if self.parameters is None:
            error = {"Code": "ValidationError", "Message": "Stack webbee does not exist"}
            raise ClientError({"Error": error}, "DescribeStacks")
        return what


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> Account:
    """An account that allows everything and has no stack."""
    found = Account()
    monkeypatch.setattr(deployability, "clients_of", lambda *_: lambda service: found)
    monkeypatch.setenv("AWS_REGION", REGION)
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    return found


@dataclass(frozen=True)
class Readiness:
    """What there is to say, the advice to take a real model aside."""

    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    derived: dict[str, str] = field(default_factory=dict)


def look(*parameters: str) -> Readiness:
    items = list(deployability.look([*GIVEN, *parameters], ()))
    told = [(i.level, f"{i.name}: {i.message}") for i in items if not i.ok and i.name != "model"]
    return Readiness(
        tuple(text for level, text in told if level == "error"),
        tuple(text for level, text in told if level == "warning"),
        {i.name: i.derived for i in items if i.derived},
    )


def test_a_plain_deployment_is_ready_also_where_no_quota_may_be_asked(account: Account) -> None:
    assert look() == Readiness()
    account.is_denied = True
    found = look()
    assert found.problems == ()
    assert [w.partition(":")[0] for w in found.warnings] == ["concurrency"]


# ---------------------------------------------------------------- parameters


def test_what_a_function_would_not_start_with_is_told(account: Account) -> None:
    [told] = look("Policy=file:policy.md").problems
    assert told.startswith("policy: functions/chat_turn/policy.md: ") and "readable path" in told
    [told] = look('ModelOptions={"ModelPrices":{"m":{"input":"much"}}}').problems
    setting = "parameters: ModelOptions: ModelPrices['m']['input']: "
    assert told.startswith(f"{setting}Input should be a valid number")
    account.parameters = {"Limits": "TurnToken=5000"}  # what a stack of an earlier release keeps
    found = look().problems
    assert any("settings: " in text and "there is no TurnToken" in text for text in found)


def test_what_is_told_of_the_template_is_so() -> None:
    functions = dict(resources(load_template(), "AWS::Serverless::Function"))
    assert [n for n, p in functions.items() if "TenancyConfig" in p] == [deployability.OF_TENANTS]
    assert "Refresh" in Deployment().capacity()
    held = Deployment({"Model": "bedrock:m", "Limits": "CallSeconds=30"}).variables()
    assert (held["WEBBEE_MODEL"], held["WEBBEE_LIMITS"]) == ("bedrock:m", "CallSeconds=30")
    assert {"WEBBEE_MODEL_OPTIONS", "WEBBEE_OPTIONS", "WEBBEE_EXTENSION_SERVICES"} <= held.keys()


# ---------------------------------------------------------------- models


@pytest.fixture
def bedrock(account: Account, monkeypatch: pytest.MonkeyPatch) -> Iterator[BedrockServer]:
    with BedrockServer() as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", server.url)
        yield server


REFUSED, DENIED = f"model bedrock:{BEDROCK}: ", "AccessDeniedException"
ASKED = "User: arn:aws:iam::1:user/ops is not authorized to perform: bedrock:InvokeModel"


@pytest.mark.parametrize(
    ("answer", "problem", "warning"),
    [
        (None, "", ""),
        (error(DENIED, "You don't have access"), "the account needs access to the model", ""),
        (error("ResourceNotFoundException"), "has no model", ""),
        (error("ValidationException", "The model identifier is invalid."), "has no model", ""),
        # who deploys need not be allowed to ask the model
        (error(DENIED, ASKED), "", "the credentials of this shell may not invoke it"),
    ],
)
def test_a_model_of_bedrock_is_asked_and_what_it_refuses_told(
    bedrock: BedrockServer, answer: Any, problem: str, warning: str
) -> None:
    if answer:
        bedrock.play(answer)
    found = look(f"Model=bedrock:{BEDROCK}", f"BedrockModelArns={PROFILE}")
    assert len(found.problems) == bool(problem)
    assert all(t.startswith(REFUSED) and problem in t for t in found.problems)
    assert any(warning in t for t in found.warnings) is bool(warning)
    assert bedrock.problems == []


@pytest.mark.parametrize("arns", ["", PROFILE.replace("model-v1", "model-v2")])
def test_a_model_that_the_role_may_not_invoke_is_told(bedrock: BedrockServer, arns: str) -> None:
    given = (f"BedrockModelArns={arns}",) if arns else ()
    [told] = look(f"Model=bedrock:{BEDROCK}", *given).problems
    assert f"the functions may not invoke {BEDROCK}" in told
    assert look(f"Model=bedrock:{BEDROCK}", "BedrockModelArns=*").problems == ()


@pytest.mark.usefixtures("account")
def test_a_model_server_is_asked_with_the_key_of_the_parameter_by_each_role_that_names_it() -> None:
    with local_aws(), ChatServer(key="right", model="small") as server:
        model = f"Model=openai:{server.url}#small"

        def asked(key: str, model: str = model) -> tuple[str, ...]:
            given = {"Name": "/models/key", "Value": key, "Type": "SecureString"}
            boto3.client("ssm").put_parameter(**given, Overwrite=True)
            return look(model, "ModelKeySecret=/models/key").problems

        assert asked("right") == ()
        [told] = asked("wrong")
        assert told.startswith("model openai:") and "key" in told
        [told] = asked("right", f"{model}er")
        assert "smaller" in told
    [told] = look("ModelOptions=ModelNarrator=openai:http://127.0.0.1:9/v1#gone").problems
    assert "Nothing listens at 127.0.0.1:9" in told
    assert look("Model=openai:http://127.0.0.1:9/v1#gone").problems != ()


# ---------------------------------------------------------------- the account


def test_a_new_account_begins_with_fewer_refreshes_and_a_stack_keeps_its_value_and_is_told(
    account: Account,
) -> None:
    account.executions = 10
    found = look()
    assert (found.derived, found.problems) == ({"Capacity": CAPACITY.format(2)}, ())
    [told] = found.warnings
    assert "runs 10 at once" in told and "request-service-quota-increase" in told
    account.parameters = {"Capacity": CAPACITY.format(20)}
    found = look()
    assert found.derived == {}
    assert "Refresh=2 in Capacity until the quota is higher" in "".join(found.problems)
    assert look(f"Capacity={CAPACITY.format(2)}").problems == ()


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
    isolated = {"TenancyConfig": {"TenantIsolationMode": "PER_TENANT"}}
    account.functions = {"ToolDispatchFunction": isolated}
    assert look() == Readiness()
    [told] = look("Tenancy=shared").problems
    assert "made with tenant isolation and keeps it: Tenancy=environment" in told


# ---------------------------------------------------------------- the shell, and the template's rules


PERSON = ("--tenant", "acme", "--user", "alice")


@pytest.fixture
def shop(bare: None, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")  # nobody is there
    command("new", "shop", "--into", "extensions")


EXPORT = ("export", *PERSON, "--into", "alice.jsonl")
REGION_IS_MISSING = "no region is named: export AWS_REGION="


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize(
    ("words", "shell", "told"),
    [
        (EXPORT, {}, REGION_IS_MISSING),
        (("erase", *PERSON), {}, REGION_IS_MISSING),
        (("deploy",), {}, REGION_IS_MISSING),
        (("deploy",), {"AWS_REGION": REGION}, "no AWS credentials: set AWS_PROFILE"),
        (EXPORT, {"AWS_PROFILE": "me"}, "(me) could not be found: AWS_PROFILE names it"),
    ],
    ids=["export", "erase", "deploy", "deploy without credentials", "a profile that is not there"],
)
def test_without_region_credentials_and_profile_nothing_is_asked_or_made(
    command: Command, monkeypatch: pytest.MonkeyPatch, words: Any, shell: dict[str, str], told: str
) -> None:
    for name, value in shell.items():
        monkeypatch.setenv(name, value)
    assert told in command(*words, ends=1)[1]
    assert not Path(".webbee").exists()


def test_what_was_found_goes_to_sam_which_builds_and_then_deploys(
    account: Account,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """A program that says what it was given stands in for `sam` and for the functions' Python."""
    account.executions = 50
    monkeypatch.chdir(tmp_path)
    assert webbee.main(["new", "shop"]) == 0
    for name in ("sam", "python3.13"):
        (tmp_path / name).write_text('#!/bin/sh\necho "$AWS_REGION $PWD: $@"\n')
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    monkeypatch.setattr("local.cli.deploy.ROOT", tmp_path / "none")
    capfd.readouterr()
    assert webbee.main(["deploy", "--parameters", *GIVEN, "--", "--stack-name", "other"]) == 0
    said = capfd.readouterr()
    capacity = f"Capacity={CAPACITY.format(10)}"
    assert f"{capacity}, by what this account may run at once" in said.err
    built, sent = [line for line in said.out.splitlines() if line.startswith(f"{REGION} /")]
    assert built.endswith("/.webbee/deployment: build --parameter-overrides Architecture=arm64")
    assert f" {capacity} {' '.join(GIVEN)} --stack-name other" in sent
    assert re.search(r"deploy --region eu-central-1 .* Release=\d{10}", sent)
    assert webbee.main(["deploy", "--parameters", *GIVEN, "--", "--region", "us-east-1"]) == 0
    assert re.search(r"deploy --param(?!.*eu-central-1)", capfd.readouterr().out)


TAKEN = [
    *('KmsKeyArn=""', f'Policy="{"Be brief. " * 250}"', 'Limits=""'),
    *("Limits=TurnTokens=5000,CallSeconds=30", 'Limits={"TurnTokens":5000}'),
    "Options=Install=mail+tasks,Tenants=a+b,MaskKinds=IBAN+CARD",
    "ModelOptions=ModelNarrator=openai:https://x/v1?a=b#m,ModelEffort=low",
    'ModelOptions={"ModelPrices":{"openai:m":{"input":1,"output":2}},"ModelTemperature":0.2}',
    'ExtensionServices={"McpServers":[{"id":"docs","url":"https://a/mcp"}]}',
]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("JwtIssuer=", "JwtIssuer must be an https URL"),
        ("JwtAudiance=own", "no parameter JwtAudiance – did you mean 'JwtAudience'?"),
        ("JwtAudience", "write NAME=VALUE"),
        ("KmsKeyArn=", "KmsKeyArn has no value: KmsKeyArn='\"\"' empties it"),
        ("ProtectData=yes", "ProtectData must be one of"),
        ("Limits=TurnTokens=5", "TurnTokens: Input should be greater than or equal to 1000"),
        ("Limits=TurnTokens=many", "Limits: TurnTokens: Input should be a valid integer"),
        ("Limits=TurnToken=5000", "Limits: there is no TurnToken; it holds UserRequestsPerMinute"),
        ("Limits=5000", "Limits must be empty, Name=value,Name=value or a JSON object"),
        ('Limits={"TurnTokens":"5"', "Limits must be empty, Name=value,Name=value or a JSON"),
        ('Limits={"TurnTokens":5]}', "Limits: must be Name=value,Name=value or a JSON object"),
        ("ModelOptions=ModelAi=gpt", "ModelOptions: ModelAi: must be offline, bedrock:<id> or"),
        ("Options=Grounding=never", "Options: Grounding: Input should be 'strict', 'data' or"),
        (f"Policy={'x' * 2_501}", "Policy must hold at most 2500 characters"),
        ("Policy=Say {{name}}", "Policy must hold at most 2500 characters and no {{"),
        (f"Policy={'п' * 2_049}", "Policy has 4,098 bytes and CloudFormation takes 4,096"),
        *((taken, "") for taken in TAKEN),
    ],
)
def test_a_parameter_that_is_refused_is_told_with_what_it_must_be(given: str, why: str) -> None:
    told = wrong([given])
    assert (len(told), why in "".join(told)) == (bool(why), True)


@pytest.mark.usefixtures("bare")
def test_a_deployment_has_one_region_in_the_usual_order(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("config").write_text("[default]\nregion = sa-east-1\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", "config")
    assert deployability.named() == "sa-east-1"
    for name, region in (("AWS_DEFAULT_REGION", "us-east-1"), ("AWS_REGION", "eu-west-1")):
        monkeypatch.setenv(name, region)
        assert deployability.named() == region
    assert deployability.region_of(["--region=us-west-2", "--guided"]) == "us-west-2"
