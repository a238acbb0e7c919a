"""A server's tools are functions of an app: called, remembered, guarded like any other."""

from __future__ import annotations

from pathlib import Path

from tests.mcp.conftest import Told, approve, calls, kernel, says
from webbee_kernel.values.mcp import McpServer


def test_a_tool_is_called_and_its_structured_result_is_remembered_word_for_word(
    told: Told, tmp_path: Path
) -> None:
    server = McpServer(id="sums", url=told.url)
    approve(tmp_path, server)
    k = kernel(
        tmp_path, server, script=[calls(("sums__add", {"a": 2, "b": 40})), says("The sum is 42.")]
    )
    reply = k.chat("add 2 and 40")
    assert reply.text == "The sum is 42."
    assert told.calls == [{"name": "add", "arguments": {"a": 2, "b": 40}}]
    (digest,) = k.memory().turns[-1].digests
    assert (digest.app_id, digest.fn_name, digest.data_facts_json) == ("sums", "add", '{"sum": 42}')
