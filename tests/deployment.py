"""template.yaml deployed: transformed as CloudFormation gets it, created by CloudFormation in moto,
as far as moto goes."""

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import boto3
from moto.dynamodb.models import dynamodb_backends
from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator

from local.template import Template, load_template, resources

STACK = "webbee"
PARAMETERS: Mapping[str, str] = {"JwtIssuer": "https://login.example.com", "JwtAudience": "webbee"}
NOT_IN_MOTO = (
    "AWS::ApiGatewayV2::",
    "AWS::CloudWatch::",
    "AWS::CodeDeploy::",
    "AWS::SecretsManager::",
)
"""Kinds of resources that moto's CloudFormation cannot create; what refers to them goes with
them."""

_BUCKET = "artefacts"
_FUNCTIONS = {
    "ChatTurnFunction": "chat_turn",
    "ToolDispatchFunction": "tool_dispatch",
    "SkeletonRefreshFunction": "skeleton_refresh",
}


@dataclass(frozen=True, slots=True)
class Deployment:
    """A stack as it stands. `names` are physical ids by logical id, `environments` what Lambda
    would give each function."""

    outputs: Mapping[str, str]
    names: Mapping[str, str]
    environments: Mapping[str, Mapping[str, str]]
    left_out: frozenset[str]


def transform(**parameters: str) -> Template:
    """template.yaml after SAM's own transform, with the artefacts where `sam package` puts them."""
    source = load_template()
    for kind, code in (("Function", "CodeUri"), ("LayerVersion", "ContentUri")):
        for _, properties in resources(source, f"AWS::Serverless::{kind}"):
            properties[code] = f"s3://{_BUCKET}/code.zip"
    session = boto3.session.Session(region_name="us-east-1")
    result: Template = Translator({}, Parser(), boto_session=session).translate(
        source, {**PARAMETERS, **parameters}
    )
    return result


def deploy(client: Callable[[str], Any], **parameters: str) -> Deployment:
    template = for_moto(transform(**parameters), _webhook_key(client))
    left_out = without(template, NOT_IN_MOTO)
    _artefact(client("s3"))
    lists = {  # moto reads the default of a list as one string
        name: declared["Default"]
        for name, declared in template["Parameters"].items()
        if declared["Type"] == "CommaDelimitedList"
    }
    formation = client("cloudformation")
    given = {**lists, **PARAMETERS, **parameters}.items()
    formation.create_stack(
        StackName=STACK,
        TemplateBody=json.dumps(template),
        Capabilities=["CAPABILITY_IAM"],
        Parameters=[{"ParameterKey": k, "ParameterValue": v} for k, v in given],
    )
    [stack] = formation.describe_stacks(StackName=STACK)["Stacks"]
    assert stack["StackStatus"] == "CREATE_COMPLETE"
    created = formation.describe_stack_resources(StackName=STACK)["StackResources"]
    # moto lists what a condition left out, too, without a name
    named = [r for r in created if "LogicalResourceId" in r]
    names = {r["LogicalResourceId"]: r.get("PhysicalResourceId", "") for r in named}
    functions = client("lambda")
    # or moto runs the function itself at every message
    for mapping in functions.list_event_source_mappings()["EventSourceMappings"]:
        functions.update_event_source_mapping(UUID=mapping["UUID"], Enabled=False)
    for backends in dynamodb_backends.values():
        for backend in backends.values():
            for table in backend.tables.values():
                table.lambda_event_source_mappings.clear()  # the same, and no setting ends it
    environments = {}
    for logical, name in _FUNCTIONS.items():
        configuration = functions.get_function(FunctionName=names[logical])["Configuration"]
        variables = configuration["Environment"]["Variables"]
        environments[name] = {k: str(v) for k, v in variables.items()}
    outputs = {o["OutputKey"]: o["OutputValue"] for o in stack["Outputs"]}
    return Deployment(outputs, names, environments, frozenset(left_out))


def for_moto(value: Any, webhook_key: str) -> Any:
    """The template as moto's CloudFormation can create it: each function itself in the place of its
    alias, a value in the place of a version, a name in that of the WebSocket API's id (function and
    role only name it), and a secret that is there in that of its own."""
    match value:
        case {"Ref": str(name)} if name.endswith("Aliaslive"):
            return {"Fn::GetAtt": [name.removesuffix("Aliaslive"), "Arn"]}
        case {"Ref": str(name)} if "FunctionVersion" in name:
            return f"a version of {name.partition('Version')[0]}"
        case {"Fn::Sub": str(text)}:
            return {"Fn::Sub": text.replace("${LiveApi}", "live-api")}
        case {"Fn::GetAtt": ["WebhookKey", "Id"]}:
            return webhook_key
        case dict():
            kept = {k: v for k, v in value.items() if not str(k).endswith("Aliaslive")}
            return {k: for_moto(v, webhook_key) for k, v in kept.items()}
        case list():
            return [for_moto(v, webhook_key) for v in value]
    return value


def _webhook_key(client: Callable[[str], Any]) -> str:
    made = client("secretsmanager").create_secret(Name=f"{STACK}-hooks", SecretString="a key")
    return str(made["ARN"])


def without(template: Template, kinds: tuple[str, ...]) -> set[str]:
    """Remove resources of these kinds and all that refers to them, outputs too; what was
    removed."""
    found = template["Resources"]
    gone = {name for name, resource in found.items() if resource["Type"].startswith(kinds)}
    grown: set[str] = set()
    while gone != grown:
        grown = set(gone)
        gone |= {name for name, one in found.items() if _refers(one.get("Properties"), grown)}
    for name in gone:
        del found[name]
    for name in [name for name, output in template["Outputs"].items() if _refers(output, gone)]:
        del template["Outputs"][name]
    return gone


def _refers(value: Any, names: set[str]) -> bool:
    match value:
        case {"Ref": str(name)} | {"Fn::GetAtt": [str(name), *_]}:
            return name in names
        case {"Fn::Sub": str(text)}:
            return any(f"${{{name}}}" in text or f"${{{name}." in text for name in names)
        case dict():
            return any(_refers(v, names) for v in value.values())
        case list():
            return any(_refers(v, names) for v in value)
    return False


def _artefact(s3: Any) -> None:
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as archive:
        archive.writestr("handler.py", "")
    region = s3.meta.region_name
    elsewhere = {"CreateBucketConfiguration": {"LocationConstraint": region}}
    s3.create_bucket(Bucket=_BUCKET, **(elsewhere if region != "us-east-1" else {}))
    s3.put_object(Bucket=_BUCKET, Key="code.zip", Body=raw.getvalue())
