from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from local.template import TEMPLATE_PATH, Template, environment, load_template, resources

EVERYWHERE = {
    "AWS_ENDPOINT_URL",
    "POWERTOOLS_SERVICE_NAME",
    "POWERTOOLS_LOG_LEVEL",
    "POWERTOOLS_METRICS_NAMESPACE",
    "RELEASE",
    "IMPERAL_FACT_LEDGER_EXPOSE_PII",
}
TABLE = "WEBBEE_TABLE_"
CELL = ("WEBBEE_DATA_ROLE", "WEBBEE_ISOLATION", "WEBBEE_TENANCY")

VARIABLES = {
    "ChatTurnFunction": {
        *(TABLE + name for name in ("SESSIONS", "SKELETON", "EVENTS", "TRANSCRIPTS", "LIMITS")),
        *(TABLE + name for name in ("AUDIT", "CACHE", "STORE")),
        "WEBBEE_PERSON_ROLE",
        "WEBBEE_SECRETS_PREFIX",
        "WEBBEE_MODEL",
        "WEBBEE_MODEL_EFFORT",
        "WEBBEE_MODEL_CACHE",
        "WEBBEE_MODEL_STRICT",
        "WEBBEE_MODEL_PRICES",
        "WEBBEE_MODEL_CLASSIFIER",
        "WEBBEE_MODEL_NARRATOR",
        "WEBBEE_MODEL_VERIFIER",
        "WEBBEE_MODEL_KEY_SECRET",
        "WEBBEE_INSTALL",
        "WEBBEE_CONFIRM",
        "WEBBEE_OPEN_HOSTS",
        "WEBBEE_GROUNDING",
        "WEBBEE_MASK_KINDS",
        "WEBBEE_POLICY",
        "WEBBEE_CALL_SECONDS",
        "WEBBEE_MAX_ROUNDS",
        "WEBBEE_TURN_TOKENS",
        "WEBBEE_DISPATCH",
        "WEBBEE_DISPATCH_VERSION",
        "WEBBEE_CLOCK",
        "WEBBEE_TENANTS",
        "WEBBEE_ISSUER",
        "WEBBEE_WEBHOOK_KEY_SECRET",
        "WEBBEE_CONFIG_PARAMETER",
        *CELL,
        "AWS_ENDPOINT_URL_LAMBDA",
        "WEBBEE_REFRESH_QUEUE_URL",
        "WEBBEE_LATE_QUEUE_URL",
        "WEBBEE_DEAD_LETTER_URL",
        "WEBBEE_SESSION_DAYS",
        "WEBBEE_TRANSCRIPT_DAYS",
        "WEBBEE_USER_REQUESTS_PER_MINUTE",
        "WEBBEE_USER_TOKENS_PER_DAY",
        "WEBBEE_TENANT_TOKENS_PER_DAY",
        "WEBBEE_ABSENT_AFTER_DAYS",
        "WEBBEE_TABLE_CONNECTIONS",
        "WEBBEE_LIVE_URL",
        "WEBBEE_CONNECTIONS_URL",
    },
    "ToolDispatchFunction": {
        *(TABLE + name for name in ("CACHE", "STORE", "EVENTS")),
        "WEBBEE_EXTENSIONS_DIR",
        "WEBBEE_TENANCY",
        "WEBBEE_TENANTS",
        "WEBBEE_SECRETS_PREFIX",
        "WEBBEE_SECRETS_KEY",
        "WEBBEE_MODEL_BROKER",
        "AWS_ENDPOINT_URL_LAMBDA",
        "WEBBEE_INSTALL",
        "WEBBEE_PUBLIC_URL",
        "WEBBEE_MCP_SERVERS",
        "WEBBEE_OAUTH_PROVIDERS",
    },
    "ModelBrokerFunction": {
        "WEBBEE_MODEL",
        "WEBBEE_MODEL_EFFORT",
        "WEBBEE_MODEL_CACHE",
        "WEBBEE_MODEL_STRICT",
        "WEBBEE_MODEL_AI",
        "WEBBEE_MODEL_KEY_SECRET",
    },
    "SkeletonRefreshFunction": {
        *(TABLE + name for name in ("SKELETON", "CACHE", "STORE", "AUDIT", "EVENTS")),
        "WEBBEE_DISPATCH",
        *CELL,
        "WEBBEE_SECRETS_PREFIX",
        "WEBBEE_CONFIG_PARAMETER",
        "AWS_ENDPOINT_URL_LAMBDA",
        "WEBBEE_REFRESH_QUEUE_URL",
        "WEBBEE_DUE_SHARDS",
        "WEBBEE_ABSENT_AFTER_DAYS",
        "WEBBEE_INSTALL",
        "WEBBEE_TENANTS",
        "WEBBEE_WEBHOOK_KEY_SECRET",
    },
}


def test_there_are_three_functions_and_the_broker(functions: dict[str, dict[str, Any]]) -> None:
    assert set(functions) == set(VARIABLES)


@pytest.mark.parametrize("function", VARIABLES)
def test_a_function_gets_the_variables_of_its_row(template: Template, function: str) -> None:
    assert set(environment(template, function)) == VARIABLES[function] | EVERYWHERE


@pytest.mark.parametrize("function", VARIABLES)
def test_a_function_has_its_own_folder_and_the_kernel(
    template: Template, functions: dict[str, dict[str, Any]], function: str
) -> None:
    defaults = template["Globals"]["Function"]
    assert defaults["Runtime"] == "python3.13"
    assert defaults["Handler"] == "handler.lambda_handler"
    assert (TEMPLATE_PATH.parent / functions[function]["CodeUri"] / "handler.py").is_file()
    assert functions[function]["Layers"][0] == {"Ref": "KernelLayer"}


def test_extension_code_is_in_the_cell_only(
    functions: dict[str, dict[str, Any]],
) -> None:
    with_extensions = {
        function
        for function, properties in functions.items()
        if {"Ref": "ExtensionsLayer"} in properties["Layers"]
    }
    assert with_extensions == {"ToolDispatchFunction"}


def test_i_fact_ledger_pii_mask_default_off_in_the_template(template: Template) -> None:
    switch = template["Parameters"]["FactLedgerExposePii"]
    assert (switch["Default"], switch["AllowedValues"]) == ("false", ["true", "false"])
    for function in VARIABLES:
        assert environment(template, function)["IMPERAL_FACT_LEDGER_EXPOSE_PII"] == {
            "Ref": "FactLedgerExposePii"
        }


def test_only_who_may_call_has_no_default(template: Template) -> None:
    without = {
        name for name, parameter in template["Parameters"].items() if "Default" not in parameter
    }
    assert without == {"JwtIssuer", "JwtAudience"}
    assert template["Parameters"]["Architecture"]["Default"] == "arm64"
    assert template["Parameters"]["AwsEndpoint"]["Default"] == ""


def test_skeleton_refresh_is_ticked_and_reports_single_failures(transformed: Template) -> None:
    [(_, rule)] = resources(transformed, "AWS::Events::Rule")
    assert rule["ScheduleExpression"] == "rate(1 minute)"
    mapping = sources(transformed)["SkeletonRefreshFunctionAliaslive"]
    assert mapping["EventSourceArn"] == {"Fn::GetAtt": ["RefreshQueue", "Arn"]}
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]


def test_stored_events_come_to_chat_turn_at_once_and_in_order(transformed: Template) -> None:
    mapping = sources(transformed)["ChatTurnFunctionAliaslive"]
    assert mapping["EventSourceArn"] == {"Fn::GetAtt": ["EventsTable", "StreamArn"]}
    assert mapping["StartingPosition"] == "LATEST"
    assert "MaximumBatchingWindowInSeconds" not in mapping
    [pattern] = mapping["FilterCriteria"]["Filters"]
    assert json.loads(pattern["Pattern"]) == {"eventName": ["INSERT"]}
    table = transformed["Resources"]["EventsTable"]["Properties"]
    assert table["StreamSpecification"] == {"StreamViewType": "NEW_IMAGE"}


def test_every_batch_is_answered_record_by_record(transformed: Template) -> None:
    """Else one record that fails takes the others along; what fails for good is kept apart."""
    found = [p for _, p in resources(transformed, "AWS::Lambda::EventSourceMapping")]
    assert len(found) == 3
    assert [p["FunctionResponseTypes"] for p in found] == [["ReportBatchItemFailures"]] * 3
    stream = sources(transformed)["ChatTurnFunctionAliaslive"]
    dead = {"Fn::GetAtt": ["RefreshDeadLetterQueue", "Arn"]}
    assert stream["DestinationConfig"]["OnFailure"]["Destination"] == dead


def test_a_late_result_is_looked_at_again_and_then_kept_apart(
    template: Template, functions: dict[str, dict[str, Any]]
) -> None:
    queue = template["Resources"]["LateQueue"]["Properties"]
    assert queue["VisibilityTimeout"] >= functions["ChatTurnFunction"]["Timeout"]
    dead = {"Fn::GetAtt": ["RefreshDeadLetterQueue", "Arn"]}
    assert queue["RedrivePolicy"]["deadLetterTargetArn"] == dead


def test_the_socket_has_three_routes_without_an_authoriser(template: Template) -> None:
    found = {p["RouteKey"]: p for _, p in resources(template, "AWS::ApiGatewayV2::Route")}
    assert set(found) == {"$connect", "$disconnect", "$default"}
    assert {p["AuthorizationType"] for p in found.values()} == {"NONE"}  # a ticket is the proof
    stage = template["Resources"]["LiveStage"]["Properties"]
    assert "querystring" not in stage["AccessLogSettings"]["Format"]


def sources(transformed: Template) -> dict[str, dict[str, Any]]:
    """What each function is woken by, besides requests and its own letters."""
    found = [p for _, p in resources(transformed, "AWS::Lambda::EventSourceMapping")]
    own = {"Fn::GetAtt": ["LateQueue", "Arn"]}
    return {p["FunctionName"]["Ref"]: p for p in found if p["EventSourceArn"] != own}


def test_a_message_stays_hidden_six_timeouts_and_then_is_kept_apart(
    template: Template, functions: dict[str, dict[str, Any]]
) -> None:
    queue = template["Resources"]["RefreshQueue"]["Properties"]
    assert queue["VisibilityTimeout"] == 6 * functions["SkeletonRefreshFunction"]["Timeout"]
    assert queue["RedrivePolicy"]["deadLetterTargetArn"] == {
        "Fn::GetAtt": ["RefreshDeadLetterQueue", "Arn"]
    }


@pytest.mark.parametrize("function", VARIABLES)
def test_logs_go_to_a_group_that_forgets(
    template: Template, functions: dict[str, dict[str, Any]], function: str
) -> None:
    group = functions[function]["LoggingConfig"]["LogGroup"]["Ref"]
    properties = template["Resources"][group]["Properties"]
    assert properties["RetentionInDays"] == {"Ref": "LogRetentionDays"}


def test_intrinsic_functions_read_as_their_long_form(tmp_path: Path) -> None:
    path = tmp_path / "template.yaml"
    path.write_text(
        "a: !Ref A\nb: !GetAtt B.Arn\nc: !Sub '${C}/x'\nd: !If [D, !Ref E, 1]\ne: !Condition F\n"
    )
    assert load_template(path) == {
        "a": {"Ref": "A"},
        "b": {"Fn::GetAtt": ["B", "Arn"]},
        "c": {"Fn::Sub": "${C}/x"},
        "d": {"Fn::If": ["D", {"Ref": "E"}, 1]},
        "e": {"Condition": "F"},
    }
