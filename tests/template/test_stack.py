"""The whole template as a CloudFormation stack in moto, and the three handlers against what it
created."""

import json
from collections.abc import Iterator

import boto3
import pytest

from local.aws import local_aws
from local.stack import FUNCTIONS, ROOT, Stack, http_event, load_handler
from local.template import Template
from tests.deployment import NOT_IN_MOTO, Deployment, deploy
from tests.functions.support import ALICE

CLAIMS = {**ALICE, "role": "developer"}
POLICY = ("Refunds take 14 days. " * 114)[:2_499] + "."
"""As long as the parameter takes it."""


@pytest.fixture(scope="module")
def deployment() -> Iterator[Deployment]:
    with local_aws():
        yield deploy(lambda service: boto3.client(service, region_name="us-east-1"), Policy=POLICY)


def test_cloudformation_creates_everything_that_moto_knows(
    deployment: Deployment, transformed: Template
) -> None:
    kinds = {transformed["Resources"][name]["Type"] for name in deployment.left_out}
    unknown = {kind for kind in kinds if kind.startswith(NOT_IN_MOTO)}
    assert kinds - unknown == {"AWS::Lambda::Permission"}  # of the API's routes
    some = "SessionsTable RefreshQueue ChatTurnRole ChatTurnFunction SkeletonRefreshFunctionTick"
    assert set(some.split()) <= deployment.names.keys()


def test_a_policy_of_2_500_characters_reaches_the_models_out_of_parameter_store(
    deployment: Deployment, template: Template, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The handlers in this process, with the environment that CloudFormation gave the functions."""
    variables = deployment.environments["chat_turn"]
    assert variables["WEBBEE_POLICY_PARAMETER"] == "/webbee-settings/webbee/policy"
    assert not any(POLICY[:21] in value for value in variables.values())
    for environment in deployment.environments.values():
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
    monkeypatch.setenv("WEBBEE_EXTENSIONS_DIR", str(ROOT / "extensions"))  # /opt is Lambda's
    monkeypatch.setenv("WEBBEE_DISPATCH", "inline")  # nothing runs functions here
    monkeypatch.setenv("WEBBEE_CLOCK", "inline")
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "")
    handlers = {name: load_handler(name) for name in FUNCTIONS}
    stack = Stack(template, handlers, {}, deployment.outputs["RefreshQueueUrl"])
    event = http_event("GET", "/v1/inspect", claims=CLAIMS)
    event["queryStringParameters"] = {"message": "refunds?"}
    answer = stack.invoke("chat_turn", event)
    assert answer["statusCode"] == 200, answer
    assert f"[POLICY]\n{POLICY}" in json.loads(answer["body"])["system"]
