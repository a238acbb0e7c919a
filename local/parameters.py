"""The template's parameters as a deployment is given them: what CloudFormation or SAM would refuse
after the build is told before it."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from webbee_kernel.config import GROUPS, Settings, variable_of
from webbee_kernel.errors import SettingsError

from .project import ROOT
from .template import Template, environment, load_template


def wrong(given: Iterable[str]) -> list[str]:
    """A sentence for each `NAME=VALUE` that the template refuses."""
    declared: Mapping[str, Mapping[str, Any]] = load_template(ROOT / "template.yaml")["Parameters"]
    return [why for pair in given for why in _refusals(pair, declared)]


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


ACCOUNT = "123456789012"
NO_VALUE = {"Ref": "AWS::NoValue"}
ATTRIBUTE = 64
"""Characters of an attribute that nothing here knows: an id, a host name, a generated password."""
SUFFIX = 12
"""Characters that CloudFormation puts behind the name of what it makes."""


@dataclass(frozen=True)
class Resolved:
    """The template with parameters; what is not among them has its default."""

    template: Template
    given: Mapping[str, str] = field(default_factory=dict)
    region: str = "eu-central-1"
    stack: str = "webbee"

    def variables(self, function: str) -> dict[str, str]:
        """What Lambda is told to put into a function's environment."""
        found = {k: self.value(v) for k, v in environment(self.template, function).items()}
        return {k: str(v) for k, v in found.items() if v != NO_VALUE}

    def is_given(self, function: str, variable: str) -> bool:
        """Whether a parameter of the deployment stands in a variable: what else there is are the
        names of resources, which nobody knows yet."""
        text = json.dumps(environment(self.template, function).get(variable, ""))
        found = {*re.findall(r'"Ref": "(\w+)"', text), *re.findall(r"\$\{(\w+)\}", text)}
        return not found.isdisjoint(self.template["Parameters"])

    def value(self, node: Any) -> Any:
        """A property without intrinsic functions; `AWS::NoValue` stays a reference."""
        match node:
            case {"Ref": str(name), **rest} if not rest:
                return self._reference(name)
            case {"Fn::GetAtt": [str(name), *path]}:
                return self._attribute(name, ".".join(path))
            case {"Fn::If": [str(condition), yes, no]}:
                return self.value(yes if self.holds({"Condition": condition}) else no)
            case {"Fn::Sub": [str(text), dict(own)]}:
                return self._substituted(text, {str(k): str(self.value(v)) for k, v in own.items()})
            case {"Fn::Sub": str(text)}:
                return self._substituted(text, {})
            case {"Fn::Join": [str(between), parts]}:
                return between.join(str(part) for part in self.value(parts))
            case {"Fn::Select": [index, parts]}:
                return self.value(parts)[int(index)]
            case {"Fn::Split": [str(at), text]}:
                return str(self.value(text)).split(at)
            case {"Fn::FindInMap": [mapping, first, second, *_]}:
                return self.template["Mappings"][self.value(mapping)][self.value(first)][second]
            case dict():
                return {k: self.value(v) for k, v in node.items()}
            case list():
                return [v for v in map(self.value, node) if v != NO_VALUE]
        return node

    def holds(self, condition: Any) -> bool:
        """Whether a condition of the template is true."""
        match condition:
            case {"Condition": str(name)}:
                return self.holds(self.template["Conditions"][name])
            case {"Fn::Not": [part]}:
                return not self.holds(part)
            case {"Fn::And": parts}:
                return all(map(self.holds, parts))
            case {"Fn::Or": parts}:
                return any(map(self.holds, parts))
            case {"Fn::Equals": [one, other]}:
                return str(self.value(one)) == str(self.value(other))
        raise ValueError(f"no condition: {condition!r}")

    def parameter(self, name: str) -> str:
        """What a parameter holds: as given, or its default."""
        declared = self.template["Parameters"][name]
        if name in self.given or "Default" in declared:
            return str(self.given.get(name, declared.get("Default"))).strip('"')
        unknown = ("x" * ATTRIBUTE, f"https://{'x' * ATTRIBUTE}")
        pattern = declared.get("AllowedPattern", "")
        return next((text for text in unknown if re.search(pattern, text)), unknown[0])

    def _reference(self, name: str) -> Any:
        if name == "AWS::NoValue":
            return NO_VALUE
        if name.startswith("AWS::"):
            return self._pseudo()[name]
        if name in self.template["Parameters"]:
            text = self.parameter(name)
            is_list = self.template["Parameters"][name]["Type"] == "CommaDelimitedList"
            return [part.strip() for part in text.split(",")] if is_list else text
        if name.endswith((".Alias", ".Version")):
            function, _, what = name.partition(".")
            arn = f"arn:aws:lambda:{self.region}:{ACCOUNT}:function:{self._physical(function)}"
            return f"{arn}:{'live' if what == 'Alias' else '10000'}"
        if self._kind(name) == "AWS::SQS::Queue":
            return f"https://sqs.{self.region}.amazonaws.com/{ACCOUNT}/{self._physical(name)}"
        if self._kind(name) == "AWS::SSM::Parameter":
            return self.value(self.template["Resources"][name]["Properties"]["Name"])
        return self._physical(name)

    def _attribute(self, name: str, path: str) -> str:
        if path.endswith("Version"):
            return "10000"
        if self._kind(name) == "AWS::SecretsManager::Secret":
            secret = f"{self._physical(name)}-{'x' * 6}"
            return f"arn:aws:secretsmanager:{self.region}:{ACCOUNT}:secret:{secret}"
        if not path.endswith("Arn"):
            return "x" * ATTRIBUTE
        service = self._kind(name).split("::")[1].lower()
        where = "" if service == "iam" else self.region
        kind = {"AWS::IAM::Role": "role/", "AWS::DynamoDB::Table": "table/"}.get(
            self._kind(name), ""
        )
        return f"arn:aws:{service}:{where}:{ACCOUNT}:{kind}{self._physical(name)}"

    def _substituted(self, text: str, own: Mapping[str, str]) -> str:
        def one(found: re.Match[str]) -> str:
            name = found[1]
            if name.startswith("!"):
                return f"${{{name[1:]}}}"
            if name in own:
                return own[name]
            known = name.startswith("AWS::") or name in self.template["Parameters"]
            first, _, path = name.partition(".")
            if path and not known and path not in ("Alias", "Version"):
                return self._attribute(first, path)
            return str(self._reference(name))

        done = re.sub(r"\$\{([^}]+)\}", one, text)
        return "x" * ATTRIBUTE if done.startswith("{{resolve:") else done

    def _kind(self, name: str) -> str:
        return str(self.template["Resources"].get(name, {}).get("Type", "AWS::Lambda::Function"))

    def _physical(self, name: str) -> str:
        return f"{self.stack}-{name}-{'x' * SUFFIX}"

    def _pseudo(self) -> Mapping[str, str]:
        return {
            "AWS::StackName": self.stack,
            "AWS::Region": self.region,
            "AWS::AccountId": ACCOUNT,
            "AWS::Partition": "aws",
            "AWS::URLSuffix": "amazonaws.com",
            "AWS::StackId": "x" * ATTRIBUTE,
        }
