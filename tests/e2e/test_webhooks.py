"""A webhook over real HTTP: no token, no user, the bytes as they came."""

from __future__ import annotations

import httpx
import pytest

from local.world import local_world
from tests.functions.support import EXTENSIONS


@pytest.mark.parametrize("headers", [{}, {"authorization": "Bearer alice"}])
def test_a_webhook_needs_no_token_and_has_no_user(headers: dict[str, str]) -> None:
    with local_world(extensions_dir=EXTENSIONS) as world:
        url = f"{world.url}/v1/ext/probe/webhook/echo?a=1&b=%D0%B6"
        told = httpx.post(url, content="привет".encode(), headers=headers, timeout=60).json()
    assert told == {"body": "привет", "query": {"a": "1", "b": "ж"}, "user": "__webhook__"}
