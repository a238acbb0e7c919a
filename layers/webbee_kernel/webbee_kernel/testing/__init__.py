"""Test doubles for us and for extension authors: no AWS, no network, a clock that you move.

    harness = ExtensionHarness("extensions/tasks", language="en", now="2026-05-15T17:21:04Z")
    result = harness.call("add", title="Buy milk")           # the kernel's own dispatch
    assert harness.skeleton("tasks")["open_count"] == 1

    kernel = TestKernel(["extensions/tasks"], script=[...])  # whole turns of a scripted model
    reply = kernel.chat("add a task: buy milk")

May import: everything. Entrance: this module has it all.
"""

from __future__ import annotations

from ..llm.protocol import ModelResponse
from .harness import ExtensionHarness, WebhookAnswer
from .in_memory import NOW, USER, HttpCall, RecordingQueue, TestKernel, registry_of

__all__ = [
    "NOW",
    "USER",
    "ExtensionHarness",
    "HttpCall",
    "ModelResponse",
    "RecordingQueue",
    "TestKernel",
    "WebhookAnswer",
    "registry_of",
]
