"""What an operator relies on: alarms, one dashboard, versions that move and move back, parameters
that are refused early."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from local.template import TEMPLATE_PATH, Template, resources
from tests.deployment import transform
from webbee_kernel.base.metrics import EMITTED

FUNCTIONS = ("ChatTurn", "ToolDispatch", "SkeletonRefresh")
ALARMS = {
    *(f"{name}{kind}" for name in FUNCTIONS for kind in ("Errors", "Throttles")),
    "SlowTurns",
    "ApiServerErrors",
    "RefreshesWait",
    "RefreshesDead",
    "SectionsOverdue",
    "ClockStopped",
}


def test_every_failure_that_needs_a_person_has_an_alarm(template: Template) -> None:
    alarms = dict(resources(template, "AWS::CloudWatch::Alarm"))
    assert set(alarms) == ALARMS
    for alarm in alarms.values():
        assert alarm["AlarmDescription"]
        assert alarm["AlarmActions"] == {
            "Fn::If": ["AlarmsAreSent", [{"Ref": "AlarmTopicArn"}], {"Ref": "AWS::NoValue"}]
        }
        assert alarm["DatapointsToAlarm"] <= alarm["EvaluationPeriods"]
    assert alarms["SlowTurns"]["ExtendedStatistic"] == "p95"
    assert alarms["RefreshesDead"]["Threshold"] == 1


def test_operations_say_what_to_do_about_each_alarm() -> None:
    page = (TEMPLATE_PATH.parent / "docs" / "operations.md").read_text("utf-8")
    headings = " ".join(line for line in page.splitlines() if line.startswith("### "))
    assert {alarm for alarm in ALARMS if alarm not in headings} == set()


def metrics_named(template: Template) -> set[tuple[str, str]]:
    """Our own metrics that alarms and dashboard show, with the function that emits them."""
    text = template["Resources"]["Dashboard"]["Properties"]["DashboardBody"]["Fn::Sub"]
    body = json.loads(re.sub(r"\$\{[^}]+\}", "x", text))
    shown = [m for w in body["widgets"] for m in w["properties"]["metrics"]]
    own = {(m[1], m[5]) for m in shown if str(m[0]).startswith("Webbee/")}
    for _, alarm in resources(template, "AWS::CloudWatch::Alarm"):
        if isinstance(alarm["Namespace"], dict):
            dimensions = {d["Name"]: d["Value"] for d in alarm["Dimensions"]}
            own.add((alarm["MetricName"], dimensions["function"]))
    return own


def test_dashboard_and_alarms_show_only_metrics_that_the_kernel_emits(template: Template) -> None:
    shown = metrics_named(template)
    assert shown
    assert {
        (name, function) for name, function in shown if function not in EMITTED[name].functions
    } == set()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_traffic_moves_by_alias_and_back_on_the_functions_own_errors(
    template: Template, transformed: Template, name: str
) -> None:
    properties = template["Resources"][f"{name}Function"]["Properties"]
    assert properties["AutoPublishAliasAllProperties"]
    assert template["Globals"]["Function"]["AutoPublishAlias"] == "live"
    assert {"Ref": f"{name}Errors"} in properties["DeploymentPreference"]["Alarms"]
    assert transformed["Resources"][f"{name}FunctionAliaslive"]["Properties"]["Name"] == "live"
    assert f"{name}FunctionDeploymentGroup" in transformed["Resources"]


def test_chat_turn_and_its_permission_name_the_alias_of_tool_dispatch(
    transformed: Template,
) -> None:
    alias = {"Ref": "ToolDispatchFunctionAliaslive"}
    assert (
        transformed["Resources"]["ChatTurnFunction"]["Properties"]["Environment"]["Variables"][
            "WEBBEE_DISPATCH"
        ]
        == alias
    )


def versions(template: Template) -> set[str]:
    return {name for name, _ in resources(template, "AWS::Lambda::Version")}


def test_a_release_publishes_new_versions_even_when_only_parameters_changed(
    transformed: Template,
) -> None:
    assert versions(transform(Model="bedrock:x")) == versions(
        transformed
    )  # SAM's hash does not see parameters
    assert versions(transform(Model="bedrock:x", Release="1779000000")).isdisjoint(
        versions(transformed)
    )


def test_a_layer_alone_publishes_new_versions(template: Template) -> None:
    layers = dict(resources(template, "AWS::Serverless::LayerVersion"))
    assert [layer["PublishLambdaVersion"] for layer in layers.values()] == [True, True]


@pytest.mark.parametrize(
    ("parameter", "good", "bad"),
    [
        (
            "JwtIssuer",
            ["https://login.example.com/"],
            ["", "http://login.example.com", "login.example.com", "https://x?y"],
        ),
        ("JwtAudience", ["webbee"], [""]),
        (
            "Model",
            ["offline", "bedrock:eu.amazon.nova-lite-v1:0", "openai:https://x/v1#m"],
            ["gpt", "bedrock:", "openai:x"],
        ),
        (
            "AlarmTopicArn",
            ["", "arn:aws:sns:eu-central-1:123456789012:ops"],
            ["ops", "arn:aws:sqs:eu-central-1:123456789012:ops"],
        ),
        ("Release", ["", "1779000000"], ["2026-05-15", "12345678901"]),
        (
            "DomainName",
            ["", "chat.example.com"],
            ["https://chat.example.com", "Chat.example.com", "localhost"],
        ),
        (
            "CertificateArn",
            ["", "arn:aws:acm:eu-central-1:123456789012:certificate/0a1b-2c"],
            ["0a1b"],
        ),
        (
            "PublicUrl",
            ["", "https://a.execute-api.eu-central-1.amazonaws.com"],
            ["http://a", "https://a/"],
        ),
        ("InstallByDefault", ["*", "", "mail", "mail, tasks"], ["mail tasks", "**", "Mail"]),
        ("Tenants", ["default", "acme, umbrella"], ["", "a#b", "a,,b"]),
        ("ExtensionConfig", ["{}", '{"mail": {"page": 20}}'], ["", "[]", "mail"]),
        (
            "OauthProviders",
            ["{}", '{"acme": {"authorize_url": "https://a", "token_url": "https://t"}}'],
            ["", "[]", "acme"],
        ),
        ("AwsEndpoint", ["", "http://127.0.0.1:4566"], ["127.0.0.1:4566", "http://x/y"]),
    ],
)
def test_a_wrong_parameter_is_refused_before_anything_changes(
    template: Template, parameter: str, good: list[str], bad: list[str]
) -> None:
    declared = template["Parameters"][parameter]
    assert declared["ConstraintDescription"].startswith("must ")
    assert [v for v in good if not re.fullmatch(declared["AllowedPattern"].strip("^$"), v)] == []
    assert [v for v in bad if re.fullmatch(declared["AllowedPattern"].strip("^$"), v)] == []


def test_every_parameter_is_constrained_or_a_switch(template: Template) -> None:
    free = {
        n
        for n, p in template["Parameters"].items()
        if not {"AllowedPattern", "AllowedValues", "MinValue"} & p.keys()
    }
    assert free == {
        "BedrockModelArns"
    }  # a list: CloudFormation matches patterns against strings only


def rule_holds(condition: Any, parameters: dict[str, str]) -> bool:
    match condition:
        case {"Fn::Or": parts}:
            return any(rule_holds(p, parameters) for p in parts)
        case {"Fn::And": parts}:
            return all(rule_holds(p, parameters) for p in parts)
        case {"Fn::Not": [part]}:
            return not rule_holds(part, parameters)
        case {"Fn::Equals": [{"Ref": name}, value]}:
            return parameters[name] == value
    raise AssertionError(condition)


@pytest.mark.parametrize(
    ("domain", "certificate", "holds"),
    [("", "", True), ("d", "c", True), ("d", "", False), ("", "c", False)],
)
def test_a_domain_without_its_certificate_is_refused(
    template: Template, domain: str, certificate: str, holds: bool
) -> None:
    [assertion] = template["Rules"]["ADomainNeedsItsCertificate"]["Assertions"]
    assert (
        rule_holds(assertion["Assert"], {"DomainName": domain, "CertificateArn": certificate})
        is holds
    )
    assert "DomainName and CertificateArn" in assertion["AssertDescription"]


def test_x_ray_is_a_switch(template: Template) -> None:
    assert template["Globals"]["Function"]["Tracing"] == {
        "Fn::If": ["IsTraced", "Active", "PassThrough"]
    }
    assert template["Parameters"]["Tracing"]["Default"] == "false"


def test_operations_list_every_metric() -> None:
    page = (TEMPLATE_PATH.parent / "docs" / "operations.md").read_text("utf-8")
    assert {name for name in EMITTED if f"| `{name}` |" not in page} == set()
