"""A proxy in front of the local API for a suite that knows neither tokens nor apps: it adds a token,
and leaves out the app's id before the names of tools and resources. It changes nothing else."""

import http.client
from collections.abc import Iterator
from contextlib import closing, contextmanager
from urllib.parse import urlsplit

from tests.stand_ins.service import Reply, Request, served

APP = "conformance__"
NAMES = ("test_", "json_schema_2020_12_tool")
RESOURCES = "webbee://app/conformance/"
_OURS = {"connection", "content-length", "transfer-encoding", "authorization"}


@contextmanager
def named(url: str, token: str) -> Iterator[str]:
    """The address under which tools of this app are called by their own names."""
    address = urlsplit(url)
    assert address.hostname and address.port

    def answer(request: Request) -> Reply:
        body = request.body
        for known in NAMES:
            body = body.replace(f'"name":"{known}'.encode(), f'"name":"{APP}{known}'.encode())
        body = body.replace(b'"uri":"test://', f'"uri":"{RESOURCES}test://'.encode())
        headers = {k: v for k, v in request.headers.items() if k not in _OURS}
        named = headers.get("mcp-name", "").strip()
        if named.startswith((*NAMES, "test://")):
            headers["mcp-name"] = (RESOURCES if ":" in named else APP) + named
        headers |= {"authorization": f"Bearer {token}"}
        upstream = http.client.HTTPConnection(str(address.hostname), address.port, timeout=60)
        with closing(upstream):  # also where the client hangs up meanwhile
            upstream.request(request.method, request.path, body, headers)
            found = upstream.getresponse()
            content = found.read().replace(APP.encode(), b"").replace(RESOURCES.encode(), b"")
        told = {k: v for k, v in found.getheaders() if k.lower() not in _OURS}
        return Reply(content, found.status, told)

    with served(answer=answer) as service:
        yield service.url
