"""A client of the Model Context Protocol that has no token finds out where its user signs in, from
the 401 alone, and what the gateway refuses is refused: through the local API, whose gateway verifies
tokens as API Gateway's authoriser does, and the official Python client."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from local.gateway import TOKENS
from local.loopback import Client
from local.mcp_signin import sign_in
from local.world import World, local_world
from tests.stand_ins.sign_in import Guard, guarded

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@dataclass(frozen=True)
class Deployed:
    world: World
    issuer: Guard

    def post(self, token: str, message: Any = PING, scheme: str = "Bearer", **more: Any) -> Any:
        headers = {"authorization": f"{scheme} {token}"} if token else {}
        url = f"{self.world.url}/v1/mcp"
        return httpx.post(url, json=message, headers=headers, timeout=60, **more)


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
    assert deployed.post(found.token).json()["result"] == {}


def test_a_token_is_whose_the_gateway_says(deployed: Deployed) -> None:
    alices, bobs = (deployed.issuer.minted(number) for number in (7, 0))
    assert Client(deployed.world.url, alices).get("/v1/me")["imperal_id"] == "alice"

    def call(token: str, name: str, **arguments: str) -> str:
        told = {"method": "tools/call", "params": {"name": name, "arguments": arguments}}
        return str(deployed.post(token, PING | told).text)

    call(alices, "tasks__add", title="alice's own")
    for token, own in ((alices, True), (bobs, False)):
        assert ("alice's own" in call(token, "tasks__list_tasks")) is own


@pytest.mark.parametrize("token", ["", "bob", "a.b.c", "e30.e30.e30", "unsigned"])
def test_what_the_gateway_refuses_tells_the_way_to_sign_in(deployed: Deployed, token: str) -> None:
    forged = deployed.issuer.minted(3) if token == "unsigned" else token
    answer = deployed.post(forged)
    there = f"{deployed.world.url}/.well-known/oauth-protected-resource/v1/mcp"
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == f'Bearer resource_metadata="{there}"'
    for told in (there, there.removesuffix("/v1/mcp")):
        found = httpx.get(told, timeout=60).json()
        assert found["authorization_servers"] == [deployed.issuer.address]
    assert answer.json()["jsonrpc"] == "2.0"
    assert "imperal_id" not in json.dumps(answer.json())


def test_unknown_query_parameters_and_other_schemes_are_refused(deployed: Deployed) -> None:
    assert deployed.post(deployed.issuer.minted(0), params={"user": "alice"}).status_code == 400
    assert deployed.post(deployed.issuer.minted(0), scheme="Basic").status_code == 401
