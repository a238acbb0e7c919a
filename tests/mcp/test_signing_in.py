"""A server behind a provider of its own: what an operator does once, and each user after."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import httpx

from local.mcp_servers import as_json
from local.world import local_world
from tests.functions.test_exactly_once import at_once
from tests.mcp.conftest import Told
from tests.processes import free_port
from tests.stand_ins.sign_in import Guard, guarded
from webbee_kernel.mcp.connections import McpServer, servers_of

ROOT = Path(__file__).parents[2]


def added(guard: Guard, here: Path, api: str) -> McpServer:
    """The server, after an operator has added it as the docs say; his browser follows links."""
    (here / "extensions").mkdir()
    command = [sys.executable, "-m", "local.webbee", "mcp", "add", "sums", "--server", guard.url]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'layers/webbee_kernel'}:{ROOT}"}
    with subprocess.Popen(
        [*command, "--oauth", "--public-url", api, "--yes"],
        cwd=here,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stdout
        address = next(x.strip() for x in running.stdout if "/authorize" in x)
        with urlopen(address, timeout=30) as page:
            assert "Signed in" in page.read().decode()
        rest = running.stdout.read()
    assert running.returncode == 0, rest
    [(name, table)] = tomllib.loads((here / "webbee.toml").read_text("utf-8"))["mcp"].items()
    [server] = servers_of([{**table, "id": name}])
    return server


def test_an_operator_adds_it_and_a_user_connects_an_account(told: Told, tmp_path: Path) -> None:
    with guarded(told.url) as guard:
        port = free_port()  # the address that users come back to is registered first
        server = added(guard, tmp_path, f"http://127.0.0.1:{port}")
        assert server.scopes == ("sums",)
        env = {"WEBBEE_MCP_SERVERS": as_json([server]), "WEBBEE_HTTP_ALLOW_PRIVATE": "true"}
        with local_world(port=port, extensions_dir=tmp_path / "extensions", env=env) as world:
            bob = httpx.Client(base_url=world.url, headers={"authorization": "Bearer bob"})

            def call(name: str, **params: Any) -> dict[str, Any]:
                body = {"function": name, "params": params}
                answer = bob.post("/v1/extensions/sums/call", json=body, timeout=60)
                told: dict[str, Any] = answer.json()
                return told

            nobody = call("add", a=1, b=1)["error"]
            assert nobody["code"] == "PERMISSION_DENIED" and "connect" in nobody["message"]
            for lifetime in (1, 3600):  # the second sign-in takes the place of the first
                guard.lifetime = lifetime
                asked = call("connect")["data"]["url"]
                page = httpx.get(asked, follow_redirects=True, timeout=60)
                assert "Sums" in page.text or "sums" in page.text
                form = dict(re.findall(r'name="(\w+)" value="([^"]*)"', page.text))
                assert httpx.post(page.url, data=form, timeout=60).status_code == 200
                guard.lifetime = 3600
                # what is over is renewed by one of them, for all
                sums = at_once(*[lambda: call("add", a=1, b=1)] * 4)
                assert [answer.get("data") for answer in sums] == [{"sum": 2}] * 4
                assert call("add", a=1, b=1)["data"] == {"sum": 2}
            bob.close()
        assert len(guard.seen) == 3, "the operator's, a renewed one, the second sign-in's"
        assert len(guard.codes) == 0
        kept = json.dumps(server.model_dump(mode="json"))
        assert not any(token in kept for token in guard.tokens)
