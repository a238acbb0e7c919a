"""`tool_dispatch`: runs what the other two functions ask for; nobody else can ask. And the process
in which the extensions run for one tenant: the same, asked over a socket.

That is its standard input, which is taken away before extension code is loaded: on it the process
says with a byte that the extensions are loaded, and gets the connections of calls
(`process_pool`).
"""

from __future__ import annotations

import asyncio
import faulthandler
import json
import os
import socket
import sys
import threading
import time
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
from ..extensions.host import ExtensionHost
from ..extensions.registry import use_configuration
from ..observability import count_request, measure
from ..types import CallRequest, JSONObject, from_dict, to_dict
from .function import Function
from .process_pool import FINISHES, MEMORY_MB, SECONDS, TOO_LARGE, TOO_LONG, ProcessPool

RUNTIME: Final = ("AWS_LAMBDA_RUNTIME_API", "_HANDLER")
"""Variables of the process that Lambda asks, and of no other."""

BROKEN = ("INTERNAL", "BACKEND_TIMEOUT")
"""Outcomes of code that raised or did not come back, as against those it chose."""


class ToolService:
    """The invocation of `tool_dispatch`: it has no route. A process of it serves one tenant: that
    of its first call, or the one that a deployment which shares processes says it has."""

    def __init__(
        self,
        settings: Settings,
        clock: Clock | None = None,
        *,
        app: App | None = None,
        host: ExtensionHost | None = None,
    ) -> None:
        """An `app` or a `host` of the caller's own is taken for every tenant it asks for."""
        self.app = app or bootstrap(settings, clock=clock, llm=make_extension_model(settings))
        self.host = host or make_host(self.app)
        self._serves_all = bool(app or host)
        self._tenant = settings.tenant_ids[0] if settings.tenancy == "shared" else ""

    async def handle(self, event: Mapping[str, Any]) -> JSONObject:
        """A call, or the question for the catalogue."""
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
        """Whether the call is of the tenant that this process serves, from its first call on."""
        tenant_id = str((event.get("user") or {}).get("tenant_id", ""))
        self._tenant = self._tenant or tenant_id
        return self._serves_all or tenant_id == self._tenant

    async def _answer(self, event: Mapping[str, Any]) -> JSONObject:
        """How the call ended, or that the database is away."""
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
    """The same where each tenant has a process of its own and this one, which imports no extension,
    hands the calls on: for regions without Lambda's tenant isolation mode."""

    def __init__(self, settings: Settings, clock: Clock | None = None) -> None:
        # a child that had those would take Lambda's events for itself
        environment = {k: v for k, v in os.environ.items() if k not in RUNTIME}
        # the child has to find layers and code where this process found them
        environment["PYTHONPATH"] = os.pathsep.join(sys.path)
        self._processes = ProcessPool(environment, alone=True)
        # beside init: the first call finds extensions that are loaded, or nearly
        self._processes.start()

    async def handle(self, event: Mapping[str, Any]) -> JSONObject:
        """What the tenant's process answers; ProcessEnded where that ends."""
        answer: JSONObject = await asyncio.to_thread(self._processes.invoke, event)
        return answer


def tool_service(settings: Settings, clock: Clock) -> ToolService | ProcessService:
    """The service as the deployment keeps tenants apart."""
    if settings.tenancy == "process":
        return ProcessService(settings, clock)
    return ToolService(settings, clock)


LOOKS_S: Final = 0.5


def main() -> None:
    """Answer until whoever asks has gone."""
    calls = socket.socket(fileno=os.dup(0))
    # moved to where no code looks for it and no child process inherits it
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    faulthandler.enable(all_threads=False)
    # taken out of the environment: they are no business of extension code
    most_mb = float(os.environ.pop(MEMORY_MB, "inf"))
    longest_s = float(os.environ.pop(SECONDS, "inf"))
    finishes = bool(os.environ.pop(FINISHES, ""))
    # its extensions imported; what the kernel alone needs has left the environment before
    function = Function("tool_dispatch", ToolService, alone=True)
    function.service()
    calls.sendall(b"\n")
    threading.Thread(target=_watch, args=(most_mb, longest_s), daemon=True).start()
    while ends := socket.recv_fds(calls, 1, 1)[1]:
        os.set_inheritable(ends[0], False)
        call = socket.socket(fileno=ends[0])
        threading.Thread(target=_answer, args=(call, function, finishes), daemon=True).start()
    os._exit(0)  # what an extension left running does not hold it


def _answer(call: socket.socket, function: Function, finishes: bool) -> None:
    """Handle the events of a connection, one after the other."""
    # whoever asked may have given up
    with call, call.makefile("rb") as events, suppress(ConnectionError):
        for event in events:
            call.sendall(b"\n")  # what was not begun has not run, whatever comes now
            try:
                said = {"answer": function(json.loads(event))}
            except Exception as error:
                said = {"error": {"kind": type(error).__name__, "message": str(error)}}
            if finishes:
                background.wait()
            call.sendall(json.dumps(said).encode() + b"\n")


def _watch(most_mb: float, longest_s: float) -> None:
    """End the process where Lambda would end it: code that leaks, and code that nobody waits for
    any more and that goes on for good."""
    while True:
        time.sleep(LOOKS_S)
        if _memory_mb() > most_mb:
            os._exit(TOO_LARGE)
        if background.oldest_s() > longest_s:
            os._exit(TOO_LONG)


def _memory_mb() -> float:
    """Resident memory now; where the system does not tell, the most there has been."""
    try:
        pages = int(Path("/proc/self/statm").read_bytes().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
    except OSError:
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak / 2**20 if sys.platform == "darwin" else peak / 2**10


if __name__ == "__main__":
    main()
