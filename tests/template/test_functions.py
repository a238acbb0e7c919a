"""What a start of `chat_turn` does before anybody asks: counted, in a process of its own."""

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from local.template import TEMPLATE_PATH, Template, environment, resources
from tests.processes import ran
from tests.template.conftest import chosen

EVERYWHERE = {
    *("AWS_ENDPOINT_URL", "RELEASE", "IMPERAL_FACT_LEDGER_EXPOSE_PII"),
    *("POWERTOOLS_SERVICE_NAME", "POWERTOOLS_LOG_LEVEL", "POWERTOOLS_METRICS_NAMESPACE"),
}
SHARED = "TABLE_CACHE TABLE_STORE TABLE_EVENTS SECRETS_PREFIX OPTIONS TENANCY"
CELL = "DATA_ROLE ISOLATION"
MODEL = "MODEL MODEL_OPTIONS MODEL_KEY_SECRET"
LAMBDA = "AWS_ENDPOINT_URL_LAMBDA"


def webbee(*names: str) -> set[str]:
    """Variables, without `WEBBEE_`, which each of them begins with."""
    return {f"WEBBEE_{name}" for name in " ".join(names).split()}


OF_A_TURN = """TABLE_SESSIONS TABLE_SKELETON TABLE_TRANSCRIPTS TABLE_LIMITS TABLE_AUDIT
    TABLE_CONNECTIONS LIVE_URL CONNECTIONS_URL PERSON_ROLE LIMITS POLICY_PARAMETER CONFIG_PARAMETER
    DISPATCH DISPATCH_VERSION CLOCK ISSUER WEBHOOK_KEY_SECRET REFRESH_QUEUE_URL LATE_QUEUE_URL
    DEAD_LETTER_URL"""
OF_A_CALL = "EXTENSIONS_DIR SECRETS_KEY MODEL_BROKER EXTENSION_SERVICES"
OF_A_REFRESH = """TABLE_SKELETON TABLE_AUDIT DISPATCH REFRESH_QUEUE_URL LIMITS CONFIG_PARAMETER
    WEBHOOK_KEY_SECRET"""
VARIABLES = {
    "ChatTurnFunction": webbee(SHARED, MODEL, CELL, OF_A_TURN) | {LAMBDA},
    "ToolDispatchFunction": webbee(SHARED, OF_A_CALL) | {LAMBDA},
    "ModelBrokerFunction": webbee(MODEL),
    "SkeletonRefreshFunction": webbee(SHARED, CELL, OF_A_REFRESH) | {LAMBDA},
}


def test_each_function_gets_the_variables_of_its_row_its_own_folder_and_the_kernel(
    template: Template, functions: dict[str, dict[str, Any]]
) -> None:
    defaults = template["Globals"]["Function"]
    assert (defaults["Runtime"], defaults["Handler"]) == ("python3.13", "handler.lambda_handler")
    assert defaults["Layers"] == [{"Ref": "KernelLayer"}]  # before the function's own
    assert functions.keys() == VARIABLES.keys()
    for name, given in functions.items():
        assert set(environment(template, name)) == VARIABLES[name] | EVERYWHERE
        assert (TEMPLATE_PATH.parent / given["CodeUri"] / "handler.py").is_file()
        runs_extensions = {"Ref": "ExtensionsLayer"} in given.get("Layers", ())
        assert runs_extensions == (name == "ToolDispatchFunction")


def test_i_fact_ledger_pii_mask_default_off_in_the_template(template: Template) -> None:
    switch = template["Parameters"]["FactLedgerExposePii"]
    assert (switch["Default"], switch["AllowedValues"]) == ("false", ["true", "false"])
    for function in VARIABLES:
        given = environment(template, function)["IMPERAL_FACT_LEDGER_EXPOSE_PII"]
        assert given == {"Ref": "FactLedgerExposePii"}


def test_only_who_may_call_has_no_default(template: Template) -> None:
    without = {name for name, given in template["Parameters"].items() if "Default" not in given}
    assert without == {"JwtIssuer", "JwtAudience"}
    assert template["Parameters"]["Architecture"]["Default"] == "arm64"
    assert template["Parameters"]["AwsEndpoint"]["Default"] == ""


def test_refreshes_are_ticked_events_come_at_once_and_batches_are_answered_by_record(
    transformed: Template,
) -> None:
    [(_, rule)] = resources(transformed, "AWS::Events::Rule")
    assert rule["ScheduleExpression"] == "rate(1 minute)"
    mapping = sources(transformed)["SkeletonRefreshFunctionAliaslive"]
    assert mapping["EventSourceArn"] == {"Fn::GetAtt": ["RefreshQueue", "Arn"]}
    found = [p for _, p in resources(transformed, "AWS::Lambda::EventSourceMapping")]
    # record by record: else one that fails takes the others of its batch along
    assert [p["FunctionResponseTypes"] for p in found] == [["ReportBatchItemFailures"]] * 3
    mapping = sources(transformed)["ChatTurnFunctionAliaslive"]
    assert mapping["EventSourceArn"] == {"Fn::GetAtt": ["EventsTable", "StreamArn"]}
    assert mapping["StartingPosition"] == "LATEST"
    assert "MaximumBatchingWindowInSeconds" not in mapping
    [pattern] = mapping["FilterCriteria"]["Filters"]
    assert json.loads(pattern["Pattern"]) == {"eventName": ["INSERT"]}
    dead = {"Fn::GetAtt": ["RefreshDeadLetterQueue", "Arn"]}
    assert mapping["DestinationConfig"]["OnFailure"]["Destination"] == dead
    table = transformed["Resources"]["EventsTable"]["Properties"]
    assert table["StreamSpecification"] == {"StreamViewType": "NEW_IMAGE"}


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


def test_a_message_stays_hidden_for_its_timeouts_and_then_is_kept_apart(
    template: Template, functions: dict[str, dict[str, Any]]
) -> None:
    woken = {"RefreshQueue": ("SkeletonRefreshFunction", 6), "LateQueue": ("ChatTurnFunction", 1)}
    dead = {"Fn::GetAtt": ["RefreshDeadLetterQueue", "Arn"]}
    for queue, (function, timeouts) in woken.items():
        properties = template["Resources"][queue]["Properties"]
        assert properties["VisibilityTimeout"] == timeouts * functions[function]["Timeout"]
        assert properties["RedrivePolicy"]["deadLetterTargetArn"] == dead


def test_logs_go_to_a_group_that_forgets(transformed: Template) -> None:
    for function in VARIABLES:
        logging = transformed["Resources"][function]["Properties"]["LoggingConfig"]
        assert logging == {"LogGroup": {"Ref": "FunctionsLogGroup"}}
    group = transformed["Resources"]["FunctionsLogGroup"]["Properties"]
    default = transformed["Parameters"]["Logs"]["Default"]
    assert chosen(group["RetentionInDays"], {"Logs": default}) == "30"


STACK_NAME = "a-name-of-24-characters-"
REGION, ACCOUNT = "ap-southeast-99", "123456789012"


GENERATED = {
    "WebhookKey": f"arn:aws:secretsmanager:{REGION}:{ACCOUNT}:secret:WebhookKey-{'X' * 19}",
    "ExtensionSettings": f"/webbee-settings/{STACK_NAME}/extensions",
    "PolicyText": f"/webbee-settings/{STACK_NAME}/policy",
    "Queue": f"https://sqs.{REGION}.amazonaws.com/{ACCOUNT}/{'q' * 80}",
    "Table": f"{STACK_NAME}-TranscriptsTable-{'X' * 13}",
    "Alias": f"arn:aws-us-gov:lambda:{REGION}:{ACCOUNT}:function:{'f' * 64}:99999",
    "Version": f"arn:aws-us-gov:lambda:{REGION}:{ACCOUNT}:function:{'f' * 64}:99999",
    "Role": f"arn:aws-us-gov:iam::{ACCOUNT}:role/{'r' * 64}",
    "AWS::StackName": STACK_NAME,
    "AWS::Region": REGION,
    "AWS::URLSuffix": "amazonaws.com.cn",
    "LiveApi": "a" * 10,
    "UserPool": f"{REGION}_{'p' * 9}",
}
"""The longest texts that CloudFormation could put in the place of what ends so: generated names end
in a hyphen and 12 or 13 characters."""
PATTERNS = {"^(arn:": 130, "^(https?://[^": 48, "^[0-9A-Za-z]{": 10}
"""As many characters as a parameter may have whose pattern begins so."""


def longest(value: Any, template: Template) -> str:
    """Of a variable, for a stack whose name has 24 characters."""
    match value:
        case str():
            return value
        case {"Ref": str(name)} if given := template["Parameters"].get(name):
            if allowed := given.get("AllowedValues"):
                return max(map(str, allowed), key=len)
            pattern = given.get("AllowedPattern", "")
            found = [n for start, n in PATTERNS.items() if pattern.startswith(start)]
            return "x" * given.get("MaxLength", *found)
        case {"Ref": str(name)} | {"Fn::GetAtt": [str(name), _]}:
            return next(text for end, text in GENERATED.items() if name.endswith(end))
        case {"Fn::Sub": str(text)}:
            return re.sub(r"\$\{([^}]+)\}", lambda m: GENERATED[m[1]], text)
        case {"Fn::If": [_, one, other]}:
            return max(longest(one, template), longest(other, template), key=len)
        case {"Fn::Select": _}:  # of Logs
            return "WARNING"
    raise AssertionError(value)


@pytest.mark.parametrize("function", VARIABLES)
def test_the_variables_of_a_function_fit_lambdas_four_kilobytes_whatever_is_set(
    template: Template, function: str
) -> None:
    """As Lambda measures it: the variables as JSON."""
    worst = {k: longest(v, template) for k, v in environment(template, function).items()}
    assert len(json.dumps(worst, separators=(",", ":"), ensure_ascii=False).encode()) <= 4096


MOST_PATTERNS = 80
COUNTED = """
import re._compiler as compiler, sys

ours, compiled = 0, compiler.compile

def counted(pattern, flags=0):
    global ours
    frame = sys._getframe(1)
    while frame.f_globals["__name__"].partition(".")[0] in ("re", "functools"):
        frame = frame.f_back
    ours += frame.f_globals["__name__"].startswith("webbee_kernel")
    return compiled(pattern, flags)

compiler.compile = counted
import webbee_kernel.api.chat_turn
print(ours)
"""


def test_a_start_compiles_few_patterns() -> None:
    """A pattern takes 0.1 to 0.5 ms. What no turn needs, or only some, is compiled with its first
    use: in a function with `functools.cache`, or in a module that is imported there."""
    assert 10 < int(ran(sys.executable, "-c", COUNTED).stdout) <= MOST_PATTERNS


ROOT = Path(__file__).parents[2]

START = """
import json, sys
import functions.{function}.handler as handler
handler.lambda_handler.service()
print(json.dumps(sorted(m.removeprefix("webbee_kernel.") for m in sys.modules if m.startswith("webbee_kernel."))))
"""


OTHERS = {
    "chat_turn": {"extensions", "compat", "api.inspector", "testing", "refresh.due"},
    "tool_dispatch": {"turn", "grounding", "api.inspector", "testing", "refresh.due"},
    "skeleton_refresh": {"turn", "extensions", "compat", "page"},
}
"""The rooms that a function does not load."""


@pytest.mark.parametrize(
    ("function", "own"),
    [("chat_turn", "turn"), ("tool_dispatch", "extensions"), ("skeleton_refresh", "refresh")],
)
def test_a_function_loads_its_own_room_and_none_of_the_others(
    template: Template, function: str, own: str
) -> None:
    """Extension code runs where no turn is loaded, and a turn where no extension code is."""
    resource = "".join(map(str.title, function.split("_"))) + "Function"
    variables = environment(template, resource)
    given = {name: "something" for name in variables if name.startswith("WEBBEE_TABLE_")}
    given |= {"WEBBEE_DISPATCH": "tool", "WEBBEE_CLOCK": "clock"}
    given |= {"WEBBEE_REFRESH_QUEUE_URL": "http://127.0.0.1:1/q"}
    given |= {"WEBBEE_EXTENSIONS_DIR": str(ROOT / "extensions")}
    asked = {k: v for k, v in given.items() if k in variables}
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("AWS_", "WEBBEE_"))}
    path = os.pathsep.join((str(ROOT / "layers/webbee_kernel"), str(ROOT)))
    env = {**clean, "PYTHONPATH": path, "AWS_DEFAULT_REGION": "us-east-1", **asked}
    done = ran(sys.executable, "-c", START.format(function=function), env=env, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    loaded = set(json.loads(done.stdout.splitlines()[-1]))
    rooms = {m.partition(".")[0] for m in loaded}
    assert own in rooms
    assert not (rooms | loaded) & OTHERS[function]
