"""A saved file is checked beside its reload, and what is found is told at its line."""

from __future__ import annotations

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
