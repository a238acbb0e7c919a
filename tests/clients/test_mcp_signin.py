"""A client of the Model Context Protocol that has no token finds out where its user signs in, from
the 401 alone, and what the gateway refuses is refused: through the local API, whose gateway verifies
tokens as API Gateway's authoriser does, and the official Python client."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from local.gateway import TOKENS
from local.mcp_signin import sign_in
from local.world import World, local_world
from tests.stand_ins.sign_in import Guard, guarded

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@dataclass(frozen=True)
class Deployed:
    """A deployment whose users sign in with that provider."""

    world: World
    issuer: Guard

    def ping(self, token: str, **more: Any) -> httpx.Response:
        headers = {"authorization": f"Bearer {token}"} if token else {}
        return httpx.post(
            f"{self.world.url}/v1/mcp", json=PING, headers=headers, timeout=60, **more
        )


@pytest.fixture(scope="module")
def deployed() -> Iterator[Deployed]:
    with guarded("http://127.0.0.1:1/mcp") as issuer:
        tokens = {issuer.minted(0): TOKENS["bob"], issuer.minted(7): TOKENS["alice"]}
        with local_world(env={"WEBBEE_ISSUER": issuer.address}, tokens=tokens) as world:
            issuer.url = f"{world.url}/v1/mcp"
            yield Deployed(world, issuer)


def test_an_official_client_finds_the_issuer_from_the_401_and_signs_in(deployed: Deployed) -> None:
    async def browse(address: str) -> None:
        assert address.startswith(f"{deployed.issuer.address}/authorize")
        async with httpx.AsyncClient(follow_redirects=True, timeout=60) as browser:
            assert (await browser.get(address)).status_code == 200

    found = asyncio.run(sign_in(f"{deployed.world.url}/v1/mcp", [], browse))
    assert found.provider.resource == f"{deployed.world.url}/v1/mcp"
    assert deployed.ping(found.token).json()["result"] == {}


def test_a_token_is_whose_the_gateway_says(deployed: Deployed) -> None:
    me = httpx.get(
        f"{deployed.world.url}/v1/me",
        headers={"authorization": f"Bearer {deployed.issuer.minted(7)}"},
        timeout=60,
    )
    assert me.json()["imperal_id"] == "alice"
    listed = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    call = {**listed, "params": {"name": "tasks__add", "arguments": {"title": "alice's own"}}}
    for number, own in ((7, True), (0, False)):
        headers = {"authorization": f"Bearer {deployed.issuer.minted(number)}"}
        url = f"{deployed.world.url}/v1/mcp"
        if own:
            httpx.post(url, json=call, headers=headers, timeout=60)
        shown = {**listed, "params": {"name": "tasks__list_tasks", "arguments": {}}}
        answer = httpx.post(url, json=shown, headers=headers, timeout=60)
        assert ("alice's own" in answer.text) is own


@pytest.mark.parametrize("token", ["", "bob", "a.b.c", "e30.e30.e30", "unsigned"])
def test_what_the_gateway_refuses_is_refused_with_the_way_to_sign_in(
    deployed: Deployed, token: str
) -> None:
    forged = deployed.issuer.minted(3) if token == "unsigned" else token
    answer = deployed.ping(forged)
    there = f"{deployed.world.url}/.well-known/oauth-protected-resource/v1/mcp"
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == f'Bearer resource_metadata="{there}"'
    assert httpx.get(there, timeout=60).json()["authorization_servers"] == [deployed.issuer.address]
    assert "imperal_id" not in json.dumps(answer.json())


def test_unknown_query_parameters_and_other_schemes_are_refused(deployed: Deployed) -> None:
    assert deployed.ping(deployed.issuer.minted(0), params={"user": "alice"}).status_code == 400
    headers = {"authorization": f"Basic {deployed.issuer.minted(0)}"}
    answer = httpx.post(f"{deployed.world.url}/v1/mcp", json=PING, headers=headers, timeout=60)
    assert answer.status_code == 401
