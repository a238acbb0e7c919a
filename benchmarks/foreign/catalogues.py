"""Foreign functions as apps: operations of AWS services as botocore documents them, AgentDojo's
tools and BFCL's simulated APIs.

Nothing of AWS's documentation is shortened; only structures are followed no deeper than four
levels, as generators of tools from API descriptions do.
"""

from __future__ import annotations

import functools
import gzip
import html
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import botocore

from webbee_kernel.catalogue import AppInfo, Catalogue, FunctionInfo

from . import packages

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
_AWS_TYPES = {
    "integer": "integer",
    "long": "integer",
    "float": "number",
    "double": "number",
    "boolean": "boolean",
}


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
    for name, suite in packages.dojo().items():
        functions = []
        for tool in suite.tools:
            schema = tool.parameters.model_json_schema()
            kind = "read" if READS.match(f"{tool.name}_") else "write"
            functions.append(
                FunctionInfo(f"dojo-{name}", tool.name, tool.description, kind, schema)
            )
        yield AppInfo(f"dojo-{name}", display_name=name, functions=tuple(functions))


def _bfcl_apis() -> Iterable[AppInfo]:
    for api in APIS:
        documents = packages.bfcl_documents(api)
        functions = tuple(
            FunctionInfo(
                api.lower(), d["name"], d["description"], "read", _bfcl_schema(d["parameters"])
            )
            for d in documents
        )
        about = documents[0]["description"].split("Tool description")[0]
        yield AppInfo(api.lower(), display_name=api, description=about, functions=functions)


def _bfcl_schema(node: Any) -> Any:
    """BFCL's schema with JSON Schema's names of types."""
    if isinstance(node, list):
        return [_bfcl_schema(n) for n in node]
    if not isinstance(node, Mapping):
        return node
    return {
        k: _BFCL_TYPES.get(v, v) if k == "type" and isinstance(v, str) else _bfcl_schema(v)
        for k, v in node.items()
    }


@functools.cache
def _service(service_id: str) -> AppInfo:
    """An AWS service as an app."""
    folder = Path(botocore.__file__).parent / "data" / service_id
    file = max(p for p in folder.iterdir() if p.is_dir()) / "service-2.json"
    packed = file.with_suffix(".json.gz")
    model = json.loads(
        gzip.decompress(packed.read_bytes()) if packed.exists() else file.read_bytes()
    )
    functions = []
    for operation, described in sorted(model["operations"].items()):
        name = _snake(operation)
        schema = _schema(model["shapes"], described.get("input", {}).get("shape", ""), DEPTH)
        about = _plain(described.get("documentation", "")) or name.replace("_", " ")
        kind = "read" if READS.match(name) else "write"
        functions.append(FunctionInfo(service_id, name, about, kind, schema))
    return AppInfo(
        service_id,
        display_name=str(model["metadata"]["serviceFullName"]),
        description=_plain(model.get("documentation", "")),
        functions=tuple(functions),
    )


def _schema(shapes: Mapping[str, Any], name: str, depth: int) -> dict[str, Any]:
    """A shape as a JSON schema."""
    shape = shapes.get(name, {"type": "structure"})
    match shape["type"]:
        case "structure" if depth:
            members = {
                key: _documented(_schema(shapes, member["shape"], depth - 1), member)
                for key, member in shape.get("members", {}).items()
            }
            required = shape.get("required", [])
            found = {"type": "object", "properties": members}
            return {**found, "required": required} if required else found
        case "structure" | "map":
            return {"type": "object"}
        case "list":
            items = _schema(shapes, shape["member"]["shape"], max(0, depth - 1))
            return {"type": "array", "items": items}
        case kind:
            found = {"type": _AWS_TYPES.get(kind, "string")}
            return {**found, "enum": shape["enum"]} if "enum" in shape else found


def _documented(schema: dict[str, Any], member: Mapping[str, Any]) -> dict[str, Any]:
    text = _plain(member.get("documentation", ""))
    return {**schema, "description": text} if text else schema


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()[:64]


def _plain(text: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())
