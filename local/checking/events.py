"""Events that are waited for and that nobody emits."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

from webbee_kernel.sdk.definitions import ON_EVENT

from .finding import Finding, Module, argument, decorator, text
from .names import near

KERNEL = "oauth_connected"
"""What the kernel emits for an app."""


def findings(modules: Sequence[Module], app_id: str, folder: Path) -> Iterator[Finding]:
    """Of the app's own events those that nothing emits; of others those whose app is misspelt."""
    emitted = {e for module in modules for e in _emitted(module, app_id)}
    beside = {path.parent.name for path in folder.resolve().parent.glob("*/main.py")}
    for module in modules:
        for node, heard in _heard(module):
            app, _, name = heard.rpartition(".")
            if app in ("", app_id):
                known = {*emitted, f"{app_id}.{KERNEL}"}
                own = f"{app_id}.{name}"
                unknown = {"*", f"{app_id}.*"} & {name, *emitted}
                if not unknown and own not in known:
                    told = f"nothing here emits {own!r}{near(own, known)}"
                    yield module.warning(node, "event", told)
            elif app not in beside and (meant := near(app, beside)):
                told = f"{heard!r}: no extension beside this one is called {app!r}{meant}"
                yield module.warning(node, "event", told)


def _heard(module: Module) -> Iterator[tuple[ast.AST, str]]:
    for node in ast.walk(module.tree):
        if listener := decorator(node, "on_event"):
            yield listener, text(argument(listener, "event_type", 0)) or "*"
        if panel := decorator(node, "panel"):
            refresh = text(argument(panel, "refresh", 4))
            if refresh.startswith(ON_EVENT):
                for name in refresh.removeprefix(ON_EVENT).split(","):
                    yield panel, name.strip()


def _emitted(module: Module, app_id: str) -> Iterator[str]:
    """Types as they are emitted; `*` where one is made while the code runs."""
    for node in ast.walk(module.tree):
        if (call := decorator(node, "function")) and (event := argument(call, "event", 4)):
            said = text(event) or "*"
            yield said if "." in said else f"{app_id}.{said}"
    for call, name in module.calls():
        if name.rpartition(".")[2] in ("emit", "emits"):
            yield text(argument(call, "event_type", 0)) or "*"
