"""`tool_dispatch`: runs calls for the other two functions. And, as a program, the child process of
`process_pool` that does the same for one tenant.

The child's standard input is a socket, moved elsewhere before extension code is loaded: the child
writes a byte to it once the extensions are loaded, and receives the sockets of calls from it.
"""

from __future__ import annotations

import asyncio
import faulthandler
import json
import os
import socket
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from .. import background
from ..aws.clients import use_credentials
from ..bootstrap import App, bootstrap, make_extension_model, make_host
from ..clock import Clock
from ..config import Settings
from ..errors import DispatchRefused, KernelError
from ..extensions.registry import use_configuration
from ..observability import count_request, measure
from ..types import CallRequest, JSONObject, from_dict, to_dict
from .function import Function
from .process_pool import CLOSED, FINISHES, ProcessEnded, ProcessPool

RUNTIME: Final = ("AWS_LAMBDA_RUNTIME_API", "_HANDLER")
"""Environment variables that a child must not have: it would take Lambda's events."""

BROKEN = ("INTERNAL", "BACKEND_TIMEOUT")
"""Outcomes of code that raised or timed out, as against errors it returned."""


class ToolService:
    """Handles invocations of `tool_dispatch`. A process serves one tenant: that of its first call,
    or the deployment's only one where processes are shared."""

    def __init__(
        self, settings: Settings, clock: Clock | None = None, *, app: App | None = None
    ) -> None:
        """With an `app` given, every tenant is served."""
        self.app = app or bootstrap(settings, clock=clock, llm=make_extension_model(settings))
        self.host = make_host(self.app)
        self._serves_all = app is not None
        self._tenant = settings.tenant_ids[0] if settings.tenancy == "shared" else ""

    async def handle(self, event: Mapping[str, Any]) -> JSONObject:
        """A call, or a request for the catalogue."""
        if event.get("kind") == "catalogue":
            return self.host.catalogue.to_dict()
        if not self._is_of_this_tenant(event):
            refused = DispatchRefused("this process serves another tenant")
            return {"unavailable": refused.body()["error"]}
        with (
            use_credentials(event.get("credentials")),
            use_configuration(event.get("configuration")),
        ):
            return await self._answer(event)

    def _is_of_this_tenant(self, event: Mapping[str, Any]) -> bool:
        """Whether this process serves the call's tenant; the first call decides."""
        tenant_id = str((event.get("user") or {}).get("tenant_id", ""))
        self._tenant = self._tenant or tenant_id
        return self._serves_all or tenant_id == self._tenant

    async def _answer(self, event: Mapping[str, Any]) -> JSONObject:
        """The call's outcome, or that the database cannot be reached."""
        try:
            outcome = await self.host.execute(from_dict(CallRequest, event))
        except KernelError as error:
            count_request(failed=True)
            return {"unavailable": error.body()["error"]}
        measure("Calls")
        measure("CallFailures", outcome.error_code in BROKEN)
        count_request(failed=False)
        return to_dict(outcome)


class ProcessService:
    """Runs each tenant's calls in a child process; this one imports no extension. For regions
    without Lambda's tenant isolation mode."""

    def __init__(self, settings: Settings, clock: Clock | None = None) -> None:
        environment = {k: v for k, v in os.environ.items() if k not in RUNTIME}
        # the child imports from where this process does
        environment["PYTHONPATH"] = os.pathsep.join(sys.path)
        self._processes = ProcessPool(environment, alone=True)
        # during init: the extensions are loaded, or nearly, at the first call
        self._processes.start()

    async def handle(self, event: Mapping[str, Any]) -> JSONObject:
        """The answer of the tenant's process; where it ends, ProcessEnded under Lambda's name."""
        try:
            return dict(await asyncio.to_thread(self._processes.invoke, event))
        except ProcessEnded as error:
            # the runtime tells the caller an error by the name of its class
            raise type(error.kind, (ProcessEnded,), {})(error.kind, error.message) from None


def tool_service(settings: Settings, clock: Clock) -> ToolService | ProcessService:
    """The service for the deployment's tenancy setting."""
    if settings.tenancy == "process":
        return ProcessService(settings, clock)
    return ToolService(settings, clock)


def main() -> None:
    """Handle calls until the parent closes the socket."""
    calls = socket.socket(fileno=os.dup(0))
    # moved: no code finds it by its number, no child process inherits it
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    faulthandler.enable(all_threads=False)
    # removed: extension code need not see it
    finishes = bool(os.environ.pop(FINISHES, ""))
    function = Function("tool_dispatch", ToolService, alone=True)
    function.service()
    calls.sendall(b"\n")
    try:
        while ends := socket.recv_fds(calls, 1, 1)[1]:
            os.set_inheritable(ends[0], False)
            call = socket.socket(fileno=ends[0])
            threading.Thread(target=_answer, args=(call, function, finishes), daemon=True).start()
    except OSError:  # an extension closed the sockets
        os._exit(CLOSED)
    os._exit(0)  # without waiting for what an extension left running


def _answer(call: socket.socket, function: Function, finishes: bool) -> None:
    """Handle the event of a connection."""
    # suppressed: the caller may have given up
    with call, call.makefile("rb") as lines, suppress(ConnectionError):
        event = lines.readline()
        call.sendall(b"\n")  # tells that it begins: before that it may be given to another process
        try:
            said = {"answer": function(json.loads(event))}
        except Exception as error:
            said = {"error": {"kind": type(error).__name__, "message": str(error)}}
        if finishes:
            background.wait()
        call.sendall(json.dumps(said).encode() + b"\n")


if __name__ == "__main__":
    main()
