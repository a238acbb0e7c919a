"""Operations of AWS services as functions, as botocore documents them.

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
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import botocore

from webbee_kernel.catalogue import AppInfo, FunctionInfo

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
READS = re.compile(r"(?:get|list|describe|search|lookup|detect|query|check|view|find|count)_")


@functools.cache
def service(service_id: str) -> AppInfo:
    """One service as an app."""
    model = _model(service_id)
    name = str(model["metadata"]["serviceFullName"])
    shapes = model["shapes"]
    functions = []
    for operation, described in sorted(model["operations"].items()):
        fn_name = _snake(operation)
        schema = _schema(shapes, described.get("input", {}).get("shape", ""), DEPTH)
        functions.append(
            FunctionInfo(
                service_id,
                fn_name,
                _plain(described.get("documentation", "")) or fn_name.replace("_", " "),
                "read" if READS.match(fn_name) else "write",
                schema or {"type": "object", "properties": {}},
            )
        )
    about = _plain(model.get("documentation", ""))
    return AppInfo(service_id, display_name=name, description=about, functions=tuple(functions))


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
