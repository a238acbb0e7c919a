"""Resources of an MCP client: what apps offer to be read and, for developers, the sections of the
skeleton."""

from __future__ import annotations

import asyncio
from typing import Final

from ...bootstrap import App
from ...mcp.server import messages, resources
from ...mcp.server.messages import Message, Refused
from ...mcp.server.streams import Stream
from ...sdk.user import User
from ...stores.types import Section
from ...turn.direct import SESSION
from ...turn.kernel import Kernel
from ...types import CallOutcome, CallRequest, JSONObject, UserKey, user_dict
from ..http import Request
from ..identity import has_role
from .calls import Calls, no_tool

LISTING_S: Final = 10.0
"""Seconds in which an app lists its resources; one that takes longer is left out."""


class Resources:
    """Lists and reads them."""

    def __init__(self, app: App, kernel: Kernel, calls: Calls) -> None:
        self._app = app
        self._kernel = kernel
        self._calls = calls

    async def listed(self, request: Request, message: Message) -> JSONObject:
        """`resources/list`."""
        sections, of_apps = await asyncio.gather(
            self._sections(request.caller), self._of_apps(request.caller)
        )
        listed = [resources.of_section(s) for s in sections]
        listed += [row for rows, _ in of_apps for row in rows]
        return {"resources": listed, **messages.cached(message, 0)}

    async def templates(self, request: Request, message: Message) -> JSONObject:
        """`resources/templates/list`."""
        of_apps = await self._of_apps(request.caller)
        listed = [row for _, rows in of_apps for row in rows]
        return {"resourceTemplates": listed, **messages.cached(message, 0)}

    async def read(self, request: Request, message: Message) -> JSONObject | Stream:
        """`resources/read`."""
        uri = messages.text(message, "uri")
        if found := resources.read_from(uri):
            return await self._read_of_app(request, message, uri, *found)
        held = resources.section_of(await self._sections(request.caller), uri)
        if held is None:
            raise _missing(message, uri)
        return {"contents": [held], **messages.cached(message, 0)}

    async def _read_of_app(
        self, request: Request, message: Message, uri: str, app_id: str, own: str
    ) -> JSONObject | Stream:
        catalogue = await self._kernel.dispatch.catalogue()
        function = catalogue.function(app_id, resources.READ)
        if function is None:
            raise _missing(message, uri)

        def told(outcome: CallOutcome) -> JSONObject:
            if not outcome.ok and outcome.retryable:
                raise message.refused(messages.INTERNAL, outcome.error)
            held = resources.contents(outcome, uri) if outcome.ok else []
            if not held:
                raise _missing(message, uri)
            return {"contents": held, **messages.cached(message, 0)}

        result = await self._calls.run(request, message, function, {"uri": own}, told)
        return no_tool(message, result)

    async def _of_apps(self, caller: User) -> list[tuple[list[JSONObject], list[JSONObject]]]:
        """What the caller's apps list to be read; those that do not answer are left out."""
        catalogue = await self._kernel.dispatch.catalogue()
        state = await self._app.stores.skeleton.read(UserKey.of(caller))
        mine = catalogue.functions(self._kernel.installed(catalogue, state))
        ids = [f.app_id for f in mine if f.fn_name == resources.LIST and f.action_type == "read"]
        calls = [
            CallRequest(
                "function",
                user_dict(caller),
                app_id,
                resources.LIST,
                session_id=SESSION,
                deadline_s=LISTING_S,
            )
            for app_id in ids
        ]
        ended = await asyncio.gather(*map(self._kernel.dispatch.call, calls))
        return [resources.of_app(app_id, o) for app_id, o in zip(ids, ended, strict=True)]

    async def _sections(self, caller: User) -> list[Section]:
        """The sections of the caller's apps that have been filled; none but for developers."""
        if not has_role(caller, "developer"):
            return []
        state = await self._app.stores.skeleton.read(UserKey.of(caller))
        mine = self._kernel.installed(await self._kernel.dispatch.catalogue(), state)
        return [s for s in state.sections if s.app_id in mine and s.data is not None]


def _missing(message: Message, uri: str) -> Refused:
    number = messages.INVALID_PARAMS if message.stateless else messages.RESOURCE_NOT_FOUND
    return message.refused(number, "there is no such resource", {"uri": uri[:512]})
