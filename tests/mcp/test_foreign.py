"""Servers that nobody here wrote, from PyPI and npm: approved, called turn by turn, remembered."""

from __future__ import annotations

from pathlib import Path

import pytest

from .foreign_servers import SERVERS, Foreign, play


@pytest.mark.parametrize("foreign", SERVERS, ids=lambda foreign: foreign.id)
def test_a_server_of_others_does_what_its_tools_say(foreign: Foreign, tmp_path: Path) -> None:
    if not foreign.program.exists():
        pytest.skip(
            f"{foreign.package} is not here: make .venv-servers .venv-npm could not install it"
        )
    folder = tmp_path / "extensions" / foreign.id
    folder.parent.mkdir()
    played = play(foreign, folder)
    assert (played.seen.refused, played.seen.hidden) == ({}, {})
    for call, status, told in played.ends:
        assert status.startswith("ok"), told
        assert call.holds.format(folder) in told
