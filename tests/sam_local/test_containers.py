"""What a killed engine leaves does not stand in the next one's way."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.sam_local import containers


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(containers.tempfile, "gettempdir", lambda: str(tmp_path))
    return tmp_path


def left(places: Path, name: str, *, age_s: float = 3_600.0) -> Path:
    folder = places / f"{containers.FOLDER}{name}"
    (folder / "exec").mkdir(parents=True)
    (folder / "pid").write_text(str(os.getpid()))  # a process, but no engine: its number was reused
    then = folder.stat().st_mtime - age_s
    os.utime(folder, (then, then))
    return folder


def test_the_folder_of_an_engine_that_was_killed_is_removed(places: Path) -> None:
    killed = left(places, "killed")
    containers._clear_remains()
    assert not killed.exists()


def test_an_engine_that_serves_and_one_that_starts_are_left_alone(
    places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    young = left(places, "young", age_s=1.0)
    alive = left(places, "alive")
    monkeypatch.setattr(containers, "_serves", lambda folder: folder == alive)
    containers._clear_remains()
    assert young.exists() and alive.exists()
