"""Every node the SDK's `ui` module can make is drawn by the page: enumerated from the SDK, not from
memory. How: `tests/page/test_gallery.py`."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import pytest
from imperal_sdk import ui

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "layers/webbee_kernel/webbee_kernel/api/page"

NOT_NODES = {
    "theme",
    "AgencyTheme",
    "ColorPair",
    "MODAL_SIZES",
    "MorphingState",
    "Affordance",
    "CognitiveContext",
    "UIAction",
    "UINode",
    "UISignal",
    "Signal",
}
"""Exports that are values, classes, or under another licence than the wheel's."""

PARTS = {"DataColumn", "CanvasNode", "CanvasEdge"}
"""Make plain parts of a node's props."""

WANTED = {"Link": {"label": "x"}}
"""Arguments that are optional by their signature only."""

ACTIONS = {"call", "navigate", "send", "open"}


def constructors() -> dict[str, Any]:
    """The module's public functions by name."""
    return {
        n: getattr(ui, n) for n in ui.__all__ if n not in NOT_NODES and callable(getattr(ui, n))
    }


def made(constructor: Any) -> Any:
    """What it makes of the least it takes, as plain JSON."""
    samples: dict[str, Any] = {
        "children": [],
        "items": [],
        "columns": [],
        "rows": [],
        "nodes": [],
        "edges": [],
        "tabs": [],
        "options": [],
        "data": [],
        "sections": [],
    }
    needed = [
        p
        for p in inspect.signature(constructor).parameters.values()
        if p.default is p.empty and p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
    ]
    for filler in ("x", ui.Text("x"), 1, [], {}):
        try:
            node = constructor(
                **{p.name: samples.get(p.name, filler) for p in needed},
                **WANTED.get(constructor.__name__, {}),
            )
            return node.to_dict() if hasattr(node, "to_dict") else node
        except (TypeError, ValueError, AttributeError):
            continue
    raise AssertionError(
        f"{constructor.__name__} wants something else: {inspect.signature(constructor)}"
    )


def drawn() -> set[str]:
    """The types of the page's tables."""
    tables = {"nodes.js": "NODES", "fields.js": "FIELDS"}
    found: set[str] = set()
    for name, table in tables.items():
        body = re.search(
            rf"{table} = \{{\n(.*?)\n\}};", (PAGE / name).read_text("utf-8"), re.DOTALL
        )
        assert body, f"{name} has no table {table}"
        found |= set(re.findall(r"^  ([A-Z]\w*)[:,(]", body[1], re.MULTILINE)) | set(
            re.findall(r"(?<=, )([A-Z]\w*)(?=,|:)", body[1])
        )
    return found


NODES = {
    name: node["type"]
    for name, f in constructors().items()
    if name not in PARTS and "type" in (node := made(f))
}


def test_the_enumeration_finds_the_sdks_vocabulary() -> None:
    assert len(NODES) > 50
    assert {"Stack", "DataTable", "Form", "RichEditor", "TrayResponse", "Graph"} <= set(
        NODES.values()
    )


@pytest.mark.parametrize("node_type", sorted(set(NODES.values())))
def test_the_page_draws(node_type: str) -> None:
    assert node_type in drawn()


@pytest.mark.parametrize("name", sorted(set(constructors()) - set(NODES) - PARTS))
def test_an_action_says_what_it_does(name: str) -> None:
    assert made(constructors()[name])["action"] in ACTIONS
