"""What a deployment would fail at, found before anything is built: one sentence each, with what
to do. The template and its parameters are looked at first, then the account and the models.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from typing import Any, Final

from webbee_kernel.aws.clients import forget_clients
from webbee_kernel.config import GROUPS, POLICY_FILE, Settings, variable_of
from webbee_kernel.errors import KernelError, SettingsError

from .project import ROOT
from .template import environment, load_template, resources
from .terminal import CliError, near

Clients = Callable[[str], Any]

WITHOUT_TENANTS: Final = re.compile(r"cn-|us-gov-|us-iso|ap-southeast-6$")
"""Regions without Lambda's tenant isolation mode (November 2026)."""
OF_TENANTS: Final = "ToolDispatchFunction"
"""The one function that may have an environment for each tenant."""
SMALL: Final = 200
"""An account with fewer executions is a new one: most begin with 10."""
RAISE: Final = (
    "raise it: aws service-quotas request-service-quota-increase --service-code lambda"
    " --quota-code L-B99A9384 --desired-value 1000"
)


@dataclass(frozen=True)
class Deployment:
    """A deployment before it is made: what its parameters hold, as given or by their defaults."""

    given: Mapping[str, str] = field(default_factory=dict)
    region: str = "eu-central-1"
    stack: str = "webbee"

    def parameter(self, name: str) -> str:
        """What a parameter holds; empty where it has no default and is not given."""
        return str(self.given.get(name, declared()[name].get("Default", ""))).strip('"')

    def capacity(self) -> dict[str, int]:
        """The members of `Capacity`."""
        pairs = (member.partition("=") for member in self.parameter("Capacity").split(","))
        return {name.strip(): int(value) for name, _, value in pairs}

    def variables(self) -> dict[str, str]:
        """Variables of the functions that hold a parameter as it is. The others are names of
        resources, which nobody knows yet."""
        template = load_template()
        return {
            variable: self.parameter(value["Ref"])
            for function, _ in resources(template, "AWS::Serverless::Function")
            for variable, value in environment(template, function).items()
            if isinstance(value, dict) and value.get("Ref") in template["Parameters"]
        }


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to have. `level` is error (deployment fails or nobody can use it) or warning.
    `derived` is what a parameter of this name holds instead of its default, which nobody named."""

    name: str
    ok: bool
    message: str
    level: str = "error"
    derived: str = ""


def tried(name: str, find: Callable[[], str], level: str = "error") -> Item:
    """What is found, or why it is not."""
    try:
        return Item(name, True, find(), level)
    except (LookupError, CliError) as error:
        return Item(name, False, str(error), level)


def look(parameters: Sequence[str], rest: Sequence[str]) -> Iterator[Item]:
    """What there is to say of a deployment with these `NAME=VALUE` and these options of `sam
    deploy`. What is not named keeps the value that the stack has now."""
    options = options_of(rest)
    place = tried("region", lambda: region_of(rest))
    who = tried("credentials", credentials)
    yield from (place, who)
    if refused := wrong(parameters):
        yield from (Item("parameters", False, sentence) for sentence in refused)
        return
    given = dict(pair.split("=", 1) for pair in parameters)
    region, stack = place.message, options.stack_name
    if not (place.ok and who.ok):
        yield from _settings(Deployment(given))
        return
    clients = clients_of(region)
    kept = {k: v for k, v in _previous(stack, clients).items() if k in declared()}
    deployment = Deployment({**kept, **given}, region, stack)
    yield from _settings(deployment)
    yield from _account(deployment, clients)


def _settings(deployment: Deployment) -> Iterator[Item]:
    """Whether everything is named, and the functions would start with it."""
    for name, parameter in declared().items():
        if "Default" not in parameter:
            asked = f"name it the first time: {parameter['Description']}"
            there = deployment.parameter(name)
            yield Item(name, bool(there), there or asked, "warning")
    if deployment.parameter("Model") == "offline":
        told = "it matches phrases and understands no language; Model=bedrock:<id> does"
        yield Item("model", False, f"offline: {told}", "warning")
    try:
        names = _named(deployment)
    except SettingsError as error:
        yield Item("settings", False, str(error))
    else:
        for name in names:
            yield from _granted(name, deployment)
    yield from _policy(deployment)


def _policy(deployment: Deployment) -> Iterator[Item]:
    """Whether the file lies there that the policy names, and is as long as the kernel takes."""
    policy = deployment.parameter("Policy")
    if not policy.startswith(POLICY_FILE):
        return
    where = f"functions/chat_turn/{policy.removeprefix(POLICY_FILE)}"
    try:
        Settings.from_env({"WEBBEE_POLICY": f"{POLICY_FILE}{ROOT / where}"}).policy_text()
        yield Item("policy", True, where)
    except SettingsError as error:
        yield Item("policy", False, f"{where}: {error}")


def _account(deployment: Deployment, clients: Clients) -> Iterator[Item]:
    """What the account must allow. What it does not let one ask is a warning."""
    checks = {"concurrency": _concurrency, "Tenancy": _tenants, "models": _models}
    for name, check in checks.items():
        try:
            yield from check(deployment, clients)
        except Exception as error:  # whatever AWS or the network says; nothing is lost by it
            what = type(error).__name__
            yield Item(name, False, f"could not be asked ({what}): {error}", "warning")


def _previous(stack: str, clients: Clients) -> dict[str, str]:
    """The parameters of the stack as it stands."""
    try:
        [found] = clients("cloudformation").describe_stacks(StackName=stack)["Stacks"]
    except Exception:  # there is none yet, or it may not be seen
        return {}
    return {p["ParameterKey"]: p.get("ParameterValue", "") for p in found.get("Parameters", ())}


def _concurrency(deployment: Deployment, clients: Clients) -> Iterator[Item]:
    account = clients("lambda").get_account_settings()["AccountLimit"]
    total = account["ConcurrentExecutions"]
    told = f"this account runs {total} at once, for all functions"
    is_new = total < SMALL
    yield Item("concurrency", not is_new, f"{told}: {RAISE}" if is_new else told, "warning")
    refreshes, fits = deployment.capacity()["Refresh"], max(2, total // 5)
    if (
        fits < refreshes
        and not _existing(deployment, clients)
        and "Capacity" not in deployment.given
    ):
        whole = deployment.parameter("Capacity")
        smaller = whole.replace(f"Refresh={refreshes}", f"Refresh={fits}")
        told = f"Capacity={smaller}, by what this account may run at once"
        yield Item("Capacity", True, told, derived=smaller)
    elif refreshes * 2 > total:
        told = f"refreshes may take {refreshes} of {total} executions and turns starve:"
        more = f"Refresh={fits} in Capacity until the quota is higher"
        level = "error" if refreshes > 2 else "warning"
        yield Item("Capacity", False, f"{told} {more}", level)


def _existing(deployment: Deployment, clients: Clients) -> dict[str, str]:
    """The functions of the stack as it stands, by logical id; none where there is no stack."""
    formation = clients("cloudformation")
    try:
        found = formation.describe_stack_resources(StackName=deployment.stack)["StackResources"]
    except formation.exceptions.ClientError as error:
        if "does not exist" in str(error):
            return {}
        raise
    return {
        r["LogicalResourceId"]: r["PhysicalResourceId"]
        for r in found
        if r["ResourceType"] == "AWS::Lambda::Function" and r.get("PhysicalResourceId")
    }


def _tenants(deployment: Deployment, clients: Clients) -> Iterator[Item]:
    """Not every region has tenant isolation, nor a function that was made without it."""
    wanted, why, has = deployment.parameter("Tenancy") == "environment", "", True
    if wanted and WITHOUT_TENANTS.match(deployment.region):
        has, why = False, f"{deployment.region} has no tenant isolation mode:"
    elif function := _existing(deployment, clients).get(OF_TENANTS):
        answer = clients("lambda").get_function_configuration(FunctionName=function)
        has = "TenancyConfig" in answer
        made = f"was made {'with' if has else 'without'} tenant isolation and keeps it:"
        why = f"{OF_TENANTS} {made}" if has != wanted else ""
    if not why:
        return
    told = f"{why} Tenancy={'environment' if has else 'process'}"
    if "Tenancy" in deployment.given:
        yield Item("Tenancy", False, f"{told}, or a stack of another name" if has else told)
    else:  # the default is one that wants it
        yield Item("Tenancy", True, told, derived="process")


def _named(deployment: Deployment) -> list[str]:
    """The models that roles name. Raises SettingsError."""
    told = Settings.from_env(deployment.variables())
    own = [str(getattr(told, f"model_{role}")) for role in ("classifier", "narrator", "ai")]
    names = dict.fromkeys(name or told.model for name in own)
    return [name for name in names if name != "offline"]


def _models(deployment: Deployment, clients: Clients) -> Iterator[Item]:
    """Ask each model that a role names for one word, with this shell's credentials."""
    from webbee_kernel.llm.options import create_model
    from webbee_kernel.llm.protocol import ModelRequest

    settings = Settings.from_env(deployment.variables())
    request = ModelRequest("ai", "Answer with one word.", "Say ok.", max_tokens=16)
    os.environ.setdefault("AWS_REGION", deployment.region)
    forget_clients(is_lazy=True)
    for name in _named(deployment):
        try:
            asyncio.run(create_model(name, settings).complete(request))
            yield Item(f"model {name}", True, "it answers")
        except KernelError as error:
            may_ask = "not authorized to perform" not in getattr(error, "words", "")
            why = "it was not asked, because the credentials of this shell may not invoke it"
            level = "error" if may_ask else "warning"
            yield Item(f"model {name}", False, str(error) if may_ask else why, level)


def _granted(name: str, deployment: Deployment) -> Iterable[Item]:
    """The functions' role may invoke a model of Bedrock only where `BedrockModelArns` names it."""
    service, _, model = name.partition(":")
    arns = [arn.strip() for arn in deployment.parameter("BedrockModelArns").split(",")]
    # an id is the last part of its ARN
    named = arns if model.startswith("arn:") else [arn.rpartition("/")[2] for arn in arns]
    if service == "bedrock" and not any(fnmatchcase(model, pattern) for pattern in named):
        told = f"the functions may not invoke {model}, because BedrockModelArns does not name it:"
        more = "give the ARN of the model, and of an inference profile with its model in each"
        yield Item("BedrockModelArns", False, f"{told} {more} region")


def named() -> str:
    """The region of this shell. LookupError where none is named, or the profile is not there."""
    found = os.environ.get("AWS_REGION") or session().region_name
    if not found:
        raise LookupError(
            "no region is named: export AWS_REGION=eu-central-1 (or another with Lambda on arm64),"
            " or give the profile one with `aws configure set region eu-central-1`"
        )
    return str(found)


def credentials() -> str:
    """By what way the shell's credentials are found. LookupError where there are none."""
    found = session().get_credentials()
    if not found:
        raise LookupError("no AWS credentials: set AWS_PROFILE, or run `aws configure`")
    return str(found.method)


def session(region: str | None = None) -> Any:
    """boto3's session of this shell's profile. LookupError where that is not there."""
    import boto3
    from botocore.exceptions import ProfileNotFound

    try:
        return boto3.Session(region_name=region)
    except ProfileNotFound as error:
        raise LookupError(f"{error}: AWS_PROFILE names it") from None


def options_of(rest: Sequence[str]) -> argparse.Namespace:
    """Of the options of `sam deploy` those that say where to: `region` may be None, `stack_name`
    has its default, and a profile is this process's from now on."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--region")
    parser.add_argument("--stack-name", default="webbee")
    parser.add_argument("--profile")
    options, _ = parser.parse_known_args(rest)
    if options.profile:
        os.environ["AWS_PROFILE"] = options.profile
    return options


def region_of(rest: Sequence[str]) -> str:
    """The one region that everything goes to. LookupError where none is named."""
    return options_of(rest).region or named()


def clients_of(region: str) -> Clients:
    """boto3's clients by service; none waits long for an answer."""
    from botocore.config import Config

    config = Config(connect_timeout=5, read_timeout=15, retries={"total_max_attempts": 2})
    make = session(region).client
    return cache(lambda service: make(service, config=config))


# ---- the template's parameters


def wrong(given: Iterable[str]) -> list[str]:
    """A sentence for each `NAME=VALUE` that the template refuses."""
    return [why for pair in given if (why := _refusal(*pair.partition("=")))]


def declared() -> Mapping[str, Mapping[str, Any]]:
    """The template's parameters by name."""
    found: Mapping[str, Mapping[str, Any]] = load_template()["Parameters"]
    return found


def _refusal(name: str, equals: str, text: str) -> str:
    """Why a parameter is refused by the template, or its settings by a function at init; empty
    where it is not."""
    parameter, value = declared().get(name), text.strip('"')
    if not equals:
        return f"{name!r} is no parameter: write NAME=VALUE"
    if parameter is None:
        return f"template.yaml has no parameter {name}{near(name, declared())}"
    if not text and "Default" in parameter:
        return f"{name} has no value: {name}='\"\"' empties it"
    if why := refusal_of(value, parameter):
        return f"{name} {why}"
    variable = variable_of(name)
    try:
        Settings.from_env({variable: value} if variable in GROUPS else {})
    except SettingsError as error:
        return str(error).replace(f"environment variable {variable}", name, 1)
    return ""


MAX_BYTES: Final = 4_096
"""Of one parameter's value, as CloudFormation takes it."""


def refusal_of(value: str, parameter: Mapping[str, Any]) -> str:
    """Why a value is not allowed, empty where it is."""
    if (size := len(value.encode())) > MAX_BYTES:
        return f"has {size:,} bytes and CloudFormation takes {MAX_BYTES:,}: shorten it"
    allowed = [str(one) for one in parameter.get("AllowedValues", ())]
    if allowed and value not in allowed:
        return f"must be one of {', '.join(one or 'empty' for one in allowed)}"
    longest = parameter.get("MaxLength", len(value))
    if len(value) > longest or not _is_matched(value, parameter):
        return str(parameter.get("ConstraintDescription", parameter["Description"]))
    return ""


def _is_matched(value: str, parameter: Mapping[str, Any]) -> bool:
    """As CloudFormation matches: a string as a whole, a list member by member. That the members of
    a list stand in the order of its default is left to `Fn::Split` there, and told here."""
    pattern, default = parameter.get("AllowedPattern", r"(?s).*"), parameter.get("Default", "")
    is_list = parameter["Type"] == "CommaDelimitedList"
    members = [m.strip() for m in value.split(",")] if is_list else [value]
    names = [m.partition("=")[0].strip() for m in value.split(",")]
    in_order = "=" not in default or names == [m.partition("=")[0] for m in default.split(",")]
    return (in_order or not is_list) and all(re.fullmatch(pattern, m) for m in members)
