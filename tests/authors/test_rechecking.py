"""A saved file is checked beside its reload, and what is found is told at its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from local.rechecking import Rechecks

MAIN = """
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension

ext = Extension("parcels", display_name="Parcels", description="Parcels on their way")
chat = ChatExtension(ext, description="Parcels")


@chat.function("count_parcels", "Count the parcels on their way", examples=["how many parcels?"])
async def count_parcels(ctx: Context) -> ActionResult:
    count = {call}
    return ActionResult.success({{"count": count}}, "Counted.")
"""


@pytest.fixture
def said() -> list[str]:
    return []


def saved(root: Path, checks: Rechecks, call: str) -> None:
    folder = root / "parcels"
    folder.mkdir(exist_ok=True)
    (folder / "main.py").write_text(MAIN.format(call=call), "utf-8")
    for thread in checks.begin({"parcels"}):
        thread.join()


def test_what_a_save_brings_is_told_once_at_its_line(tmp_path: Path, said: list[str]) -> None:
    checks = Rechecks(tmp_path, said.append)
    saved(tmp_path, checks, 'await ctx.stor.count("parcels")')
    (line,) = [one for one in said if "parcels/main.py:10:" in one]
    assert "stor" in line
    told = len(said)
    saved(tmp_path, checks, 'await ctx.stor.count("parcels")')
    assert said[told:] == []
    saved(tmp_path, checks, 'await ctx.store.count("parcels")')
    assert "mended" in said[-1]


def test_a_newer_save_ends_the_check_of_the_older_state(tmp_path: Path, said: list[str]) -> None:
    checks = Rechecks(tmp_path, said.append)
    (tmp_path / "parcels").mkdir()
    main = tmp_path / "parcels" / "main.py"
    main.write_text("ext = (", "utf-8")
    older = checks.begin({"parcels", "gone"})
    main.write_text(MAIN.format(call='await ctx.store.count("parcels")'), "utf-8")
    newer = checks.begin({"parcels"})
    for thread in (*older, *newer):
        thread.join()
    assert (len(older), len(newer)) == (1, 1)
    assert not [line for line in said if "error" in line], said


def test_a_check_that_cannot_begin_is_told_and_the_next_one_runs(
    tmp_path: Path, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    checks = Rechecks(tmp_path, said.append)
    with monkeypatch.context() as broken:
        broken.setattr("sys.executable", str(tmp_path / "no-python"))
        saved(tmp_path, checks, 'await ctx.store.count("parcels")')
    assert "check parcels: not begun: " in said[-1]
    saved(tmp_path, checks, 'await ctx.stor.count("parcels")')
    assert any("parcels/main.py:10:" in line for line in said)
