"""Foreign functions as apps: operations of AWS services as botocore documents them, AgentDojo's
tools, BFCL's simulated APIs and its single functions.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from typing import Any

from benchmarks.foreign import packages
from webbee_kernel.catalogue import AppInfo, Catalogue, FunctionInfo

from .services import READS, service

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

_BFCL_TYPES = {"dict": "object", "float": "number", "tuple": "array", "any": "string"}


@functools.cache
def large() -> Catalogue:
    """Some 1,900 functions of 50 apps: AWS services, AgentDojo's suites, BFCL's APIs."""
    apps = [*map(service, SERVICES), *_dojo(), *_bfcl_apis()]
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
