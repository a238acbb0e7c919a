"""AWS as ministack plays it on this machine, and what it leaves out of a stack, supplied by its own
API. `python -m tests.deploying.stand_in` does the second, where a page's command has deployed.

What is supplied, each of it a gap of the stand-in that AWS does not have:
the HTTP API's routes and authoriser (its CloudFormation does not read an API's `Body`); the folder
of the extensions (it unpacks layers, but not to /opt); a version for each `Release` (its transform
takes parameters' defaults); a number that it keeps as a string.
"""

import json
import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAMS = ROOT / ".venv-ministack" / "bin"
REGION = "eu-central-1"
STACK = "webbee"


@dataclass(frozen=True, slots=True)
class StandIn:
    """A running ministack."""

    address: str

    def client(self, service: str) -> Any:
        keys = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
        return boto3.client(service, endpoint_url=self.address, region_name=REGION, **keys)


@contextmanager
def running(folder: Path, port: int) -> Iterator[StandIn]:
    """ministack on a port of the loopback address; its files and its log lie in `folder`."""
    address = f"http://127.0.0.1:{port}"
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "BIND_HOST": "127.0.0.1",
        "GATEWAY_PORT": str(port),
        "IOT_MTLS_ENABLED": "0",
        "LAMBDA_EXECUTOR": "local",
    }
    with (folder / "ministack.log").open("w") as log:
        process = subprocess.Popen(
            [str(PROGRAMS / "ministack")], env=env, cwd=folder, stdout=log, stderr=log
        )
        try:
            _until_it_answers(f"{address}/_ministack/health", process)
            yield StandIn(address)
        finally:
            process.terminate()
            process.wait(30)


def _until_it_answers(url: str, process: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        assert process.poll() is None, "ministack ended"
        try:
            urllib.request.urlopen(url, timeout=5).close()
        except urllib.error.HTTPError as answered:
            answered.close()
            return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.2)
        else:
            return
    raise AssertionError(f"{url} does not answer")


def supply(stand_in: StandIn, built: Path) -> None:
    """What the stand-in left out of the stack, after each deployment."""
    names = _names(stand_in)
    _versions(stand_in, names, built)
    _routes(stand_in, names)
    functions = stand_in.client("lambda")
    for mapping in functions.list_event_source_mappings()["EventSourceMappings"]:
        if found := mapping.get("ScalingConfig"):
            kept = {"MaximumConcurrency": int(found["MaximumConcurrency"])}
            functions.update_event_source_mapping(UUID=mapping["UUID"], ScalingConfig=kept)


def _versions(stand_in: StandIn, names: dict[str, str], built: Path) -> None:
    """A new version of each function behind its alias, as `Release` has it: SAM's transform is not
    given the parameters here. tool_dispatch's finds the extensions where they were built."""
    functions = stand_in.client("lambda")
    for logical, name in names.items():
        if not logical.endswith("Function"):
            continue
        configuration = functions.get_function_configuration(FunctionName=name)
        variables = configuration["Environment"]["Variables"]
        if "WEBBEE_EXTENSIONS_DIR" in variables:
            theirs = built / "ExtensionsLayer" / "webbee_extensions"
            changed = {"Variables": {**variables, "WEBBEE_EXTENSIONS_DIR": str(theirs)}}
            functions.update_function_configuration(FunctionName=name, Environment=changed)
        version = functions.publish_version(FunctionName=name)["Version"]
        functions.update_alias(FunctionName=name, Name="live", FunctionVersion=version)


def _routes(stand_in: StandIn, names: dict[str, str]) -> None:
    """Each route of the API's `Body`, as CloudFormation was given it after SAM's transform."""
    template = stand_in.client("cloudformation").get_template(
        StackName=STACK, TemplateStage="Processed"
    )["TemplateBody"]
    template = json.loads(template) if isinstance(template, str) else template
    body = template["Resources"]["Api"]["Properties"]["Body"]
    [stack] = stand_in.client("cloudformation").describe_stacks(StackName=STACK)["Stacks"]
    given = {p["ParameterKey"]: p["ParameterValue"] for p in stack["Parameters"]}
    gateway, api = stand_in.client("apigatewayv2"), names["Api"]
    if gateway.get_routes(ApiId=api)["Items"]:
        return
    authorizer = gateway.create_authorizer(
        ApiId=api,
        Name="Jwt",
        AuthorizerType="JWT",
        IdentitySource=["$request.header.Authorization"],
        JwtConfiguration={"Issuer": given["JwtIssuer"], "Audience": [given["JwtAudience"]]},
    )["AuthorizerId"]
    integrations: dict[str, str] = {}
    for path, methods in body["paths"].items():
        for method, route in methods.items():
            if method == "options":
                continue
            uri = route["x-amazon-apigateway-integration"]["uri"]["Fn::Sub"]
            [alias] = re.findall(r"\$\{(\w+Aliaslive)\}", uri)
            if alias not in integrations:
                integrations[alias] = gateway.create_integration(
                    ApiId=api,
                    IntegrationType="AWS_PROXY",
                    IntegrationUri=names[alias],
                    PayloadFormatVersion="2.0",
                )["IntegrationId"]
            is_public = {"NONE": []} in route.get("security", [])
            gateway.create_route(
                ApiId=api,
                RouteKey=f"{'ANY' if 'any' in method else method.upper()} {path}",
                Target=f"integrations/{integrations[alias]}",
                **({} if is_public else {"AuthorizationType": "JWT", "AuthorizerId": authorizer}),
            )


def until_it_ticked(stand_in: StandIn) -> None:
    """Wait until a section has been refreshed long after the turn that asked for it: nobody but
    the schedule does that."""
    table = _names(stand_in)["SkeletonTable"]
    for _ in range(240):
        for item in stand_in.client("dynamodb").scan(TableName=table)["Items"]:
            sections = json.loads(item["sections"]["S"]) if "sections" in item else {}
            seen = float(item.get("seen_at", {}).get("N", "inf"))
            for name, section in sections.items():
                if section["refreshed_at"] > seen + 30 and not section.get("failures"):
                    print(f"the schedule has had {name} refreshed")
                    return
        time.sleep(1)
    raise AssertionError("nothing was refreshed")


def _names(stand_in: StandIn) -> dict[str, str]:
    """The stack's resources: physical ids by logical ones."""
    found = stand_in.client("cloudformation").describe_stack_resources(StackName=STACK)
    return {r["LogicalResourceId"]: r["PhysicalResourceId"] for r in found["StackResources"]}


if __name__ == "__main__":
    if sys.argv[2:]:
        supply(StandIn(sys.argv[1]), Path(sys.argv[2]))
    else:
        until_it_ticked(StandIn(sys.argv[1]))
