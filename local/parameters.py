"""The template's parameters as a deployment is given them: what CloudFormation or SAM would refuse
after the build is told before it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from webbee_kernel.config import GROUPS, Settings, variable_of
from webbee_kernel.errors import SettingsError

from .project import ROOT
from .template import environment, load_template, resources


def wrong(given: Iterable[str]) -> list[str]:
    """A sentence for each `NAME=VALUE` that the template refuses."""
    known = declared()
    return [why for pair in given for why in _refusals(pair, known)]


def declared() -> Mapping[str, Mapping[str, Any]]:
    """The template's parameters by name."""
    found: Mapping[str, Mapping[str, Any]] = load_template(ROOT / "template.yaml")["Parameters"]
    return found


def _refusals(pair: str, declared: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    name, equals, text = pair.partition("=")
    if not equals:
        yield f"{pair!r} is no parameter: write NAME=VALUE"
    elif name not in declared:
        near = difflib.get_close_matches(name, declared, n=1)
        meant = f" – did you mean {near[0]}?" if near else ""
        yield f"template.yaml has no parameter {name}{meant}"
    elif not text and "Default" in declared[name]:
        yield f"{name} has no value: {name}='\"\"' empties it"
    elif why := refusal_of(text.strip('"'), declared[name]):
        yield f"{name} {why}"
    elif variable_of(name) in GROUPS and (why := _refused_inside(name, text.strip('"'))):
        yield why


def _refused_inside(name: str, text: str) -> str:
    """What a function would say at init of settings that one parameter holds; empty where they
    are right."""
    try:
        Settings.from_env({variable_of(name): text})
    except SettingsError as error:
        return str(error).replace(f"environment variable {variable_of(name)}", name, 1)
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
    if parameter["Type"] == "Number":
        least, most = parameter.get("MinValue", value), parameter.get("MaxValue", value)
        if not re.fullmatch(r"-?\d+(\.\d+)?", value):
            return "must be a number"
        if not float(least) <= float(value) <= float(most):
            return f"must be at least {least}" + (f" and at most {most}" if most != value else "")
    return ""


def _is_matched(value: str, parameter: Mapping[str, Any]) -> bool:
    """As CloudFormation matches: a string as a whole, a list member by member. That the members of
    a list stand in the order of its default is left to `Fn::Split` there, and told here."""
    pattern = parameter.get("AllowedPattern", r"(?s).*")
    if parameter["Type"] != "CommaDelimitedList":
        return re.fullmatch(pattern, value) is not None
    members = [member.strip() for member in value.split(",")]
    return all(re.fullmatch(pattern, member) for member in members) and (
        "=" not in parameter.get("Default", "") or _names(value) == _names(parameter["Default"])
    )


def _names(members: str) -> list[str]:
    return [member.partition("=")[0].strip() for member in members.split(",")]


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
        template = load_template(ROOT / "template.yaml")
        return {
            variable: self.parameter(value["Ref"])
            for function, _ in resources(template, "AWS::Serverless::Function")
            for variable, value in environment(template, function).items()
            if isinstance(value, dict) and value.get("Ref") in template["Parameters"]
        }
