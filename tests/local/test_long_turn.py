"""The command line waits for a turn that takes longer than its request."""

from __future__ import annotations

from pathlib import Path

import pytest

from local import webbee
from local.client import Client
from local.world import local_world

SLOW = """
import asyncio
from pydantic import BaseModel
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension

ext = Extension("slow")
chat = ChatExtension(ext)


class Nothing(BaseModel):
    pass


@chat.function("count_sheep", "Count the sheep", examples=["count the sheep"])
async def count_sheep(ctx: Context, params: Nothing) -> ActionResult:
    await asyncio.sleep(2)
    return ActionResult.success({"sheep": 36}, "36 sheep.")
"""


def test_a_turn_that_goes_on_behind_its_request_is_waited_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "slow").mkdir()
    (tmp_path / "slow" / "main.py").write_text(SLOW, "utf-8")
    env = {"WEBBEE_ANSWER_SECONDS": "0.5"}
    with local_world(extensions_dir=tmp_path, env=env) as world:
        asked = {"message": "count the sheep", "session_id": "a", "request_id": "r1"}
        api = Client(world.url, "dev")
        assert api.post("/v1/chat", asked)["status"] == "working"
        assert webbee.main(["chat", "count the sheep", "--url", world.url, "--session", "b"]) == 0
        assert "36" in capsys.readouterr().out
        with pytest.raises(RuntimeError, match="404 not_found: there is no session 'none'"):
            api.get("/v1/sessions/none")
        while api.post("/v1/chat", asked)["status"] == "working":
            pass
