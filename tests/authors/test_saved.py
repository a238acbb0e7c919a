"""A saved file is checked beside its reload, and what is found is told at its line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from local.checking import saved

MAIN = """
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension

ext = Extension("parcels", display_name="Parcels", description="Parcels on their way")
chat = ChatExtension(ext, description="Parcels")


@chat.function("count_parcels", "Count the parcels on their way", examples=["how many parcels?"])
async def count_parcels(ctx: Context) -> ActionResult:
    count = {call}
    return ActionResult.success({{"count": count}}, "Counted.")
"""


JOB = '@ext.schedule("nightly", "61 * * * *")'


def test_what_a_save_brings_is_told_once_at_its_line(tmp_path: Path) -> None:
    said: list[str] = []
    told: dict[str, str] = {}

    def save(call: str) -> list[str]:
        """What the check of this state says."""
        (tmp_path / "parcels").mkdir(exist_ok=True)
        (tmp_path / "parcels" / "main.py").write_text(MAIN.format(call=call), "utf-8")
        before = len(said)
        saved.check({"parcels", "gone"}, tmp_path, told, said.append)
        return said[before:]

    (text,) = save('await ctx.stor.count("parcels")')
    assert "parcels/main.py:10: error" in text and "stor" in text
    assert save('await ctx.stor.count("parcels")') == []
    (text,) = save('await ctx.store.count("parcels")')
    assert text == "parcels: nothing to mend\n    count_parcels: read"


def test_dev_tells_at_its_start_what_no_call_would_show(tmp_path: Path) -> None:
    """A schedule that never comes, told by the real command at its line."""
    (tmp_path / "parcels").mkdir()
    job = f"\n\n{JOB}\nasync def nightly(ctx: Context) -> None:\n"
    text = MAIN.format(call='await ctx.store.count("parcels")')
    main = tmp_path / "parcels" / "main.py"
    main.write_text(f'{text}{job}    await ctx.store.count("parcels")\n', "utf-8")
    at = main.read_text("utf-8").splitlines().index(JOB) + 1
    root = Path(__file__).resolve().parents[2]
    environment = {**os.environ, "PYTHONPATH": f"{root / 'layers/webbee_kernel'}:{root}"}
    command = [sys.executable, "-m", "local.webbee", "dev", "--fresh", "--port", "0"]
    with subprocess.Popen(
        [*command, "--into", str(tmp_path)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as dev:
        assert dev.stdout is not None
        said = []
        for line in dev.stdout:
            said.append(line)
            if "1 error" in line:
                break
        dev.terminate()
    assert "is no cron of five fields (Bad minute)" in "".join(said), said
    assert any(f"main.py:{at}: error" in one for one in said), said
