"""Dispatch inside this process: the seam where the local run and tests have no second function."""

from __future__ import annotations

from ..catalogue import Catalogue
from ..values import CallOutcome, CallRequest
from .host import ExtensionHost


class InlineDispatch:
    """Runs extension code in this process; the host keeps it off the turn's thread."""

    def __init__(self, host: ExtensionHost) -> None:
        self._host = host

    async def catalogue(self) -> Catalogue:
        """The loaded extensions."""
        return self._host.catalogue

    async def call(self, request: CallRequest) -> CallOutcome:
        """Run it."""
        return await self._host.execute(request)
