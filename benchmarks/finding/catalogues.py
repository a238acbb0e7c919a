"""Foreign functions as apps: operations of AWS services as botocore documents them, AgentDojo's
tools, BFCL's simulated APIs and its single functions.

Nothing is shortened: an operation's documentation is its description, however long, and its
parameters carry theirs. Only structures are followed no deeper than four levels, as generators of
tools from API descriptions do.
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

from benchmarks.foreign import packages
from webbee_kernel.catalogue import AppInfo, Catalogue, FunctionInfo

SERVICES = """account backup budgets ce chime-sdk-meetings codecommit comprehend connectcases
    customer-profiles devicefarm freetier gamelift geo-places geo-routes groundstation invoicing ivs
    mturk organizations polly rekognition route53domains savingsplans scheduler sesv2 sns
    ssm-contacts ssm-incidents supplychain support taxsettings textract transcribe translate
    voice-id wickr workdocs workmail""".split()
"""Of botocore's services those whose subject a person may speak of: mail, documents, meetings,
costs, invoices, customers, incidents, shops, games, satellites."""

SINGLES = """simple_python multiple live_simple live_multiple live_parallel live_parallel_multiple
    parallel parallel_multiple""".split()
"""BFCL's sets of single questions; `live` ones were asked by users of a public page."""

DEPTH = 4
_JSON_TYPES = {
    "string": "string",
    "integer": "integer",
    "long": "integer",
    "float": "number",
    "double": "number",
    "boolean": "boolean",
    "timestamp": "string",
    "blob": "string",
}
_BFCL_TYPES = {"dict": "object", "float": "number", "tuple": "array", "any": "string"}
_READS = re.compile(r"(?:get|list|describe|search|lookup|detect|query|check|view|find|count)_")


@functools.cache
def large() -> Catalogue:
    """Some 1,900 functions of 50 apps: AWS services, AgentDojo's suites, BFCL's APIs."""
    apps = [*map(_service, SERVICES), *_dojo(), *_bfcl_apis()]
    return Catalogue({app.app_id: app for app in sorted(apps, key=lambda a: a.app_id)})


@functools.cache
def simulated() -> Catalogue:
    """BFCL's 128 functions of its multi-turn conversations."""
    return Catalogue({app.app_id: app for app in _bfcl_apis()})


@functools.cache
def singles() -> tuple[Catalogue, tuple[tuple[str, tuple[str, ...]], ...]]:
    """BFCL's single functions as one catalogue, and its questions with the functions that its
    answers call. Functions of one name and different descriptions count as one: the first."""
    found: dict[str, Mapping[str, Any]] = {}
    asked: list[tuple[str, tuple[str, ...]]] = []
    for name in SINGLES:
        rows = packages.bfcl_lines(f"BFCL_v4_{name}.json")
        answers = {
            a["id"]: a["ground_truth"]
            for a in packages.bfcl_lines(f"possible_answer/BFCL_v4_{name}.json")
        }
        for row in rows:
            for document in row["function"]:
                found.setdefault(document["name"], document)
            said = " ".join(m["content"] for m in row["question"][0] if m["role"] == "user")
            called = tuple(dict.fromkeys(f for call in answers[row["id"]] for f in call))
            asked.append((said, called))
    by_app: dict[str, list[FunctionInfo]] = {}
    for document in found.values():
        app_id = _app_of(document["name"])
        by_app.setdefault(app_id, []).append(_from_bfcl(app_id, document))
    apps = {a: AppInfo(a, display_name=a, functions=tuple(f)) for a, f in sorted(by_app.items())}
    return Catalogue(apps), tuple(asked)


def single_id(name: str) -> str:
    """The id of a single function of BFCL: `app.function`."""
    return f"{_app_of(name)}.{_name(name)}"


def _app_of(name: str) -> str:
    """The part before the dot; functions without one are apps of their own first word."""
    return re.sub(r"[^a-z0-9]", "-", re.split(r"[._]", name.lower(), maxsplit=1)[0]).strip("-")


def _name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)


def _service(service: str) -> AppInfo:
    model = _model(service)
    name = str(model["metadata"]["serviceFullName"])
    shapes = model["shapes"]
    functions = []
    for operation, described in sorted(model["operations"].items()):
        fn_name = _snake(operation)
        schema = _schema(shapes, described.get("input", {}).get("shape", ""), DEPTH)
        functions.append(
            FunctionInfo(
                service,
                fn_name,
                _plain(described.get("documentation", "")) or fn_name.replace("_", " "),
                "read" if _READS.match(fn_name) else "write",
                schema or {"type": "object", "properties": {}},
            )
        )
    about = _plain(model.get("documentation", ""))
    return AppInfo(service, display_name=name, description=about, functions=tuple(functions))


def _model(service: str) -> dict[str, Any]:
    folder = Path(botocore.__file__).parent / "data" / service
    version = max(p for p in folder.iterdir() if p.is_dir())
    packed = version / "service-2.json.gz"
    text = gzip.decompress(packed.read_bytes()) if packed.exists() else b""
    loaded: dict[str, Any] = json.loads(text or (version / "service-2.json").read_bytes())
    return loaded


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()[:64]


def _plain(text: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())


def _schema(shapes: Mapping[str, Any], name: str, depth: int) -> dict[str, Any]:
    """A shape as a JSON schema."""
    shape = shapes.get(name, {"type": "structure"})
    kind = shape["type"]
    if kind == "structure":
        if not depth:
            return {"type": "object"}
        members = {
            key: _documented(_schema(shapes, member["shape"], depth - 1), member)
            for key, member in shape.get("members", {}).items()
        }
        required = shape.get("required", [])
        found = {"type": "object", "properties": members}
        return {**found, "required": required} if required else found
    if kind == "list":
        return {
            "type": "array",
            "items": _schema(shapes, shape["member"]["shape"], max(0, depth - 1)),
        }
    if kind == "map":
        return {"type": "object"}
    found = {"type": _JSON_TYPES.get(kind, "string")}
    return {**found, "enum": shape["enum"]} if "enum" in shape else found


def _documented(schema: dict[str, Any], member: Mapping[str, Any]) -> dict[str, Any]:
    text = _plain(member.get("documentation", ""))
    return {**schema, "description": text} if text else schema


def _dojo() -> Iterable[AppInfo]:
    for name, suite in packages.dojo().items():
        functions = []
        for tool in suite.tools:
            schema = tool.parameters.model_json_schema()
            kind = "read" if _READS.match(f"{tool.name}_") else "write"
            functions.append(
                FunctionInfo(f"dojo-{name}", tool.name, tool.description, kind, schema)
            )
        yield AppInfo(f"dojo-{name}", display_name=name, functions=tuple(functions))


def _bfcl_apis() -> Iterable[AppInfo]:
    for api in (
        "GorillaFileSystem MathAPI MessageAPI TwitterAPI TicketAPI TradingBot TravelAPI"
        " VehicleControlAPI"
    ).split():
        documents = packages.bfcl_documents(api)
        functions = tuple(_from_bfcl(api.lower(), d) for d in documents)
        about = documents[0]["description"].split("Tool description")[0]
        yield AppInfo(api.lower(), display_name=api, description=about, functions=functions)


def _from_bfcl(app_id: str, document: Mapping[str, Any]) -> FunctionInfo:
    return FunctionInfo(
        app_id,
        _name(document["name"]),
        document["description"],
        "read",
        _typed(document["parameters"]),
    )


def _typed(node: Any) -> Any:
    """BFCL's schema with JSON Schema's names of types."""
    if isinstance(node, list):
        return [_typed(n) for n in node]
    if not isinstance(node, Mapping):
        return node
    return {
        k: _BFCL_TYPES.get(v, v) if k == "type" and isinstance(v, str) else _typed(v)
        for k, v in node.items()
    }
