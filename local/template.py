"""template.yaml read as data, its loops written out: the local gateway and the tests take tables
and routes from it, never from a second description."""

from __future__ import annotations

import pickle
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from starlette.routing import compile_path

from .project import ROOT

TEMPLATE_PATH = ROOT / "template.yaml"

Template = dict[str, Any]

# What CreateTable takes; the rest of a table's properties (time to live, backups, …) are calls of
# their own.
_CREATE_TABLE_PROPERTIES = (
    "AttributeDefinitions",
    "KeySchema",
    "BillingMode",
    "GlobalSecondaryIndexes",
    "LocalSecondaryIndexes",
    "StreamSpecification",
)


class Route(NamedTuple):
    """One route of the HTTP API: `/v1/sessions/{id}` has one variable, `{path+}` takes the rest of
    the path, the method `ANY` every method."""

    method: str
    path: str
    function: str
    public: bool


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML with CloudFormation's short forms: `!Ref x` reads as `{"Ref": "x"}`, `!Sub x` as
    `{"Fn::Sub": "x"}`. libyaml, where PyYAML was built with it, takes a tenth of the time."""


def _intrinsic(loader: _Loader, suffix: str, node: yaml.Node) -> dict[str, Any]:
    value: Any
    if isinstance(node, yaml.ScalarNode):
        value = loader.construct_scalar(node)
        if suffix == "GetAtt":
            value = value.split(".", 1)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    else:
        raise yaml.YAMLError(f"!{suffix} takes a scalar or a list{node.start_mark}")
    return {suffix if suffix in ("Ref", "Condition") else f"Fn::{suffix}": value}


_Loader.add_multi_constructor("!", _intrinsic)


def load_template(path: Path = TEMPLATE_PATH) -> Template:
    """Read a CloudFormation or SAM template; intrinsic functions become their long form,
    unresolved, and what `Fn::ForEach` repeats is there, as AWS::LanguageExtensions makes it."""
    template: Template = pickle.loads(_parsed(path.read_text(encoding="utf-8")))  # noqa: S301
    return template


@lru_cache(maxsize=4)
def _parsed(text: str) -> bytes:
    """A template's text, read; pickled, so that each reader gets one to change."""
    return pickle.dumps(_written_out(yaml.load(text, _Loader)))  # noqa: S506 - ours, a safe one's


_LOOP = "Fn::ForEach::"


def _written_out(template: Template) -> Template:
    """The template as it stands after AWS::LanguageExtensions, the first of its transforms, which
    it then no longer names."""
    mappings = template.get("Mappings", {})
    for section in {"Conditions", "Resources", "Outputs"} & template.keys():
        members: dict[str, Any] = {}
        for key, value in template[section].items():
            if not key.startswith(_LOOP):
                members[key] = value
                continue
            name, items, fragment = value
            for item in items:
                for pattern, member in fragment.items():
                    filled = _filled(member, name, item, mappings)
                    members[pattern.replace(f"${{{name}}}", item)] = filled
        template[section] = members
    if isinstance(template.get("Transform"), list):
        template["Transform"] = template["Transform"][-1]
    return template


def _filled(value: Any, name: str, item: str, mappings: Mapping[str, Any]) -> Any:
    """A fragment of a loop for one item: in references and `Fn::Sub`, nowhere else."""
    match value:
        case {"Ref": str(reference)} if reference == name:
            return item
        case {"Fn::Sub": str(text)}:
            filled = text.replace(f"${{{name}}}", item)
            return {"Fn::Sub": filled} if re.search(r"\$\{[^!]", filled) else filled
        case {"Fn::FindInMap": [str(table), first, second]}:
            key = _filled(first, name, item, mappings)
            return mappings[table][key][second] if isinstance(key, str) else value
        case dict():
            return {k: _filled(v, name, item, mappings) for k, v in value.items()}
        case list():
            return [_filled(v, name, item, mappings) for v in value]
    return value


def resources(template: Template, kind: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Logical id and properties of every resource of one type, in the template's order."""
    for logical_id, resource in template["Resources"].items():
        if resource["Type"] == kind:
            yield logical_id, resource.get("Properties", {})


def environment(template: Template, function: str) -> dict[str, Any]:
    """The environment variables of one function, what `Globals` gives to all included; values may
    be intrinsic functions."""
    shared = (
        template.get("Globals", {}).get("Function", {}).get("Environment", {}).get("Variables", {})
    )
    own = template["Resources"][function]["Properties"].get("Environment", {}).get("Variables", {})
    return {**shared, **own}


def table_definitions(template: Template) -> dict[str, dict[str, Any]]:
    """Arguments of `create_table`, less the name, by logical id."""
    return {
        # CloudFormation switches a stream on by naming what is in it
        logical_id: {
            k: {"StreamEnabled": True, **v} if k == "StreamSpecification" else v
            for k, v in properties.items()
            if k in _CREATE_TABLE_PROPERTIES
        }
        for logical_id, properties in resources(template, "AWS::DynamoDB::Table")
    }


def table_variables(template: Template) -> dict[str, str]:
    """Which table each `WEBBEE_TABLE_…` variable names, by logical id, over all functions."""
    return {
        variable: value["Ref"]
        for function, _ in resources(template, "AWS::Serverless::Function")
        for variable, value in environment(template, function).items()
        if variable.startswith("WEBBEE_TABLE_")
    }


def create_tables(client: Any, template: Template, prefix: str = "") -> dict[str, str]:
    """Create every table with its time to live; returns the environment that names them.

    `client` is a DynamoDB client (its type stubs are no dependency of the local run). Table names
    are the prefix and the logical id: `{"WEBBEE_TABLE_SESSIONS": "test-SessionsTable", …}`.
    """
    for logical_id, definition in table_definitions(template).items():
        name = prefix + logical_id
        client.create_table(TableName=name, **definition)
        lives = template["Resources"][logical_id]["Properties"].get("TimeToLiveSpecification")
        if lives:
            client.update_time_to_live(TableName=name, TimeToLiveSpecification=lives)
    return {
        variable: prefix + logical_id for variable, logical_id in table_variables(template).items()
    }


def routes(template: Template) -> list[Route]:
    """Every route of the HTTP API, public ones need no token; the more special before the more
    general, as API Gateway chooses among those that match."""
    found = []
    for function, properties in resources(template, "AWS::Serverless::Function"):
        for event in properties.get("Events", {}).values():
            if event["Type"] == "HttpApi":
                route = event["Properties"]
                public = route.get("Auth", {}).get("Authorizer") == "NONE"
                found.append(Route(route["Method"], route["Path"], function, public))
    return sorted(found, key=_generality)


def _generality(route: Route) -> tuple[bool, bool, int, bool]:
    fixed = route.path.partition("{")[0]
    return "+}" in route.path, "{" in route.path, -len(fixed), route.method == "ANY"


def matched(among: Sequence[Route], method: str, path: str) -> Route | None:
    """The first of the routes that takes a request."""
    of_method = (route for route in among if route.method in (method, "ANY"))
    return next((route for route in of_method if _pattern(route.path).fullmatch(path)), None)


@lru_cache(maxsize=256)
def _pattern(path: str) -> re.Pattern[str]:
    """API Gateway's `{path+}` is Starlette's `{path:path}`."""
    return compile_path(path.replace("+}", ":path}"))[0]
