"""MCP clients that exist: both TypeScript SDKs, the Python SDK."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from local.world import World
from tests.clients.running import node

HERE = Path(__file__).parent


def test_both_typescript_clients_use_the_tools(world: World, npm: Path) -> None:
    ran = node(npm, str(HERE / "mcp_client.mjs"), str(npm), f"{world.url}/v1/mcp", "bob")
    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout)
    for era in ("unable", "handshake", "stateless"):
        found = told[era]
        assert {"tasks__add", "tasks__delete", "mail__send"} <= set(found["tools"])
        assert found["added"]["structuredContent"]["title"] == found["title"]
        assert found["wrong"]["isError"]
    assert told["unable"]["deleted"]["isError"], "it cannot ask: its user confirms elsewhere"
    assert told["unable"]["title"] in str(told["unable"]["left"])
    for era in ("handshake", "stateless"):
        [question] = told["asked"][era]
        assert told[era]["title"] in question
        assert not told[era]["deleted"]["isError"]
        assert told[era]["title"] not in str(told[era]["left"])


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_python_client_uses_the_tools(world: World, mode: str) -> None:
    pytest.importorskip("mcp", reason="the package mcp is not in this environment")
    asyncio.run(_python_client(world.url, mode))


async def _python_client(url: str, mode: Any) -> None:
    import httpx2
    import mcp_types
    from mcp.client.client import Client
    from mcp.client.streamable_http import streamable_http_client

    asked: list[str] = []

    async def elicit(context: Any, params: Any) -> mcp_types.ElicitResult:
        asked.append(params.message)
        return mcp_types.ElicitResult(action="accept", content={})

    headers = {"authorization": "Bearer dev"}
    title = f"milk {mode}"
    mail = {"to": f"{mode}@example.com", "subject": "a", "body": "b"}  # nobody accepted it so far
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        transport = streamable_http_client(f"{url}/v1/mcp", http_client=http)
        async with Client(transport, mode=mode, elicitation_callback=elicit) as client:
            assert client.protocol_version == {"auto": "2026-07-28"}.get(mode, "2025-11-25")
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert tools["tasks__delete"].annotations.destructive_hint is True
            added = await client.call_tool("tasks__add", {"title": title})
            assert added.structured_content["title"] == title
            deleted = await client.call_tool("tasks__delete", {"title": title})
            assert not deleted.is_error
            for _ in ("asked about", "asked about again: a yes is one to this call"):
                sent = await client.call_tool("mail__send", mail)
                assert sent.structured_content["error_code"] == "NO_ACCOUNTS", "it has run"
            resources = (await client.list_resources()).resources
            for resource in resources:
                read = await client.read_resource(resource.uri)
                assert "_refreshed_at" in json.loads(read.contents[0].text)
    assert len(asked) == 3
    assert title in asked[0]
    assert mail["to"] in asked[1] and mail["to"] in asked[2]
