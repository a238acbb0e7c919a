"""Every node that the SDK's `ui` module can make, enumerated from the SDK, not from memory:
`tests/page/test_gallery.py` draws each in a browser."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from imperal_sdk import ui

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


NODES = {
    name: node["type"]
    for name, f in constructors().items()
    if name not in PARTS and "type" in (node := made(f))
}


def test_the_enumeration_finds_the_sdks_vocabulary() -> None:
    assert len(NODES) > 50
    found = {"Stack", "DataTable", "Form", "RichEditor", "TrayResponse", "Graph"}
    assert found <= set(NODES.values())


@pytest.mark.parametrize("name", sorted(set(constructors()) - set(NODES) - PARTS))
def test_an_action_says_what_it_does(name: str) -> None:
    assert made(constructors()[name])["action"] in ACTIONS
