"""What an operator relies on: alarms, one dashboard, versions that move and move back, parameters
that are refused early."""

import json
import re
from typing import Any

import pytest

from local.deployability import refusal_of, wrong
from local.template import TEMPLATE_PATH, Template, resources, routes
from tests.deployment import transform
from tests.template.conftest import chosen
from webbee_kernel.observability import BY_VERSION, METRICS

SIZED = ("ChatTurn", "ToolDispatch", "SkeletonRefresh")
"""Functions with a memory and executions of their own; the broker takes tool_dispatch's."""
FUNCTIONS = (*SIZED, "ModelBroker")
RELEASES = tuple(f"{name}Release" for name in FUNCTIONS)
PAGE = TEMPLATE_PATH.parent / "docs" / "operations.md"
CERTIFICATE = "arn:aws:acm:eu-central-1:123456789012:certificate/0a1b-2c"


def test_every_alarm_stands_on_the_dashboard_and_is_sent_on_request(template: Template) -> None:
    alarms = dict(resources(template, "AWS::CloudWatch::Alarm"))
    sent = {"Fn::If": ["AlarmsAreSent", [{"Ref": "Alarms"}], {"Ref": "AWS::NoValue"}]}
    for name, alarm in alarms.items():
        assert alarm["AlarmActions"] == alarm["OKActions"] == sent
        assert alarm["DatapointsToAlarm"] <= alarm["EvaluationPeriods"]
        assert template["Resources"][name]["Condition"] == "HasAlarms"
    [shown] = [w["properties"]["alarms"] for w in widgets(template) if w["type"] == "alarm"]
    assert sorted(shown) == sorted(f"<{name}.Arn>" for name in alarms)
    assert template["Resources"]["Dashboard"]["Condition"] == "HasAlarms"
    named = {"Fn::Not": [{"Fn::Equals": [{"Ref": "Alarms"}, "true"]}]}
    both = {"Fn::And": [{"Condition": "HasAlarms"}, named]}
    assert template["Conditions"]["AlarmsAreSent"] == both


def test_an_alarm_names_its_paragraph_of_the_runbook_which_knows_timeouts_metrics_and_lines(
    template: Template,
) -> None:
    page = PAGE.read_text("utf-8")
    headings = [line.removeprefix("### ") for line in page.splitlines() if line[:4] == "### "]
    anchors = {re.sub(r"[^\w -]", "", h).lower().replace(" ", "-"): h for h in headings}
    for name, alarm in resources(template, "AWS::CloudWatch::Alarm"):
        anchor = alarm["AlarmDescription"].rpartition("docs/operations.md#")[2]
        assert name in anchors[anchor], name
        paragraph = page.partition(f"### {anchors[anchor]}")[2].partition("\n### ")[0]
        for part in ("*Seen:*", "*Tell:*", "*Do:*"):
            assert part in paragraph, (name, part)

    told = dict(re.findall(r"^\| (\w+) timeout \| (\d+) s \|", page, re.MULTILINE))
    functions = resources(template, "AWS::Serverless::Function")
    timeouts = {f["CodeUri"].removeprefix("functions/"): f["Timeout"] for _, f in functions}
    queues = dict(resources(template, "AWS::SQS::Queue"))
    timeouts["visibility"] = queues["RefreshQueue"]["VisibilityTimeout"]
    assert {name: int(seconds) for name, seconds in told.items()} == timeouts

    assert {name for name in METRICS if f"| `{name}` |" not in page} == set()
    table = page.partition("| it looks like |")[2].partition("\n\n")[0]
    cells = [line.split("|")[2] for line in table.splitlines()[2:]]
    phrases = {p.removeprefix("code=") for cell in cells for p in re.findall(r"`([^`]+)`", cell)}
    kernel = TEMPLATE_PATH.parent / "layers" / "webbee_kernel" / "webbee_kernel"
    sources = " ".join(path.read_text("utf-8") for path in kernel.rglob("*.py"))
    assert len(phrases) > 6
    assert {phrase for phrase in phrases if phrase not in sources} == set()


def widgets(template: Template) -> list[dict[str, Any]]:
    text = template["Resources"]["Dashboard"]["Properties"]["DashboardBody"]["Fn::Sub"]
    found: list[dict[str, Any]] = json.loads(re.sub(r"\$\{([^}]+)\}", r"<\1>", text))["widgets"]
    return found


def shown_in(widget: dict[str, Any]) -> list[list[str]]:
    """The metrics of a widget, written out: `.` repeats what the line before has there, `...` all
    that it has before what follows."""
    found: list[list[str]] = []
    for line in widget["properties"].get("metrics", []):
        written = [part for part in line if isinstance(part, str)]
        if written[0] == "...":
            written = [*found[-1][: len(found[-1]) - len(written) + 1], *written[1:]]
        written = [found[-1][n] if part == "." else part for n, part in enumerate(written)]
        found.append(written)
    return found


def test_widgets_do_not_overlap_and_show_as_alarms_do_only_metrics_that_the_kernel_emits(
    template: Template,
) -> None:
    cells = [
        (x, y)
        for w in widgets(template)
        for x in range(w.get("x", 0), w.get("x", 0) + w["width"])
        for y in range(w.get("y", 0), w.get("y", 0) + w["height"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24

    shown = [m for w in widgets(template) for m in shown_in(w)]
    own = {(m[1], m[5]) for m in shown if m[0].startswith("Webbee/")}
    for name, alarm in resources(template, "AWS::CloudWatch::Alarm"):
        for metric in metrics_of(alarm):
            if isinstance(metric["Namespace"], dict) and name not in RELEASES:
                dimensions = {d["Name"]: d["Value"] for d in metric["Dimensions"]}
                own.add((metric["MetricName"], dimensions["function"]))
    assert own
    assert not [(name, by) for name, by in own if by not in METRICS[name].functions]


def metrics_of(alarm: dict[str, Any]) -> list[dict[str, Any]]:
    """What an alarm looks at: one metric, or those of an expression."""
    if "Metrics" not in alarm:
        return [alarm]
    return [m["MetricStat"]["Metric"] for m in alarm["Metrics"] if "MetricStat" in m]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_traffic_moves_by_alias_and_back_on_the_functions_own_errors(
    template: Template, transformed: Template, name: str
) -> None:
    properties = template["Resources"][f"{name}Function"]["Properties"]
    assert properties["AutoPublishAliasAllProperties"]
    assert template["Globals"]["Function"]["AutoPublishAlias"] == "live"
    rollback = {"Fn::If": ["HasAlarms", [{"Ref": f"{name}Release"}], []]}
    assert properties["DeploymentPreference"]["Alarms"] == rollback
    assert transformed["Resources"][f"{name}FunctionAliaslive"]["Properties"]["Name"] == "live"
    canary = transform(DeploymentPreference="Canary10Percent5Minutes")["Resources"]
    assert f"{name}FunctionDeploymentGroup" in canary
    assert f"{name}FunctionDeploymentGroup" not in transformed["Resources"]  # nothing to move back

    # Lambda's own counts by version, which need no line of ours to run, and ours beside them
    [version] = [v for v in versions(transformed) if v.startswith(f"{name}Function")]
    newest = {"Fn::GetAtt": [version, "Version"]}
    function = {"Ref": f"{name}Function"}
    live = {"Fn::Sub": ["${Name}:live", {"Name": function}]}
    by_lambda = {"FunctionName": function, "Resource": live, "ExecutedVersion": newest}
    own = {"function": transformed["Mappings"]["Functions"][name]["Name"], "version": newest}
    metrics = metrics_of(transformed["Resources"][f"{name}Release"]["Properties"])
    counted = {m["MetricName"]: {d["Name"]: d["Value"] for d in m["Dimensions"]} for m in metrics}
    of_lambda = dict.fromkeys(("Errors", "Invocations"), by_lambda)
    assert counted == {**of_lambda, **dict.fromkeys(BY_VERSION, own)}


def test_a_gradual_deployment_without_alarms_is_refused(template: Template) -> None:
    def is_not(name: str, value: str) -> dict[str, Any]:
        return {"Fn::Not": [{"Fn::Equals": [{"Ref": name}, value]}]}

    rule = template["Rules"]["ACanaryNeedsAlarms"]
    assert rule["RuleCondition"] == is_not("DeploymentPreference", "AllAtOnce")
    assert [a["Assert"] for a in rule["Assertions"]] == [is_not("Alarms", "false")]
    traffic = template["Mappings"]["Traffic"]
    preferences = template["Parameters"]["DeploymentPreference"]["AllowedValues"]
    assert {name: moves["MovesInSteps"] for name, moves in traffic.items()} == {
        name: str(name != "AllAtOnce").lower() for name in preferences
    }


def test_refreshes_of_100_000_users_find_room(transformed: Template) -> None:
    queue = {"Fn::GetAtt": ["RefreshQueue", "Arn"]}
    sources = resources(transformed, "AWS::Lambda::EventSourceMapping")
    [source] = [p for _, p in sources if p["EventSourceArn"] == queue]
    capacity = {"Capacity": transformed["Parameters"]["Capacity"]["Default"]}
    at_once = source["ScalingConfig"]["MaximumConcurrency"]
    # Sections of 300 s that fall due together are one message; five messages take 0.15 s.
    busy = 100_000 / 300 / source["BatchSize"] * 0.15
    assert int(chosen(at_once, capacity)) == pytest.approx(2 * busy)
    for place, name in enumerate(SIZED, 3):
        # an account must keep 10 unreserved: one that has 10 can reserve none
        kept = transformed["Resources"][f"{name}Function"]["Properties"]
        condition, reserved, none = kept["ReservedConcurrentExecutions"]["Fn::If"]
        assert (condition, none) == (f"{name}IsReserved", {"Ref": "AWS::NoValue"})
        assert chosen(reserved, capacity) == "0"
        share, nothing = transformed["Conditions"][condition]["Fn::Not"][0]["Fn::Equals"]
        assert chosen(share, capacity) == nothing == f"{name}=0"
        assert share["Fn::Select"][0] == place


def test_each_function_has_its_own_memory(transformed: Template) -> None:
    memory = {"Memory": "ChatTurn=512,ToolDispatch=1769,SkeletonRefresh=256,SnapStart=false"}
    assert wrong([f"Memory={memory['Memory']}"]) == []
    sizes = [
        transformed["Resources"][f"{n}Function"]["Properties"]["MemorySize"] for n in FUNCTIONS
    ]
    assert [chosen(size, memory) for size in sizes] == ["512", "1769", "256", "1769"]


@pytest.mark.parametrize("name", ["Memory", "Capacity", "Logs"])
def test_a_list_in_another_order_is_refused_by_who_deploys_and_by_cloudformation(
    template: Template, name: str
) -> None:
    members = template["Parameters"][name]["Default"].split(",")
    given = {name: ",".join([members[1], members[0], *members[2:]])}
    [told] = wrong([f"{name}={given[name]}"])
    assert told.startswith(f"{name} must be ") and "in this order" in told
    named = f'"{members[0].partition("=")[0]}='
    [asked, *_] = [v for v in selections(template) if name in str(v) and named in json.dumps(v)]
    with pytest.raises(IndexError):  # "Fn::Select cannot select nonexistent value at index 1"
        chosen(asked, given)


def selections(node: Any) -> list[Any]:
    """Every `Fn::Select` in a part of the template."""
    inside = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    found = [one for part in inside for one in selections(part)]
    return [node, *found] if isinstance(node, dict) and "Fn::Select" in node else found


def versions(template: Template) -> set[str]:
    return {name for name, _ in resources(template, "AWS::Lambda::Version")}


def test_a_release_publishes_new_versions_for_parameters_alone(transformed: Template) -> None:
    before, again = versions(transformed), transform(Model="bedrock:x")
    assert versions(again) == before  # SAM's hash does not see parameters
    assert versions(transform(Model="bedrock:x", Release="1779000000")).isdisjoint(before)


SIZES = "ChatTurn={},ToolDispatch=1024,SkeletonRefresh=1024"
AT_ONCE = "Refresh={},ChatTurn=0,ToolDispatch=0,SkeletonRefresh=0"
SEVERAL = (
    ["", "TurnTokens=1", "A=b,C=d+e", '{"A": [1, {"b": ","}]}', "PublicUrl=https://a"],
    ["turns", "A=b,", "a=b", "[]", "A=b,c"],
)
ISSUERS = ["", "http://login.example.com", "login.example.com", "https://x?y"]
OPENAI, BEDROCK = "openai:https://x/v1#m", "bedrock:eu.amazon.nova-lite-v1:0"
TOPIC = "arn:aws:{}:eu-central-1:123456789012:ops"
DOMAINS = [
    *("chat.example.com", CERTIFICATE, f"https://chat.example.com,{CERTIFICATE}"),
    *(f"Chat.example.com,{CERTIFICATE}", f"localhost,{CERTIFICATE}"),
]
SERVERS = '{{"McpServers": [{{"id": "docs", {}}}]}}'
TRACED = "Level={},Days={},Tracing=true"
TAKEN: dict[str, tuple[list[str], list[str]]] = {
    "JwtIssuer": (["https://login.example.com/"], ISSUERS),
    "JwtAudience": (["webbee"], [""]),
    "Model": (["offline", BEDROCK, OPENAI], ["gpt", "bedrock:", "openai:x"]),
    "Alarms": (["true", "false", TOPIC.format("sns")], ["", "ops", "off", TOPIC.format("sqs")]),
    "Release": (["", "1779000000"], ["2026-05-15", "12345678901"]),
    "Domain": (["", f"chat.example.com,{CERTIFICATE}"], DOMAINS),
    **dict.fromkeys(("ModelOptions", "Limits", "Options"), SEVERAL),
    "ExtensionConfig": (["{}", '{"mail": {"page": 20}}'], ["", "[]", "mail"]),
    "ExtensionServices": (
        ["{}", SERVERS.format('"url": "https://a/mcp"')],
        ["", "[]", SERVERS.format('"command": "sh"')],
    ),
    "Logs": (
        [TRACED.format("DEBUG", 3653)],
        ["", "INFO", TRACED.format("INFO", 2), TRACED.format("LOUD", 1)],
    ),
    "Memory": (
        [f"{SIZES.format(256)},SnapStart={switch}" for switch in ("false", "true")],
        [
            "",
            "1024",
            SIZES.format(1024),
            *(f"{SIZES.format(n)},SnapStart=true" for n in (255, 10241)),
        ],
    ),
    "Capacity": (
        [f"Rate=1,Burst=1,{AT_ONCE.format(1000)}"],
        [
            "",
            *(
                f"{x},{AT_ONCE.format(n)}"
                for x, n in (("Rate=0,Burst=1", 2), ("Rate=1,Burst=1", 1))
            ),
        ],
    ),
    "AwsEndpoint": (["", "http://127.0.0.1:4566"], ["127.0.0.1:4566", "http://x/y"]),
}
"""What a parameter takes, and what it refuses."""


@pytest.mark.parametrize("parameter", TAKEN)
def test_a_wrong_parameter_is_refused_at_the_start(template: Template, parameter: str) -> None:
    (good, bad), declared = TAKEN[parameter], template["Parameters"][parameter]
    default = declared.get("Default", good[0]) or '""'  # what empties a parameter
    assert wrong([f"{parameter}={default}"]) == []
    assert declared["ConstraintDescription"].startswith("must ")
    assert [v for v in good if refusal_of(v, declared)] == []
    assert [v for v in bad if not refusal_of(v, declared)] == []


def test_every_parameter_is_constrained_or_a_switch(template: Template) -> None:
    bounds = {"AllowedPattern", "AllowedValues", "MinValue", "MaxLength"}
    free = {n for n, p in template["Parameters"].items() if not bounds & p.keys()}
    # Their members are whatever a browser or an account calls them.
    assert free == {"AllowOrigins", "BedrockModelArns"}


def test_x_ray_is_a_switch_a_layer_publishes_versions_and_a_person_reads_the_template(
    template: Template,
) -> None:
    traced = template["Globals"]["Function"]["Tracing"]
    assert traced == {"Fn::If": ["IsTraced", "Active", "PassThrough"]}
    switch, on = template["Conditions"]["IsTraced"]["Fn::Equals"]
    assert on == "Tracing=true"
    assert chosen(switch, {"Logs": template["Parameters"]["Logs"]["Default"]}) == "Tracing=false"
    assert template["Globals"]["LayerVersion"] == {"PublishLambdaVersion": True}
    assert len(list(resources(template, "AWS::Serverless::LayerVersion"))) == 3
    assert len(TEMPLATE_PATH.read_text("utf-8").splitlines()) <= 950
    assert len(template["Parameters"]) <= 26
    assert len(routes(template)) <= 10
