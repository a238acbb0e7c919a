"""Least privilege, per table and per action: this table is the contract, the template must equal
it."""

from collections.abc import Iterator
from typing import Any

import pytest

from local.template import Template, resources
from tests.template.test_tables import TABLES


def may(service: str, actions: str) -> set[str]:
    """Actions of a service."""
    return {f"{service}:{action}" for action in actions.split()}


SECRETS = "parameter/webbee/<stack>/*"
OWN_SECRETS = "parameter/webbee/<stack>/${aws:PrincipalTag/secrets}/*"
PAGES = (
    "arn:${AWS::Partition}:execute-api:${AWS::Region}:${AWS::AccountId}"
    ":${LiveApi}/live/POST/@connections/*"
)
ENDS = PAGES.replace("/POST/", "/DELETE/")
MODELS = {
    "BedrockModelArns": may("bedrock", "InvokeModel InvokeModelWithResponseStream"),
    "parameter${ModelKeySecret}": {"ssm:GetParameter"},
}
SETTINGS = {
    "parameter${ExtensionSettings}": {"ssm:GetParameter"},
    "WebhookKey": {"secretsmanager:GetSecretValue"},
}
BROKER = {"ModelBrokerFunctionAliaslive": {"lambda:InvokeFunction"}}
KEY = {"KmsKeyArn": may("kms", "Decrypt GenerateDataKey")}
AUDIT = may("dynamodb", "GetItem PutItem")
TAGGED = may("sts", "AssumeRole TagSession")
LOGS = may("logs", "CreateLogStream PutLogEvents")
CACHE = may("dynamodb", "GetItem PutItem DeleteItem")
STORE = {*CACHE, "dynamodb:Query"}
TRACE = may(
    "xray", "PutTraceSegments PutTelemetryRecords"
)  # X-Ray has no resources to name; only with Tracing=true

ALLOWED = {
    "ChatTurnFunction": {
        **KEY,
        "FunctionsLogGroup": LOGS,
        "SessionsTable": may("dynamodb", "GetItem PutItem UpdateItem Query BatchWriteItem"),
        "TranscriptsTable": may("dynamodb", "Query PutItem UpdateItem BatchWriteItem"),
        "TranscriptsTable/index/by_touched": {"dynamodb:Query"},
        "LimitsTable": may("dynamodb", "GetItem UpdateItem"),
        "AuditTable": {*AUDIT, "dynamodb:Query"},
        "CacheTable": {"dynamodb:GetItem"},
        "PersonRole": {"sts:AssumeRole"},
        "DataRole": TAGGED,
        "SkeletonTable": {"dynamodb:Query"},
        "EventsTable": may("dynamodb", "Query PutItem"),
        "EventsTable/stream": may(
            "dynamodb", "DescribeStream GetRecords GetShardIterator ListStreams"
        ),
        "ConnectionsTable": {*STORE, "dynamodb:BatchWriteItem"},
        PAGES: {"execute-api:ManageConnections"},
        ENDS: {"execute-api:ManageConnections"},
        "RefreshQueue": {"sqs:SendMessage"},
        "RefreshDeadLetterQueue": {"sqs:SendMessage"},
        "LateQueue": may("sqs", "SendMessage ReceiveMessage DeleteMessage GetQueueAttributes"),
        "ToolDispatchFunctionAliaslive": {"lambda:InvokeFunction"},
        "SkeletonRefreshFunctionAliaslive": {"lambda:InvokeFunction"},
        "parameter${PolicyText}": {"ssm:GetParameter"},
        **MODELS,
        **SETTINGS,
    },
    "ToolDispatchFunction": {"FunctionsLogGroup": LOGS},
    "ModelBrokerFunction": {"FunctionsLogGroup": LOGS, **MODELS, **KEY},
    "SkeletonRefreshFunction": {
        **KEY,
        "FunctionsLogGroup": LOGS,
        "SkeletonTable": may("dynamodb", "Query GetItem PutItem UpdateItem DeleteItem"),
        "SkeletonTable/index/due": {"dynamodb:Query"},
        "CacheTable": may("dynamodb", "Query BatchWriteItem GetItem"),
        "AuditTable": AUDIT,
        "StoreTable": may("dynamodb", "GetItem PutItem"),
        "EventsTable": {"dynamodb:PutItem"},
        "DataRole": TAGGED,
        "ToolDispatchFunctionAliaslive": {"lambda:InvokeFunction"},
        **SETTINGS,
        "RefreshQueue": may("sqs", "SendMessage ReceiveMessage DeleteMessage GetQueueAttributes"),
    },
}


DATA = {
    "CacheTable": CACHE,
    "StoreTable": {*STORE, "dynamodb:UpdateItem"},
    "StoreTable/index/by_created": {"dynamodb:Query"},
    **{f"StoreTable/index/by_{n}": {"dynamodb:Query"} for n in range(1, 5)},
    "StoreTable/index/users": {"dynamodb:Query"},
    "EventsTable": {"dynamodb:PutItem"},
    OWN_SECRETS: may("ssm", "GetParameter PutParameter DeleteParameter"),
    **BROKER,
    **KEY,
}
"""What the credentials that are handed in with a call may do, each for the caller's tenant only."""


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def trust_of(template: Template, role: str) -> list[dict[str, Any]]:
    """Who may take a role."""
    return list(template["Resources"][role]["Properties"]["AssumeRolePolicyDocument"]["Statement"])


def statements(
    template: Template, role: str, *, isolated: bool = True, effect: str = "Allow"
) -> Iterator[dict[str, Any]]:
    """Every statement of a role, the conditional ones too; those of Isolation=off on request."""
    policies = template["Resources"][role]["Properties"]["Policies"]
    always = policies
    if "Fn::If" in policies:
        condition, policies, always = policies["Fn::If"]
        assert condition == "IsNotIsolated"
    for policy in policies:
        for statement in policy["PolicyDocument"]["Statement"]:
            off = policy not in always
            while "Fn::If" in statement:
                condition, statement, _ = statement["Fn::If"]
                off = off or condition == "IsNotIsolated"
            if not (off and isolated) and statement["Effect"] == effect:
                yield statement


def short(resource: Any) -> str:
    """`SessionsTable` for its ARN, `StoreTable/index/users` for an index of it."""
    match resource:
        case {"Fn::GetAtt": [logical_id, ("Arn" | "Id")]}:
            return str(logical_id)
        case {"Fn::GetAtt": [logical_id, "StreamArn"]}:
            return f"{logical_id}/stream"
        case {"Ref": parameter}:
            return str(parameter)
        case {"Fn::Sub": text} if text.startswith("${") and ".Arn}/" in text:
            return str(text).replace("${", "").replace(".Arn}", "")
        case {"Fn::Join": ["", [{"Fn::Sub": text}, str(rest)]]}:
            return short({"Fn::Sub": text + rest})
        case {"Fn::Sub": text}:
            prefix = "arn:${AWS::Partition}:ssm:${AWS::Region}:${AWS::AccountId}:"
            return str(text).removeprefix(prefix).replace("${AWS::StackName}", "<stack>")
    return str(resource)


def grants(template: Template, role: str, *, isolated: bool = True) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for statement in statements(template, role, isolated=isolated):
        for resource in as_list(statement["Resource"]):
            found.setdefault(short(resource), set()).update(as_list(statement["Action"]))
    return found


BARE = {
    ("ChatTurnRole", "FollowEvents"): "Lambda's poller takes the role; it names one stream",
    ("PersonRole", "NameAndEraseSecrets"): "a session policy narrows it to one person's path",
}
"""Statements on data without a condition of their own, each with its reason."""


@pytest.mark.parametrize("function", ALLOWED)
def test_a_function_may_do_exactly_what_its_row_says(transformed: Template, function: str) -> None:
    role = transformed["Resources"][function]["Properties"]["Role"]["Fn::GetAtt"][0]
    assert grants(transformed, role) == ALLOWED[function] | {"*": TRACE}
    who = {"Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}
    assert trust_of(transformed, role) == [{"Effect": "Allow", **who}]


def test_the_transform_adds_no_role_and_no_managed_policy(transformed: Template) -> None:
    roles = dict(resources(transformed, "AWS::IAM::Role"))
    deployment = roles.pop("DeploymentRole")  # CodeDeploy's, no function's
    [managed] = deployment["ManagedPolicyArns"]
    assert managed["Fn::Sub"].endswith("/AWSCodeDeployRoleForLambdaLimited")
    person = roles.pop("PersonRole")  # taken by chat_turn for one person's export or erasure
    assert "ManagedPolicyArns" not in person
    assert "ManagedPolicyArns" not in roles.pop("DataRole")  # handed in with each call
    functions = resources(transformed, "AWS::Lambda::Function")
    used = {properties["Role"]["Fn::GetAtt"][0] for _, properties in functions}
    assert set(roles) == used
    assert len(used) == len(ALLOWED)  # one each, none shared
    assert not any("ManagedPolicyArns" in role for role in roles.values())
    assert not list(resources(transformed, "AWS::IAM::Policy"))


PERSON = {
    **{table: may("dynamodb", "Query GetItem BatchWriteItem") for table in TABLES},
    SECRETS: may("ssm", "GetParametersByPath DeleteParameter"),
    **KEY,
}
"""What the role of one person may do where its session policy lets it."""


def test_the_role_of_one_person_may_do_what_export_and_erasure_need(transformed: Template) -> None:
    for statement in statements(transformed, "PersonRole"):
        if any(short(resource).endswith("Table") for resource in as_list(statement["Resource"])):
            assert statement["Condition"] == {"Null": {"dynamodb:LeadingKeys": "false"}}
    found = grants(transformed, "PersonRole")
    found["AuditTable"] -= {"dynamodb:PutItem"}  # what is kept under a pseudonym
    assert found == PERSON
    (trust,) = trust_of(transformed, "PersonRole")
    assert trust["Condition"] == {
        "StringEquals": {"aws:PrincipalTag/webbee-caller": {"Ref": "AWS::StackName"}}
    }


@pytest.mark.parametrize("role", ["ChatTurnRole", "ModelBrokerRole"])
def test_models_and_their_key_are_allowed_where_named(template: Template, role: str) -> None:
    conditional = [
        statement["Fn::If"]
        for policy in template["Resources"][role]["Properties"]["Policies"]
        for statement in policy["PolicyDocument"]["Statement"]
        if "Fn::If" in statement
    ]
    found = [(condition, otherwise) for condition, _, otherwise in conditional]
    names = ("BedrockIsUsed", "ModelKeyIsUsed", "KeyIsOwn")
    last = [one for one in found if one[0] != "ExtensionsAreConfigured"][-3:]
    assert last == [(name, {"Ref": "AWS::NoValue"}) for name in names]
    joined = {"Fn::Join": ["", {"Ref": "BedrockModelArns"}]}
    given = {"BedrockIsUsed": joined, "ModelKeyIsUsed": {"Ref": "ModelKeySecret"}}
    for name, value in given.items():
        assert template["Conditions"][name] == {"Fn::Not": [{"Fn::Equals": [value, ""]}]}
    for name in ("BedrockModelArns", "ModelKeySecret"):
        assert template["Parameters"][name]["Default"] == ""


def test_a_key_of_one_s_own_encrypts_all_that_is_kept_by_its_services(
    transformed: Template,
) -> None:
    for role in ("ChatTurnRole", "DataRole", "SkeletonRefreshRole"):
        (use,) = [s for s in statements(transformed, role) if s["Sid"] == "UseKey"]
        services = use["Condition"]["StringEquals"]["kms:ViaService"]
        assert [s["Fn::Sub"].split(".")[0] for s in services] == ["dynamodb", "sqs", "ssm"]
    nothing = {"Ref": "AWS::NoValue"}
    key = {"Fn::If": ["KeyIsOwn", {"Ref": "KmsKeyArn"}, nothing]}
    for _, queue in resources(transformed, "AWS::SQS::Queue"):
        assert queue["KmsMasterKeyId"] == key
        assert queue["SqsManagedSseEnabled"] == {"Fn::If": ["KeyIsOwn", nothing, True]}
    groups = list(resources(transformed, "AWS::Logs::LogGroup"))
    assert len(groups) == 2
    assert all(group["KmsKeyId"] == key for _, group in groups)


def test_every_statement_on_data_has_a_condition(transformed: Template) -> None:
    """What reads or writes items or people's secrets says for whom, or from where."""
    roles = resources(transformed, "AWS::IAM::Role")
    data = [
        (role, statement)
        for role, properties in roles
        if "Policies" in properties
        for statement in statements(transformed, role, isolated=False)
        if any(a.startswith("dynamodb:") for a in as_list(statement["Action"]))
        or {SECRETS, OWN_SECRETS} & {short(r) for r in as_list(statement["Resource"])}
    ]
    assert {role for role, _ in data} == {
        *("ChatTurnRole", "SkeletonRefreshRole", "DataRole", "PersonRole", "ToolDispatchRole")
    }
    bare = [(role, s["Sid"]) for role, s in data if not s.get("Condition")]
    assert sorted(bare) == sorted(BARE)


def test_the_handed_in_credentials_may_do_what_handlers_need_for_the_callers_tenant_only(
    transformed: Template,
) -> None:
    assert grants(transformed, "DataRole") == DATA
    for statement in statements(transformed, "DataRole"):
        condition = statement.get("Condition", {})
        if any(action.startswith("dynamodb:") for action in as_list(statement["Action"])):
            own = {"dynamodb:LeadingKeys": ["${aws:PrincipalTag/tenant}#*"]}
            always = {"dynamodb:LeadingKeys": "false"}
            assert condition == {"Null": always, "ForAllValues:StringLike": own}
        if short(statement["Resource"]) == OWN_SECRETS:
            assert condition == {"Null": {"aws:PrincipalTag/secrets": "false"}}
    # the kernel's own documents are read only there
    (denied,) = statements(transformed, "DataRole", effect="Deny")
    assert set(denied["Action"]) == {f"dynamodb:{verb}Item" for verb in ("Put", "Update", "Delete")}
    assert denied["Condition"] == {
        "ForAnyValue:StringLike": {"dynamodb:LeadingKeys": ["*#_kernel"]}
    }


def test_only_two_callers_may_take_the_data_role_with_a_tenant(transformed: Template) -> None:
    (trust,) = trust_of(transformed, "DataRole")
    assert trust["Condition"] == {
        "StringEquals": {"aws:PrincipalTag/webbee-caller": {"Ref": "AWS::StackName"}},
        "StringLike": {"aws:RequestTag/tenant": "?*", "aws:RequestTag/secrets": "?*"},
    }
    roles = resources(transformed, "AWS::IAM::Role")
    tags = {name: [t["Key"] for t in properties.get("Tags", ())] for name, properties in roles}
    tagged = {name for name, keys in tags.items() if "webbee-caller" in keys}
    assert tagged == {"ChatTurnRole", "SkeletonRefreshRole"}
    assert transformed["Resources"]["DataRole"]["Condition"] == "IsIsolated"
    assert transformed["Parameters"]["Isolation"]["Default"] == "tenant"


def test_only_without_isolation_the_cell_has_rights_of_its_own(transformed: Template) -> None:
    own = grants(transformed, "ToolDispatchRole", isolated=False)
    everybodys = {OWN_SECRETS: SECRETS}
    reach = {everybodys.get(resource, resource): actions for resource, actions in DATA.items()}
    assert own == {**reach, "FunctionsLogGroup": LOGS, "*": TRACE}


def test_tenants_get_environments_of_their_own_on_request(template: Template) -> None:
    tenancy = template["Resources"]["ToolDispatchFunction"]["Properties"]["TenancyConfig"]
    apart = {"TenantIsolationMode": "PER_TENANT"}
    assert tenancy == {"Fn::If": ["TenantsHaveEnvironments", apart, {"Ref": "AWS::NoValue"}]}


@pytest.mark.parametrize("role", ["ChatTurnRole", "SkeletonRefreshRole"])
def test_what_a_caller_may_do_with_data_it_may_do_from_inside_a_function_only(
    transformed: Template, role: str
) -> None:
    for statement in statements(transformed, role):
        if statement["Sid"] == "FollowEvents":  # Lambda's poller takes the role from outside
            assert "dynamodb:GetRecords" in statement["Action"]
        elif any(action.startswith("dynamodb:") for action in as_list(statement["Action"])):
            condition = statement["Condition"]
            inside = "lambda:SourceFunctionArn" in condition.get("ArnLike", {})
            assert inside or "*#_kernel" in str(condition), statement["Sid"]
