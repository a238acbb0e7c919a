"""Dispatch inside this process: the seam where the local run and tests have no second function."""

from __future__ import annotations

from ..background import CachedValue
from .host import ExtensionHost


class InlineDispatch:
    """Runs extension code in this process; the host keeps it off the turn's thread."""

    def __init__(self, host: ExtensionHost) -> None:
        self.catalogue = CachedValue(lambda: host.catalogue, fresh_s=0.0)
        self.call = host.execute
