"""Dispatch: the seam between the kernel and wherever extension code runs."""

from __future__ import annotations

from typing import Protocol

from .catalogue import Catalogue
from .values import CallOutcome, CallRequest


class Dispatch(Protocol):
    """The seam to extension code: in this process or in another function."""

    async def catalogue(self) -> Catalogue:
        """What is deployed; asked once per process."""
        ...

    async def call(self, request: CallRequest) -> CallOutcome:
        """Run one call; always an outcome, unless the database is gone (StorageUnavailable),
        nothing came back (DispatchUnanswered) or it was not run (DispatchRefused)."""
        ...
