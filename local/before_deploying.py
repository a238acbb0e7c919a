"""`python -m local.before_deploying NAME=VALUE … [-- …]` prints the region of a deployment and the
parameters that a first one takes, or says what is missing before anything is built; what stands
behind `--` is for `sam deploy`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from .deployability import Item, account, derived, previous, settings
from .parameters import wrong
from .region import credentials, named
from .resolved import Resolved
from .template import load_template

STACK = "webbee"


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
    profile, stack = option("--profile", rest), option("--stack-name", rest) or STACK
    try:
        region = option("--region", rest) or named()
        if not profile:
            credentials()
    except LookupError as error:
        return Readiness(problems=(str(error),))
    if profile:
        os.environ["AWS_PROFILE"] = profile
    clients = clients_of(region, profile)
    resolved = with_parameters(parameters, region, stack, clients)
    items = [*settings(resolved), *account(resolved, clients)]
    try:
        taken = derived(resolved, clients)
    except Exception:  # `account` has said that the quota could not be asked
        taken = {}
    if taken:
        items = [item for item in items if item.name not in taken]
    return Readiness(region, _told(items, "error"), _told(items, "warning"), taken)


def with_parameters(
    parameters: Sequence[str], region: str, stack: str, clients: Callable[[str], Any]
) -> Resolved:
    """The template with what is named, over what the stack has now."""
    template = load_template()
    kept = previous(stack, clients)
    known = {name: text for name, text in kept.items() if name in template["Parameters"]}
    named_now = dict(pair.partition("=")[::2] for pair in parameters)
    return Resolved(template, {**known, **named_now}, region, stack)


def clients_of(region: str, profile: str = "") -> Callable[[str], Any]:
    """boto3's clients by service; none waits long for an answer."""
    import boto3
    from botocore.config import Config

    session = boto3.Session(region_name=region, profile_name=profile or None)
    config = Config(connect_timeout=5, read_timeout=15, retries={"total_max_attempts": 2})
    make: Any = session.client
    return cache(lambda service: make(service, config=config))


def option(name: str, rest: Sequence[str]) -> str:
    """The value of an option in a command line, empty where it is not there."""
    for at, word in enumerate(rest):
        if word.startswith(f"{name}="):
            return word.partition("=")[2]
        if word == name and at + 1 < len(rest):
            return rest[at + 1]
    return ""


def _told(items: Sequence[Item], level: str) -> tuple[str, ...]:
    return tuple(f"{i.name}: {i.message}" for i in items if not i.ok and i.level == level)


def main(arguments: Sequence[str]) -> int:
    """Print the region and what was derived; 1 with a sentence for each thing that is missing or
    refused."""
    own = arguments.index("--") if "--" in arguments else len(arguments)
    found = look(arguments[:own], arguments[own + 1 :])
    for warning in found.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    if found.problems:
        print(*found.problems, sep="\n", file=sys.stderr)
        return 1
    for name, value in found.derived.items():
        print(f"{name}={value}, by what this account may run at once", file=sys.stderr)
    print(found.region, *(f"{name}={value}" for name, value in found.derived.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
