"""`tool_dispatch`: runs what the other two functions ask for; nobody else can ask."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping
from typing import Any, Final

from ..aws.clients import signing_with
from ..bootstrap import App, bootstrap, make_cell_model, make_host
from ..clock import Clock
from ..config import Settings
from ..errors import DispatchRefused, KernelError
from ..extensions.host import ExtensionHost
from ..extensions.registry import bringing
from ..observability import answered, measure
from ..types import CallRequest, JSONObject, from_dict, to_dict
from .process_pool import ProcessPool

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
        self.app = app or bootstrap(settings, clock=clock, llm=make_cell_model(settings))
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
        with signing_with(event.get("credentials")), bringing(event.get("configuration")):
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
            answered(failed=True)
            return {"unavailable": error.body()["error"]}
        measure("Calls")
        measure("CallFailures", outcome.error_code in BROKEN)
        answered(failed=False)
        return to_dict(outcome)


class ProcessService:
    """The same where each tenant has a process of its own and this one, which imports no extension,
    hands the calls on: for regions without Lambda's tenant isolation mode."""

    def __init__(self, settings: Settings, clock: Clock | None = None) -> None:
        environment = {k: v for k, v in os.environ.items() if k not in RUNTIME}
        environment["PYTHONPATH"] = os.pathsep.join(sys.path)
        self._processes = ProcessPool(environment, alone=True)
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
