"""What an operator relies on: alarms, one dashboard, versions that move and move back, parameters
that are refused early."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from local.template import TEMPLATE_PATH, Template, resources
from tests.deployment import transform
from webbee_kernel.base.metrics import BY_VERSION, EMITTED

FUNCTIONS = ("ChatTurn", "ToolDispatch", "SkeletonRefresh")
ALARMS = {
    *(f"{name}{kind}" for name in FUNCTIONS for kind in ("Errors", "ServerErrors", "Throttles")),
    "CallsFail",
    "RefreshesFail",
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


def test_operations_name_the_timeouts_of_the_template(template: Template) -> None:
    page = (TEMPLATE_PATH.parent / "docs" / "operations.md").read_text("utf-8")
    told = dict(re.findall(r"^\| (\w+) timeout \| (\d+) s \|", page, re.MULTILINE))
    functions = resources(template, "AWS::Serverless::Function")
    timeouts = {f["CodeUri"].removeprefix("functions/"): f["Timeout"] for _, f in functions}
    queues = dict(resources(template, "AWS::SQS::Queue"))
    timeouts["visibility"] = queues["RefreshQueue"]["VisibilityTimeout"]
    assert {name: int(seconds) for name, seconds in told.items()} == timeouts


def metrics_named(template: Template) -> set[tuple[str, str]]:
    """Our own metrics that alarms and dashboard show, with the function that emits them."""
    text = template["Resources"]["Dashboard"]["Properties"]["DashboardBody"]["Fn::Sub"]
    body = json.loads(re.sub(r"\$\{[^}]+\}", "x", text))
    shown = [m for w in body["widgets"] for m in w["properties"]["metrics"]]
    own = {(m[1], m[5]) for m in shown if str(m[0]).startswith("Webbee/")}
    for _, alarm in resources(template, "AWS::CloudWatch::Alarm"):
        for metric in metrics_of(alarm):
            if isinstance(metric["Namespace"], dict):
                dimensions = {d["Name"]: d["Value"] for d in metric["Dimensions"]}
                own.add((metric["MetricName"], dimensions["function"]))
    return own


def metrics_of(alarm: dict[str, Any]) -> list[dict[str, Any]]:
    """What an alarm looks at: one metric, or those of an expression."""
    if "Metrics" not in alarm:
        return [alarm]
    return [m["MetricStat"]["Metric"] for m in alarm["Metrics"] if "MetricStat" in m]


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
    assert rollback_alarms(template, name)[:2] == [f"{name}Errors", f"{name}ServerErrors"]
    assert transformed["Resources"][f"{name}FunctionAliaslive"]["Properties"]["Name"] == "live"
    canary = transform(DeploymentPreference="Canary10Percent5Minutes")["Resources"]
    assert f"{name}FunctionDeploymentGroup" in canary
    assert f"{name}FunctionDeploymentGroup" not in transformed["Resources"]  # nothing to move back


def rollback_alarms(template: Template, name: str) -> list[str]:
    """The alarms that take a gradual deployment of a function back."""
    preference = template["Resources"][f"{name}Function"]["Properties"]["DeploymentPreference"]
    condition, alarms, none = preference["Alarms"]["Fn::If"]
    assert (condition, none) == ("HasAlarms", [])
    return [alarm["Ref"] for alarm in alarms]


def test_a_gradual_deployment_without_alarms_is_refused(template: Template) -> None:
    rule = template["Rules"]["ACanaryNeedsAlarms"]
    [assertion] = rule["Assertions"]

    def refused(preference: str, alarms: str) -> bool:
        given = {"DeploymentPreference": preference, "Alarms": alarms}
        return rule_holds(rule["RuleCondition"], given) and not rule_holds(
            assertion["Assert"], given
        )

    preferences = template["Parameters"]["DeploymentPreference"]["AllowedValues"]
    traffic = template["Mappings"]["Traffic"]
    assert traffic.keys() == set(preferences)
    for preference in preferences:
        assert refused(preference, "false") is (preference != "AllAtOnce")
        assert not refused(preference, "true")
        assert traffic[preference]["MovesInSteps"] == str(preference != "AllAtOnce").lower()


def test_alarms_and_their_dashboard_are_a_switch(template: Template) -> None:
    for kind in ("Alarm", "Dashboard"):
        for name, _ in resources(template, f"AWS::CloudWatch::{kind}"):
            assert template["Resources"][name]["Condition"] == "HasAlarms"


@pytest.mark.parametrize(
    ("name", "alarm"),
    [
        *((name, f"{name}ServerErrors") for name in FUNCTIONS),
        ("ToolDispatch", "CallsFail"),
        ("SkeletonRefresh", "RefreshesFail"),
    ],
)
def test_a_deployment_is_taken_back_on_what_its_own_new_version_counts(
    template: Template, transformed: Template, name: str, alarm: str
) -> None:
    assert alarm in rollback_alarms(template, name)
    [version] = [v for v in versions(transformed) if v.startswith(f"{name}Function")]
    for metric in metrics_of(transformed["Resources"][alarm]["Properties"]):
        assert metric["MetricName"] in BY_VERSION
        assert {d["Name"]: d["Value"] for d in metric["Dimensions"]}["version"] == {
            "Fn::GetAtt": [version, "Version"]
        }


def test_refreshes_of_100_000_users_find_room(transformed: Template) -> None:
    [source] = [
        p
        for _, p in resources(transformed, "AWS::Lambda::EventSourceMapping")
        if p["EventSourceArn"] == {"Fn::GetAtt": ["RefreshQueue", "Arn"]}
    ]
    assert source["ScalingConfig"] == {"MaximumConcurrency": {"Ref": "RefreshConcurrency"}}
    # Sections of 300 s that fall due together are one message; ten messages take 0.3 s.
    busy = 100_000 / 300 / source["BatchSize"] * 0.3
    assert transformed["Parameters"]["RefreshConcurrency"]["Default"] == pytest.approx(2 * busy)
    assert transformed["Parameters"]["RefreshConcurrency"]["MinValue"] == 2  # the least SQS takes
    for name in FUNCTIONS:  # an account must keep 10 unreserved: one that has 10 can reserve none
        kept = transformed["Resources"][f"{name}Function"]["Properties"]
        assert kept["ReservedConcurrentExecutions"] == {
            "Fn::If": [
                f"{name}IsReserved",
                {"Ref": f"{name}Reserved"},
                {"Ref": "AWS::NoValue"},
            ]
        }
        assert transformed["Parameters"][f"{name}Reserved"]["Default"] == 0


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_function_has_its_own_memory_or_that_of_all(transformed: Template, name: str) -> None:
    assert transformed["Resources"][f"{name}Function"]["Properties"]["MemorySize"] == {
        "Fn::If": [f"{name}HasMemory", {"Ref": f"{name}MemoryMb"}, {"Ref": "MemoryMb"}]
    }
    assert transformed["Conditions"][f"{name}HasMemory"] == {
        "Fn::Not": [{"Fn::Equals": [{"Ref": f"{name}MemoryMb"}, 0]}]
    }


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
    assert [layer["PublishLambdaVersion"] for layer in layers.values()] == [True] * 3


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
        (
            "McpServers",
            ["[]", '[{"id": "docs", "url": "https://a/mcp"}]'],
            ["", "{}", '[{"id": "a", "command": "sh"}]'],
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
        if not {"AllowedPattern", "AllowedValues", "MinValue", "MaxLength"} & p.keys()
    }
    # Lists: CloudFormation matches patterns against strings only.
    assert free == {"AllowOrigins", "BedrockModelArns"}


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


def test_what_operations_say_the_log_says_is_what_the_kernel_logs() -> None:
    root = TEMPLATE_PATH.parent
    page = (root / "docs" / "operations.md").read_text("utf-8")
    table = page.partition("| it looks like |")[2].partition("\n\n")[0]
    cells = [line.split("|")[2] for line in table.splitlines()[2:]]
    phrases = {p.removeprefix("code=") for cell in cells for p in re.findall(r"`([^`]+)`", cell)}
    kernel = root / "layers" / "webbee_kernel" / "webbee_kernel"
    sources = " ".join(path.read_text("utf-8") for path in kernel.rglob("*.py"))
    assert len(phrases) > 6
    assert {phrase for phrase in phrases if phrase not in sources} == set()
