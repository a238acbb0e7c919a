"""What both doubles are made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from cronsim import CronSim, CronSimError

from ..extensions.registry import LoadedExtension, Registry, checked, load_extension
from ..refresh.refresh_queue import SEEN, Wanted
from ..sdk import Extension, User
from ..types import AuditRecord, CallRequest

NOW = "2026-05-15T17:21:04Z"
USER = User(imperal_id="alice", email="alice@example.com", tenant_id="test")


def registry_of(*extensions: str | Path | Extension | LoadedExtension) -> Registry:
    """A registry of extension folders or of `Extension` objects made in a test (under their own
    app_id)."""
    loaded = [_loaded(e) for e in extensions]
    return Registry({e.app_id: e for e in loaded})


def _loaded(extension: str | Path | Extension | LoadedExtension) -> LoadedExtension:
    if isinstance(extension, LoadedExtension):
        return extension
    if isinstance(extension, Extension):
        return checked(LoadedExtension(extension.app_id, extension))
    if not (Path(extension) / "main.py").is_file():
        raise FileNotFoundError(f"{extension} is no extension: there is no main.py in it")
    return load_extension(extension)


class RecordingQueue:
    """A refresh queue that remembers what was asked for."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, str]] = []
        self.seen = 0

    async def ask(self, user: User, wanted: Sequence[Wanted]) -> None:
        """Remember `(app_id, section, reason)`, and how often users were to be noted."""
        sections = [w for w in wanted if (w.app_id, w.section) != SEEN]
        self.asked.extend(sections)
        self.seen += len(wanted) - len(sections)

    async def follow(self, request: CallRequest, record: AuditRecord) -> None:
        """Nothing: what outlives its turn is seen in the events."""


def minutes(cron: str, start: float, end: float) -> Iterator[float]:
    """The Unix seconds after `start`, up to `end`, at which a cron of five fields falls due.
    AssertionError where it is none."""
    try:
        due = CronSim(cron, datetime.fromtimestamp(start, UTC))
    except CronSimError as error:
        raise AssertionError(f"{cron!r} is no cron of five fields: {error}") from None
    for at in due:
        if at.timestamp() > end:
            return
        yield at.timestamp()
