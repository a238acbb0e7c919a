"""Approvals: what an operator has seen and approved of each server, in one file beside the
extensions. It is also the catalogue: a process starts with it and asks no server.

    {"servers": {"time": {"where": "https://…", "protocol": "2025-11-25",
                          "approved_at": "2026-05-15T17:21:04Z", "tools": [<as tools/list>]}}}
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from pydantic import TypeAdapter

from ..types import JSONObject
from .connections import McpServer

FILE: Final = "mcp.approved.json"
COMPARED: Final = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
"""Fields of a tool that are compared: all that models and guards use; no icons."""


@dataclass(frozen=True, slots=True)
class Approval:
    """The approved tools of one server; `left_out` has digests by name of those not approved."""

    where: str
    tools: tuple[JSONObject, ...] = ()
    protocol: str = ""
    approved_at: str = ""
    left_out: Mapping[str, str] = field(default_factory=dict)

    @property
    def digests(self) -> dict[str, str]:
        """Each tool's name and digest."""
        return digests(self.tools)

    def drift(self, offered: Mapping[str, str]) -> Drift:
        """How a listing differs from the approval; unchanged left-out tools are not new."""
        approved = self.digests
        # a left-out tool that has changed since is new again
        left_out = {n for n, d in self.left_out.items() if offered.get(n) == d}
        return Drift(
            changed=tuple(
                sorted(n for n in approved.keys() & offered.keys() if approved[n] != offered[n])
            ),
            gone=tuple(sorted(approved.keys() - offered.keys())),
            new=tuple(sorted(offered.keys() - approved.keys() - left_out)),
        )


@dataclass(frozen=True, slots=True)
class Drift:
    """How what a server offers now differs from what was approved: names of tools."""

    changed: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    new: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.changed or self.gone or self.new)

    def __str__(self) -> str:
        kinds = (("changed", self.changed), ("gone", self.gone), ("new", self.new))
        return "; ".join(f"{word}: {', '.join(names)}" for word, names in kinds if names)


def compared(tool: Mapping[str, object]) -> JSONObject:
    """The compared fields of a tool's definition."""
    # null and absent mean the same: a server that changes between them has not drifted
    return {key: tool[key] for key in COMPARED if tool.get(key) is not None}


def digests(tools: Iterable[JSONObject]) -> dict[str, str]:
    """Each tool's name and a digest of its compared fields, independent of key order."""
    texts = {str(tool["name"]): json.dumps(compared(tool), sort_keys=True) for tool in tools}
    return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}


def read(folder: str | Path) -> dict[str, Approval]:
    """The approvals beside the extensions, by server; none where there is no file. ValueError for
    a malformed one."""
    path = Path(folder) / FILE
    if not path.exists():
        return {}
    try:
        adapter = TypeAdapter(dict[Literal["servers"], dict[str, Approval]])
        return adapter.validate_json(path.read_bytes())["servers"]
    except (ValueError, KeyError) as error:
        raise ValueError(f"{FILE} is no file of approvals: {type(error).__name__}") from None


def of(server: McpServer, approvals: Mapping[str, Approval]) -> Approval | str:
    """A server's approval, or why it has none."""
    found = approvals.get(server.id)
    if found is None:
        return f"nobody has approved its tools yet: webbee mcp approve {server.id}"
    # another address may be a different server
    if found.where != server.where:
        return f"it was approved at another address: webbee mcp approve {server.id}"
    return found
