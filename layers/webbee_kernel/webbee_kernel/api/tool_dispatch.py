"""`tool_dispatch`: the cell. Runs what the other two functions ask for; nobody else can ask."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..aws.credentials import signing_with
from ..base.clock import Clock
from ..base.metrics import answered, measure
from ..bootstrap import App, bootstrap, make_host
from ..config import Settings
from ..errors import KernelError
from ..extensions.host import ExtensionHost
from ..values import CallOutcome, CallRequest, sent
from ..values.plain import JSONObject, made

BROKEN = ("INTERNAL", "BACKEND_TIMEOUT")
"""Outcomes of code that raised or did not come back, as against those it chose."""


class ToolService:
    """The invocation of `tool_dispatch`: it has no route."""

    def __init__(
        self,
        settings: Settings,
        clock: Clock | None = None,
        *,
        app: App | None = None,
        host: ExtensionHost | None = None,
    ) -> None:
        self.app = app or bootstrap(settings, clock=clock)
        self.host = host or make_host(self.app)

    async def handle(self, event: Mapping[str, Any]) -> JSONObject:
        """A call, or the question for the catalogue."""
        if event.get("kind") == "catalogue":
            return self.host.catalogue.to_dict()
        with signing_with(event.get("credentials")):
            return await self._answer(event)

    async def _answer(self, event: Mapping[str, Any]) -> JSONObject:
        """How the call ended, or that the database is away."""
        try:
            call = made(CallRequest, event)
            outcome = await self._execute(call)
        except KernelError as error:
            answered(failed=True)
            return {"unavailable": error.body()["error"]}
        answered(failed=False)
        return sent(outcome, as_text=call.takes_text)

    async def _execute(self, call: CallRequest) -> CallOutcome:
        """The call's outcome, counted."""
        outcome = await self.host.execute(call)
        measure("Calls")
        measure("CallFailures", outcome.error_code in BROKEN)
        return outcome
