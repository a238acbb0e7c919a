"""The mind of the stand-in model servers: the kernel's request read back from the wire, answered by
the embedded model."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from local.stack import ROOT
from webbee_kernel.llm.embedded import EmbeddedModel
from webbee_kernel.llm.protocol import ModelRequest, ModelResponse, ModelRole, ToolSpec
from webbee_kernel.llm.tools import HARM, SAID
from webbee_kernel.testing import registry_of
from webbee_kernel.turn.narrate import SYSTEM as NARRATOR
from webbee_kernel.turn.prompt import SYSTEM as CLASSIFIER

_ROLES: dict[str, ModelRole] = {CLASSIFIER: "classifier", NARRATOR: "narrator"}


@dataclass(frozen=True, slots=True)
class WireTool:
    """A function as either protocol describes it."""

    name: str
    description: str
    schema: dict[str, Any]


def think(system: str, prompt: str, tools: Iterable[WireTool]) -> ModelResponse:
    """What the embedded model answers. It sees what stood on the wire and nothing else, so whole
    stories prove the wire."""
    request = ModelRequest(
        role=next((role for start, role in _ROLES.items() if system.startswith(start)), "ai"),
        system=system,
        prompt=prompt,
        tools=tuple(tool_spec(t) for t in tools),
    )
    return asyncio.run(EmbeddedModel().complete(request))


def flat(told: Iterable[str]) -> str:
    """What a conversation's user messages and results say, as the one prompt that the embedded model
    reads."""
    lines: list[str] = []
    for text in told:
        lines += ["[RESULTS]", text] if text.startswith("RESULT: ") else [text]
    return "\n".join(lines)


@cache
def _examples() -> dict[str, tuple[str, ...]]:
    """All examples of the shipped apps, by tool."""
    loaded = registry_of(*(ROOT / "extensions" / app for app in ("mail", "tasks", "notes"))).loaded
    return {
        f"{app_id}__{f.name}": f.examples
        for app_id, one in loaded.items()
        for chat in one.ext.chats
        for f in chat.functions.values()
    }


def tool_spec(tool: WireTool) -> ToolSpec:
    """The function and its effect read back from the description. On the wire stand its first
    examples; where it is one of the shipped apps' the stand-in knows the others, as a language
    model would."""
    text, _, said = tool.description.partition(f" {SAID} ")
    effect = next((action for action, sentence in HARM.items() if text.endswith(sentence)), "read")
    app_id, _, fn_name = tool.name.partition("__")
    return ToolSpec(
        tool.name,
        app_id,
        fn_name,
        text.removesuffix(HARM.get(effect, "")).strip(),
        tool.schema,
        effect,
        _examples().get(tool.name) or tuple(filter(None, said.split("; "))),
    )
