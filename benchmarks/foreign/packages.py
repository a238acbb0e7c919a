"""What is imported of the two foreign packages, and how without what only their own agents need.

`agentdojo` (MIT) imports the clients of five model vendors as soon as its task suites are touched,
through `agentdojo/agent_pipeline/__init__.py`. Its suites, tools, environments and checks need none
of them, so that one `__init__` is not executed: the package's modules stay importable one by one,
`base_pipeline_element` and `errors` are the real ones. `ground_truth_pipeline`, whose imports lead
to a vendor's client too, is answered with a class that refuses to be used: only `TaskSuite.check`,
AgentDojo's test of its own suites, would.

`bfcl_eval` (Apache-2.0) needs no such care: its simulated APIs import `mpmath` and nothing else
that is foreign.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

DOJO_VERSION = "v1.2.2"
"""The newest version of AgentDojo's tasks: 97 of users, 35 of attackers."""

_PIPELINE = "agentdojo.agent_pipeline"


class MissingPackage(Exception):
    """One of the packages is not installed; the message says how it would be."""


def folder(package: str) -> Path:
    """Where an installed package lies. Raises MissingPackage."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise MissingPackage(f"{package} is not installed: `make eval` makes its environment")
    return Path(spec.origin).parent


@functools.cache
def dojo() -> dict[str, Any]:
    """AgentDojo's suites by name, in its own order. Raises MissingPackage."""
    if _PIPELINE not in sys.modules:
        bare = ModuleType(_PIPELINE)
        bare.__path__ = [str(folder("agentdojo") / "agent_pipeline")]
        sys.modules[_PIPELINE] = bare
        refused = ModuleType(f"{_PIPELINE}.ground_truth_pipeline")
        refused.GroundTruthPipeline = _NotHere  # type: ignore[attr-defined]
        sys.modules[refused.__name__] = refused
    suites: dict[str, Any] = importlib.import_module("agentdojo.task_suite.load_suites").get_suites(
        DOJO_VERSION
    )
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


def bfcl_documents(name: str) -> list[dict[str, Any]]:
    """The functions of one API as BFCL describes them to models."""
    config = importlib.import_module("bfcl_eval.constants.executable_backend_config")
    return bfcl_lines(f"multi_turn_func_doc/{config.MULTI_TURN_FUNC_DOC_FILE_MAPPING[name]}")


def bfcl_lines(name: str) -> list[dict[str, Any]]:
    """A data file of BFCL: one JSON object a line. Raises MissingPackage."""
    text = (folder("bfcl_eval") / "data" / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines() if line]


class _NotHere:
    def __init__(self, *_: Any) -> None:
        raise NotImplementedError("AgentDojo's own pipelines are not part of this environment")
