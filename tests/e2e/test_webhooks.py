"""A webhook over real HTTP: no token, no user, the bytes as they came."""

from __future__ import annotations

import json
import socket
import threading
import urllib.request

import uvicorn

from local.gateway import Gateway
from local.stack import local_stack
from tests.functions.support import EXTENSIONS


def test_a_webhook_needs_no_token_and_has_no_user() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        local_stack(extensions_dir=EXTENSIONS) as stack,
    ):
        server = uvicorn.Server(uvicorn.Config(Gateway(stack), log_level="warning", lifespan="off"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1/ext/probe/webhook/echo?a=1&b=%D0%B6"
            for headers in ({}, {"authorization": "Bearer alice"}):
                request = urllib.request.Request(url, data="привет".encode(), headers=headers)
                with urllib.request.urlopen(request, timeout=30) as answer:
                    assert json.load(answer) == {
                        "body": "привет",
                        "query": {"a": "1", "b": "ж"},
                        "user": "__webhook__",
                    }
        finally:
            server.should_exit = True
            thread.join(timeout=10)
