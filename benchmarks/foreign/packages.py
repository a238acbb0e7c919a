"""What is imported of the two foreign packages, and how without what only their own agents need.

`agentdojo` (MIT) imports the clients of five model vendors as soon as its task suites are touched,
through `agentdojo/agent_pipeline/__init__.py`. Its suites, tools, environments and checks need none
of them, so that one `__init__` is not executed: the package's modules stay importable one by one,
`base_pipeline_element` and `errors` are the real ones. `ground_truth_pipeline`, whose imports lead
to a vendor's client too, is answered with a class that nothing here makes.

`bfcl_eval` (Apache-2.0) needs no such care: its simulated APIs import `mpmath` and nothing else
that is foreign.

`large` and `simulated` are foreign functions as apps: operations of AWS services as botocore
documents them, AgentDojo's tools and BFCL's simulated APIs. Nothing of AWS's documentation is
shortened; only structures are followed no deeper than four levels, as generators of tools from API
descriptions do.
"""

from __future__ import annotations

import ast
import functools
import html
import importlib
import importlib.util
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from botocore import xform_name
from botocore.session import get_session

from webbee_kernel.catalogue import AppInfo, Catalogue, FunctionInfo

DOJO_VERSION = "v1.2.2"
"""The newest version of AgentDojo's tasks: 97 of users, 35 of attackers."""

_PIPELINE = "agentdojo.agent_pipeline"


def folder(package: str) -> Path:
    """Where an installed package lies."""
    spec = importlib.util.find_spec(package)
    assert spec and spec.origin, f"{package} is not installed: `make eval` makes its environment"
    return Path(spec.origin).parent


@functools.cache
def dojo() -> dict[str, Any]:
    """AgentDojo's suites by name, in its own order."""
    bare = ModuleType(_PIPELINE)
    bare.__path__ = [str(folder("agentdojo") / "agent_pipeline")]
    unused: Any = ModuleType(f"{_PIPELINE}.ground_truth_pipeline")
    unused.GroundTruthPipeline = object
    sys.modules.update({bare.__name__: bare, unused.__name__: unused})
    load: Any = importlib.import_module("agentdojo.task_suite.load_suites")
    suites: dict[str, Any] = load.get_suites(DOJO_VERSION)
    return suites


def runtime(suite: Any) -> Any:
    """AgentDojo's own runner of a suite's tools: `run_function(environment, name, arguments)`."""
    return importlib.import_module("agentdojo.functions_runtime").FunctionsRuntime(suite.tools)


def function_call(name: str, arguments: dict[str, Any]) -> Any:
    """AgentDojo's own value for a call, as its checks of traces read it."""
    calls = importlib.import_module("agentdojo.functions_runtime")
    return calls.FunctionCall(function=name, args=arguments)


def bfcl_class(name: str) -> Any:
    """One of BFCL's simulated APIs."""
    config = importlib.import_module("bfcl_eval.constants.executable_backend_config")
    return getattr(importlib.import_module(config.CLASS_FILE_PATH_MAPPING[name]), name)


def bfcl_documents(name: str) -> tuple[str, dict[str, dict[str, Any]]]:
    """What BFCL tells models of one API, and of its functions by name, their parameters as a JSON
    schema."""
    config = importlib.import_module("bfcl_eval.constants.executable_backend_config")
    found = bfcl_lines(f"multi_turn_func_doc/{config.MULTI_TURN_FUNC_DOC_FILE_MAPPING[name]}")
    about = found[0]["description"].split("Tool description")[0]
    return about, {f["name"]: {**f, "parameters": _schema_of(f["parameters"])} for f in found}


def bfcl_lines(name: str) -> list[dict[str, Any]]:
    """A data file of BFCL: one JSON object a line."""
    text = (folder("bfcl_eval") / "data" / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines() if line]


def bfcl_talks(name: str) -> Iterator[tuple[dict[str, Any], list[list[str]]]]:
    """The conversations of one of BFCL's multi-turn sets, each with its true calls by turn."""
    file = f"BFCL_v4_multi_turn_{name}.json"
    answers = {a["id"]: a["ground_truth"] for a in bfcl_lines(f"possible_answer/{file}")}
    return ((entry, answers[entry["id"]]) for entry in bfcl_lines(file))


def call_in(source: str) -> tuple[str, list[ast.expr], dict[str, ast.expr]]:
    """Function and arguments of a true call, `cp('a', destination='b')`."""
    call = ast.parse(source, mode="eval").body
    assert isinstance(call, ast.Call) and isinstance(call.func, ast.Name), source
    return call.func.id, call.args, {str(k.arg): k.value for k in call.keywords}


SERVICES = """account backup budgets ce chime-sdk-meetings codecommit comprehend connectcases
    customer-profiles devicefarm freetier gamelift geo-places geo-routes groundstation invoicing ivs
    mturk organizations polly rekognition route53domains savingsplans scheduler sesv2 sns
    ssm-contacts ssm-incidents supplychain support taxsettings textract transcribe translate
    voice-id wickr workdocs workmail""".split()
"""Of botocore's services those whose subject a person may speak of: mail, documents, meetings,
costs, invoices, customers, incidents, shops, games, satellites."""
APIS = """GorillaFileSystem MathAPI MessageAPI TwitterAPI TicketAPI TradingBot TravelAPI
    VehicleControlAPI""".split()
READS = re.compile(r"(?:get|list|describe|search|lookup|detect|query|check|view|find|count)_")
DEPTH = 4
_BFCL_TYPES = {"dict": "object", "float": "number", "tuple": "array", "any": "string"}
_AWS_TYPES = {"integer": "integer", "long": "integer", "boolean": "boolean"} | dict.fromkeys(
    ("float", "double"), "number"
)


@functools.cache
def large() -> Catalogue:
    """Some 1,900 functions of 50 apps: AWS services, AgentDojo's suites, BFCL's APIs."""
    apps = [*map(_service, SERVICES), *_dojo(), *_bfcl_apis()]
    return Catalogue({app.app_id: app for app in sorted(apps, key=lambda a: a.app_id)})


@functools.cache
def simulated() -> Catalogue:
    """BFCL's 128 functions of its multi-turn conversations."""
    return Catalogue({app.app_id: app for app in _bfcl_apis()})


def _dojo() -> Iterable[AppInfo]:
    for name, suite in dojo().items():
        app_id = f"dojo-{name}"
        functions = tuple(
            FunctionInfo(
                app_id, t.name, t.description, _kind(t.name), t.parameters.model_json_schema()
            )
            for t in suite.tools
        )
        yield AppInfo(app_id, display_name=name, functions=functions)


def _bfcl_apis() -> Iterable[AppInfo]:
    for api in APIS:
        about, documents = bfcl_documents(api)
        functions = tuple(
            FunctionInfo(api.lower(), name, d["description"], "read", d["parameters"])
            for name, d in documents.items()
        )
        yield AppInfo(api.lower(), display_name=api, description=about, functions=functions)


def _kind(name: str) -> str:
    return "read" if READS.match(f"{name}_") else "write"


def _schema_of(node: Any) -> Any:
    """BFCL's schema with JSON Schema's names of types."""
    if isinstance(node, list):
        return [_schema_of(n) for n in node]
    if not isinstance(node, Mapping):
        return node
    return {
        k: _BFCL_TYPES.get(v, v) if k == "type" and isinstance(v, str) else _schema_of(v)
        for k, v in node.items()
    }


@functools.cache
def _service(service_id: str) -> AppInfo:
    """An AWS service as an app."""
    model = get_session().get_service_model(service_id)
    functions = []
    for operation in sorted(model.operation_names):
        described = model.operation_model(operation)
        name = xform_name(operation)[:64]
        about = _plain(described.documentation) or name.replace("_", " ")
        schema = _schema(described.input_shape, DEPTH)
        functions.append(FunctionInfo(service_id, name, about, _kind(name), schema))
    return AppInfo(
        service_id,
        display_name=str(model.metadata["serviceFullName"]),
        description=_plain(model.documentation),
        functions=tuple(functions),
    )


def _schema(shape: Any, depth: int) -> dict[str, Any]:
    """A shape as a JSON schema."""
    match shape.type_name if shape else "structure":
        case "structure" if depth:
            members = shape.members.items() if shape else ()
            found = {
                "type": "object",
                "properties": {k: _documented(_schema(m, depth - 1), m) for k, m in members},
            }
            required = shape.required_members if shape else ()
            return {**found, "required": required} if required else found
        case "structure" | "map":
            return {"type": "object"}
        case "list":
            return {"type": "array", "items": _schema(shape.member, max(0, depth - 1))}
        case kind:
            found = {"type": _AWS_TYPES.get(kind, "string")}
            return {**found, "enum": shape.enum} if getattr(shape, "enum", ()) else found


def _documented(schema: dict[str, Any], member: Any) -> dict[str, Any]:
    text = _plain(member.documentation)
    return {**schema, "description": text} if text else schema


def _plain(text: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())
