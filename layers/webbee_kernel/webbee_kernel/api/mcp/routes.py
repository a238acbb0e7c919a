"""The Model Context Protocol's routes. What serves them is imported with the first message: a
turn's cold start does not pay for it."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

from ...bootstrap import App
from ...errors import NotAuthenticated
from ...turn.kernel import Kernel
from ...types import JSONObject
from ..http import Answer, Request, Route
from . import wire

if TYPE_CHECKING:
    from .callers import Callers
    from .server import McpServer

PATH: Final = "/v1/mcp"
METADATA: Final = "/.well-known/oauth-protected-resource"
_INTERNAL: Final = -32603


def shaped(status: int, body: JSONObject) -> JSONObject:
    """An error outside of any message, in JSON-RPC's form."""
    error = body["error"]
    told = {"code": _INTERNAL, "message": error["message"], "data": error}
    return {"jsonrpc": "2.0", "id": None, "error": told}


class Mcp:
    """The endpoint, and what tells a client where its user signs in."""

    def __init__(self, app: App, kernel: Kernel) -> None:
        self._app = app
        self._kernel = kernel

    @cached_property
    def _callers(self) -> Callers:
        from .callers import Callers

        return Callers(self._app.settings, self._app.clock)

    @cached_property
    def _server(self) -> McpServer:
        from .server import McpServer

        return McpServer(self._app, self._kernel)

    @Route(
        f"POST {PATH}",
        public=True,
        body=wire.McpBody,
        answer=wire.McpAnswer,
        accepted=type(None),
        errors=shaped,
        failure=wire.McpFailure,
    )
    async def post(self, request: Request) -> Answer:
        """One message of the Model Context Protocol, one answer; 202 for a notification. Without a
        token that counts 401, which says where there are some."""
        try:
            user = await self._callers.of(request)
        except NotAuthenticated as error:
            where = f'Bearer resource_metadata="{self._base(request)}{METADATA}{PATH}"'
            told = shaped(error.status, error.body())
            return Answer(told, error.status, headers={"www-authenticate": where})
        return await self._server.post(replace(request, user=user))

    @Route(f"GET {PATH}", answer=wire.McpAnswer, errors=shaped, failure=wire.McpFailure)
    async def get(self, request: Request) -> Answer:
        """The result of a call that waited for its user, for a client that comes back for it with
        `Last-Event-ID`; else refused with 405: nothing is pushed over this protocol."""
        from ...mcp.server.streams import Waiting

        if waits := Waiting.of(request.headers.get("last-event-id", "")):
            return await self._server.resume(request, waits)
        return _not_allowed("nothing is pushed over this protocol")

    @Route(f"DELETE {PATH}", answer=wire.McpAnswer, errors=shaped, failure=wire.McpFailure)
    async def delete(self, request: Request) -> Answer:
        """Refused with 405: nothing is kept of a session that could be ended."""
        return _not_allowed("nothing is kept of a session")

    @Route(f"GET {METADATA}", public=True, answer=wire.ResourceAnswer)
    @Route(f"GET {METADATA}{PATH}", public=True, answer=wire.ResourceAnswer)
    async def metadata(self, request: Request) -> Answer:
        """Where a client's user signs in (RFC 9728)."""
        settings = self._app.settings
        told: JSONObject = {
            "resource": self._base(request) + PATH,
            "resource_name": "Webbee",
            "bearer_methods_supported": ["header"],
        }
        if settings.issuer:
            told["authorization_servers"] = [settings.issuer]
        return Answer(told)

    def _base(self, request: Request) -> str:
        """The deployment's own address."""
        scheme = request.headers.get("x-forwarded-proto", "http")
        host = request.headers.get("host", "localhost")
        return (self._app.settings.public_url or f"{scheme}://{host}").rstrip("/")


def _not_allowed(why: str) -> Answer:
    told = {"error": {"code": "method_not_allowed", "message": why}}
    return Answer(shaped(405, told), 405, headers={"allow": "GET, POST"})
