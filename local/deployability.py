"""What a deployment would fail at, found before anything is built: one sentence each, with what
to do. `settings` looks at the template and its parameters, `account` asks AWS and the models.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from typing import Any, Final

from webbee_kernel.aws.clients import forget_clients
from webbee_kernel.config import POLICY_FILE, Settings
from webbee_kernel.errors import KernelError, SettingsError

from .parameters import Deployment, declared, wrong
from .project import ROOT

Clients = Callable[[str], Any]

UNRESERVED: Final = 100
"""Executions that an account keeps for functions without any of their own, or all it has."""
WITHOUT_TENANTS: Final = re.compile(r"cn-|us-gov-|us-iso|ap-southeast-6$")
"""Regions without Lambda's tenant isolation mode (November 2026)."""
OF_TENANTS: Final = "ToolDispatchFunction"
"""The one function that may have an environment for each tenant."""
KEEPING: Final = ("ChatTurn", "ToolDispatch", "SkeletonRefresh")
"""Members of `Capacity` that keep executions for a function."""
SMALL: Final = 200
"""An account with fewer executions is a new one: most begin with 10."""
RAISE: Final = (
    "raise it: aws service-quotas request-service-quota-increase --service-code lambda"
    " --quota-code L-B99A9384 --desired-value 1000"
)


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to have. `level` is error (deployment fails or nobody can use it) or warning."""

    name: str
    ok: bool
    message: str
    level: str = "error"


def settings(deployment: Deployment) -> Iterator[Item]:
    """Whether the functions would start with these parameters."""
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
    if policy.startswith(POLICY_FILE):
        where = f"functions/chat_turn/{policy.removeprefix(POLICY_FILE)}"
        try:
            Settings.from_env({"WEBBEE_POLICY": f"{POLICY_FILE}{ROOT / where}"}).policy_text()
            yield Item("policy", True, where)
        except SettingsError as error:
            yield Item("policy", False, f"{where}: {error}")


def account(deployment: Deployment, clients: Clients) -> Iterator[Item]:
    """What the account must allow. What it does not let one ask is a warning."""
    checks = {"concurrency": _concurrency, "Tenancy": _tenants, "models": _models}
    for name, check in checks.items():
        try:
            yield from check(deployment, clients)
        except Exception as error:  # whatever AWS or the network says; nothing is lost by it
            what = type(error).__name__
            yield Item(name, False, f"could not be asked ({what}): {error}", "warning")


def derived(deployment: Deployment, clients: Clients) -> dict[str, str]:
    """Parameters that a deployment takes instead of the template's defaults, where nobody has named
    them: a quota of ten leaves no twenty executions to refreshes, and not every region, nor a
    function that exists without it, has tenant isolation."""
    found: dict[str, str] = {}
    existing = _existing(deployment, clients)
    if "Capacity" not in deployment.given and not existing:
        fits, now = max(2, _quota(clients)[0] // 5), deployment.capacity()["Refresh"]
        if fits < now:
            whole = deployment.parameter("Capacity")
            found["Capacity"] = whole.replace(f"Refresh={now}", f"Refresh={fits}")
    if "Tenancy" not in deployment.given and any(not i.ok for i in _tenants(deployment, clients)):
        found["Tenancy"] = "process"
    return found


def previous(stack: str, clients: Clients) -> dict[str, str]:
    """The parameters of the stack as it stands: those that are not named keep their value."""
    try:
        [found] = clients("cloudformation").describe_stacks(StackName=stack)["Stacks"]
    except Exception:  # there is none yet, or it may not be seen
        return {}
    return {p["ParameterKey"]: p.get("ParameterValue", "") for p in found.get("Parameters", ())}


def _quota(clients: Clients) -> tuple[int, int]:
    """The account's executions, and those that no function keeps."""
    found = clients("lambda").get_account_settings()["AccountLimit"]
    return int(found["ConcurrentExecutions"]), int(found["UnreservedConcurrentExecutions"])


def _concurrency(deployment: Deployment, clients: Clients) -> Iterator[Item]:
    (total, unreserved), capacity = _quota(clients), deployment.capacity()
    wanted = sum(capacity[function] for function in KEEPING)
    held = sum(_held(name, clients) for name in _existing(deployment, clients).values())
    least = min(UNRESERVED, total)
    allowed = max(0, unreserved + held - least)
    if wanted > allowed:
        yield Item(
            "reserved concurrency",
            False,
            f"{wanted} executions are to be kept and this account can keep {allowed} (of {total},"
            f" {least} stay for all): lower ChatTurn and its like in Capacity, or {RAISE}",
        )
    told = f"this account runs {total} at once, for all functions"
    is_new = total < SMALL
    yield Item("concurrency", not is_new, f"{told}: {RAISE}" if is_new else told, "warning")
    refreshes = capacity["Refresh"]
    if refreshes * 2 > total:
        told = f"refreshes may take {refreshes} of {total} executions and turns starve:"
        more = f"Refresh={max(2, total // 5)} in Capacity until the quota is higher"
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


def _held(function: str, clients: Clients) -> int:
    answer = clients("lambda").get_function_concurrency(FunctionName=function)
    return int(answer.get("ReservedConcurrentExecutions", 0))


def _tenants(deployment: Deployment, clients: Clients) -> Iterator[Item]:
    wanted = deployment.parameter("Tenancy") == "environment"
    if wanted and WITHOUT_TENANTS.match(deployment.region):
        told = f"{deployment.region} has no tenant isolation mode: Tenancy=process"
        yield Item("Tenancy", False, told)
    elif function := _existing(deployment, clients).get(OF_TENANTS):
        answer = clients("lambda").get_function_configuration(FunctionName=function)
        if (has := "TenancyConfig" in answer) != wanted:
            yield Item(
                "Tenancy",
                False,
                f"{OF_TENANTS} was made {'with' if has else 'without'} tenant isolation and keeps"
                f" it: Tenancy={'environment' if has else 'process'}, or a stack of another name",
            )


def _named(deployment: Deployment) -> list[str]:
    """The models that roles name. Raises SettingsError."""
    told = Settings.from_env(deployment.variables())
    own = [str(getattr(told, f"model_{role}")) for role in ("classifier", "narrator", "ai")]
    names = dict.fromkeys(name or told.model for name in own)
    return [name for name in names if name != "offline"]


def _models(deployment: Deployment, clients: Clients) -> Iterator[Item]:
    """Ask each model that a role names for one word, with this shell's credentials."""
    named, told = _named(deployment), Settings.from_env(deployment.variables())
    os.environ.setdefault("AWS_REGION", deployment.region)
    forget_clients(unless_here=True)
    for name in named:
        try:
            asyncio.run(_ask(name, told))
        except KernelError as error:
            if "not authorized to perform" in _causes(error):
                why = "it was not asked, because the credentials of this shell may not invoke it"
                yield Item(f"model {name}", False, why, "warning")
                continue
            yield Item(f"model {name}", False, str(error))
        else:
            yield Item(f"model {name}", True, "it answers")


async def _ask(name: str, told: Settings) -> None:
    from webbee_kernel.llm.options import named
    from webbee_kernel.llm.protocol import ModelRequest

    request = ModelRequest("ai", "Answer with one word.", "Say ok.", max_tokens=16)
    await named(name, told).complete(request)


def _causes(error: BaseException | None) -> str:
    """What an error and those before it say, also where one hides the other."""
    found = []
    while error is not None:
        found.append(str(error))
        error = error.__cause__ or error.__context__
    return "\n".join(found)


def _granted(name: str, deployment: Deployment) -> Iterable[Item]:
    """The functions' role may invoke a model of Bedrock only where `BedrockModelArns` names it."""
    service, _, model = name.partition(":")
    arns = [arn.strip() for arn in deployment.parameter("BedrockModelArns").split(",")]
    if service == "bedrock" and not any(_covers(arn, model) for arn in arns):
        told = f"the functions may not invoke {model}, because BedrockModelArns does not name it:"
        more = "give the ARN of the model, and of an inference profile with its model in each"
        yield Item("BedrockModelArns", False, f"{told} {more} region")


def _covers(arn: str, model: str) -> bool:
    """Whether an ARN, with wildcards, is the model's: its last part is the id."""
    return fnmatchcase(model, arn if model.startswith("arn:") else arn.rpartition("/")[2])


def named() -> str:
    """The region of this shell. LookupError where none is named, or the profile is not there."""
    own = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    found = own or _session().get_config_variable("region")
    if not found:
        raise LookupError(
            "no region is named: export AWS_REGION=eu-central-1 (or another with Lambda on arm64),"
            " or give the profile one with `aws configure set region eu-central-1`"
        )
    return str(found)


def credentials() -> str:
    """By what way the shell's credentials are found. LookupError where there are none."""
    found = _session().get_credentials()
    if not found:
        raise LookupError("no AWS credentials: set AWS_PROFILE, or run `aws configure`")
    return str(found.method)


def _session() -> Any:
    from botocore.exceptions import ProfileNotFound
    from botocore.session import Session

    session = Session()
    try:
        session.get_scoped_config()
    except ProfileNotFound as error:
        raise LookupError(f"{error}: AWS_PROFILE names it") from None
    return session


@dataclass(frozen=True, slots=True)
class Target:
    """Where a deployment goes."""

    region: str
    stack: str = "webbee"
    profile: str | None = None

    @staticmethod
    def of(rest: Sequence[str]) -> Target:
        """What these options of `sam deploy` name, else the shell. LookupError where no region is
        named."""
        parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
        parser.add_argument("--region")
        parser.add_argument("--stack-name", default="webbee")
        parser.add_argument("--profile")
        options, _ = parser.parse_known_args(rest)
        if options.profile:
            os.environ["AWS_PROFILE"] = options.profile
        return Target(options.region or named(), options.stack_name, options.profile)

    def clients(self) -> Clients:
        """boto3's clients by service; none waits long for an answer."""
        import boto3
        from botocore.config import Config

        make: Any = boto3.Session(region_name=self.region, profile_name=self.profile).client
        config = Config(connect_timeout=5, read_timeout=15, retries={"total_max_attempts": 2})
        return cache(lambda service: make(service, config=config))


@dataclass(frozen=True, slots=True)
class Readiness:
    """What was found: where the deployment goes, and what stands in its way."""

    region: str = ""
    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    derived: dict[str, str] = field(default_factory=dict)


def look(parameters: Sequence[str], rest: Sequence[str]) -> Readiness:
    """Look at a deployment with these `NAME=VALUE` and these options of `sam deploy`."""
    if problems := wrong(parameters):
        return Readiness(problems=tuple(problems))
    try:
        target = Target.of(rest)
        credentials()
    except LookupError as error:
        return Readiness(problems=(str(error),))
    items, taken = found(parameters, target)
    told = [(i.level, f"{i.name}: {i.message}") for i in items if not i.ok]
    problems = [text for level, text in told if level == "error"]
    warnings = [text for level, text in told if level == "warning"]
    return Readiness(target.region, tuple(problems), tuple(warnings), taken)


def found(parameters: Sequence[str], target: Target) -> tuple[list[Item], dict[str, str]]:
    """What there is to say of a deployment, less what is derived for it; and what is. What is not
    named keeps the value that the stack has now."""
    clients = target.clients()
    kept = {k: v for k, v in previous(target.stack, clients).items() if k in declared()}
    named_now = dict(pair.partition("=")[::2] for pair in parameters)
    deployment = Deployment({**kept, **named_now}, target.region, target.stack)
    items = [*settings(deployment), *account(deployment, clients)]
    try:
        taken = derived(deployment, clients)
    except Exception:  # `account` has said that the quota could not be asked
        taken = {}
    return [item for item in items if item.name not in taken], taken
